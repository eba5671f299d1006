/* labels: quick */
/* Eigenvalues and eigenvectors of symmetric matrices: those of the second difference, 2 - 2 cos(k pi/(n + 1)), in magnitudes from 1e-150
 * to 1e150; A V = V D, V^T V = 1 and the order for others, also with equal eigenvalues. Tolerance: n^2 rotations and reflections, each
 * within a few units of rounding, of matrices of at most 60 rows: 1e-11. */
#include "fem/base/eigen.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 60 };
static const double TOLERANCE = 1e-11;

static void second_difference(void **state) {
    (void)state;
    static double A[MOST * MOST], found[MOST], work[3 * MOST];
    const double pi = acos(-1);
    for (int n = 1; n <= MOST; ++n)
        for (int e = -150; e <= 150; e += 75) {
            const double scale = pow(10, e);
            for (int i = 0; i < n * n; ++i)
                A[i] = i / n == i % n ? 2 * scale : abs(i / n - i % n) == 1 ? -scale : 0;
            weft_eigenvectors(n, A, found, work);
            for (int k = 0; k < n; ++k)
                assert_true(fabs(found[k] / scale - (2 - 2 * cos((k + 1) * pi / (n + 1)))) <
                            TOLERANCE);
        }
}

/* Without structure; of rank 1, with equal values; the identity; blocks of ones. */
static double entry(int kind, int i, int k) {
    return kind == 0   ? sin(3.0 * (i + k) + (double)(i * k))
           : kind == 1 ? 1
           : kind == 2 ? i == k
                       : i / 3 == k / 3;
}

static void check(int n, const double *A, const double *V, const double *values) {
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) {
            double product = -V[i * n + k] * values[k], dot = -(i == k);
            for (int j = 0; j < n; ++j) {
                product += A[i * n + j] * V[j * n + k];
                dot += V[j * n + i] * V[j * n + k];
            }
            assert_true(fabs(product) < TOLERANCE);
            assert_true(fabs(dot) < TOLERANCE);
        }
    for (int k = 1; k < n; ++k)
        assert_true(values[k] >= values[k - 1]);
}

static void vectors(void **state) {
    (void)state;
    static double A[MOST * MOST], V[MOST * MOST], values[MOST], work[3 * MOST];
    for (int n = 1; n <= MOST; n += 1 + n / 8)
        for (int kind = 0; kind < 4; ++kind) {
            for (int i = 0; i < n * n; ++i)
                A[i] = entry(kind, i / n, i % n);
            memcpy(V, A, sizeof V);
            weft_eigenvectors(n, V, values, work);
            check(n, A, V, values);
        }
}

static void not_finite(void **state) {
    (void)state;
    double A[] = {1, NAN, NAN, 2}, values[2], work[6];
    weft_eigenvectors(2, A, values, work);
    assert_true(isnan(values[0]) && isnan(values[1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(second_difference),
                                       cmocka_unit_test(vectors), cmocka_unit_test(not_finite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
