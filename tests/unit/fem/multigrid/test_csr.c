/* labels: quick */
/* Products of sparse matrices against dense ones. Entries are integers below 2^7 and sums below
 * 2^53, so results are exact; with real entries, sums of 40^2 terms of size 1 differ by at most
 * 1e-13. */
#include "multigrid_support.h"

static uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Rows of 0 to n_columns / 2 entries. */
static weft_csr random_matrix(int64_t n_rows, int64_t n_columns, bool integers, uint64_t seed) {
    test_rows rows = test_rows_make(n_rows, n_columns);
    for (int64_t i = 0; i < n_rows; ++i) {
        int64_t n = (int64_t)(random_next(&seed) % (uint64_t)(n_columns / 2 + 1));
        for (int64_t k = 0; k < n; ++k) {
            int64_t j = (int64_t)(random_next(&seed) % (uint64_t)n_columns);
            double value = (double)(random_next(&seed) % 101) - 50;
            test_rows_add(&rows, i, j, integers ? value : value / 64.3);
        }
    }
    return test_rows_finish(&rows);
}

static double *dense(const weft_csr *A) {
    double *out = calloc((size_t)(A->n_rows * A->n_columns) + 1, sizeof *out);
    for (int64_t i = 0; i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            out[i * A->n_columns + A->columns[k]] += A->values[k];
    return out;
}

static double *dense_product(const double *a, const double *b, int64_t n, int64_t m, int64_t l) {
    double *out = calloc((size_t)(n * l) + 1, sizeof *out);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < m; ++k)
            for (int64_t j = 0; j < l; ++j)
                out[i * l + j] += a[i * m + k] * b[k * l + j];
    return out;
}

static double *dense_transpose(const double *a, int64_t n, int64_t m) {
    double *out = calloc((size_t)(n * m) + 1, sizeof *out);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < m; ++j)
            out[j * n + i] = a[i * m + j];
    return out;
}

/* Frees the expected matrix. */
static void check(const weft_csr *A, double *expected, double tolerance) {
    double *found = dense(A);
    for (int64_t i = 0; i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i] + 1; k < A->row_start[i + 1]; ++k)
            assert_true(A->columns[k - 1] < A->columns[k]);
    for (int64_t k = 0; k < A->n_rows * A->n_columns; ++k)
        assert_true(fabs(found[k] - expected[k]) <= tolerance);
    free(found);
    free(expected);
}

static void products_are_dense_products(void **state) {
    (void)state;
    const int64_t sizes[][2] = {{1, 1}, {40, 13}, {13, 40}, {200, 31}, {5000, 3}};
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("host:3", NULL, &device, NULL), WEFT_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int integers = 0; integers < 2; ++integers) {
            int64_t n = sizes[s][0], m = sizes[s][1];
            double tolerance = integers ? 0 : 1e-13 * (double)(n < 300 ? 40 * 40 : n);
            weft_csr A = random_matrix(n < 300 ? n : 1, n < 300 ? n : 1, integers, 7 + s);
            weft_csr P = random_matrix(n, m, integers, 77 + s), PT = {0}, PTP = {0}, C = {0};
            double *a = dense(&A), *p = dense(&P), *pt = dense_transpose(p, n, m);
            assert_int_equal(weft_csr_transpose(device, &P, &PT, NULL), WEFT_OK);
            check(&PT, dense_transpose(p, n, m), 0);
            assert_int_equal(weft_csr_multiply(device, &PT, &P, &PTP, NULL), WEFT_OK);
            check(&PTP, dense_product(pt, p, m, n, m), tolerance);
            if (n < 300) {
                double *ap = dense_product(a, p, n, n, m);
                assert_int_equal(weft_galerkin(device, &A, &P, &C, NULL), WEFT_OK);
                check(&C, dense_product(pt, ap, m, n, m), tolerance);
                free(ap);
            }
            free(a);
            free(p);
            free(pt);
            weft_csr_clear(&A);
            weft_csr_clear(&P);
            weft_csr_clear(&PT);
            weft_csr_clear(&PTP);
            weft_csr_clear(&C);
        }
    weft_device_free(&device);
}

static void shapes_must_agree(void **state) {
    (void)state;
    weft_csr A = random_matrix(3, 4, true, 1), out = {0};
    weft_error error = {0};
    double lambda;
    assert_int_equal(weft_csr_multiply(NULL, &A, &A, &out, &error), WEFT_ERROR_SHAPE);
    assert_string_equal(error.message, "a matrix of 4 columns times one of 3 rows");
    assert_int_equal(weft_csr_eigenvalue(NULL, &A, NULL, 0, &lambda, &error), WEFT_ERROR_SHAPE);
    assert_null(out.values);
    weft_csr_clear(&A);
}

/* An edge refined: nodes 0, 1 of the coarse mesh, and their midpoint. Two components. */
/* Of R + R^T's pattern, and of R's alone. */
static void symmetric_parts(void **state) {
    (void)state;
    weft_error error = {0};
    for (int alone = 0; alone < 2; ++alone) {
        uint64_t seed = 77;
        test_rows rows = test_rows_make(9000, 9000);
        for (int64_t i = 0; i < 9000; ++i)
            for (int k = 0; k < 4; ++k) {
                const int64_t j = (int64_t)(random_next(&seed) % 9000);
                test_rows_add(&rows, i, j, (double)(random_next(&seed) % 101));
                if (!alone)
                    test_rows_add(&rows, j, i, (double)(random_next(&seed) % 101));
            }
        weft_csr A = test_rows_finish(&rows), transposed = {0};
        double *out = calloc((size_t)A.row_start[9000] + 1, sizeof *out);
        const weft_status status = weft_csr_symmetric_part(NULL, &A, out, &error);
        assert_int_equal(status, alone ? WEFT_ERROR_UNSUPPORTED : WEFT_OK);
        assert_int_equal(weft_csr_transpose(NULL, &A, &transposed, &error), WEFT_OK);
        for (int64_t k = 0; !alone && k < A.row_start[9000]; ++k) {
            assert_int_equal(A.columns[k], transposed.columns[k]);
            assert_true(out[k] == (A.values[k] + transposed.values[k]) / 2);
        }
        free(out);
        weft_csr_clear(&A);
        weft_csr_clear(&transposed);
    }
}

static void parents_become_weights(void **state) {
    (void)state;
    const int32_t ends[3][2] = {{1, 1}, {1, 0}, {0, 0}};
    const int32_t fine[] = {1}, coarse[] = {3};
    const weft_parents parents = {ends[0], 3, 2, 2, fine, coarse, 1, 1};
    /* Fine dof 1 and coarse dof 3, the second components of nodes 0 and 1, are constrained. */
    const double expected[6][4] = {{0, 0, 1, 0},   {0, 0, 0, 0}, {0.5, 0, 0.5, 0},
                                   {0, 0.5, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}};
    weft_csr P = {0};
    assert_int_equal(weft_csr_from_parents(NULL, &parents, &P, NULL), WEFT_OK);
    assert_int_equal(P.n_rows, 6);
    assert_int_equal(P.n_columns, 4);
    assert_int_equal(P.row_start[6], 6);
    double *copy = calloc(24, sizeof *copy);
    memcpy(copy, expected, sizeof expected);
    check(&P, copy, 0);
    weft_csr_clear(&P);
}

static void parents_must_exist(void **state) {
    (void)state;
    const int32_t ends[2][2] = {{0, 0}, {0, 1}};
    const weft_parents parents = {.parents = ends[0], .n_fine = 2, .n_coarse = 1};
    weft_error error = {0};
    weft_csr P = {0};
    assert_int_equal(weft_csr_from_parents(NULL, &parents, &P, &error), WEFT_ERROR_SHAPE);
    assert_string_equal(error.message, "node 1 has the parent 1 of 1");
    assert_null(P.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_dense_products), cmocka_unit_test(shapes_must_agree),
        cmocka_unit_test(symmetric_parts), cmocka_unit_test(parents_become_weights),
        cmocka_unit_test(parents_must_exist)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
