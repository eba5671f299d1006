/* labels: full */
/* Aggregates, prolongations and Galerkin matrices that a device makes: aggregates and columns of P are those of the host,
 * which test_prolongation.c checks, for the same matrix; entries of P, the coarse near-nullspace and coordinates to 1e-14
 * of the largest, which are a few roundings of compilers that fuse operations or do not. Galerkin matrices are compared
 * to sums of products written out here, of up to some thousand terms, to 1e-13 of the largest entry. Runs on an emulated
 * GPU, or on the device that WEFT_TEST_DEVICE names. */
#include "aggregation_support.h"
#include "fusion/connectivity/connectivity.h"

static const double EQUAL = 1e-14, TOLERANCE = 1e-13;

/* A level on the host, and on the device. */
typedef struct level_case {
    weft_csr A;
    int d;
    double *scale, *modes, *x; /* scale: 0 marks constrained rows */
    double theta;
} level_case;

static void level_case_clear(level_case *c) {
    weft_csr_clear(&c->A);
    free(c->scale);
    free(c->modes);
    free(c->x);
}

/* The finest level of a problem, whose matrix it takes. */
static level_case finest(test_problem *p) {
    const int64_t n = p->A.n_rows, d = p->mesh->dimension;
    level_case c = {.A = p->A, .d = (int)d, .theta = 0.02};
    p->A = (weft_csr){0};
    c.scale = malloc((size_t)n * sizeof *c.scale);
    c.modes = malloc((size_t)n * sizeof *c.modes);
    c.x = malloc((size_t)(n * d) * sizeof *c.x);
    memcpy(c.x, p->mesh->x, (size_t)(n * d) * sizeof *c.x);
    for (int64_t i = 0; i < n; ++i)
        c.scale[i] = 1;
    for (int64_t k = 0; k < p->n_constrained; ++k)
        c.scale[p->constrained[k]] = 0;
    memcpy(c.modes, c.scale, (size_t)n * sizeof *c.modes);
    test_problem_clear(p);
    return c;
}

/* ---- the host ---- */

static void host_run(level_case *c, host_steps *s) {
    const size_t bytes = (size_t)c->A.n_rows * sizeof(double);
    *s = (host_steps){.level = {.A = &c->A,
                                .theta = c->theta,
                                .aggregate_nodes = weft_aggregation_nodes(c->d, false),
                                .row_aggregates = WEFT_ROW_AGGREGATES,
                                .n_nodes = c->A.n_rows,
                                .dimension = c->d,
                                .x = c->x,
                                .n_modes = 1}};
    s->level.scale = malloc(bytes);
    s->level.modes = malloc(bytes);
    memcpy(s->level.scale, c->scale, bytes);
    memcpy(s->level.modes, c->modes, bytes);
    host_steps_run(s);
}

/* ---- the device ---- */

typedef struct device_steps {
    weft_device *device;
    weft_setup *setup;
    weft_sell_matrix *A;
    weft_memory *fixed, *modes, *x;
    weft_device_coarsening level;
    weft_device_aggregates aggregates;
    weft_device_prolongation P;
    weft_connectivity *transfer;
    weft_device_matrix coarse;
} device_steps;

static void device_open(const level_case *c, double lambda, device_steps *s) {
    const int64_t n = c->A.n_rows;
    weft_error error = {0};
    unsigned char *fixed = malloc((size_t)n);
    *s = (device_steps){.device = setup_device()};
    check(weft_setup_make(s->device, &s->setup, &error), &error);
    for (int64_t i = 0; i < n; ++i)
        fixed[i] = c->scale[i] == 0;
    s->A = place_matrix(s->setup, &c->A);
    s->fixed = place(s->device, fixed, n, 1);
    s->modes = place(s->device, c->modes, n, sizeof(double));
    s->x = place(s->device, c->x, n * c->d, sizeof(double));
    s->level = (weft_device_coarsening){.A = s->A,
                                        .n = n,
                                        .fixed = s->fixed,
                                        .modes = s->modes,
                                        .x = s->x,
                                        .dimension = c->d,
                                        .theta = c->theta,
                                        .lambda = lambda,
                                        .aggregate_nodes = weft_aggregation_nodes(c->d, false)};
    free(fixed);
}

static weft_status device_run(device_steps *s, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_device_aggregate(s->setup, &s->level, &s->aggregates, error));
    if (s->aggregates.n == 0)
        goto done;
    TRY(weft_device_prolong(s->setup, &s->level, &s->aggregates, &s->P, error));
    weft_device_prolongation P = s->P;
    TRY(weft_connectivity_make_copied(s->device, NULL, &s->P.columns, WEFT_ROW_AGGREGATES,
                                      P.n_columns, &s->transfer, error));
    TRY(weft_device_galerkin_weighted(s->setup, &s->level, s->aggregates.scale, &P, s->transfer,
                                      &s->coarse, error));
    s->P.columns = P.columns; /* the transfer's */
done:
    return status;
}

static void device_close(device_steps *s) {
    if (s->transfer)
        s->P.columns = NULL;
    weft_connectivity_free(&s->transfer);
    weft_device_aggregates_free(&s->aggregates);
    weft_device_prolongation_free(&s->P);
    weft_device_matrix_free(&s->coarse);
    weft_sell_matrix_free(&s->A);
    weft_memory_free(&s->fixed);
    weft_memory_free(&s->modes);
    weft_memory_free(&s->x);
    weft_setup_free(&s->setup);
    weft_device_free(&s->device);
}

/* ---- comparisons ---- */

/* After the entries of a row there are zeros, in a column of the row. */
static void compare_rows(const device_steps *s, const weft_csr *P) {
    const int w = WEFT_ROW_AGGREGATES;
    const int64_t n = P->n_rows;
    int32_t *columns = setup_read(s->P.columns, (size_t)(n * w) * sizeof *columns);
    double *weights = setup_read(s->P.weights, (size_t)(n * w) * sizeof *weights);
    for (int64_t i = 0; i < n; ++i) {
        const int64_t first = P->row_start[i], length = P->row_start[i + 1] - first;
        for (int64_t k = 0; k < w; ++k) {
            const int32_t column = columns[i * w + k];
            const double value = k < length ? P->values[first + k] : 0;
            assert_true(column >= 0 && column < P->n_columns);
            if (length > 0)
                assert_int_equal(column, P->columns[first + (k < length ? k : 0)]);
            if (!(fabs(weights[i * w + k] - value) <= EQUAL))
                fail_msg("row %lld of P: %.17g, not %.17g", (long long)i, weights[i * w + k],
                         value);
        }
    }
    free(columns);
    free(weights);
}

static void compare_steps(const device_steps *s, const host_steps *host) {
    const int64_t n = s->level.n;
    assert_int_equal(s->aggregates.n, host->aggregates.n);
    setup_equal("aggregates", s->aggregates.of, host->aggregates.of, (size_t)n * sizeof(int32_t));
    if (s->aggregates.n == 0)
        return;
    assert_int_equal(s->P.n_columns, host->n_coarse);
    near_each("mode", s->P.modes, host->coarse.modes, host->n_coarse, EQUAL);
    near_each("coordinate", s->P.x, host->coarse.x, host->n_coarse * s->level.dimension, EQUAL);
    compare_rows(s, &host->P);
}

/* sum_kl p_ki a_kl p_lj, with the diagonal of what nothing fixes. */
static double *plain_product(const level_case *c, const weft_csr *P) {
    const int64_t m = P->n_columns;
    double *out = calloc((size_t)(m * m), sizeof *out), *sizes = calloc((size_t)m, sizeof *sizes);
    assert_true(out && sizes);
    for (int64_t k = 0; k < P->n_rows; ++k)
        for (int64_t a = P->row_start[k]; a < P->row_start[k + 1]; ++a) {
            const int64_t i = P->columns[a];
            for (int64_t e = c->A.row_start[k]; e < c->A.row_start[k + 1]; ++e) {
                const int64_t l = c->A.columns[e];
                for (int64_t b = P->row_start[l]; b < P->row_start[l + 1]; ++b)
                    out[i * m + P->columns[b]] += P->values[a] * c->A.values[e] * P->values[b];
                if (l == k)
                    sizes[i] += P->values[a] * P->values[a] * c->A.values[e];
            }
        }
    for (int64_t i = 0; i < m; ++i)
        if (out[i * m + i] <= 1e-13 * sizes[i])
            out[i * m + i] = sizes[i];
    free(sizes);
    return out;
}

static void compare_product(const level_case *c, const weft_csr *P, const weft_csr *found) {
    const int64_t m = P->n_columns;
    double *expected = plain_product(c, P), most = 0;
    assert_int_equal(found->n_rows, m);
    for (int64_t i = 0; i < m * m; ++i)
        most = fmax(most, fabs(expected[i]));
    for (int64_t i = 0; i < m; ++i) {
        bool has_diagonal = false;
        for (int64_t k = found->row_start[i]; k < found->row_start[i + 1]; ++k) {
            const int64_t j = found->columns[k];
            assert_true(j >= 0 && j < m && (k == found->row_start[i] || j > found->columns[k - 1]));
            assert_double_near(found->values[k], expected[i * m + j], 0, TOLERANCE * most);
            expected[i * m + j] = 0; /* it was there */
            has_diagonal |= j == i;
        }
        assert_true(has_diagonal);
    }
    for (int64_t i = 0; i < m * m; ++i)
        assert_true(fabs(expected[i]) <= TOLERANCE * most);
    free(expected);
}

/* Compare `levels` levels, each made from the device's matrix, near-nullspace and coordinates of the one before.
 * Returns how many were made. */
static int check_levels(level_case *c, int levels) {
    int made = 0;
    for (; made < levels; ++made) {
        host_steps host;
        device_steps s;
        weft_error error = {0};
        level_case next = {.d = c->d, .theta = c->theta / 2};
        host_run(c, &host);
        device_open(c, host.level.lambda, &s);
        check(device_run(&s, &error), &error);
        compare_steps(&s, &host);
        const int64_t n = s.aggregates.n;
        if (n > 0) {
            next.A = read_matrix(&s.coarse);
            compare_product(c, &host.P, &next.A);
            next.modes = setup_read(s.P.modes, (size_t)n * sizeof *next.modes);
            next.x = setup_read(s.P.x, (size_t)(n * c->d) * sizeof *next.x);
            next.scale = malloc((size_t)n * sizeof *next.scale);
            for (int64_t i = 0; i < n; ++i)
                next.scale[i] = 1;
        }
        device_close(&s);
        host_steps_clear(&host);
        level_case_clear(c);
        *c = next;
        if (n == 0)
            return made;
    }
    return made;
}

/* ---- cases ---- */

static weft_mesh *regular_mesh(int d, int64_t n) {
    weft_mesh *mesh = NULL;
    assert_int_equal(d == 2 ? weft_mesh_make_square(n, &mesh, NULL)
                            : weft_mesh_make_cube(n, &mesh, NULL),
                     WEFT_OK);
    return mesh;
}

static weft_mesh *make_mesh(int d, int64_t n) {
    weft_mesh *mesh = regular_mesh(d, n);
    test_mesh_jitter(mesh, n, 0.2);
    return mesh;
}

static void check_problem(int d, int64_t n, double inside, const char *group, int levels) {
    weft_mesh *mesh = make_mesh(d, n);
    test_problem p = test_poisson(mesh, inside, group);
    level_case c = finest(&p);
    assert_int_equal(check_levels(&c, levels), levels);
    level_case_clear(&c);
    weft_mesh_free(&mesh);
}

/* Rows around those of thread blocks and of blocks of SELL matrices, and aggregates around eight, one per warp. */
static void sizes(void **state) {
    (void)state;
    static const int64_t n[] = {1, 2, 6, 7, 8, 14, 15, 16, 22, 23};
    for (size_t i = 0; i < sizeof n / sizeof *n; ++i)
        check_problem(2, n[i], 1, NULL, 1);
    for (int64_t k = 1; k < 9; k += 2)
        check_problem(3, k, 1, NULL, 1);
}

static void several_levels(void **state) {
    (void)state;
    check_problem(2, 40, 1, "boundary", 3);
    check_problem(3, 14, 1, "left", 2);
    check_problem(3, 12, 1, NULL, 2); /* singular */
}

static void coefficients_jump(void **state) {
    (void)state;
    static const double inside[] = {1e4, 1e-4, 1e8};
    for (int i = 0; i < 3; ++i) {
        check_problem(2, 30, inside[i], "boundary", 2);
        check_problem(3, 10, inside[i], "left", 2);
    }
}

/* Many equal coordinates. Couplings differ: of equal ones, those that a row of P loses would be a matter of rounding. */
static void regular(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        const int64_t n = d == 2 ? 33 : 11;
        weft_mesh *mesh = make_mesh(d, n), *other = regular_mesh(d, n);
        test_problem p = test_poisson(mesh, 1, "left");
        memcpy(mesh->x, other->x, (size_t)(mesh->n_nodes * d) * sizeof *mesh->x);
        level_case c = finest(&p);
        assert_int_equal(check_levels(&c, 2), 2);
        level_case_clear(&c);
        weft_mesh_free(&other);
        weft_mesh_free(&mesh);
    }
}

/* Anisotropy: only couplings along x are strong, so that sets fall into components, and small ones join others. */
static void components_join(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = make_mesh(d, d == 2 ? 24 : 8);
        for (int64_t i = 0; i < mesh->n_nodes; ++i)
            mesh->x[i * d] *= 0.02;
        test_problem p = test_poisson(mesh, 1, "left");
        for (int64_t i = 0; i < mesh->n_nodes; ++i)
            mesh->x[i * d] *= 50; /* sets are not as thin */
        level_case c = finest(&p);
        assert_int_equal(check_levels(&c, 2), 2);
        level_case_clear(&c);
        weft_mesh_free(&mesh);
    }
}

/* Two bodies in one place that nothing couples, of interleaved nodes, one of them fixed nowhere; every 37th node of the
 * other is alone. */
static void bodies_are_apart(void **state) {
    (void)state;
    weft_mesh *mesh = make_mesh(3, 7);
    test_problem p = test_poisson(mesh, 1, NULL);
    const int64_t n = mesh->n_nodes;
    test_rows rows = test_rows_make(2 * n, 2 * n);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = p.A.row_start[i]; k < p.A.row_start[i + 1]; ++k) {
            const int64_t j = p.A.columns[k];
            test_rows_add(&rows, 2 * i, 2 * j, p.A.values[k]);
            if (j == i || (i % 37 != 0 && j % 37 != 0))
                test_rows_add(&rows, 2 * i + 1, 2 * j + 1, 1e3 * p.A.values[k]);
        }
    level_case one = finest(&p), c = {.A = test_rows_finish(&rows), .d = 3, .theta = 0.02};
    c.scale = malloc((size_t)(2 * n) * sizeof *c.scale);
    c.modes = malloc((size_t)(2 * n) * sizeof *c.modes);
    c.x = malloc((size_t)(6 * n) * sizeof *c.x);
    for (int64_t i = 0; i < 2 * n; ++i) {
        c.scale[i] = c.modes[i] = 1;
        memcpy(c.x + 3 * i, one.x + 3 * (i / 2), 3 * sizeof *c.x);
    }
    assert_int_equal(check_levels(&c, 2), 2);
    level_case_clear(&c);
    level_case_clear(&one);
    weft_mesh_free(&mesh);
}

/* All dofs constrained, or no couplings: there are no aggregates. */
static void nothing_to_aggregate(void **state) {
    (void)state;
    for (int is_fixed = 0; is_fixed < 2; ++is_fixed) {
        weft_mesh *mesh = make_mesh(2, 5);
        test_problem p = test_poisson(mesh, 1, NULL);
        level_case c = finest(&p);
        for (int64_t i = 0; i < c.A.n_rows && is_fixed; ++i)
            c.scale[i] = c.modes[i] = 0;
        for (int64_t i = 0; i < c.A.n_rows && !is_fixed; ++i)
            for (int64_t k = c.A.row_start[i]; k < c.A.row_start[i + 1]; ++k)
                c.A.values[k] *= c.A.columns[k] == i;
        assert_int_equal(check_levels(&c, 1), 0);
        level_case_clear(&c);
        weft_mesh_free(&mesh);
    }
}

/* ---- any prolongation ---- */

/* Entries of each row in random columns, the same one twice now and then, a quarter of them 0. */
static weft_csr random_prolongation(int64_t n, int64_t m) {
    const int w = WEFT_ROW_AGGREGATES;
    uint64_t seed = 77 + (uint64_t)m;
    weft_csr P = {0};
    weft_error error = {0};
    check(weft_csr_allocate(n, m, n * w, &P, &error), &error);
    for (int64_t k = 0; k < n * w; ++k) {
        P.row_start[k / w + 1] = k + 1;
        P.columns[k] = (int32_t)(setup_random(&seed) % (uint64_t)m);
        P.values[k] =
            setup_random(&seed) % 4 ? (double)(setup_random(&seed) >> 11) * 0x1p-53 - 0.3 : 0;
    }
    return P;
}

static weft_status multiply(device_steps *s, const level_case *c, const weft_csr *P,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = P->n_rows, n_entries = n * WEFT_ROW_AGGREGATES;
    double *scale = malloc((size_t)n * sizeof *scale);
    for (int64_t i = 0; i < n; ++i)
        scale[i] = 1 / sqrt(c->A.values[weft_csr_find(&c->A, i, i)]);
    s->aggregates.scale = place(s->device, scale, n, sizeof *scale);
    s->P = (weft_device_prolongation){
        .n_rows = n,
        .n_columns = P->n_columns,
        .columns = place(s->device, P->columns, n_entries, sizeof *P->columns),
        .weights = place(s->device, P->values, n_entries, sizeof *P->values)};
    free(scale);
    weft_memory *plain = s->P.columns;
    TRY(weft_connectivity_make_copied(s->device, NULL, &plain, WEFT_ROW_AGGREGATES, P->n_columns,
                                      &s->transfer, error));
    TRY(weft_device_galerkin_weighted(s->setup, &s->level, s->aggregates.scale, &s->P, s->transfer,
                                      &s->coarse, error));
done:
    return status;
}

/* Rows of one entry to more than a warp takes at a time; the longest that there may be have 256. */
static void any_prolongation(void **state) {
    (void)state;
    static const int64_t m[] = {1, 2, 7, 8, 9, 63, 64, 65, 129, 256, 300};
    weft_mesh *mesh = make_mesh(3, 12);
    test_problem p = test_poisson(mesh, 1, NULL);
    level_case c = finest(&p);
    int64_t most = 0, n_refused = 0;
    for (size_t i = 0; i < sizeof m / sizeof *m; ++i) {
        device_steps s;
        weft_error error = {0};
        weft_csr P = random_prolongation(c.A.n_rows, m[i]);
        double *dense = plain_product(&c, &P);
        int64_t longest = 0;
        for (int64_t a = 0; a < m[i]; ++a) {
            int64_t n = 0;
            for (int64_t b = 0; b < m[i]; ++b)
                n += dense[a * m[i] + b] != 0;
            longest = n > longest ? n : longest;
        }
        most = longest > most && longest <= 256 ? longest : most;
        device_open(&c, 1, &s);
        const weft_status status = multiply(&s, &c, &P, &error);
        if (longest > 256) {
            assert_int_equal(status, WEFT_ERROR_UNSUPPORTED);
            assert_non_null(strstr(error.message, "more than 256 entries"));
            ++n_refused;
        } else {
            check(status, &error);
            weft_csr found = read_matrix(&s.coarse);
            compare_product(&c, &P, &found);
            weft_csr_clear(&found);
        }
        free(dense);
        device_close(&s);
        weft_csr_clear(&P);
    }
    assert_int_equal(most, 256);
    assert_int_equal(n_refused, 1);
    level_case_clear(&c);
    weft_mesh_free(&mesh);
}

/* A node with couplings to `n` pairs of nodes along a line, each of which is an aggregate. */
static weft_status couple_pairs(int64_t n, weft_error *error) {
    level_case c = {.d = 1, .theta = 0.02};
    device_steps s;
    test_rows rows = test_rows_make(2 * n + 1, 2 * n + 1);
    for (int64_t i = 0; i <= 2 * n; ++i)
        test_rows_add(&rows, i, i, 1);
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < 2; ++k) {
            test_rows_add(&rows, 2 * i + k, 2 * i + 1 - k, -0.5);
            test_rows_add(&rows, k ? 2 * i : 2 * n, k ? 2 * n : 2 * i, -0.1);
        }
    c.A = test_rows_finish(&rows);
    c.scale = malloc((size_t)(2 * n + 1) * sizeof *c.scale);
    c.modes = malloc((size_t)(2 * n + 1) * sizeof *c.modes);
    c.x = malloc((size_t)(2 * n + 1) * sizeof *c.x);
    for (int64_t i = 0; i <= 2 * n; ++i) {
        c.scale[i] = c.modes[i] = 1;
        c.x[i] = i == 2 * n ? -1 : (double)i;
    }
    device_open(&c, 2, &s);
    s.level.aggregate_nodes = 2;
    const weft_status status = device_run(&s, error);
    device_close(&s);
    level_case_clear(&c);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_prolongation),
                                       cmocka_unit_test(too_many_aggregates),
                                       cmocka_unit_test(sizes),
                                       cmocka_unit_test(several_levels),
                                       cmocka_unit_test(coefficients_jump),
                                       cmocka_unit_test(regular),
                                       cmocka_unit_test(components_join),
                                       cmocka_unit_test(bodies_are_apart),
                                       cmocka_unit_test(nothing_to_aggregate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
