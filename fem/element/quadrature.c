/* Makes quadrature rules: Gauss-Jacobi and Gauss-Lobatto products, symmetric rules, vertices. */
#include "core/base/fault.h"
#include "fem/element/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX = WEFT_QUADRATURE_DEGREE_MAX / 2 + 3 };

/* P_n^(k,0) and its derivative at x, by the three-term recurrence (Abramowitz and Stegun 22.7.1).
 */
static void jacobi(int n, int k, double x, double *value, double *derivative) {
    double before = 1, last = 0.5 * (k + (k + 2) * x);
    if (n == 0) {
        *value = 1;
        *derivative = 0;
        return;
    }
    for (int i = 1; i < n; ++i) {
        double c = 2.0 * i + k;
        double a1 = 2.0 * (i + 1) * (i + k + 1) * c;
        double a2 = (c + 1) * k * k;
        double a3 = c * (c + 1) * (c + 2);
        double a4 = 2.0 * (i + k) * i * (c + 2);
        double next = ((a2 + a3 * x) * last - a4 * before) / a1;
        before = last;
        last = next;
    }
    double c = 2.0 * n + k;
    *value = last;
    *derivative = (n * (k - c * x) * last + 2.0 * (n + k) * n * before) / (c * (1 - x * x));
}

void weft_gauss_jacobi(int n, int k, double *points, double *weights) {
    double roots[LINE_MAX];
    for (int i = 0; i < n; ++i) { /* Newton's method from Chebyshev points, with deflation */
        double x = -cos(M_PI * (2.0 * i + 1) / (2.0 * n)), value, derivative;
        if (i > 0)
            x = 0.5 * (x + roots[i - 1]);
        for (int step = 0; step < 100; ++step) {
            double deflation = 0;
            for (int j = 0; j < i; ++j)
                deflation += 1.0 / (x - roots[j]);
            jacobi(n, k, x, &value, &derivative);
            double change = value / (derivative - deflation * value);
            x -= change;
            if (fabs(change) < 1e-16)
                break;
        }
        roots[i] = x;
        jacobi(n, k, x, &value, &derivative);
        points[i] = 0.5 * (1 + x);
        weights[i] = 1.0 / ((1 - x * x) * derivative * derivative);
    }
}

/* The interior points are the extrema of P_(n-1), from cosines by Newton's method on P', with P''
 * from Legendre's equation (1 - x^2) P'' = 2 x P' - n (n - 1) P; weights 1 / (n (n - 1) P^2). */
void weft_gauss_lobatto(int n, double *points, double *weights) {
    for (int i = 0; i < n; ++i) {
        double x = -cos(M_PI * i / (n - 1)), value, derivative;
        for (int step = 0; i > 0 && i < n - 1 && step < 100; ++step) {
            jacobi(n - 1, 0, x, &value, &derivative);
            const double change =
                derivative * (1 - x * x) / (2 * x * derivative - (double)n * (n - 1) * value);
            x -= change;
            if (fabs(change) < 1e-16)
                break;
        }
        if (2 * i == n - 1)
            x = 0;
        value = i == 0 ? (n % 2 == 0 ? -1 : 1) : 1;
        if (i > 0 && i < n - 1)
            jacobi(n - 1, 0, x, &value, &derivative);
        points[i] = i == n - 1 ? 1 : 0.5 * (1 + x);
        weights[i] = 1.0 / ((double)n * (n - 1) * value * value);
    }
}

static weft_status allocate(int n, int d, weft_quadrature *out, weft_error *error) {
    weft_quadrature rule = {.n = n, .dimension = d};
    rule.points = calloc((size_t)n * (size_t)d + 1, sizeof *rule.points);
    rule.weights = calloc((size_t)n, sizeof *rule.weights);
    if (rule.points && rule.weights) {
        *out = rule;
        return WEFT_OK;
    }
    weft_quadrature_free(&rule);
    return weft_out_of_memory(error, "a quadrature rule");
}

/* Product of n points a direction, collapsed on simplices: x = a (1 - b)(1 - c), y = b (1 - c),
 * z = c, with the Jacobian's powers of 1 - b and 1 - c in the weights. */
static void fill_product(const weft_cell *cell, bool lobatto, int n, weft_quadrature *out) {
    double x[3][LINE_MAX], w[3][LINE_MAX];
    const int d = cell->dimension;
    for (int axis = 0; axis < d; ++axis)
        if (lobatto)
            weft_gauss_lobatto(n, x[axis], w[axis]);
        else
            weft_gauss_jacobi(n, cell->simplex ? axis : 0, x[axis], w[axis]);
    for (int q = 0; q < out->n; ++q) {
        double left = 1;
        out->weights[q] = 1;
        for (int axis = d - 1, rest = q; axis >= 0; --axis, rest /= n) {
            out->weights[q] *= w[axis][rest % n];
            out->points[q * d + axis] = x[axis][rest % n] * left;
            left *= cell->simplex ? 1 - x[axis][rest % n] : 1;
        }
    }
}

static void fill_vertices(const weft_cell *cell, weft_quadrature *out) {
    for (int v = 0; v < out->n; ++v) {
        out->weights[v] = cell->measure / out->n;
        for (int axis = 0; axis < cell->dimension; ++axis)
            out->points[v * cell->dimension + axis] = cell->vertices[v][axis];
    }
}

static weft_status check(const weft_cell *cell, weft_scheme scheme, int degree, weft_error *error) {
    if (degree < 0 || degree > WEFT_QUADRATURE_DEGREE_MAX) {
        weft_error_set(error, WEFT_ERROR_USAGE, "no quadrature of degree %d", degree);
        weft_error_hint(error, "degrees go from 0 to %d", WEFT_QUADRATURE_DEGREE_MAX);
        return WEFT_ERROR_USAGE;
    }
    if (scheme == WEFT_SCHEME_GLL && cell->simplex && cell->dimension > 1) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "there is no Gauss-Lobatto-Legendre rule on a %s", cell->name);
        weft_error_hint(error, "it exists on intervals, quadrilaterals and hexahedra; take the "
                               "default rule, or the one on vertices");
        return WEFT_ERROR_UNSUPPORTED;
    }
    return WEFT_OK;
}

weft_status weft_quadrature_make(weft_cell_type type, weft_scheme scheme, int degree,
                                 weft_quadrature *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(type);
    const int d = cell->dimension;
    const bool lobatto = scheme == WEFT_SCHEME_GLL;
    const int missing = weft_fault("point_missing") && degree > 1;
    const int line = (lobatto ? (degree + 4) / 2 : degree / 2 + 1) - missing;
    int n = 1;
    TRY(check(cell, scheme, degree, error));
    if (scheme == WEFT_SCHEME_VERTEX) {
        TRY(allocate(cell->n_entities[0], d, out, error));
        fill_vertices(cell, out);
        goto done;
    }
    if (scheme == WEFT_SCHEME_DEFAULT && (n = weft_symmetric_rule(cell, degree, NULL, NULL)) > 0) {
        TRY(allocate(n, d, out, error));
        weft_symmetric_rule(cell, degree, out->points, out->weights);
        for (int q = 0; q < n; ++q)
            out->weights[q] *= cell->measure;
        goto done;
    }
    n = 1;
    for (int axis = 0; axis < d; ++axis)
        n *= line;
    TRY(allocate(n, d, out, error));
    fill_product(cell, lobatto, line, out);
done:
    return status;
}

void weft_quadrature_free(weft_quadrature *rule) {
    if (!rule)
        return;
    free(rule->points);
    free(rule->weights);
    *rule = (weft_quadrature){0};
}
