/* Tabulates the functions of elements and their derivatives at points. */
#include "fem/element/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER_MAX = 8 };

int weft_derivative_count(int d, int order) {
    int n = 1;
    for (int i = 1; i <= d; ++i)
        n = n * (order + i) / i;
    return n;
}

int weft_derivative_index(int d, const int *powers) {
    const int p = d > 0 ? powers[0] : 0, q = d > 1 ? powers[1] : 0, r = d > 2 ? powers[2] : 0;
    const int s = p + q + r, t = q + r;
    if (d < 2)
        return p;
    return d == 2 ? s * (s + 1) / 2 + q : s * (s + 1) * (s + 2) / 6 + t * (t + 1) / 2 + r;
}

/* A derivative among those up to an order. */
typedef struct derivatives {
    int d, order, powers[3];
} derivatives;

/* The next tuple of powers with a sum of at most `order`; false after the last one. Start with
 * powers {0}. */
static bool next_powers(derivatives *s) {
    for (int axis = 0; axis < s->d; ++axis) {
        ++s->powers[axis];
        if (s->powers[0] + s->powers[1] + s->powers[2] <= s->order)
            return true;
        s->powers[axis] = 0;
    }
    return false;
}

static double factorial(int n) {
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* By the coefficients in the orthonormal basis, of which row j holds Taylor coefficients. */
static weft_status tabulate_simplex(const weft_element *e, int order, int n_points,
                                    const double *points, double *values, weft_error *error) {
    const weft_cell *cell = weft_cell_of(e->cell);
    const int d = cell->dimension, n = e->n_nodes * e->value_size,
              m = weft_orthonormal_count(cell, e->span_degree),
              n_series = weft_derivative_count(d, order);
    double *series = malloc((size_t)m * (size_t)n_series * sizeof *series);
    if (!series)
        return weft_out_of_memory(error, "a table of an element");
    for (int q = 0; q < n_points; ++q) {
        derivatives s = {d, order, {0}};
        weft_orthonormal_tabulate(cell, e->span_degree, e->span_vanishes, order,
                                  points + (size_t)q * (size_t)d, series);
        do {
            const int k = weft_derivative_index(d, s.powers);
            const double scale =
                factorial(s.powers[0]) * factorial(s.powers[1]) * factorial(s.powers[2]);
            double *row = values + ((size_t)k * (size_t)n_points + (size_t)q) * (size_t)n;
            for (int i = 0; i < n; ++i) {
                double sum = 0;
                for (int j = 0; j < m; ++j)
                    sum += e->coefficients[i * m + j] * series[j * n_series + k];
                row[i] = scale * sum;
            }
        } while (next_powers(&s));
    }
    free(series);
    return WEFT_OK;
}

/* By products of the tables of the line. */
static weft_status tabulate_product(const weft_element *e, int order, int n_points,
                                    const double *points, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = weft_cell_of(e->cell)->dimension, m = e->line->n_nodes;
    const size_t size = (size_t)(order + 1) * (size_t)n_points * (size_t)m;
    derivatives s = {d, order, {0}};
    double *x = malloc(((size_t)n_points + 1) * sizeof *x);
    double *line = malloc(((size_t)d * size + 1) * sizeof *line);
    if (!x || !line)
        TRY(weft_out_of_memory(error, "a table of an element"));
    for (int axis = 0; axis < d; ++axis) {
        for (int q = 0; q < n_points; ++q)
            x[q] = points[q * d + axis];
        TRY(weft_element_tabulate(e->line, order, n_points, x, line + (size_t)axis * size, error));
    }
    do {
        double *out = values + (size_t)weft_derivative_index(d, s.powers) * (size_t)n_points *
                                   (size_t)e->n_nodes;
        for (int q = 0; q < n_points; ++q)
            for (int i = 0; i < e->n_nodes; ++i) {
                double product = 1;
                for (int axis = 0; axis < d; ++axis)
                    product *=
                        line[(size_t)axis * size + (size_t)((s.powers[axis] * n_points + q) * m) +
                             (size_t)e->lattice[i * d + axis]];
                *out++ = product;
            }
    } while (next_powers(&s));
done:
    free(x);
    free(line);
    return status;
}

/* A quadrature element has values at its own points alone. */
static weft_status tabulate_points(const weft_element *e, int order, int n_points,
                                   const double *points, double *values, weft_error *error) {
    const int n = e->n_nodes, d = weft_cell_of(e->cell)->dimension;
    bool same = n_points == n && order == 0;
    for (int i = 0; i < n * d && same; ++i)
        same = fabs(points[i] - e->points[i]) < 1e-12;
    if (!same) {
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "a quadrature element of degree %d has values at its %d points alone, and "
                       "no derivatives",
                       e->degree, n);
        weft_error_hint(error, "integrate with a rule of degree %d", e->degree);
        return WEFT_ERROR_USAGE;
    }
    for (int i = 0; i < n * n; ++i)
        values[i] = i % (n + 1) == 0;
    return WEFT_OK;
}

weft_status weft_element_tabulate(const weft_element *e, int order, int n_points,
                                  const double *points, double *values, weft_error *error) {
    const int d = weft_cell_of(e->cell)->dimension;
    if (order < 0 || order > ORDER_MAX)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "derivatives of elements have orders from 0 to %d, not %d", ORDER_MAX,
                              order);
    if (weft_family_about(e->family)->at_points)
        return tabulate_points(e, order, n_points, points, values, error);
    if (e->line)
        return tabulate_product(e, order, n_points, points, values, error);
    if (e->coefficients)
        return tabulate_simplex(e, order, n_points, points, values, error);
    const size_t n = (size_t)n_points; /* the constant 1 */
    memset(values, 0, (size_t)weft_derivative_count(d, order) * n * sizeof *values);
    for (size_t i = 0; i < n; ++i)
        values[i] = 1;
    return WEFT_OK;
}
