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

/* ---- refined meshes -------------------------------------------------------------------------- */

/* Dofs of a refined mesh, with random parents, and random constrained dofs of both levels. */
typedef struct refinement {
    weft_parents parents;
    int32_t *ends, *fine, *coarse;
} refinement;

static int64_t some_dofs(int64_t n, uint64_t *seed, int32_t *out) {
    int64_t n_out = 0;
    for (int64_t i = 0; i < n; ++i)
        if (random_next(seed) % 7 == 0)
            out[n_out++] = (int32_t)i;
    return n_out;
}

static refinement random_refinement(int64_t n_fine, int64_t n_coarse, int components,
                                    bool constrained, uint64_t seed) {
    refinement out = {0};
    const int64_t n = n_fine * components, m = n_coarse * components;
    int32_t *ends = calloc(2 * (size_t)n_fine, sizeof *ends);
    out.fine = calloc((size_t)n, sizeof *out.fine);
    out.coarse = calloc((size_t)m, sizeof *out.coarse);
    for (int64_t i = 0; i < n_fine; ++i) {
        ends[2 * i] = (int32_t)(random_next(&seed) % (uint64_t)n_coarse);
        ends[2 * i + 1] = random_next(&seed) % 3
                              ? (int32_t)(random_next(&seed) % (uint64_t)n_coarse)
                              : ends[2 * i];
    }
    out.ends = ends;
    out.parents = (weft_parents){.parents = ends,
                                 .n_fine = n_fine,
                                 .n_coarse = n_coarse,
                                 .components = components,
                                 .fine_constrained = out.fine,
                                 .coarse_constrained = out.coarse};
    if (constrained) {
        out.parents.n_fine_constrained = some_dofs(n, &seed, out.fine);
        out.parents.n_coarse_constrained = some_dofs(m, &seed, out.coarse);
    }
    return out;
}

static void refinement_clear(refinement *r) {
    free(r->ends);
    free(r->fine);
    free(r->coarse);
}

/* Means of two dofs, from the definition. */
static weft_csr interpolation(const weft_parents *parents) {
    const int c = parents->components;
    const int64_t n = parents->n_fine * c, m = parents->n_coarse * c;
    char *fine = calloc((size_t)n, 1), *coarse = calloc((size_t)m, 1);
    test_rows rows = test_rows_make(n, m);
    for (int64_t k = 0; k < parents->n_fine_constrained; ++k)
        fine[parents->fine_constrained[k]] = 1;
    for (int64_t k = 0; k < parents->n_coarse_constrained; ++k)
        coarse[parents->coarse_constrained[k]] = 1;
    for (int64_t i = 0; i < n; ++i)
        for (int end = 0; end < 2 && !fine[i]; ++end) {
            const int64_t j = (int64_t)parents->parents[i / c * 2 + end] * c + i % c;
            if (!coarse[j])
                test_rows_add(&rows, i, j, 0.5);
        }
    free(fine);
    free(coarse);
    return test_rows_finish(&rows);
}

/* Entries of A are integers, those of P halves: no sum is rounded. */
static void refined_products(void **state) {
    (void)state;
    const int64_t sizes[][2] = {{1, 1}, {9, 2}, {60, 11}, {150, 30}};
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("host:3", NULL, &device, NULL), WEFT_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int i = 0; i < 4; ++i) {
            const int components = 1 + i % 2;
            refinement r = random_refinement(sizes[s][0], sizes[s][1], components, i / 2, 11 + s);
            const int64_t n = sizes[s][0] * components, m = sizes[s][1] * components;
            weft_csr A = random_matrix(n, n, true, 5 + s), P = interpolation(&r.parents), C = {0};
            double *a = dense(&A), *p = dense(&P), *pt = dense_transpose(p, n, m);
            double *ap = dense_product(a, p, n, n, m);
            assert_int_equal(weft_galerkin_refined(device, &A, &r.parents, &C, NULL), WEFT_OK);
            assert_int_equal(C.n_rows, m);
            assert_int_equal(C.n_columns, m);
            check(&C, dense_product(pt, ap, m, n, m), 0);
            free(a);
            free(p);
            free(pt);
            free(ap);
            weft_csr_clear(&A);
            weft_csr_clear(&P);
            weft_csr_clear(&C);
            refinement_clear(&r);
        }
    weft_device_free(&device);
}

/* Several chunks of rows: entries and values are those of the general product, and with real entries the same for any
 * number of threads. */
static void large_refined_product(void **state) {
    (void)state;
    enum { FINE = 40000, COARSE = 9000 };
    refinement r = random_refinement(FINE, COARSE, 1, true, 3);
    weft_csr P = interpolation(&r.parents);
    for (int real = 0; real < 2; ++real) {
        uint64_t seed = 9;
        test_rows rows = test_rows_make(FINE, FINE);
        for (int64_t k = 0; k < 5 * FINE; ++k)
            test_rows_add(&rows, k / 5, (int64_t)(random_next(&seed) % FINE),
                          (double)(random_next(&seed) % 101) / (real ? 64.3 : 1));
        weft_csr A = test_rows_finish(&rows), C[2] = {0};
        for (int t = 0; t < 2; ++t) {
            weft_device *device = NULL;
            assert_int_equal(weft_device_open(t ? "host:4" : "host:1", NULL, &device, NULL),
                             WEFT_OK);
            const weft_status status =
                t || real ? weft_galerkin_refined(device, &A, &r.parents, &C[t], NULL)
                          : weft_galerkin(device, &A, &P, &C[t], NULL);
            assert_int_equal(status, WEFT_OK);
            weft_device_free(&device);
        }
        const int64_t n = C[0].row_start[COARSE];
        assert_memory_equal(C[0].row_start, C[1].row_start, (COARSE + 1) * sizeof *C[0].row_start);
        assert_memory_equal(C[0].columns, C[1].columns, (size_t)n * sizeof *C[0].columns);
        assert_memory_equal(C[0].values, C[1].values, (size_t)n * sizeof *C[0].values);
        weft_csr_clear(&A);
        weft_csr_clear(&C[0]);
        weft_csr_clear(&C[1]);
    }
    weft_csr_clear(&P);
    refinement_clear(&r);
}

static void refinements_are_checked(void **state) {
    (void)state;
    const int32_t ends[2][2] = {{0, 0}, {0, 1}}, dofs[] = {2};
    weft_parents parents = {.parents = ends[0], .n_fine = 2, .n_coarse = 1};
    weft_error error = {0};
    weft_csr A = random_matrix(2, 2, true, 1), larger = random_matrix(3, 3, true, 1), C = {0};
    assert_int_equal(weft_galerkin_refined(NULL, &A, &parents, &C, &error), WEFT_ERROR_SHAPE);
    assert_string_equal(error.message, "node 1 has the parent 1 of 1");
    assert_int_equal(weft_galerkin_refined(NULL, &larger, &parents, &C, &error), WEFT_ERROR_SHAPE);
    assert_string_equal(error.message, "a matrix of 3 rows and 3 columns for 2 refined dofs");
    parents.n_coarse = 2;
    parents.coarse_constrained = dofs;
    parents.n_coarse_constrained = 1;
    assert_int_equal(weft_galerkin_refined(NULL, &A, &parents, &C, &error), WEFT_ERROR_SHAPE);
    assert_string_equal(error.message, "constrained dof 2 of 2 dofs");
    assert_null(C.values);
    weft_csr_clear(&A);
    weft_csr_clear(&larger);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_dense_products),
                                       cmocka_unit_test(shapes_must_agree),
                                       cmocka_unit_test(symmetric_parts),
                                       cmocka_unit_test(refined_products),
                                       cmocka_unit_test(large_refined_product),
                                       cmocka_unit_test(refinements_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
