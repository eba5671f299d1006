/* Diagonalises symmetric matrices of some hundred rows: reflections make them tridiagonal, rotations diagonal. */
#include "fem/base/eigen.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { STEPS_MOST = 60 }; /* for one eigenvalue, of which two are usual */

/* Reflect rows and columns 0 .. k - 1 of A so that row k has one entry beside the diagonal, which is returned. The reflection is
 * I - v v^T / h, v = A[k][0 .. k - 1] afterwards; *h = 0: none. work [n] */
static double reflect(int n, int k, double *A, double *work, double *h) {
    double *v = A + k * n, scale = 0, sum = 0;
    for (int i = 0; i < k; ++i)
        scale += fabs(v[i]);
    *h = 0;
    if (k < 2 || scale == 0)
        return k > 0 ? v[k - 1] : 0;
    for (int i = 0; i < k; ++i) {
        v[i] /= scale;
        sum += v[i] * v[i];
    }
    const double beside = -copysign(sqrt(sum), v[k - 1]);
    *h = sum - v[k - 1] * beside;
    v[k - 1] -= beside;
    /* A -= v w^T + w v^T, w = A v / h - (v^T A v / 2 h^2) v */
    double half = 0;
    for (int i = 0; i < k; ++i) {
        double product = 0;
        for (int j = 0; j < k; ++j)
            product += (j <= i ? A[i * n + j] : A[j * n + i]) * v[j];
        work[i] = product / *h;
        half += work[i] * v[i] / (2 * *h);
    }
    for (int i = 0; i < k; ++i)
        work[i] -= half * v[i];
    for (int i = 0; i < k; ++i)
        for (int j = 0; j <= i; ++j)
            A[i * n + j] -= v[i] * work[j] + work[i] * v[j];
    return scale * beside;
}

/* The product of the reflections, in place of A. */
static void accumulate(int n, double *A, double *diagonal, const double *h) {
    for (int k = 0; k < n; ++k) {
        const double *v = A + k * n;
        for (int j = 0; j < k && h[k] != 0; ++j) {
            double sum = 0;
            for (int i = 0; i < k; ++i)
                sum += v[i] * A[i * n + j];
            for (int i = 0; i < k; ++i)
                A[i * n + j] -= sum * (v[i] / h[k]);
        }
        diagonal[k] = A[k * n + k];
        A[k * n + k] = 1;
        for (int i = 0; i < k; ++i)
            A[k * n + i] = A[i * n + k] = 0;
    }
}

/* Rotate columns k and k + 1 of A. */
static void rotate(int n, double *A, int k, double c, double s) {
    for (int i = 0; i < n; ++i) {
        double *at = A + i * n + k;
        const double old = at[1];
        at[1] = s * at[0] + c * old;
        at[0] = c * at[0] - s * old;
    }
}

/* One QL step on rows first .. last of the tridiagonal matrix d, e (e[i] beside d[i] and d[i + 1]). */
static void step(int n, int first, int last, double *d, double *e, double *A) {
    const double half = (d[first + 1] - d[first]) / (2 * e[first]);
    const double shift = d[last] - d[first] + e[first] / (half + copysign(hypot(half, 1), half));
    double s = 1, c = 1, p = 0, g = shift;
    for (int i = last - 1; i >= first; --i) {
        const double f = s * e[i], b = c * e[i];
        const double r = hypot(f, g);
        if (i + 1 < last)
            e[i + 1] = r;
        if (r == 0) { /* it has split */
            d[i + 1] -= p;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const double t = (d[i] - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        rotate(n, A, i, c, s);
    }
    d[first] -= p;
    e[first] = g;
}

/* The end of the part of the tridiagonal matrix that begins in row `first` and does not split. */
static int end_of(int n, int first, const double *d, const double *e) {
    int last = first;
    while (last < n - 1 && fabs(e[last]) > DBL_EPSILON * (fabs(d[last]) + fabs(d[last + 1])))
        ++last;
    return last;
}

static void sort(int n, double *A, double *values) {
    for (int k = 0; k < n - 1; ++k) {
        int least = k;
        for (int i = k + 1; i < n; ++i)
            least = values[i] < values[least] ? i : least;
        if (least == k)
            continue;
        const double value = values[k];
        values[k] = values[least];
        values[least] = value;
        for (int i = 0; i < n; ++i) {
            const double at = A[i * n + k];
            A[i * n + k] = A[i * n + least];
            A[i * n + least] = at;
        }
    }
}

void weft_eigenvectors(int n, double *A, double *values, double *work) {
    double *beside = work, *h = work + n;
    bool fine = true;
    for (int i = 0; i < n * n && fine; ++i)
        fine = isfinite(A[i]);
    for (int k = n - 1; k >= 0 && fine; --k) {
        const double e = reflect(n, k, A, work + 2 * n, &h[k]);
        if (k > 0)
            beside[k - 1] = e;
    }
    if (fine)
        accumulate(n, A, values, h);
    for (int first = 0; first < n && fine; ++first) {
        int last, steps = 0;
        while ((last = end_of(n, first, values, beside)) > first && fine) {
            step(n, first, last, values, beside, A);
            fine = ++steps < STEPS_MOST;
        }
    }
    for (int i = 0; i < n && !fine; ++i)
        values[i] = NAN;
    if (fine)
        sort(n, A, values);
}
