/* labels: quick */
/* Element functions against their mathematics: gradients by elimination on the Jacobian, integrals
 * of barycentric coordinates by  int prod lambda_i^a_i = prod a_i! d! / (sum a_i + d)! |T|,
 * measures of facets by the Gram determinant, and sums over quadrature points by plain loops (that
 * the points and weights are right is tests/unit/fem/element/test_tables.c). Tolerances, relative to the
 * largest component of a result (or 0.1): 1e-12 in double, 2e-4 in float. Sums have up to 46 terms
 * of one sign in the weights, Jacobians have condition numbers below 10. */
#include "core/weft_core.h"
#include "fem/element/tables.h"
#include "kernel_check.h"

static double factorial(int n) {
    double f = 1;
    for (int i = 2; i <= n; ++i)
        f *= i;
    return f;
}

static double measure_of(int d, const double *jacobian) {
    return fabs(check_eliminate(d, jacobian, NULL)) / factorial(d);
}

/* sqrt(det(E E^T)) / (d-1)!, the rows of E the edges from vertex 0. */
static double facet_measure_of(int d, const double *x) {
    double gram[9] = {0};
    int e = d - 1;
    for (int i = 0; i < e; ++i)
        for (int j = 0; j < e; ++j)
            for (int k = 0; k < d; ++k)
                gram[i * e + j] += (x[(i + 1) * d + k] - x[k]) * (x[(j + 1) * d + k] - x[k]);
    return sqrt(e > 0 ? check_eliminate(e, gram, NULL) : 1.0) / factorial(e);
}

/* int lambda_i lambda_j on a simplex of dimension e and measure 1; below degree 2 by the midpoint.
 */
static double mass_entry(int e, int i, int j, int degree) {
    if (degree < 2)
        return 1.0 / ((e + 1.0) * (e + 1.0));
    return (i == j ? factorial(2) : 1.0) * factorial(e) / factorial(e + 2);
}

static double shape(int d, int i, const double *xi) {
    double value = i == 0 ? 1.0 : xi[i - 1];
    for (int k = 0; i == 0 && k < d; ++k)
        value -= xi[k];
    return value;
}

typedef struct quadrature {
    weft_arena *arena;
    int q;
    double *points, *weights;
} quadrature;

static quadrature quadrature_open(int d, int degree) {
    quadrature r = {0};
    assert_int_equal(weft_arena_make(&r.arena, NULL), WEFT_OK);
    assert_int_equal(weft_simplex_quadrature(r.arena, d, degree, &r.q, &r.points, &r.weights, NULL),
                     WEFT_OK);
    return r;
}

#define ARGUMENTS const check_case *c, const double *const *arguments, double *result

static void ref_jacobian(ARGUMENTS) {
    const double *x = arguments[0];
    for (int i = 0; i < c->d; ++i)
        for (int j = 0; j < c->d; ++j)
            result[i * c->d + j] = x[(j + 1) * c->d + i] - x[i];
}

static void ref_tform_dshape(ARGUMENTS) {
    double inverse[9] = {0};
    check_eliminate(c->d, arguments[0], inverse);
    for (int i = 0; i < c->d; ++i)
        for (int l = 0; l < c->d; ++l) {
            result[(i + 1) * c->d + l] = inverse[i * c->d + l];
            result[l] -= inverse[i * c->d + l];
        }
}

static void ref_measure(ARGUMENTS) {
    result[0] = measure_of(c->d, arguments[0]);
}

static void ref_gradient(ARGUMENTS) {
    for (int i = 0; i < c->arguments[0].sizes[0]; ++i)
        for (int l = 0; l < c->d; ++l)
            result[l] += arguments[0][i * c->d + l] * arguments[1][i];
}

static void ref_stiffness(ARGUMENTS) {
    int n = c->arguments[0].sizes[0], d = c->d;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            for (int l = 0; l < d; ++l)
                result[i * n + j] +=
                    arguments[0][i * d + l] * arguments[0][j * d + l] * measure_of(d, arguments[1]);
}

/* y_i = |T| grad phi_i . grad u, grad u by the inverse of the edges' matrix. */
static void ref_stiffness_product(ARGUMENTS) {
    const double *x = arguments[0], *u = arguments[1];
    const int d = c->d;
    double J[9] = {0}, inverse[9] = {0}, gradient[3] = {0};
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            J[i * d + j] = x[(j + 1) * d + i] - x[i];
    check_eliminate(d, J, inverse);
    for (int i = 0; i < d; ++i)
        for (int l = 0; l < d; ++l)
            gradient[l] += inverse[i * d + l] * (u[i + 1] - u[0]);
    for (int i = 0; i < d; ++i)
        for (int l = 0; l < d; ++l) {
            const double part = inverse[i * d + l] * gradient[l] * measure_of(d, J);
            result[i + 1] += part;
            result[0] -= part;
        }
}

static void ref_tensor_stiffness(ARGUMENTS) {
    int n = c->arguments[0].sizes[0], d = c->d;
    const double *g = arguments[0], *tensor = arguments[1];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            for (int l = 0; l < d; ++l)
                for (int m = 0; m < d; ++m)
                    result[i * n + j] += g[i * d + l] * tensor[l * d + m] * g[j * d + m] *
                                         measure_of(d, arguments[2]);
}

static void ref_mass(ARGUMENTS) {
    int n = c->d + 1;
    for (int k = 0; k < n * n; ++k)
        result[k] = mass_entry(c->d, k / n, k % n, c->degree) * measure_of(c->d, arguments[0]);
}

/* Rows of the mass matrix, summed onto its diagonal. */
static void ref_lumped_mass(ARGUMENTS) {
    int n = c->d + 1;
    for (int k = 0; k < n * n; ++k)
        result[k / n * (n + 1)] +=
            mass_entry(c->d, k / n, k % n, 2) * measure_of(c->d, arguments[0]);
}

static void ref_load(ARGUMENTS) {
    for (int i = 0; i <= c->d; ++i)
        for (int j = 0; j <= c->d; ++j)
            result[i] += mass_entry(c->d, i, j, c->degree) * arguments[0][j] *
                         measure_of(c->d, arguments[1]);
}

static void ref_tform_shape(ARGUMENTS) {
    quadrature r = quadrature_open(c->d, c->degree);
    for (int i = 0; i <= c->d; ++i)
        for (int p = 0; p < r.q; ++p)
            result[i * r.q + p] = shape(c->d, i, r.points + p * c->d) * r.weights[p] *
                                  factorial(c->d) * measure_of(c->d, arguments[0]);
    weft_arena_free(&r.arena);
}

static void ref_points(ARGUMENTS) {
    int e = c->arguments[0].sizes[0] - 1, columns = c->arguments[0].sizes[1]; /* cells and facets */
    quadrature r = quadrature_open(e, c->degree);
    for (int i = 0; i < columns; ++i)
        for (int p = 0; p < r.q; ++p)
            for (int v = 0; v <= e; ++v)
                result[i * r.q + p] +=
                    shape(e, v, r.points + p * e) * arguments[0][v * columns + i];
    weft_arena_free(&r.arena);
}

static void ref_interpolate(ARGUMENTS) {
    quadrature r = quadrature_open(c->d, c->degree);
    for (int p = 0; p < r.q; ++p)
        for (int i = 0; i <= c->d; ++i)
            result[p] += shape(c->d, i, r.points + p * c->d) * arguments[0][i];
    weft_arena_free(&r.arena);
}

static void ref_quadrature_load(ARGUMENTS) {
    quadrature r = quadrature_open(c->d, c->degree);
    for (int i = 0; i <= c->d; ++i)
        for (int p = 0; p < r.q; ++p)
            result[i] += arguments[0][p] * shape(c->d, i, r.points + p * c->d) * r.weights[p] *
                         factorial(c->d) * measure_of(c->d, arguments[1]);
    weft_arena_free(&r.arena);
}

static void ref_quadrature_mass(ARGUMENTS) {
    quadrature r = quadrature_open(c->d, c->degree);
    const int n = c->d + 1;
    for (int i = 0; i < n * n; ++i)
        for (int p = 0; p < r.q; ++p)
            result[i] += arguments[0][p] * shape(c->d, i / n, r.points + p * c->d) *
                         shape(c->d, i % n, r.points + p * c->d) * r.weights[p] * factorial(c->d) *
                         measure_of(c->d, arguments[1]);
    weft_arena_free(&r.arena);
}

/* a is its mean over the cell */
static void ref_quadrature_mean_mass(ARGUMENTS) {
    quadrature r = quadrature_open(c->d, c->degree);
    double mean = 0;
    for (int p = 0; p < r.q; ++p)
        mean += arguments[0][p] * r.weights[p] * factorial(c->d);
    for (int i = 0; i < (c->d + 1) * (c->d + 1); ++i)
        result[i] = mean * mass_entry(c->d, i / (c->d + 1), i % (c->d + 1), 2) *
                    measure_of(c->d, arguments[1]);
    weft_arena_free(&r.arena);
}

static void ref_quadrature_integral(ARGUMENTS) {
    quadrature r = quadrature_open(c->d, c->degree);
    for (int p = 0; p < r.q; ++p)
        result[0] +=
            arguments[0][p] * r.weights[p] * factorial(c->d) * measure_of(c->d, arguments[1]);
    weft_arena_free(&r.arena);
}

static void ref_quadrature_mean(ARGUMENTS) {
    quadrature r = quadrature_open(c->d, c->degree);
    for (int p = 0; p < r.q; ++p)
        result[0] += arguments[0][p] * r.weights[p] * factorial(c->d);
    weft_arena_free(&r.arena);
}

static void ref_facet_measure(ARGUMENTS) {
    result[0] = facet_measure_of(c->d, arguments[0]);
}

static void ref_quadrature_shapes(ARGUMENTS) {
    quadrature r = quadrature_open(c->d, c->degree);
    const int n = c->d + 1;
    for (int p = 0; p < r.q; ++p)
        for (int i = 0; i < n; ++i)
            result[p * n + i] = shape(c->d, i, r.points + p * c->d) * r.weights[p] *
                                factorial(c->d) * measure_of(c->d, arguments[0]);
    weft_arena_free(&r.arena);
}

static void ref_facet_load(ARGUMENTS) {
    for (int i = 0; i < c->d; ++i)
        for (int j = 0; j < c->d; ++j)
            result[i] += mass_entry(c->d - 1, i, j, c->degree) * arguments[0][j] *
                         facet_measure_of(c->d, arguments[1]);
}

static void ref_facet_mass(ARGUMENTS) {
    for (int k = 0; k < c->d * c->d; ++k)
        result[k] = mass_entry(c->d - 1, k / c->d, k % c->d, c->degree) *
                    facet_measure_of(c->d, arguments[0]);
}

static void ref_facet_quadrature_load(ARGUMENTS) {
    int e = c->d - 1;
    quadrature r = quadrature_open(e, c->degree);
    for (int i = 0; i < c->d; ++i)
        for (int p = 0; p < r.q; ++p)
            result[i] += arguments[0][p] * shape(e, i, r.points + p * e) * r.weights[p] *
                         factorial(e) * facet_measure_of(c->d, arguments[1]);
    weft_arena_free(&r.arena);
}

static void ref_facet_quadrature_mass(ARGUMENTS) {
    int e = c->d - 1;
    quadrature r = quadrature_open(e, c->degree);
    for (int k = 0; k < c->d * c->d; ++k)
        for (int p = 0; p < r.q; ++p)
            result[k] += arguments[0][p] * shape(e, k / c->d, r.points + p * e) *
                         shape(e, k % c->d, r.points + p * e) * r.weights[p] * factorial(e) *
                         facet_measure_of(c->d, arguments[1]);
    weft_arena_free(&r.arena);
}

/* ---- traces: degree 2 on an edge, and facets of hexahedra ------------------------------------ */

/* w_p = weight_p (d-1)! |F| on simplices */
static void ref_trace_measure(ARGUMENTS) {
    quadrature r = quadrature_open(c->d - 1, c->degree);
    for (int p = 0; p < r.q; ++p)
        result[p] = r.weights[p] * factorial(c->d - 1) * facet_measure_of(c->d, arguments[0]);
    weft_arena_free(&r.arena);
}

/* |x_s x x_t| of x = (1-s)(1-t) x_0 + s (1-t) x_1 + (1-s) t x_2 + s t x_3 */
static void ref_trace_measure_quadrilateral(ARGUMENTS) {
    const double *x = arguments[0];
    weft_quadrature rule = {0};
    assert_int_equal(
        weft_quadrature_make(WEFT_QUADRILATERAL, WEFT_SCHEME_DEFAULT, c->degree, &rule, NULL),
        WEFT_OK);
    for (int p = 0; p < rule.n; ++p) {
        const double s = rule.points[2 * p], t = rule.points[2 * p + 1];
        double a[3], b[3], square = 0;
        for (int i = 0; i < 3; ++i) {
            a[i] = (1 - t) * (x[3 + i] - x[i]) + t * (x[9 + i] - x[6 + i]);
            b[i] = (1 - s) * (x[6 + i] - x[i]) + s * (x[9 + i] - x[3 + i]);
        }
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const double v = a[j] * b[k] - a[k] * b[j];
            square += v * v;
        }
        result[p] = rule.weights[p] * sqrt(square);
    }
    weft_quadrature_free(&rule);
}

/* Of the two ends of an edge and its middle. */
static double edge_function(int i, double s) {
    return i == 0 ? (1 - 2 * s) * (1 - s) : i == 1 ? s * (2 * s - 1) : 4 * s * (1 - s);
}

static void ref_trace_load(ARGUMENTS) {
    quadrature r = quadrature_open(1, c->degree);
    for (int i = 0; i < 3; ++i)
        for (int p = 0; p < r.q; ++p)
            result[i] += arguments[0][p] * arguments[1][p] * edge_function(i, r.points[p]);
    weft_arena_free(&r.arena);
}

static void ref_trace_matrix(ARGUMENTS) {
    quadrature r = quadrature_open(1, c->degree);
    for (int k = 0; k < 9; ++k)
        for (int p = 0; p < r.q; ++p)
            result[k] += arguments[0][p] * arguments[1][p] * edge_function(k / 3, r.points[p]) *
                         edge_function(k % 3, r.points[p]);
    weft_arena_free(&r.arena);
}

#define S(n)                                                                                       \
    { 1, {(n), 0}, DATA_ANY }
#define M(m, n)                                                                                    \
    { 2, {(m), (n)}, DATA_ANY }
#define J(d)                                                                                       \
    { 2, {(d), (d)}, DATA_JACOBIAN }
#define X(n, d)                                                                                    \
    { 2, {(n), (d)}, DATA_VERTICES }

static const check_case cases[] = {
    {"jacobian", NULL, 1, {X(2, 1)}, 1, ref_jacobian, 1, 0, NULL},
    {"jacobian", NULL, 1, {X(3, 2)}, 4, ref_jacobian, 2, 0, NULL},
    {"jacobian", NULL, 1, {X(4, 3)}, 9, ref_jacobian, 3, 0, NULL},
    {"tform_dshape", NULL, 1, {J(1)}, 2, ref_tform_dshape, 1, 0, NULL},
    {"tform_dshape", NULL, 1, {J(2)}, 6, ref_tform_dshape, 2, 0, NULL},
    {"tform_dshape", NULL, 1, {J(3)}, 12, ref_tform_dshape, 3, 0, NULL},
    {"measure", NULL, 1, {J(1)}, 1, ref_measure, 1, 0, NULL},
    {"measure", NULL, 1, {J(2)}, 1, ref_measure, 2, 0, NULL},
    {"measure", NULL, 1, {J(3)}, 1, ref_measure, 3, 0, NULL},
    {"gradient", NULL, 2, {M(3, 2), S(3)}, 2, ref_gradient, 2, 0, NULL},
    {"gradient", NULL, 2, {M(4, 3), S(4)}, 3, ref_gradient, 3, 0, NULL},
    {"dshape_dot_dshape", NULL, 2, {M(2, 1), J(1)}, 4, ref_stiffness, 1, 0, NULL},
    {"dshape_dot_dshape", NULL, 2, {M(3, 2), J(2)}, 9, ref_stiffness, 2, 0, NULL},
    {"dshape_dot_dshape", NULL, 2, {M(4, 3), J(3)}, 16, ref_stiffness, 3, 0, NULL},
    {"dshape_dot_dshape", NULL, 2, {M(6, 2), J(2)}, 36, ref_stiffness, 2, 0, NULL},
    {"stiffness_product", NULL, 2, {X(2, 1), S(2)}, 2, ref_stiffness_product, 1, 0, NULL},
    {"stiffness_product", NULL, 2, {X(3, 2), S(3)}, 3, ref_stiffness_product, 2, 0, NULL},
    {"stiffness_product", NULL, 2, {X(4, 3), S(4)}, 4, ref_stiffness_product, 3, 0, NULL},
    {"dshape_tensor_dshape",
     NULL,
     3,
     {M(2, 1), M(1, 1), J(1)},
     4,
     ref_tensor_stiffness,
     1,
     0,
     NULL},
    {"dshape_tensor_dshape",
     NULL,
     3,
     {M(3, 2), M(2, 2), J(2)},
     9,
     ref_tensor_stiffness,
     2,
     0,
     NULL},
    {"dshape_tensor_dshape",
     NULL,
     3,
     {M(4, 3), M(3, 3), J(3)},
     16,
     ref_tensor_stiffness,
     3,
     0,
     NULL},
    {"tform_shape", NULL, 1, {J(1)}, 4, ref_tform_shape, 1, 2, NULL},
    {"tform_shape", NULL, 1, {J(2)}, 9, ref_tform_shape, 2, 2, NULL},
    {"tform_shape", "degree = 3", 1, {J(3)}, 32, ref_tform_shape, 3, 3, NULL},
    {"shape_shape", NULL, 1, {J(1)}, 4, ref_mass, 1, 2, NULL},
    {"shape_shape", NULL, 1, {J(2)}, 9, ref_mass, 2, 2, NULL},
    {"shape_shape", "degree = 3", 1, {J(3)}, 16, ref_mass, 3, 3, NULL},
    {"shape_shape", "degree = 1", 1, {J(3)}, 16, ref_mass, 3, 1, NULL},
    {"lumped_mass", NULL, 1, {J(1)}, 4, ref_lumped_mass, 1, 2, NULL},
    {"lumped_mass", NULL, 1, {J(2)}, 9, ref_lumped_mass, 2, 2, NULL},
    {"lumped_mass", NULL, 1, {J(3)}, 16, ref_lumped_mass, 3, 2, NULL},
    {"quadrature_shape_shape", NULL, 2, {S(3), J(2)}, 9, ref_quadrature_mass, 2, 2, NULL},
    {"quadrature_shape_shape", "degree = 1", 2, {S(1), J(1)}, 4, ref_quadrature_mass, 1, 1, NULL},
    {"quadrature_shape_shape", NULL, 2, {S(4), J(3)}, 16, ref_quadrature_mass, 3, 2, NULL},
    {"quadrature_shape_shape",
     "mean = 1",
     2,
     {S(3), J(2)},
     9,
     ref_quadrature_mean_mass,
     2,
     2,
     NULL},
    {"quadrature_shape_shape",
     "degree = 3, mean = 1",
     2,
     {S(8), J(3)},
     16,
     ref_quadrature_mean_mass,
     3,
     3,
     NULL},
    {"shape_load", NULL, 2, {S(2), J(1)}, 2, ref_load, 1, 2, NULL},
    {"shape_load", NULL, 2, {S(3), J(2)}, 3, ref_load, 2, 2, NULL},
    {"shape_load", "degree = 4", 2, {S(4), J(3)}, 4, ref_load, 3, 4, NULL},
    {"shape_load", "degree = 1", 2, {S(3), J(2)}, 3, ref_load, 2, 1, NULL},
    {"quadrature_points", NULL, 1, {X(2, 1)}, 2, ref_points, 1, 2, NULL},
    {"quadrature_points", "degree = 1", 1, {X(3, 2)}, 2, ref_points, 2, 1, NULL},
    {"quadrature_points", "degree = 4", 1, {X(4, 3)}, 42, ref_points, 3, 4, NULL},
    {"quadrature_points", "degree = 14", 1, {X(3, 2)}, 84, ref_points, 2, 14, NULL}, /* loops stay
                                                                                         loops */
    {"interpolate", NULL, 1, {S(2)}, 2, ref_interpolate, 1, 2, NULL},
    {"interpolate", "degree = 5", 1, {S(3)}, 7, ref_interpolate, 2, 5, NULL},
    {"interpolate", NULL, 1, {S(4)}, 4, ref_interpolate, 3, 2, NULL},
    {"quadrature_load", NULL, 2, {S(2), J(1)}, 2, ref_quadrature_load, 1, 2, NULL},
    {"quadrature_load", "degree = 4", 2, {S(6), J(2)}, 3, ref_quadrature_load, 2, 4, NULL},
    {"quadrature_load", "degree = 5", 2, {S(14), J(3)}, 4, ref_quadrature_load, 3, 5, NULL},
    {"quadrature_load",
     "degree = 8",
     2,
     {S(46), J(3)},
     4,
     ref_quadrature_load,
     3,
     8,
     NULL}, /* loops
                                                                                          stay loops */
    {"quadrature_integral", NULL, 2, {S(2), J(1)}, 1, ref_quadrature_integral, 1, 2, NULL},
    {"quadrature_integral", "degree = 5", 2, {S(7), J(2)}, 1, ref_quadrature_integral, 2, 5, NULL},
    {"quadrature_integral", NULL, 2, {S(4), J(3)}, 1, ref_quadrature_integral, 3, 2, NULL},
    {"quadrature_mean", "d = 1", 1, {S(2)}, 1, ref_quadrature_mean, 1, 2, NULL},
    {"quadrature_mean", NULL, 1, {S(3)}, 1, ref_quadrature_mean, 2, 2, NULL},
    {"quadrature_mean", "d = 3, degree = 3", 1, {S(8)}, 1, ref_quadrature_mean, 3, 3, NULL},
    {"quadrature_shapes", NULL, 1, {J(1)}, 4, ref_quadrature_shapes, 1, 2, NULL},
    {"quadrature_shapes", "degree = 4", 1, {J(2)}, 18, ref_quadrature_shapes, 2, 4, NULL},
    {"quadrature_shapes", NULL, 1, {J(3)}, 16, ref_quadrature_shapes, 3, 2, NULL},
    {"facet_measure", NULL, 1, {X(1, 1)}, 1, ref_facet_measure, 1, 0, NULL},
    {"facet_measure", NULL, 1, {X(2, 2)}, 1, ref_facet_measure, 2, 0, NULL},
    {"facet_measure", NULL, 1, {X(3, 3)}, 1, ref_facet_measure, 3, 0, NULL},
    {"facet_load", NULL, 2, {S(1), X(1, 1)}, 1, ref_facet_load, 1, 2, NULL},
    {"facet_load", NULL, 2, {S(2), X(2, 2)}, 2, ref_facet_load, 2, 2, NULL},
    {"facet_load", NULL, 2, {S(3), X(3, 3)}, 3, ref_facet_load, 3, 2, NULL},
    {"facet_load", "degree = 1", 2, {S(3), X(3, 3)}, 3, ref_facet_load, 3, 1, NULL},
    {"facet_shape_shape", NULL, 1, {X(1, 1)}, 1, ref_facet_mass, 1, 2, NULL},
    {"facet_shape_shape", NULL, 1, {X(2, 2)}, 4, ref_facet_mass, 2, 2, NULL},
    {"facet_shape_shape", NULL, 1, {X(3, 3)}, 9, ref_facet_mass, 3, 2, NULL},
    {"facet_shape_shape", "degree = 0", 1, {X(2, 2)}, 4, ref_facet_mass, 2, 0, NULL},
    {"facet_points", NULL, 1, {X(2, 2)}, 4, ref_points, 2, 2, NULL},
    {"facet_points", "degree = 4", 1, {X(3, 3)}, 18, ref_points, 3, 4, NULL},
    {"facet_quadrature_load", NULL, 2, {S(2), X(2, 2)}, 2, ref_facet_quadrature_load, 2, 2, NULL},
    {"facet_quadrature_load",
     "degree = 4",
     2,
     {S(6), X(3, 3)},
     3,
     ref_facet_quadrature_load,
     3,
     4,
     NULL},
    {"facet_quadrature_shape_shape",
     "degree = 4",
     2,
     {S(3), X(2, 2)},
     4,
     ref_facet_quadrature_mass,
     2,
     4,
     NULL},
    {"facet_quadrature_shape_shape",
     NULL,
     2,
     {S(3), X(3, 3)},
     9,
     ref_facet_quadrature_mass,
     3,
     2,
     NULL},
    {"trace_points", "cell = 2", 1, {X(2, 2)}, 6, ref_points, 2, 4, NULL},
    {"trace_points", "cell = 3", 1, {X(3, 3)}, 18, ref_points, 3, 4, NULL},
    {"trace_measure", "cell = 2", 1, {X(2, 2)}, 3, ref_trace_measure, 2, 4, NULL},
    {"trace_measure", "cell = 3", 1, {X(3, 3)}, 6, ref_trace_measure, 3, 4, NULL},
    {"trace_measure", "cell = 5", 1, {M(4, 3)}, 9, ref_trace_measure_quadrilateral, 3, 4, NULL},
    {"trace_load", "cell = 2, k = 2", 2, {S(3), S(3)}, 3, ref_trace_load, 2, 4, NULL},
    {"trace_load", "cell = 4, k = 2, degree = 6", 2, {S(4), S(4)}, 3, ref_trace_load, 2, 6, NULL},
    {"trace_matrix", "cell = 2, k = 2", 2, {S(3), S(3)}, 9, ref_trace_matrix, 2, 4, NULL},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static void test_double(void **state) {
    (void)state;
    for (int variant = 0; variant < 3; ++variant)
        check_cases(cases, N_CASES, variant, false, 1e-12);
}

static void test_float(void **state) {
    (void)state;
    for (int variant = 0; variant < 3; ++variant)
        check_cases(cases, N_CASES, variant, true, 2e-4);
}

static void test_all_are_here(void **state) {
    (void)state;
    check_all_are_here("element/", cases, N_CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_here),
        cmocka_unit_test(test_double),
        cmocka_unit_test(test_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
