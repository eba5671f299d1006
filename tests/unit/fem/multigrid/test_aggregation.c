/* labels: quick */
/* Hierarchies by aggregation: what a reference V-cycle makes of them. Iterations are counted to
 * |r| <= 1e-8 |b| with a smoother of degree 2, on meshes whose inner nodes are moved at random by a
 * tenth of the mesh size. */
#include "multigrid_support.h"

static weft_mesh *make_mesh(int d, int64_t n) {
    weft_mesh *mesh = NULL;
    assert_int_equal(d == 2 ? weft_mesh_make_square(n, &mesh, NULL)
                            : weft_mesh_make_cube(n, &mesh, NULL),
                     WEFT_OK);
    test_mesh_jitter(mesh, n, 0.1);
    return mesh;
}

/* CG iterations; the right-hand side is A times a rough vector. */
static int count_iterations(const weft_csr *A, const weft_algebraic_level *levels, int n_levels) {
    double *x = calloc((size_t)A->n_rows, sizeof *x), *b = calloc((size_t)A->n_rows, sizeof *b);
    for (int64_t i = 0; i < A->n_rows; ++i)
        x[i] = 1 + sin((double)i);
    test_multiply(A, x, b);
    int count = test_iterations(levels, n_levels, 2, b);
    free(x);
    free(b);
    return count;
}

static int iterations(const test_problem *p, const weft_aggregation_options *options) {
    weft_algebraic_level *levels = NULL;
    weft_error error = {0};
    int n = 0;
    if (weft_aggregation_make(NULL, &p->A, options, NULL, &levels, &n, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    int count = count_iterations(&p->A, levels, n);
    weft_algebraic_levels_free(&levels, n);
    return count;
}

static void check_iterations(test_problem p, int most) {
    weft_aggregation_options options = test_options(&p);
    int count = iterations(&p, &options);
    if (count > most)
        fail_msg("%d iterations, at most %d expected", count, most);
    test_problem_clear(&p);
}

static void scalar_problems_take_few_iterations(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 120), *cube = make_mesh(3, 24);
    check_iterations(test_poisson(square, 1, "boundary"), 16);
    check_iterations(test_poisson(square, 1e4, "boundary"), 20);
    check_iterations(test_poisson(square, 1, "left"), 16);
    check_iterations(test_poisson(square, 1, NULL), 16); /* singular */
    check_iterations(test_poisson(cube, 1, "boundary"), 16);
    check_iterations(test_poisson(cube, 1e4, "boundary"), 20);
    weft_mesh_free(&square);
    weft_mesh_free(&cube);
}

static void elasticity_takes_few_iterations(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 80), *cube = make_mesh(3, 14);
    check_iterations(test_elasticity(square, 0.3, "left"), 20);
    check_iterations(test_elasticity(cube, 0.3, "left"), 20);
    weft_mesh_free(&square);
    weft_mesh_free(&cube);
}

static void coordinates_are_not_needed(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 120), *cube = make_mesh(3, 24);
    test_problem problems[] = {test_poisson(square, 1, "boundary"),
                               test_poisson(cube, 1, "boundary")};
    for (int k = 0; k < 2; ++k) {
        weft_aggregation_options options = test_options(&problems[k]);
        options.x = NULL;
        assert_true(iterations(&problems[k], &options) <= 16);
        test_problem_clear(&problems[k]);
    }
    weft_mesh_free(&square);
    weft_mesh_free(&cube);
}

/* Translations alone take more iterations than rigid body modes, which may be given as vectors. */
static void given_vectors_are_the_near_nullspace(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 80);
    test_problem p = test_elasticity(square, 0.3, "left");
    weft_aggregation_options options = test_options(&p);
    int rigid = iterations(&p, &options), translations, given;
    options.rigid_body_modes = false;
    translations = iterations(&p, &options);
    double *modes = calloc((size_t)p.A.n_rows * 3, sizeof *modes);
    for (int64_t node = 0; node < square->n_nodes; ++node) {
        modes[node * 6] = modes[node * 6 + 4] = 1;
        modes[node * 6 + 2] = -square->x[2 * node + 1];
        modes[node * 6 + 5] = square->x[2 * node];
    }
    options.near_nullspace = modes;
    options.n_near_nullspace = 3;
    given = iterations(&p, &options);
    assert_int_equal(given, rigid);
    assert_true(translations > rigid + 5);
    int32_t *start = malloc(((size_t)square->n_nodes + 1) * sizeof *start);
    for (int64_t node = 0; node <= square->n_nodes; ++node)
        start[node] = (int32_t)(2 * node);
    options.components = 0;
    options.node_start = start;
    options.n_nodes = square->n_nodes;
    assert_int_equal(iterations(&p, &options), rigid);
    free(start);
    free(modes);
    test_problem_clear(&p);
    weft_mesh_free(&square);
}

/* The counts notice a wrong prolongation, whose coarse matrix is right for it: one row in fifty
 * takes the values of another aggregate, or is lost. */
static void faults_take_more_iterations(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 120);
    test_problem p = test_poisson(square, 1, "boundary");
    weft_aggregation_options options = test_options(&p);
    options.most_levels = 2;
    for (int fault = 0; fault < 2; ++fault) {
        weft_algebraic_level *levels = NULL;
        int n = 0;
        assert_int_equal(weft_aggregation_make(NULL, &p.A, &options, NULL, &levels, &n, NULL),
                         WEFT_OK);
        weft_csr *P = &levels[0].P;
        assert_int_equal(n, 2);
        assert_true(count_iterations(&p.A, levels, n) <= 16);
        for (int64_t i = 0; i < P->n_rows; i += 50)
            for (int64_t k = P->row_start[i]; k < P->row_start[i + 1]; ++k)
                if (fault == 0)
                    P->columns[k] = (int32_t)((P->columns[k] + 40) % P->n_columns);
                else
                    P->values[k] = 0;
        weft_csr_clear(&levels[1].A);
        assert_int_equal(weft_galerkin(NULL, &p.A, P, &levels[1].A, NULL), WEFT_OK);
        int count = count_iterations(&p.A, levels, n);
        if (count <= 20)
            fail_msg("fault %d: %d iterations", fault, count);
        weft_algebraic_levels_free(&levels, n);
    }
    test_problem_clear(&p);
    weft_mesh_free(&square);
}

/* A matrix whose constrained columns have not been removed: only the mask keeps these dofs out of
 * the aggregates. */
static void constrained_dofs_are_left_out(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 60);
    test_problem p = test_poisson(square, 1, "boundary");
    test_problem whole = test_poisson(square, 1, NULL);
    weft_aggregation_options options = test_options(&p);
    weft_algebraic_level *levels[2] = {0};
    int n[2];
    assert_int_equal(weft_aggregation_make(NULL, &p.A, &options, NULL, &levels[0], &n[0], NULL),
                     WEFT_OK);
    assert_int_equal(weft_aggregation_make(NULL, &whole.A, &options, NULL, &levels[1], &n[1], NULL),
                     WEFT_OK);
    const weft_csr *P = &levels[0][0].P, *Q = &levels[1][0].P;
    assert_int_equal(P->row_start[P->n_rows], Q->row_start[Q->n_rows]);
    for (int64_t k = 0; k < p.n_constrained; ++k)
        assert_int_equal(Q->row_start[p.constrained[k]], Q->row_start[p.constrained[k] + 1]);
    for (int64_t k = 0; k < P->row_start[P->n_rows]; ++k)
        assert_true(P->columns[k] == Q->columns[k] && P->values[k] == Q->values[k]);
    for (int k = 0; k < 2; ++k)
        weft_algebraic_levels_free(&levels[k], n[k]);
    test_problem_clear(&p);
    test_problem_clear(&whole);
    weft_mesh_free(&square);
}

static void assert_same(const weft_csr *A, const weft_csr *B) {
    assert_int_equal(A->n_rows, B->n_rows);
    assert_int_equal(A->n_columns, B->n_columns);
    if (!A->row_start)
        return;
    size_t n = (size_t)A->row_start[A->n_rows];
    assert_memory_equal(A->row_start, B->row_start, ((size_t)A->n_rows + 1) * sizeof *A->row_start);
    assert_memory_equal(A->columns, B->columns, n * sizeof *A->columns);
    assert_memory_equal(A->values, B->values, n * sizeof *A->values);
}

static void threads_do_not_change_bits(void **state) {
    (void)state;
    static const char *const names[] = {"host:1", "host:2", "host:3", "host:4"};
    weft_mesh *square = make_mesh(2, 150), *cube = make_mesh(3, 12);
    test_problem problems[] = {test_poisson(square, 1e4, "left"),
                               test_elasticity(cube, 0.3, "left")};
    for (int k = 0; k < 2; ++k) {
        weft_aggregation_options options = test_options(&problems[k]);
        weft_algebraic_level *first = NULL, *levels = NULL;
        int n_first = 0, n = 0;
        options.coarsest_rows = 50;
        assert_int_equal(
            weft_aggregation_make(NULL, &problems[k].A, &options, NULL, &first, &n_first, NULL),
            WEFT_OK);
        assert_true(n_first > 2);
        for (int t = 0; t < 4; ++t) {
            weft_device *device = NULL;
            assert_int_equal(weft_device_open(names[t], NULL, &device, NULL), WEFT_OK);
            assert_int_equal(
                weft_aggregation_make(device, &problems[k].A, &options, NULL, &levels, &n, NULL),
                WEFT_OK);
            assert_int_equal(n, n_first);
            for (int l = 0; l < n; ++l) {
                assert_same(&levels[l].A, &first[l].A);
                assert_same(&levels[l].P, &first[l].P);
                assert_true(levels[l].lambda == first[l].lambda);
            }
            weft_algebraic_levels_free(&levels, n);
            weft_device_free(&device);
        }
        weft_algebraic_levels_free(&first, n_first);
        test_problem_clear(&problems[k]);
    }
    weft_mesh_free(&square);
    weft_mesh_free(&cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scalar_problems_take_few_iterations),
                                       cmocka_unit_test(elasticity_takes_few_iterations),
                                       cmocka_unit_test(coordinates_are_not_needed),
                                       cmocka_unit_test(given_vectors_are_the_near_nullspace),
                                       cmocka_unit_test(faults_take_more_iterations),
                                       cmocka_unit_test(constrained_dofs_are_left_out),
                                       cmocka_unit_test(threads_do_not_change_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
