/* labels: quick */
/* Steps of aggregation: the tentative prolongation reproduces the near-nullspace, and the coarse
 * matrix of a free body has its rigid body modes as null space. */
#include "fem/multigrid/private.h"
#include "multigrid_support.h"

typedef struct steps {
    weft_coarsening level, coarse;
    weft_node_graph graph;
    weft_node_sets aggregates;
    int64_t n_coarse;
    double *modes; /* of the level, which are replaced by T */
} steps;

/* Without weak couplings: lumping does not keep the product with rotations. */
static steps run(const test_problem *p, int row_aggregates) {
    steps s = {0};
    const weft_aggregation_options options = test_options(p);
    weft_coarsening *level = &s.level;
    int64_t n = p->A.n_rows, c = p->components, n_nodes = n / c, d = p->mesh->dimension;
    level->A = &p->A;
    level->theta = 0;
    level->aggregate_nodes = 9;
    level->row_aggregates = row_aggregates;
    level->n_nodes = n_nodes;
    level->dimension = (int)d;
    level->x = p->mesh->x;
    level->node_start = malloc((size_t)(n_nodes + 1) * sizeof *level->node_start);
    level->node_of = malloc((size_t)n * sizeof *level->node_of);
    for (int64_t i = 0; i <= n_nodes; ++i)
        level->node_start[i] = (int32_t)(i * c);
    for (int64_t i = 0; i < n; ++i)
        level->node_of[i] = (int32_t)(i / c);
    assert_int_equal(weft_free_rows(&p->A, p->constrained, p->n_constrained, &level->scale, NULL),
                     WEFT_OK);
    assert_int_equal(
        weft_modes_make(NULL, &options, n, level->scale, &level->modes, &level->n_modes, NULL),
        WEFT_OK);
    s.modes = malloc((size_t)(n * level->n_modes) * sizeof *s.modes);
    memcpy(s.modes, level->modes, (size_t)(n * level->n_modes) * sizeof *s.modes);
    assert_int_equal(weft_csr_scale(NULL, &p->A, level->scale, &level->lambda, NULL), WEFT_OK);
    assert_int_equal(weft_node_graph_make(level, &s.graph, NULL), WEFT_OK);
    assert_int_equal(weft_nodes_bisect(level, &s.graph, &s.aggregates, NULL), WEFT_OK);
    assert_int_equal(weft_nodes_connect(level, &s.graph, &s.aggregates, NULL), WEFT_OK);
    assert_int_equal(weft_tentative_make(level, &s.aggregates, &s.coarse, &s.n_coarse, NULL),
                     WEFT_OK);
    return s;
}

static void steps_free(steps *s) {
    weft_coarsening *both[] = {&s->level, &s->coarse};
    for (int k = 0; k < 2; ++k) {
        free(both[k]->own_x);
        free(both[k]->node_start);
        free(both[k]->node_of);
        free(both[k]->scale);
        free(both[k]->modes);
    }
    free(s->modes);
    weft_node_graph_clear(&s->graph);
    weft_node_sets_clear(&s->aggregates);
}

/* Each node is in one aggregate, which is connected; B = T R; the columns of T are orthonormal. */
static void check_tentative(const test_problem *p) {
    steps s = run(p, 4);
    const int m = s.level.n_modes;
    int64_t c = p->components;
    for (int64_t node = 0; node < s.level.n_nodes; ++node) {
        int32_t aggregate = s.aggregates.of[node];
        assert_true(aggregate >= 0 || !s.graph.active[node]);
        for (int64_t i = node * c; i < (node + 1) * c && aggregate >= 0; ++i)
            for (int b = 0; b < m; ++b) {
                int64_t first = weft_node_row(&s.coarse, aggregate);
                int64_t n = weft_node_row(&s.coarse, aggregate + 1) - first;
                double sum = 0;
                for (int64_t r = 0; r < n; ++r)
                    sum += s.level.modes[i * m + r] * s.coarse.modes[(first + r) * m + b];
                assert_true(fabs(sum - s.modes[i * m + b]) < 1e-12);
            }
    }
    for (int64_t a = 0; a < s.aggregates.n; ++a) {
        int64_t n = weft_node_row(&s.coarse, a + 1) - weft_node_row(&s.coarse, a);
        for (int64_t q = 0; q < n; ++q)
            for (int64_t r = 0; r <= q; ++r) {
                double sum = 0;
                for (int64_t k = s.aggregates.start[a]; k < s.aggregates.start[a + 1]; ++k)
                    for (int64_t i = 0; i < c; ++i) {
                        const double *row = s.level.modes + (s.aggregates.nodes[k] * c + i) * m;
                        sum += row[q] * row[r];
                    }
                assert_true(fabs(sum - (q == r)) < 1e-12);
            }
    }
    steps_free(&s);
}

/* Rigid body modes of the coarse level: A_c R is rounding error beside |A_c| |R|. */
static void check_coarse_modes(const test_problem *p, int row_aggregates) {
    steps s = run(p, row_aggregates);
    const int m = s.level.n_modes;
    weft_csr P = {0}, A = {0};
    assert_int_equal(
        weft_prolongation_make(&s.level, &s.graph, &s.aggregates, &s.coarse, s.n_coarse, &P, NULL),
        WEFT_OK);
    assert_int_equal(weft_galerkin(NULL, &p->A, &P, &A, NULL), WEFT_OK);
    assert_true(s.n_coarse < p->A.n_rows / 3);
    for (int64_t i = 0; i < P.n_rows; ++i)
        assert_true(P.row_start[i + 1] - P.row_start[i] <= (int64_t)row_aggregates * m);
    for (int64_t i = 0; i < s.n_coarse; ++i)
        for (int b = 0; b < m; ++b) {
            double sum = 0, size = 0;
            for (int64_t k = A.row_start[i]; k < A.row_start[i + 1]; ++k) {
                double term = A.values[k] * s.coarse.modes[(int64_t)A.columns[k] * m + b];
                sum += term;
                size += fabs(term);
            }
            assert_true(fabs(sum) <= 1e-11 * (size + 1));
        }
    weft_csr_clear(&P);
    weft_csr_clear(&A);
    steps_free(&s);
}

static void near_nullspace_is_kept(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        weft_mesh *mesh = NULL;
        int64_t n = d == 2 ? 20 : 8;
        assert_int_equal(d == 2 ? weft_mesh_make_square(n, &mesh, NULL)
                                : weft_mesh_make_cube(n, &mesh, NULL),
                         WEFT_OK);
        test_mesh_jitter(mesh, n, 0.1);
        test_problem problems[] = {test_poisson(mesh, 1, NULL), test_elasticity(mesh, 0.3, NULL),
                                   test_elasticity(mesh, 0.3, "left")};
        for (int k = 0; k < 3; ++k)
            check_tentative(&problems[k]);
        for (int k = 0; k < 2; ++k) {
            check_coarse_modes(&problems[k], 100);
            check_coarse_modes(&problems[k], 2); /* truncated rows reproduce them as well */
        }
        for (int k = 0; k < 3; ++k)
            test_problem_clear(&problems[k]);
        weft_mesh_free(&mesh);
    }
}

/* Two nodes of a solid: the rotation about their line vanishes on them and is dropped. */
static void dependent_modes_are_dropped(void **state) {
    (void)state;
    double x[] = {0, 0, 0, 1, 2, 3}, values[36];
    int32_t columns[36];
    int64_t row_start[7];
    for (int i = 0; i < 6; ++i) {
        row_start[i + 1] = 6 * (i + 1);
        for (int j = 0; j < 6; ++j) {
            columns[6 * i + j] = j;
            values[6 * i + j] = i == j ? 4 : 0.5;
        }
    }
    row_start[0] = 0;
    weft_csr A = {6, 6, row_start, columns, values};
    weft_mesh mesh = {.dimension = 3, .n_nodes = 2, .x = x};
    const test_problem p = {.mesh = &mesh, .components = 3, .A = A};
    steps s = run(&p, 4);
    assert_int_equal(s.aggregates.n, 1);
    assert_int_equal(s.n_coarse, 5);
    steps_free(&s);
    check_tentative(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_nullspace_is_kept),
                                       cmocka_unit_test(dependent_modes_are_dropped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
