/* labels: quick */
/* Eigenvalues of small symmetric matrices: those of the second difference, 2 - 2 cos(k pi/(n + 1)), in magnitudes from
 * 1e-150 to 1e150; A V = V D and V^T V = 1 for others. Tolerance: 20 sweeps of n^2 rotations, each within a few units of
 * rounding, of matrices of at most 9 rows: 1e-12. */
#include "fem/base/eigen.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9 };
static const double TOLERANCE = 1e-12;

static int ascending(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void second_difference(void **state) {
    (void)state;
    const double pi = acos(-1);
    for (int n = 1; n <= MOST; ++n)
        for (int e = -150; e <= 150; e += 75) {
            const double scale = pow(10, e);
            double A[MOST * MOST], found[MOST];
            for (int i = 0; i < n * n; ++i)
                A[i] = i / n == i % n ? 2 * scale : abs(i / n - i % n) == 1 ? -scale : 0;
            weft_diagonalise(n, A, NULL);
            for (int k = 0; k < n; ++k)
                found[k] = A[k * n + k] / scale;
            qsort(found, (size_t)n, sizeof *found, ascending);
            for (int k = 0; k < n; ++k)
                assert_true(fabs(found[k] - (2 - 2 * cos((k + 1) * pi / (n + 1)))) < TOLERANCE);
        }
}

/* Entries of a pattern without structure, some equal eigenvalues, and zero. */
static void vectors(void **state) {
    (void)state;
    for (int n = 1; n <= MOST; ++n)
        for (int kind = 0; kind < 3; ++kind) {
            double A[MOST * MOST], D[MOST * MOST], V[MOST * MOST];
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < n; ++k)
                    A[i * n + k] = kind == 0 ? sin(3.0 * (i + k) + (double)(i * k)) : kind == 1;
            memcpy(D, A, sizeof D);
            weft_diagonalise(n, D, V);
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < n; ++k) {
                    double product = -V[i * n + k] * D[k * n + k], dot = -(i == k);
                    for (int j = 0; j < n; ++j) {
                        product += A[i * n + j] * V[j * n + k];
                        dot += V[j * n + i] * V[j * n + k];
                    }
                    assert_true(fabs(product) < TOLERANCE);
                    assert_true(fabs(dot) < TOLERANCE);
                }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(second_difference),
                                       cmocka_unit_test(vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
