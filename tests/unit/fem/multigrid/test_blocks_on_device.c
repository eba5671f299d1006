/* labels: full */
/* Aggregates, prolongations and Galerkin matrices of nodes with several rows that a device makes: aggregates and columns of P
 * are those of the host, which test_prolongation.c checks, for the same matrix; entries of P, the coarse near-nullspace and
 * coordinates to 1e-13 of the largest, which are some roundings of compilers that fuse operations or do not. Galerkin
 * matrices are compared to those of the host with the host's P, sums of some thousand products, to 1e-12 of the largest
 * diagonal of P^T D P. Runs on an emulated GPU, or on the device that WEFT_TEST_DEVICE names. */
#include "aggregation_support.h"

static const double EQUAL = 1e-13, TOLERANCE = 1e-12;

/* A level on the host. */
typedef struct level_case {
    weft_csr A;
    int d, m, most_rows;
    int64_t n_nodes;
    int32_t *start, *of;
    double *scale, *modes, *x; /* scale: 0 marks constrained rows */
    double theta, aggregate_nodes;
    bool rigid; /* of the finest level */
} level_case;

static void level_case_clear(level_case *c) {
    weft_csr_clear(&c->A);
    free(c->start);
    free(c->of);
    free(c->scale);
    free(c->modes);
    free(c->x);
    *c = (level_case){0};
}

/* A finest level, which takes A and scale. */
static level_case finest(weft_csr *A, int components, int d, const double *x, double *scale,
                         bool rigid) {
    const int64_t n = A->n_rows;
    level_case c = {.A = *A,
                    .d = d,
                    .most_rows = components,
                    .n_nodes = n / components,
                    .scale = scale,
                    .theta = 0.005,
                    .aggregate_nodes = weft_aggregation_nodes(d, rigid),
                    .rigid = rigid};
    const weft_aggregation_options options = {
        .components = components, .dimension = d, .x = x, .rigid_body_modes = rigid};
    weft_error error = {0};
    *A = (weft_csr){0};
    c.start = malloc((size_t)(c.n_nodes + 1) * sizeof *c.start);
    c.of = malloc((size_t)n * sizeof *c.of);
    c.x = malloc((size_t)(c.n_nodes * d) * sizeof *c.x);
    memcpy(c.x, x, (size_t)(c.n_nodes * d) * sizeof *c.x);
    for (int64_t i = 0; i <= c.n_nodes; ++i)
        c.start[i] = (int32_t)(i * components);
    for (int64_t i = 0; i < n; ++i)
        c.of[i] = (int32_t)(i / components);
    check(weft_modes_make(NULL, &options, n, scale, &c.modes, &c.m, &error), &error);
    return c;
}

static double *free_rows(const test_problem *p) {
    double *scale = malloc((size_t)p->A.n_rows * sizeof *scale);
    for (int64_t i = 0; i < p->A.n_rows; ++i)
        scale[i] = 1;
    for (int64_t k = 0; k < p->n_constrained; ++k)
        scale[p->constrained[k]] = 0;
    return scale;
}

/* Constrain the rows for which `is` is true, as assembly does. */
static void constrain(weft_csr *A, double *scale, bool (*is)(int64_t row)) {
    for (int64_t i = 0; i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (is(i) || is(A->columns[k]))
                A->values[k] = A->columns[k] == i;
    for (int64_t i = 0; i < A->n_rows; ++i)
        if (is(i))
            scale[i] = 0;
}

/* ---- the host ---- */

static void *copy_of(const void *from, int64_t n, size_t size) {
    void *out = malloc((size_t)n * size + 1);
    assert_non_null(out);
    memcpy(out, from, (size_t)n * size);
    return out;
}

static void host_run(const level_case *c, host_steps *s) {
    const int64_t n = c->A.n_rows;
    *s = (host_steps){.level = {.A = &c->A,
                                .theta = c->theta,
                                .aggregate_nodes = c->aggregate_nodes,
                                .row_aggregates = WEFT_ROW_AGGREGATES,
                                .n_nodes = c->n_nodes,
                                .node_start = c->start,
                                .node_of = c->of,
                                .dimension = c->d,
                                .x = c->x,
                                .n_modes = c->m}};
    s->level.scale = copy_of(c->scale, n, sizeof(double));
    s->level.modes = copy_of(c->modes, n * c->m, sizeof(double));
    host_steps_run(s);
}

/* ---- the device ---- */

typedef struct device_steps {
    weft_device *device;
    weft_setup *setup;
    weft_sell_matrix *A;
    weft_device_blocks level;
    weft_device_node_graph graph;
    weft_device_aggregates aggregates;
    weft_device_block_prolongation P;
    weft_memory *columns, *weights; /* P in the form of a cycle */
    weft_device_matrix coarse;
} device_steps;

static weft_memory *place_starts(device_steps *s, const level_case *c) {
    int64_t *wide = malloc((size_t)(c->n_nodes + 1) * sizeof *wide);
    for (int64_t i = 0; i <= c->n_nodes; ++i)
        wide[i] = c->start[i];
    weft_memory *out = place(s->device, wide, c->n_nodes + 1, sizeof *wide);
    free(wide);
    return out;
}

/* is_finest: nodes and modes are made by the device. */
static void device_open(const level_case *c, double lambda, bool is_finest, device_steps *s) {
    const int64_t n = c->A.n_rows;
    weft_error error = {0};
    unsigned char *fixed = malloc((size_t)n);
    *s = (device_steps){.device = setup_device()};
    check(weft_setup_make(s->device, &s->setup, &error), &error);
    for (int64_t i = 0; i < n; ++i)
        fixed[i] = c->scale[i] == 0;
    s->A = place_matrix(s->setup, &c->A);
    s->level = (weft_device_blocks){.A = s->A,
                                    .n_rows = n,
                                    .n_nodes = c->n_nodes,
                                    .most_rows = c->most_rows,
                                    .fixed = place(s->device, fixed, n, 1),
                                    .n_modes = c->m,
                                    .dimension = c->d,
                                    .x = place(s->device, c->x, c->n_nodes * c->d, sizeof(double)),
                                    .theta = c->theta,
                                    .lambda = lambda,
                                    .aggregate_nodes = c->aggregate_nodes};
    free(fixed);
    if (is_finest) {
        check(weft_device_blocks_finest(s->setup, c->most_rows, c->rigid, &s->level, &error),
              &error);
        assert_int_equal(s->level.n_modes, c->m);
        return;
    }
    s->level.first = place_starts(s, c);
    s->level.of = place(s->device, c->of, n, sizeof(int32_t));
    s->level.modes = place(s->device, c->modes, n * c->m, sizeof(double));
}

static weft_status device_run(device_steps *s, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_device_node_graph_make(s->setup, &s->level, &s->graph, error));
    TRY(weft_device_aggregate_blocks(s->setup, &s->level, &s->graph, &s->aggregates, error));
    if (s->aggregates.n == 0)
        goto done;
    TRY(weft_device_block_tentative(s->setup, &s->level, &s->aggregates, &s->P, error));
    TRY(weft_device_block_prolong(s->setup, &s->level, &s->graph, &s->aggregates, &s->P, error));
    TRY(weft_device_block_transfer(s->setup, &s->P, &s->columns, &s->weights, error));
    TRY(weft_device_galerkin_blocks(s->setup, &s->level, &s->P, &s->coarse, error));
done:
    return status;
}

static void device_close(device_steps *s) {
    weft_memory **memories[] = {&s->level.first, &s->level.of, &s->level.fixed, &s->level.modes,
                                &s->level.x,     &s->columns,  &s->weights};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    weft_device_node_graph_free(&s->graph);
    weft_device_aggregates_free(&s->aggregates);
    weft_device_block_prolongation_free(&s->P);
    weft_device_matrix_free(&s->coarse);
    weft_sell_matrix_free(&s->A);
    weft_setup_free(&s->setup);
    weft_device_free(&s->device);
}

/* ---- comparisons ---- */

/* The rows of P in the form of a cycle: those of the host, in which entries of weight 0 are left out; after rounding. */
static void compare_transfer(const device_steps *s, const weft_csr *P) {
    const int w = WEFT_ROW_AGGREGATES * s->level.n_modes;
    const int64_t n = P->n_rows;
    int32_t *columns = setup_read(s->columns, (size_t)(n * w) * sizeof *columns);
    float *weights = setup_read(s->weights, (size_t)(n * w) * sizeof *weights);
    for (int64_t i = 0; i < n; ++i) {
        int64_t at = P->row_start[i];
        for (int k = 0; k < w; ++k) {
            const int32_t column = columns[i * w + k];
            assert_true(column >= 0 && column < P->n_columns);
            if (weights[i * w + k] == 0)
                continue;
            while (at < P->row_start[i + 1] && P->columns[at] != column)
                assert_true(fabs(P->values[at++]) <= EQUAL);
            assert_true(at < P->row_start[i + 1]);
            if (!(fabs((double)weights[i * w + k] - P->values[at]) <=
                  1e-7 * fabs(P->values[at]) + EQUAL))
                fail_msg("row %lld of the transfer: %.17g, not %.17g", (long long)i,
                         (double)weights[i * w + k], P->values[at]);
            ++at;
        }
        for (; at < P->row_start[i + 1]; ++at)
            assert_true(fabs(P->values[at]) <= EQUAL);
    }
    free(columns);
    free(weights);
}

/* Rows by aggregates, each with all of its coarse rows. */
static void compare_rows(const device_steps *s, const host_steps *host) {
    const int m = s->level.n_modes;
    const weft_csr *P = &host->P;
    const int64_t n = P->n_rows, places = n * WEFT_ROW_AGGREGATES;
    int32_t *aggregates = setup_read(s->P.aggregates, (size_t)places * sizeof *aggregates);
    int32_t *counts = setup_read(s->P.counts, (size_t)n * sizeof *counts);
    double *weights = setup_read(s->P.weights, (size_t)(places * m) * sizeof *weights);
    for (int64_t i = 0; i < n; ++i) {
        int64_t at = P->row_start[i];
        for (int k = 0; k < WEFT_ROW_AGGREGATES; ++k) {
            const int64_t place = i * WEFT_ROW_AGGREGATES + k;
            const int32_t aggregate = aggregates[place];
            assert_true(aggregate >= 0 && aggregate < host->aggregates.n);
            const int64_t first = weft_node_row(&host->coarse, aggregate);
            const int64_t rank = weft_node_row(&host->coarse, aggregate + 1) - first;
            if (k >= counts[i] && counts[i] > 0)
                assert_int_equal(aggregate, aggregates[i * WEFT_ROW_AGGREGATES]);
            for (int r = 0; r < m; ++r) {
                const double weight = weights[place * m + r];
                if (k >= counts[i] || r >= rank) {
                    assert_true(weight == 0);
                    continue;
                }
                assert_true(at < P->row_start[i + 1]);
                assert_int_equal(P->columns[at], first + r);
                if (!(fabs(weight - P->values[at]) <= EQUAL))
                    fail_msg("row %lld of P: %.17g, not %.17g", (long long)i, weight,
                             P->values[at]);
                ++at;
            }
        }
        assert_int_equal(at, P->row_start[i + 1]);
    }
    free(aggregates);
    free(counts);
    free(weights);
}

static void compare_nodes(const device_steps *s, const host_steps *host) {
    const int64_t n = host->aggregates.n;
    int64_t *first = setup_read(s->P.first, (size_t)(n + 1) * sizeof *first);
    int32_t *of = setup_read(s->P.of, (size_t)host->n_coarse * sizeof *of);
    assert_int_equal(s->P.n_columns, host->n_coarse);
    for (int64_t i = 0; i <= n; ++i)
        assert_int_equal(first[i], weft_node_row(&host->coarse, i));
    for (int64_t i = 0; i < host->n_coarse; ++i)
        assert_int_equal(of[i], weft_row_node(&host->coarse, (int32_t)i));
    free(first);
    free(of);
}

static void compare_steps(const device_steps *s, const host_steps *host) {
    assert_int_equal(s->aggregates.n, host->aggregates.n);
    setup_equal("aggregates", s->aggregates.of, host->aggregates.of,
                (size_t)s->level.n_nodes * sizeof(int32_t));
    if (s->aggregates.n == 0)
        return;
    compare_nodes(s, host);
    near_each("mode", s->P.modes, host->coarse.modes, host->n_coarse * s->level.n_modes, EQUAL);
    near_each("coordinate", s->P.x, host->coarse.x, host->aggregates.n * s->level.dimension, EQUAL);
    compare_rows(s, host);
    compare_transfer(s, &host->P);
}

/* sum_k p_ki^2 a_kk */
static double *diagonal_sizes(const level_case *c, const weft_csr *P) {
    double *sizes = calloc((size_t)P->n_columns + 1, sizeof *sizes);
    for (int64_t k = 0; k < P->n_rows; ++k)
        for (int64_t a = P->row_start[k]; a < P->row_start[k + 1]; ++a)
            sizes[P->columns[a]] +=
                P->values[a] * P->values[a] * c->A.values[weft_csr_find(&c->A, k, k)];
    return sizes;
}

static void compare_product(const level_case *c, const weft_csr *P, const weft_csr *found) {
    weft_csr expected = {0};
    weft_error error = {0};
    double most = 0, *sizes = diagonal_sizes(c, P);
    int64_t n_found = 0;
    check(weft_galerkin(NULL, &c->A, P, &expected, &error), &error);
    assert_int_equal(found->n_rows, P->n_columns);
    for (int64_t i = 0; i < expected.n_rows; ++i) /* what sums that cancel are rounded to */
        most = fmax(most, sizes[i]);
    for (int64_t i = 0; i < found->n_rows; ++i) {
        assert_true(weft_csr_find(found, i, i) >= 0);
        for (int64_t k = found->row_start[i]; k < found->row_start[i + 1]; ++k) {
            const int64_t j = found->columns[k], at = weft_csr_find(&expected, i, j);
            double value = at >= 0 ? expected.values[at] : 0;
            assert_true(j >= 0 && j < found->n_rows);
            assert_true(k == found->row_start[i] || j > found->columns[k - 1]);
            if (i == j && value <= 1e-13 * sizes[i])
                value = sizes[i];
            assert_double_near(found->values[k], value, 0, TOLERANCE * most);
            n_found += at >= 0;
        }
    }
    assert_int_equal(n_found, expected.row_start[expected.n_rows]);
    weft_csr_clear(&expected);
    free(sizes);
}

/* The coarse level from what the device made. */
static level_case next_level(const level_case *c, const device_steps *s) {
    const int64_t n = s->P.n_columns, n_nodes = s->aggregates.n;
    level_case next = {.d = c->d,
                       .m = c->m,
                       .most_rows = c->m,
                       .n_nodes = n_nodes,
                       .theta = c->theta / 2,
                       .aggregate_nodes = c->aggregate_nodes,
                       .A = read_matrix(&s->coarse)};
    int64_t *wide = setup_read(s->P.first, (size_t)(n_nodes + 1) * sizeof *wide);
    next.start = malloc((size_t)(n_nodes + 1) * sizeof *next.start);
    for (int64_t i = 0; i <= n_nodes; ++i)
        next.start[i] = (int32_t)wide[i];
    free(wide);
    next.of = setup_read(s->P.of, (size_t)n * sizeof *next.of);
    next.modes = setup_read(s->P.modes, (size_t)(n * c->m) * sizeof *next.modes);
    next.x = setup_read(s->P.x, (size_t)(n_nodes * c->d) * sizeof *next.x);
    next.scale = malloc((size_t)n * sizeof *next.scale);
    for (int64_t i = 0; i < n; ++i)
        next.scale[i] = 1;
    return next;
}

static int64_t n_short; /* aggregates of fewer rows than modes, in the last check_levels */

/* Compare `levels` levels, each made from the device's results for the one before. Returns how many were made. The level is
 * freed. */
static int check_levels(level_case *c, int levels) {
    int made = 0;
    n_short = 0;
    for (bool is_last = false; made < levels && !is_last; made += !is_last) {
        host_steps host;
        device_steps s;
        weft_error error = {0};
        level_case next = {0};
        host_run(c, &host);
        device_open(c, host.level.lambda, made == 0, &s);
        check(device_run(&s, &error), &error);
        compare_steps(&s, &host);
        is_last = s.aggregates.n == 0;
        if (!is_last) {
            next = next_level(c, &s);
            compare_product(c, &host.P, &next.A);
            for (int64_t i = 0; i < next.n_nodes; ++i)
                n_short += next.start[i + 1] - next.start[i] < c->m;
        }
        device_close(&s);
        host_steps_clear(&host);
        level_case_clear(c);
        *c = next;
    }
    level_case_clear(c);
    return made;
}

/* ---- cases ---- */

static weft_mesh *make_mesh(int d, int64_t n) {
    weft_mesh *mesh = NULL;
    assert_int_equal(d == 2 ? weft_mesh_make_square(n, &mesh, NULL)
                            : weft_mesh_make_cube(n, &mesh, NULL),
                     WEFT_OK);
    test_mesh_jitter(mesh, n, 0.2);
    return mesh;
}

static void check_elasticity(int d, int64_t n, const char *group, bool rigid, int levels) {
    weft_mesh *mesh = make_mesh(d, n);
    test_problem p = test_elasticity(mesh, 0.3, group);
    level_case c = finest(&p.A, d, d, mesh->x, free_rows(&p), rigid);
    assert_int_equal(check_levels(&c, levels), levels);
    test_problem_clear(&p);
    weft_mesh_free(&mesh);
}

/* Rows around those of thread blocks and of blocks of SELL matrices. */
static void sizes(void **state) {
    (void)state;
    static const int64_t n[] = {1, 2, 6, 9, 10, 15, 16};
    for (size_t i = 0; i < sizeof n / sizeof *n; ++i)
        check_elasticity(2, n[i], NULL, true, 1);
    for (int64_t k = 1; k < 7; ++k)
        check_elasticity(3, k, NULL, true, 1);
}

static void several_levels(void **state) {
    (void)state;
    check_elasticity(3, 9, "left", true, 2);
    check_elasticity(3, 7, NULL, true, 2); /* singular */
    check_elasticity(2, 24, "left", true, 3);
}

/* Of more nodes than a warp has lanes. */
static void large_aggregates(void **state) {
    (void)state;
    weft_mesh *mesh = make_mesh(3, 6);
    test_problem p = test_elasticity(mesh, 0.3, "left");
    level_case c = finest(&p.A, 3, 3, mesh->x, free_rows(&p), true);
    c.aggregate_nodes = 70;
    assert_int_equal(check_levels(&c, 1), 1);
    test_problem_clear(&p);
    weft_mesh_free(&mesh);
}

static void constants(void **state) {
    (void)state;
    check_elasticity(3, 7, "left", false, 2);
    check_elasticity(2, 20, "boundary", false, 2);
    for (int components = 2; components <= 3; ++components) { /* not as many as dimensions */
        const int d = 5 - components;
        weft_mesh *mesh = make_mesh(d, d == 2 ? 13 : 6);
        test_problem p = test_poisson(mesh, 10, NULL);
        const int64_t n = mesh->n_nodes;
        test_rows rows = test_rows_make(n * components, n * components);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t k = p.A.row_start[i]; k < p.A.row_start[i + 1]; ++k)
                for (int a = 0; a < components; ++a)
                    for (int b = 0; b < components; ++b)
                        test_rows_add(&rows, i * components + a, p.A.columns[k] * components + b,
                                      p.A.values[k] * (a == b ? 1 + a : 0.1));
        weft_csr A = test_rows_finish(&rows);
        double *scale = malloc((size_t)A.n_rows * sizeof *scale);
        for (int64_t i = 0; i < A.n_rows; ++i)
            scale[i] = 1;
        level_case c = finest(&A, components, d, mesh->x, scale, false);
        assert_int_equal(check_levels(&c, 2), 2);
        test_problem_clear(&p);
        weft_mesh_free(&mesh);
    }
}

static bool is_sparse(int64_t row) {
    return row % 11 == 3 || row / 3 % 7 == 0;
}

/* Some components of nodes, and some nodes. */
static void parts_of_nodes_are_constrained(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = make_mesh(d, d == 2 ? 14 : 6);
        test_problem p = test_elasticity(mesh, 0.3, NULL);
        double *scale = free_rows(&p);
        constrain(&p.A, scale, is_sparse);
        level_case c = finest(&p.A, d, d, mesh->x, scale, true);
        assert_int_equal(check_levels(&c, 2), 2);
        test_problem_clear(&p);
        weft_mesh_free(&mesh);
    }
}

/* Anisotropy: only couplings along x are strong, so that sets fall into components, and small ones join others. */
static void components_join(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = make_mesh(d, d == 2 ? 20 : 7);
        for (int64_t i = 0; i < mesh->n_nodes; ++i)
            mesh->x[i * d] *= 0.01;
        test_problem p = test_elasticity(mesh, 0.3, "left");
        for (int64_t i = 0; i < mesh->n_nodes; ++i)
            mesh->x[i * d] *= 100; /* sets are not as thin */
        level_case c = finest(&p.A, d, d, mesh->x, free_rows(&p), true);
        assert_int_equal(check_levels(&c, 2), 2);
        test_problem_clear(&p);
        weft_mesh_free(&mesh);
    }
}

/* Rods of two to four nodes in space, which nothing couples: rotations about a rod are no motion of its nodes, so that it has
 * five modes; and single nodes. */
static void rods(void **state) {
    (void)state;
    enum { RODS = 60 };
    int64_t n = 0;
    double x[RODS * 4 * 3];
    test_rows rows = test_rows_make(RODS * 4 * 3, RODS * 4 * 3);
    for (int rod = 0; rod < RODS; ++rod) {
        const int n_nodes = 1 + rod % 4;
        const double direction[3] = {cos(rod), sin(rod), 0.3 * (rod % 5)};
        for (int k = 0; k < n_nodes; ++k, ++n)
            for (int c = 0; c < 3; ++c) {
                x[3 * n + c] = rod % 7 * 10 + k * direction[c];
                test_rows_add(&rows, 3 * n + c, 3 * n + c, 1e-3);
                for (int other = 0; other < 3 && k > 0; ++other)
                    for (int a = 0; a < 2; ++a)
                        for (int b = 0; b < 2; ++b)
                            test_rows_add(&rows, 3 * (n - a) + c, 3 * (n - b) + other,
                                          (a == b ? 1 : -1) * ((c == other ? 1 : 0) +
                                                               direction[c] * direction[other]));
            }
    }
    rows.n_rows = rows.n_columns = 3 * n;
    weft_csr A = test_rows_finish(&rows);
    double *scale = malloc((size_t)(3 * n) * sizeof *scale);
    for (int64_t i = 0; i < 3 * n; ++i)
        scale[i] = 1;
    level_case c = finest(&A, 3, 3, x, scale, true);
    c.aggregate_nodes = 4;
    assert_int_equal(check_levels(&c, 1), 1);
    assert_true(n_short > 30);
}

/* All dofs constrained, or no couplings of nodes: there are no aggregates. */
static void nothing_to_aggregate(void **state) {
    (void)state;
    for (int is_fixed = 0; is_fixed < 2; ++is_fixed) {
        weft_mesh *mesh = make_mesh(2, 5);
        test_problem p = test_elasticity(mesh, 0.3, NULL);
        double *scale = free_rows(&p);
        for (int64_t i = 0; i < p.A.n_rows && is_fixed; ++i)
            scale[i] = 0;
        for (int64_t i = 0; i < p.A.n_rows && !is_fixed; ++i)
            for (int64_t k = p.A.row_start[i]; k < p.A.row_start[i + 1]; ++k)
                p.A.values[k] *= p.A.columns[k] / 2 == i / 2;
        level_case c = finest(&p.A, 2, 2, mesh->x, scale, true);
        assert_int_equal(check_levels(&c, 1), 0);
        test_problem_clear(&p);
        weft_mesh_free(&mesh);
    }
}

/* A node with couplings to `n` pairs of nodes along a line, each of which is an aggregate. */
static weft_status couple_pairs(int64_t n, weft_error *error) {
    const int64_t n_nodes = 2 * n + 1;
    device_steps s;
    test_rows rows = test_rows_make(2 * n_nodes, 2 * n_nodes);
    double *x = malloc((size_t)n_nodes * sizeof *x);
    double *scale = malloc((size_t)(2 * n_nodes) * sizeof *scale);
    for (int64_t i = 0; i < 2 * n_nodes; ++i) {
        test_rows_add(&rows, i, i, 1);
        scale[i] = 1;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < 2; ++k)
            for (int c = 0; c < 2; ++c) {
                test_rows_add(&rows, 2 * (2 * i + k) + c, 2 * (2 * i + 1 - k) + c, -0.5);
                test_rows_add(&rows, 2 * (k ? 2 * i : 2 * n) + c, 2 * (k ? 2 * n : 2 * i) + c,
                              -0.1);
            }
    for (int64_t i = 0; i < n_nodes; ++i)
        x[i] = i == 2 * n ? -1 : (double)i;
    weft_csr A = test_rows_finish(&rows);
    level_case c = finest(&A, 2, 1, x, scale, false);
    device_open(&c, 2, true, &s);
    s.level.aggregate_nodes = 2;
    const weft_status status = device_run(&s, error);
    device_close(&s);
    level_case_clear(&c);
    free(x);
    return status;
}

static void too_many_aggregates(void **state) {
    (void)state;
    weft_error error = {0};
    check(couple_pairs(60, &error), &error);
    assert_int_equal(couple_pairs(70, &error), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "more than 64 aggregates"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes),
                                       cmocka_unit_test(several_levels),
                                       cmocka_unit_test(large_aggregates),
                                       cmocka_unit_test(constants),
                                       cmocka_unit_test(parts_of_nodes_are_constrained),
                                       cmocka_unit_test(components_join),
                                       cmocka_unit_test(rods),
                                       cmocka_unit_test(nothing_to_aggregate),
                                       cmocka_unit_test(too_many_aggregates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
