/* Makes quadrature rules on simplices: symmetric rules, or collapsed Gauss-Jacobi products. */
#include "fem/element/tables.h"

#include <math.h>
#include <string.h>

enum { GAUSS_MAX = WEFT_DEGREE_MAX / 2 + 1 };

/* An orbit: the points obtained by permuting barycentric coordinates. (b, a, a, ...), b = 1 - d a,
 * has d + 1 points; (1/2 - a, 1/2 - a, a, a) on the tetrahedron has 6; the centroid has one. */
typedef enum orbit_kind { ORBIT_CENTROID, ORBIT_VERTEX, ORBIT_EDGE } orbit_kind;

typedef struct orbit {
    orbit_kind kind;
    double a, weight; /* weight of each point; the weights of a rule sum to 1 */
} orbit;

typedef struct rule {
    int n_orbits;
    orbit orbits[3];
} rule;

/* The symmetric rule for d and degree; n_orbits 0: there is none. */
static rule symmetric_rule(int d, int degree) {
    if (degree <= 1)
        return (rule){1, {{ORBIT_CENTROID, 0, 1}}};
    if (d == 2 && degree == 2)
        return (rule){1, {{ORBIT_VERTEX, 1.0 / 6.0, 1.0 / 3.0}}};
    if (d == 2 && degree <= 4) {
        double r = sqrt(10.0), s = sqrt(38.0 - 44.0 * sqrt(0.4)), w = sqrt(213125.0 - 53320.0 * r);
        return (rule){2,
                      {{ORBIT_VERTEX, (8.0 - r + s) / 18.0, (620.0 + w) / 3720.0},
                       {ORBIT_VERTEX, (8.0 - r - s) / 18.0, (620.0 - w) / 3720.0}}};
    }
    if (d == 2 && degree == 5) {
        double r = sqrt(15.0);
        return (rule){3,
                      {{ORBIT_CENTROID, 0, 9.0 / 40.0},
                       {ORBIT_VERTEX, (6.0 - r) / 21.0, (155.0 - r) / 1200.0},
                       {ORBIT_VERTEX, (6.0 + r) / 21.0, (155.0 + r) / 1200.0}}};
    }
    if (d == 3 && degree == 2)
        return (rule){1, {{ORBIT_VERTEX, (5.0 - sqrt(5.0)) / 20.0, 0.25}}};
    if (d == 3 && (degree == 4 || degree == 5))
        return (rule){3,
                      {{ORBIT_VERTEX, 0.31088591926330060980, 0.11268792571801585080},
                       {ORBIT_VERTEX, 0.092735250310891226402, 0.073493043116361949544},
                       {ORBIT_EDGE, 0.045503704125649649492, 0.042546020777081466438}}};
    return (rule){0};
}

/* Coordinates xi_k are the barycentric coordinates 1 .. d. */
static void put_point(int d, const double *barycentric, double weight, double *points,
                      double *weights, int i) {
    memcpy(points + i * d, barycentric + 1, (size_t)d * sizeof *points);
    weights[i] = weight;
}

static int write_orbit(int d, const orbit *o, double *points, double *weights, int i) {
    double b[4];
    switch (o->kind) {
    case ORBIT_CENTROID:
        for (int k = 0; k <= d; ++k)
            b[k] = 1.0 / (d + 1);
        put_point(d, b, o->weight, points, weights, i++);
        break;
    case ORBIT_VERTEX:
        for (int v = 0; v <= d; ++v) {
            for (int k = 0; k <= d; ++k)
                b[k] = k == v ? 1.0 - d * o->a : o->a;
            put_point(d, b, o->weight, points, weights, i++);
        }
        break;
    case ORBIT_EDGE:
        for (int v = 0; v <= d; ++v)
            for (int w = v + 1; w <= d; ++w) {
                for (int k = 0; k <= d; ++k)
                    b[k] = k == v || k == w ? 0.5 - o->a : o->a;
                put_point(d, b, o->weight, points, weights, i++);
            }
        break;
    }
    return i;
}

static int orbit_size(int d, const orbit *o) {
    return o->kind == ORBIT_CENTROID ? 1 : o->kind == ORBIT_VERTEX ? d + 1 : 6;
}

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

/* n Gauss-Jacobi points on [0, 1] for the weight (1 - x)^k, by Newton's method from Chebyshev
 * points with deflation of the roots already found. */
static void gauss_jacobi(int n, int k, double *points, double *weights) {
    double roots[GAUSS_MAX];
    for (int i = 0; i < n; ++i) {
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

/* xi_1 = a, xi_2 = b (1 - a), xi_3 = c (1 - a)(1 - b); the Jacobian's powers of 1 - a and 1 - b are
 * in the weights. */
static void collapsed_rule(int d, int n, double *points, double *weights) {
    double x[3][GAUSS_MAX] = {{0}}, w[3][GAUSS_MAX] = {{0}};
    int count[3] = {1, 1, 1}, q = 0;
    for (int axis = 0; axis < d; ++axis) {
        gauss_jacobi(n, d - 1 - axis, x[axis], w[axis]);
        count[axis] = n;
    }
    for (int i = 0; i < count[0]; ++i)
        for (int j = 0; j < count[1]; ++j)
            for (int k = 0; k < count[2]; ++k, ++q) {
                int index[3] = {i, j, k};
                double left = 1, weight = 1;
                for (int axis = 0; axis < d; ++axis) {
                    points[q * d + axis] = x[axis][index[axis]] * left;
                    left *= 1 - x[axis][index[axis]];
                    weight *= w[axis][index[axis]];
                }
                weights[q] = weight;
            }
}

weft_status weft_quadrature_make(weft_arena *arena, int d, int degree, int *q, double **points,
                                 double **weights, weft_error *error) {
    if (d < 1 || d > 3)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "quadrature exists on simplices of dimension 1, 2 and 3, "
                              "not %d",
                              d);
    if (degree < 0 || degree > WEFT_DEGREE_MAX) {
        weft_status status =
            weft_error_set(error, WEFT_ERROR_USAGE, "no quadrature of degree %d", degree);
        weft_error_hint(error, "degrees go from 0 to %d", WEFT_DEGREE_MAX);
        return status;
    }
    rule symmetric = symmetric_rule(d, degree);
    int n = degree / 2 + 1, count = 0; /* n Gauss points are exact up to 2n - 1 */
    if (symmetric.n_orbits > 0)
        for (int i = 0; i < symmetric.n_orbits; ++i)
            count += orbit_size(d, &symmetric.orbits[i]);
    else
        count = d == 1 ? n : d == 2 ? n * n : n * n * n;
    double *all_points = weft_arena_alloc(arena, (size_t)count * (size_t)d, sizeof *all_points);
    double *all_weights = weft_arena_alloc(arena, (size_t)count, sizeof *all_weights);
    if (!all_points || !all_weights)
        return weft_error_set(error, WEFT_ERROR_MEMORY,
                              "out of memory for a quadrature of degree %d", degree);
    if (symmetric.n_orbits > 0) {
        double measure = d == 1 ? 1.0 : d == 2 ? 0.5 : 1.0 / 6.0;
        int i = 0;
        for (int k = 0; k < symmetric.n_orbits; ++k)
            i = write_orbit(d, &symmetric.orbits[k], all_points, all_weights, i);
        for (i = 0; i < count; ++i)
            all_weights[i] *= measure;
    } else {
        collapsed_rule(d, n, all_points, all_weights);
    }
    *q = count;
    *points = all_points;
    *weights = all_weights;
    return WEFT_OK;
}
