/* Diagonalises small symmetric matrices. */
#include "fem/base/eigen.h"

#include <math.h>

enum { SWEEPS = 20 }; /* the convergence is quadratic */

/* Rotate columns p and q of a matrix; with row and column exchanged, its rows. */
static void rotate(int n, double *a, int row, int column, int p, int q, double c, double s) {
    for (int i = 0; i < n; ++i) {
        double *u = &a[i * row + p * column], *w = &a[i * row + q * column];
        const double old = *u;
        *u = c * old - s * *w;
        *w = s * old + c * *w;
    }
}

void weft_diagonalise(int n, double *A, double *V) {
    for (int i = 0; V && i < n * n; ++i)
        V[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < SWEEPS; ++sweep)
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q) {
                const double a = A[p * n + q], b = A[q * n + q] - A[p * n + p];
                if (a == 0)
                    continue;
                /* the smaller root of t^2 + (b/a) t - 1 = 0 */
                const double t = (b < 0 ? -2 : 2) * a / (fabs(b) + hypot(b, 2 * a));
                const double c = 1 / sqrt(1 + t * t), s = t * c;
                rotate(n, A, n, 1, p, q, c, s);
                rotate(n, A, 1, n, p, q, c, s);
                if (V)
                    rotate(n, V, n, 1, p, q, c, s);
            }
}
