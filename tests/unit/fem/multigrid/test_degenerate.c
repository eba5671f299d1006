/* labels: quick */
/* Matrices at the limits of aggregation, and input that is refused. */
#include "multigrid_support.h"

/* The Laplacian of disjoint paths of the given lengths, singular unless `shift` is added. */
static weft_csr paths(const int *lengths, int n, double shift) {
    int64_t n_rows = 0, at = 0;
    for (int k = 0; k < n; ++k)
        n_rows += lengths[k];
    test_rows rows = test_rows_make(n_rows, n_rows);
    for (int k = 0; k < n; at += lengths[k++])
        for (int64_t i = at; i < at + lengths[k]; ++i) {
            test_rows_add(&rows, i, i, shift);
            if (i + 1 == at + lengths[k])
                continue;
            test_rows_add(&rows, i, i, 1);
            test_rows_add(&rows, i + 1, i + 1, 1);
            test_rows_add(&rows, i, i + 1, -1);
            test_rows_add(&rows, i + 1, i, -1);
        }
    return test_rows_finish(&rows);
}

/* Levels are made and are finite; CG converges for a right-hand side in the range of A. */
static int use(const weft_csr *A, const weft_aggregation_options *options, int *n_levels) {
    weft_algebraic_level *levels = NULL;
    weft_error error = {0};
    int n = 0, count;
    if (weft_aggregation_make(NULL, A, options, NULL, &levels, &n, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    for (int l = 0; l < n; ++l) {
        const weft_csr *P = &levels[l].P;
        assert_true(isfinite(levels[l].lambda));
        for (int64_t k = 0; P->row_start && k < P->row_start[P->n_rows]; ++k)
            assert_true(isfinite(P->values[k]));
    }
    double *x = calloc((size_t)A->n_rows + 1, sizeof *x), *b = calloc((size_t)A->n_rows + 1, 8);
    for (int64_t i = 0; i < A->n_rows; ++i)
        x[i] = 1 + sin((double)i);
    for (int64_t k = 0; k < options->n_constrained; ++k)
        x[options->constrained[k]] = 0;
    test_multiply(A, x, b);
    count = test_iterations(levels, n, 2, b);
    free(x);
    free(b);
    weft_algebraic_levels_free(&levels, n);
    *n_levels = n;
    return count;
}

static void one_row(void **state) {
    (void)state;
    const int32_t constrained[] = {0};
    weft_csr A = paths((int[]){1}, 1, 2);
    int n;
    assert_int_equal(use(&A, &(weft_aggregation_options){0}, &n), 1);
    assert_int_equal(n, 1);
    const weft_aggregation_options all = {.constrained = constrained, .n_constrained = 1};
    assert_int_equal(use(&A, &all, &n), 0);
    weft_csr_clear(&A);
}

static void diagonal_matrix(void **state) {
    (void)state;
    int lengths[300], n;
    double x[600] = {0};
    for (int k = 0; k < 300; ++k)
        lengths[k] = 1;
    weft_csr A = paths(lengths, 300, 3);
    weft_aggregation_options options = {.coarsest_rows = 10};
    assert_int_equal(use(&A, &options, &n), 1);
    assert_int_equal(n, 1); /* nothing to aggregate */
    options.x = x;          /* all nodes in one place */
    options.dimension = 2;
    assert_int_equal(use(&A, &options, &n), 1);
    assert_int_equal(n, 1);
    weft_csr_clear(&A);
}

static void all_rows_constrained(void **state) {
    (void)state;
    int32_t constrained[100];
    for (int k = 0; k < 100; ++k)
        constrained[k] = k;
    weft_csr A = paths((int[]){100}, 1, 1);
    weft_aggregation_options options = {
        .constrained = constrained, .n_constrained = 100, .coarsest_rows = 10};
    weft_algebraic_level *levels = NULL;
    int n = 0;
    assert_int_equal(weft_aggregation_make(NULL, &A, &options, NULL, &levels, &n, NULL), WEFT_OK);
    assert_int_equal(n, 1);
    assert_true(levels[0].lambda == 0);
    weft_algebraic_levels_free(&levels, n);
    weft_csr_clear(&A);
}

/* Parts of a singular matrix end as single coarse dofs, one of them on each level; and an isolated
 * node. Coordinates put all parts in the same place. */
static void disconnected_parts(void **state) {
    (void)state;
    double x[1600];
    weft_csr A = paths((int[]){400, 100, 200, 3, 1, 30, 66}, 7, 0);
    weft_aggregation_options options = {.coarsest_rows = 4, .dimension = 2};
    int n, at = 0;
    for (int64_t k = A.row_start[703]; k < A.row_start[704]; ++k)
        A.values[k] = 5; /* the isolated node */
    for (int k = 0; k < 800; ++k) {
        at = k == 400 || k == 500 || k == 700 || k == 703 || k == 704 || k == 734 ? 0 : at;
        x[2 * k] = at++;
        x[2 * k + 1] = 0;
    }
    assert_true(use(&A, &options, &n) <= 30);
    assert_true(n > 3);
    options.x = x;
    assert_true(use(&A, &options, &n) <= 30);
    assert_true(n > 2);
    weft_csr_clear(&A);
}

/* Coefficients of 1 and 1e4 along a path: aggregates of either do not contain the other. */
static void weak_couplings_separate_aggregates(void **state) {
    (void)state;
    enum { N = 200 };
    test_rows rows = test_rows_make(N, N);
    for (int64_t i = 0; i < N; ++i) {
        double k = i / 20 % 2 ? 1e8 : 1;
        test_rows_add(&rows, i, i, i % 20 == 0 || i % 20 == 19 ? k + 1e-3 : 2 * k);
        if (i + 1 < N) {
            test_rows_add(&rows, i, i + 1, i % 20 == 19 ? -1e-3 : -k);
            test_rows_add(&rows, i + 1, i, i % 20 == 19 ? -1e-3 : -k);
        }
    }
    double x[2 * N] = {0};
    for (int i = 0; i < N; ++i)
        x[2 * i] = i;
    weft_csr A = test_rows_finish(&rows);
    const weft_aggregation_options options = {
        .x = x, .dimension = 2, .coarsest_rows = 20, .aggregate_nodes = 3};
    weft_algebraic_level *levels = NULL;
    int n = 0;
    assert_int_equal(weft_aggregation_make(NULL, &A, &options, NULL, &levels, &n, NULL), WEFT_OK);
    const weft_csr *P = &levels[0].P;
    int32_t *block = calloc((size_t)P->n_columns, sizeof *block);
    for (int64_t i = 0; i < N; ++i)
        for (int64_t k = P->row_start[i]; k < P->row_start[i + 1]; ++k) {
            int32_t *of = &block[P->columns[k]];
            assert_true(*of == 0 || *of == i / 20 + 1);
            *of = (int32_t)(i / 20 + 1);
        }
    free(block);
    weft_algebraic_levels_free(&levels, n);
    weft_csr_clear(&A);
}

static void check_refused(const weft_csr *A, const weft_aggregation_options *options,
                          weft_status expected, const char *message) {
    weft_algebraic_level *levels = NULL;
    weft_error error = {0};
    int n = -1;
    assert_int_equal(weft_aggregation_make(NULL, A, options, NULL, &levels, &n, &error), expected);
    assert_string_equal(error.message, message);
    assert_null(levels);
    assert_int_equal(n, -1);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    const int32_t outside[] = {30};
    double x[60] = {0}, modes[30] = {0};
    weft_csr A = paths((int[]){30}, 1, 0.1);
    check_refused(&A, &(weft_aggregation_options){.components = 4}, WEFT_ERROR_SHAPE,
                  "30 rows of 4 components per node");
    check_refused(&A, &(weft_aggregation_options){.constrained = outside, .n_constrained = 1},
                  WEFT_ERROR_SHAPE, "constrained dof 30 of a matrix of 30 rows");
    check_refused(&A, &(weft_aggregation_options){.x = x, .dimension = 4}, WEFT_ERROR_USAGE,
                  "coordinates in 4 dimensions");
    check_refused(&A, &(weft_aggregation_options){.rigid_body_modes = true}, WEFT_ERROR_USAGE,
                  "rigid body modes need coordinates, and as many components per node");
    check_refused(&A, &(weft_aggregation_options){.near_nullspace = modes}, WEFT_ERROR_USAGE,
                  "0 vectors of the near-nullspace, which has 1 to 16");
    check_refused(&A,
                  &(weft_aggregation_options){.near_nullspace = modes,
                                              .n_near_nullspace = 1,
                                              .node_start = (int32_t[]){0, 29},
                                              .n_nodes = 1},
                  WEFT_ERROR_USAGE,
                  "rows of nodes need a near-nullspace, and as many rows as the matrix");
    check_refused(&A, &(weft_aggregation_options){.aggregate_nodes = 1}, WEFT_ERROR_USAGE,
                  "aggregates of 1 nodes");
    check_refused(&A, &(weft_aggregation_options){.most_levels = -1}, WEFT_ERROR_USAGE,
                  "a limit of levels, rows or aggregates is negative");
    x[15] = NAN;
    check_refused(&A, &(weft_aggregation_options){.x = x, .dimension = 2, .coarsest_rows = 5},
                  WEFT_ERROR_INPUT, "a coordinate of node 7 is not finite");
    modes[3] = INFINITY;
    check_refused(&A, &(weft_aggregation_options){.near_nullspace = modes, .n_near_nullspace = 1},
                  WEFT_ERROR_INPUT, "the near-nullspace of row 3 is not finite");
    A.values[A.row_start[9]] = NAN;
    check_refused(&A, &(weft_aggregation_options){0}, WEFT_ERROR_INPUT,
                  "row 9 of the matrix has an entry that is not finite");
    A.values[A.row_start[9]] = -1;
    A.values[A.row_start[12] + 1] = -2;
    check_refused(&A, &(weft_aggregation_options){0}, WEFT_ERROR_INPUT,
                  "the diagonal entry of row 12 of the matrix is -2");
    weft_csr_clear(&A);
}

/* A path's eigenvalues are 2 - 2 cos(k pi / n), those of D^-1 A below 2. */
static void eigenvalues_are_bounded(void **state) {
    (void)state;
    const int32_t constrained[] = {0};
    const double pi = 3.14159265358979323846;
    double lambda;
    for (int n = 1; n <= 3000; n = 3 * n) {
        weft_csr A = paths((int[]){n}, 1, 1);
        /* D^-1 A has the diagonal 1: the largest eigenvalue is at least 1, at most 1 + 2/3. */
        assert_int_equal(weft_csr_eigenvalue(NULL, &A, NULL, 0, &lambda, NULL), WEFT_OK);
        assert_true(lambda >= 1 && lambda <= 1.75);
        /* Inner rows are (-1, 3, -1); long paths come near 1 + 2/3 cos(pi / (n + 1)). */
        if (n > 3)
            assert_true(lambda >= 1 + 2.0 / 3 * cos(pi / (n - 1)) - 1e-6);
        assert_int_equal(weft_csr_eigenvalue(NULL, &A, constrained, 1, &lambda, NULL), WEFT_OK);
        assert_true(n == 1 ? lambda == 0 : lambda >= 1);
        weft_csr_clear(&A);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_row),
                                       cmocka_unit_test(diagonal_matrix),
                                       cmocka_unit_test(all_rows_constrained),
                                       cmocka_unit_test(disconnected_parts),
                                       cmocka_unit_test(weak_couplings_separate_aggregates),
                                       cmocka_unit_test(bad_input_is_refused),
                                       cmocka_unit_test(eigenvalues_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
