/* Tabulates orthonormal polynomials on simplices, with derivatives of any order, by recurrences in
 * truncated Taylor series. */
#include "fem/element/private.h"

#include <math.h>
#include <string.h>

/* A linear function of the coordinates at the point: its value and gradient. */
typedef struct linear {
    double value, slope[3];
} linear;

/* The Taylor coefficients of a polynomial at the point, up to the order. */
typedef struct series {
    int d, order, n; /* n coefficients */
    int (*powers)[3];
    int (*lower)[3]; /* index of the power less one along an axis; -1: none */
} series;

enum { ORDER_MAX = 8, SERIES_MAX = 165 }; /* binomial(8 + 3, 3) */

int weft_orthonormal_count(const weft_cell *cell, int degree) {
    return degree < 0 ? 0 : weft_derivative_count(cell->dimension, degree);
}

/* out = a f g + b f' h for linear f, f', where h may be NULL; out differs from g and h. */
static void multiply(const series *s, double scale, const linear *f, const double *g, double *out) {
    for (int i = 0; i < s->n; ++i) {
        double sum = f->value * g[i];
        for (int axis = 0; axis < s->d; ++axis)
            if (s->lower[i][axis] >= 0)
                sum += f->slope[axis] * g[s->lower[i][axis]];
        out[i] += scale * sum;
    }
}

/* One step of the recurrence of Jacobi polynomials P_n^(alpha, 0)(x / t), made homogeneous by t^n
 * (Abramowitz and Stegun 22.7.1): P_(n+1) = (a x + b t) P_n - c t^2 P_(n-1).
 * before, last, out  [s->n]; before is not read for n = 0 */
static void jacobi_step(const series *s, int n, int alpha, const linear *x, const linear *t,
                        const double *before, const double *last, double *out) {
    double a = 0.5 * (alpha + 2), b = 0.5 * alpha, c = 0;
    if (n > 0) {
        const double k = 2.0 * n + alpha, e = 2.0 * (n + 1) * (n + alpha + 1) * k;
        a = (k + 1) * (k + 2) * k / e;
        b = (k + 1) * alpha * alpha / e;
        c = 2.0 * (n + alpha) * n * (k + 2) / e;
    }
    memset(out, 0, (size_t)s->n * sizeof *out);
    multiply(s, a, x, last, out);
    if (b != 0)
        multiply(s, b, t, last, out);
    if (n > 0) {
        double square[SERIES_MAX] = {0};
        multiply(s, 1, t, before, square);
        multiply(s, -c, t, square, out);
    }
}

/* Powers of the Taylor coefficients in the order of weft_derivative_index. */
static void list_powers(series *s) {
    const int end[3] = {s->order, s->d > 1 ? s->order : 0, s->d > 2 ? s->order : 0};
    for (int p = 0; p <= end[0]; ++p)
        for (int q = 0; q <= end[1] && p + q <= s->order; ++q)
            for (int r = 0; r <= end[2] && p + q + r <= s->order; ++r) {
                int powers[3] = {p, q, r};
                const int i = weft_derivative_index(s->d, powers);
                memcpy(s->powers[i], powers, sizeof powers);
                for (int axis = 0; axis < s->d; ++axis) {
                    --powers[axis];
                    s->lower[i][axis] = powers[axis] < 0 ? -1 : weft_derivative_index(s->d, powers);
                    ++powers[axis];
                }
            }
}

/* The pairs x, t of the three factors: t = 1 - (sum of the later coordinates), x = 2 xi - t. */
static void set_arguments(int d, const double *point, linear x[3], linear t[3]) {
    for (int axis = 0; axis < d; ++axis) {
        t[axis] = (linear){.value = 1};
        for (int later = axis + 1; later < d; ++later) {
            t[axis].value -= point[later];
            t[axis].slope[later] = -1;
        }
        x[axis] = (linear){.value = 2 * point[axis] - t[axis].value};
        for (int later = axis + 1; later < d; ++later)
            x[axis].slope[later] = 1;
        x[axis].slope[axis] = 2;
    }
}

/* The bubble: the product of the barycentric coordinates; or 1. */
static void set_first(const series *s, bool bubble, const double *point, double *out) {
    double next[SERIES_MAX];
    memset(out, 0, (size_t)s->n * sizeof *out);
    out[0] = 1;
    for (int v = 0; bubble && v <= s->d; ++v) {
        linear f = {.value = v > 0 ? point[v - 1] : 1};
        for (int axis = 0; axis < s->d; ++axis) {
            f.value -= v > 0 ? 0 : point[axis];
            f.slope[axis] = v > 0 ? axis == v - 1 : -1;
        }
        memset(next, 0, (size_t)s->n * sizeof *next);
        multiply(s, 1, &f, out, next);
        memcpy(out, next, (size_t)s->n * sizeof *out);
    }
}

/* Polynomial (p, q, r) has the same number as the derivative of these powers. */
static double *row(const series *s, double *values, int p, int q, int r) {
    const int powers[3] = {p, q, r};
    return values + (size_t)weft_derivative_index(s->d, powers) * (size_t)s->n;
}

void weft_orthonormal_tabulate(const weft_cell *cell, int degree, bool bubble, int order,
                               const double *point, double *values) {
    int powers[SERIES_MAX][3], lower[SERIES_MAX][3];
    linear x[3], t[3];
    const int d = cell->dimension;
    series s = {d, order, weft_derivative_count(d, order), powers, lower};
    const int end_q = d > 1 ? degree : 0, end_r = d > 2 ? degree : 0;
    list_powers(&s);
    set_arguments(d, point, x, t);
    set_first(&s, bubble, point, values);
    for (int p = 0; p < degree; ++p)
        jacobi_step(&s, p, 0, &x[0], &t[0], p > 0 ? row(&s, values, p - 1, 0, 0) : NULL,
                    row(&s, values, p, 0, 0), row(&s, values, p + 1, 0, 0));
    for (int p = 0; p <= degree; ++p)
        for (int q = 0; q < end_q - p; ++q)
            jacobi_step(&s, q, 2 * p + 1, &x[1], &t[1], q > 0 ? row(&s, values, p, q - 1, 0) : NULL,
                        row(&s, values, p, q, 0), row(&s, values, p, q + 1, 0));
    for (int p = 0; p <= degree && d > 2; ++p)
        for (int q = 0; q <= end_q - p; ++q)
            for (int r = 0; r < end_r - p - q; ++r)
                jacobi_step(&s, r, 2 * (p + q) + 2, &x[2], &t[2],
                            r > 0 ? row(&s, values, p, q, r - 1) : NULL, row(&s, values, p, q, r),
                            row(&s, values, p, q, r + 1));
    for (int p = 0; p <= degree; ++p)
        for (int q = 0; q <= (d > 1 ? degree - p : 0); ++q)
            for (int r = 0; r <= (d > 2 ? degree - p - q : 0); ++r) {
                double *polynomial = row(&s, values, p, q, r);
                double norm = 2 * p + 1;
                norm *= d > 1 ? 2 * (p + q) + 2 : 1;
                norm *= d > 2 ? 2 * (p + q + r) + 3 : 1;
                for (int i = 0; i < s.n; ++i)
                    polynomial[i] *= sqrt(norm);
            }
}
