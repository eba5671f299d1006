/* labels: quick */
/* Functions of solids that deform, against sums over the elasticity tensor
 *     C_abcd = lambda d_ab d_cd + mu (d_ac d_bd + d_ad d_bc)
 * written out index by index. Tolerances, relative to the largest component of a result (or 0.1):
 * 1e-12 in double, 4e-4 in float, for products of up to six numbers of size one, 81 of them in a
 * sum. That residual and tangent are derivatives of the energy is in tests/unit/test_solid_forms.c.
 */
#include "core/weft_core.h"
#include "fem/element/tables.h"
#include "kernel_check.h"

enum { D_MAX = 3 };

static double measure_of(int d, const double *jacobian) {
    return fabs(check_eliminate(d, jacobian, NULL)) / (d == 2 ? 2 : 6);
}

static double hooke(int a, int b, int c, int d, double lambda, double mu) {
    return lambda * (a == b) * (c == d) + mu * ((a == c) * (b == d) + (a == d) * (b == c));
}

/* arguments: G, J, lambda, mu */
static void ref_elastic(const check_case *c, const double *const *arguments, double *result) {
    const int n = c->arguments[0].sizes[0], d = c->d;
    const double *G = arguments[0], size = measure_of(d, arguments[1]);
    for (int i = 0; i < n * d; ++i)
        for (int j = 0; j < n * d; ++j)
            for (int a = 0; a < d; ++a)
                for (int b = 0; b < d; ++b)
                    result[i * n * d + j] +=
                        size * G[i / d * d + a] * G[j / d * d + b] *
                        hooke(i % d, a, j % d, b, arguments[2][0], arguments[3][0]);
}

/* f0, f1, f2, J; forces at the points of the rule, known from test_tables.c */
static void ref_force(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d, n = d + 1;
    double *weights = NULL, *points = NULL;
    weft_arena *arena = NULL;
    int q = 0;
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    assert_int_equal(weft_simplex_quadrature(arena, d, c->degree, &q, &points, &weights, NULL),
                     WEFT_OK);
    assert_int_equal(q, c->arguments[0].sizes[0]);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < d; ++k)
            for (int p = 0; p < q; ++p) {
                double shape = 1;
                for (int l = 0; l < d; ++l)
                    shape -= points[p * d + l];
                shape = i > 0 ? points[p * d + i - 1] : shape;
                result[i * d + k] += fabs(check_eliminate(d, arguments[3], NULL)) * weights[p] *
                                     shape * arguments[k][p];
            }
    weft_arena_free(&arena);
}

static void ref_gradient(const check_case *c, const double *const *arguments, double *result) {
    const int n = c->arguments[0].sizes[0], d = c->arguments[0].sizes[1];
    const int components = c->arguments[1].sizes[1];
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < components; ++k)
            for (int l = 0; l < d; ++l)
                result[k * d + l] += arguments[1][i * components + k] * arguments[0][i * d + l];
}

/* (F^T F - 1)/2 */
static void ref_strain(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d;
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
            result[i * d + j] = -0.5 * (i == j);
            for (int k = 0; k < d; ++k)
                result[i * d + j] += 0.5 * ((k == i) + arguments[0][k * d + i]) *
                                     ((k == j) + arguments[0][k * d + j]);
        }
}

static void ref_stress(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d;
    for (int i = 0; i < d * d; ++i)
        for (int j = 0; j < d * d; ++j) /* of the symmetric part */
            result[i] += hooke(i / d, i % d, j / d, j % d, arguments[1][0], 0) * arguments[0][j];
    for (int i = 0; i < d * d; ++i)
        result[i] += 2 * arguments[2][0] * arguments[0][i];
}

/* In the plane the strain is that of plane strain. */
static void ref_stress_3d(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            for (int i = 0; i < d * d; ++i) {
                result[a * 3 + b] +=
                    hooke(a, b, i / d, i % d, arguments[1][0], 0) * arguments[0][i];
                if (a == i / d && b == i % d)
                    result[a * 3 + b] += 2 * arguments[2][0] * arguments[0][i];
            }
}

/* sqrt(3/2 s : s) of the symmetric part, in the plane with S_zz = 0 */
static void ref_mises(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d;
    double S[3][3] = {{0}}, trace = 0, square = 0;
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            S[i][j] = (arguments[0][i * d + j] + arguments[0][j * d + i]) / 2;
    for (int i = 0; i < 3; ++i)
        trace += S[i][i];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            square += pow(S[i][j] - (i == j) * trace / 3, 2);
    result[0] = sqrt(1.5 * square);
}

static void ref_traction(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < c->d; ++i)
        for (int j = 0; j < c->d; ++j)
            result[i] += arguments[0][i * 3 + j] * arguments[1][j];
}

static void ref_energy(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d;
    for (int i = 0; i < d * d; ++i)
        result[0] += arguments[0][i] * arguments[1][i] * measure_of(d, arguments[2]) / 2;
}

static void deformation(int d, const double *H, double F[D_MAX][D_MAX]) {
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            F[i][j] = H[i * d + j] + (i == j);
}

/* G, J, H, S */
static void ref_force_inside(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d, n = c->arguments[0].sizes[0];
    double F[D_MAX][D_MAX];
    deformation(d, arguments[2], F);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < d; ++k)
            for (int m = 0; m < d; ++m)
                for (int l = 0; l < d; ++l)
                    result[i * d + k] += measure_of(d, arguments[1]) * F[k][m] *
                                         arguments[3][m * d + l] * arguments[0][i * d + l];
}

/* G, J, H, S, lambda, mu:  dE_ab = sym(F_ka G_ib), so K = |T| (dE C dE + S dd E) */
static void ref_tangent(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d, n = c->arguments[0].sizes[0], rows = n * d;
    const double *G = arguments[0], *S = arguments[3], size = measure_of(d, arguments[1]);
    double F[D_MAX][D_MAX];
    deformation(d, arguments[2], F);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < rows; ++j) {
            double sum = 0;
            for (int ab = 0; ab < d * d; ++ab)
                for (int ce = 0; ce < d * d; ++ce)
                    sum += F[i % d][ab / d] * G[i / d * d + ab % d] *
                           hooke(ab / d, ab % d, ce / d, ce % d, arguments[4][0], arguments[5][0]) *
                           F[j % d][ce / d] * G[j / d * d + ce % d];
            for (int a = 0; a < d; ++a)
                for (int b = 0; i % d == j % d && b < d; ++b)
                    sum +=
                        G[i / d * d + a] * 0.5 * (S[a * d + b] + S[b * d + a]) * G[j / d * d + b];
            result[i * rows + j] = size * sum;
        }
}

static void ref_symmetric(const check_case *c, const double *const *arguments, double *result) {
    for (int i = 0; i < c->d * c->d; ++i)
        result[i] = (arguments[0][i] + arguments[0][i % c->d * c->d + i / c->d]) / 2;
}

/* (F^T D + D^T F)/2 */
static void ref_change(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d;
    double F[D_MAX][D_MAX];
    deformation(d, arguments[0], F);
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            for (int k = 0; k < d; ++k)
                result[i * d + j] +=
                    (F[k][i] * arguments[1][k * d + j] + arguments[1][k * d + i] * F[k][j]) / 2;
}

/* G, J, P */
static void ref_stress_force(const check_case *c, const double *const *arguments, double *result) {
    const int d = c->d, n = c->arguments[0].sizes[0], rows = c->arguments[2].sizes[0];
    for (int i = 0; i < n * rows; ++i)
        for (int l = 0; l < d; ++l)
            result[i] += measure_of(d, arguments[1]) * arguments[2][i % rows * d + l] *
                         arguments[0][i / rows * d + l];
}

static void ref_lambda(const check_case *c, const double *const *arguments, double *result) {
    (void)c;
    const double nu = 0.2 * arguments[1][0];
    result[0] = arguments[0][0] * nu / (1 + nu) / (1 - 2 * nu);
}

static void ref_mu(const check_case *c, const double *const *arguments, double *result) {
    (void)c;
    result[0] = arguments[0][0] / 2 / (1 + 0.2 * arguments[1][0]);
}

#define V(n)                                                                                       \
    { 1, {(n), 0}, DATA_ANY }
#define M(m, n)                                                                                    \
    { 2, {(m), (n)}, DATA_ANY }
#define J(n)                                                                                       \
    { 2, {(n), (n)}, DATA_JACOBIAN }
#define S                                                                                          \
    { 0, {0, 0}, DATA_ANY }

#define SYMMETRIC(name) "r@ = " name "(0.5*(a@_0 + transpose(a@_0)));"

static const check_case cases[] = {
    {"elastic_stiffness", NULL, 4, {M(3, 2), J(2), S, S}, 36, ref_elastic, 2, 0, NULL},
    {"elastic_stiffness", NULL, 4, {M(4, 3), J(3), S, S}, 144, ref_elastic, 3, 0, NULL},
    {"body_force_load", "degree = 2", 4, {V(3), V(3), V(3), J(2)}, 6, ref_force, 2, 2, NULL},
    {"body_force_load", "degree = 1", 4, {V(1), V(1), V(1), J(3)}, 12, ref_force, 3, 1, NULL},
    {"displacement_gradient", NULL, 2, {M(3, 2), M(3, 2)}, 4, ref_gradient, 2, 0, NULL},
    {"displacement_gradient", NULL, 2, {M(4, 3), M(4, 2)}, 6, ref_gradient, 3, 0, NULL},
    {"green_strain", NULL, 1, {M(2, 2)}, 4, ref_strain, 2, 0, NULL},
    {"green_strain", NULL, 1, {M(3, 3)}, 9, ref_strain, 3, 0, NULL},
    {"hooke_stress", NULL, 3, {M(2, 2), S, S}, 4, ref_stress, 2, 0, NULL},
    {"hooke_stress", NULL, 3, {M(3, 3), S, S}, 9, ref_stress, 3, 0, NULL},
    {"hooke_stress_3d", NULL, 3, {M(2, 2), S, S}, 9, ref_stress_3d, 2, 0, NULL},
    {"hooke_stress_3d", NULL, 3, {M(3, 3), S, S}, 9, ref_stress_3d, 3, 0, NULL},
    {"von_mises", NULL, 1, {M(2, 2)}, 1, ref_mises, 2, 0, SYMMETRIC("von_mises")},
    {"von_mises", NULL, 1, {M(3, 3)}, 1, ref_mises, 3, 0, SYMMETRIC("von_mises")},
    {"traction", NULL, 2, {M(3, 3), V(2)}, 2, ref_traction, 2, 0, NULL},
    {"traction", NULL, 2, {M(3, 3), V(3)}, 3, ref_traction, 3, 0, NULL},
    {"symmetric_part", NULL, 1, {M(2, 2)}, 4, ref_symmetric, 2, 0, NULL},
    {"symmetric_part", NULL, 1, {M(3, 3)}, 9, ref_symmetric, 3, 0, NULL},
    {"strain_change", NULL, 2, {M(2, 2), M(2, 2)}, 4, ref_change, 2, 0, NULL},
    {"strain_change", NULL, 2, {M(3, 3), M(3, 3)}, 9, ref_change, 3, 0, NULL},
    {"stress_force", NULL, 3, {M(3, 2), J(2), M(2, 2)}, 6, ref_stress_force, 2, 0, NULL},
    {"stress_force", NULL, 3, {M(4, 3), J(3), M(2, 3)}, 8, ref_stress_force, 3, 0, NULL},
    {"stress_energy", NULL, 3, {M(2, 2), M(2, 2), J(2)}, 1, ref_energy, 2, 0, NULL},
    {"stress_energy", NULL, 3, {M(3, 3), M(3, 3), J(3)}, 1, ref_energy, 3, 0, NULL},
    {"internal_force", NULL, 4, {M(3, 2), J(2), M(2, 2), M(2, 2)}, 6, ref_force_inside, 2, 0, NULL},
    {"internal_force",
     NULL,
     4,
     {M(4, 3), J(3), M(3, 3), M(3, 3)},
     12,
     ref_force_inside,
     3,
     0,
     NULL},
    {"kirchhoff_tangent",
     NULL,
     6,
     {M(3, 2), J(2), M(2, 2), M(2, 2), S, S},
     36,
     ref_tangent,
     2,
     0,
     "r@ = kirchhoff_tangent(a@_0, a@_1, a@_2, 0.5*(a@_3 + transpose(a@_3)), a@_4, a@_5);"},
    {"kirchhoff_tangent",
     NULL,
     6,
     {M(4, 3), J(3), M(3, 3), M(3, 3), S, S},
     144,
     ref_tangent,
     3,
     0,
     "r@ = kirchhoff_tangent(a@_0, a@_1, a@_2, 0.5*(a@_3 + transpose(a@_3)), a@_4, a@_5);"},
    {"first_lame",
     NULL,
     2,
     {J(1), J(1)},
     1,
     ref_lambda,
     0,
     0,
     "r@ = first_lame(a@_0[0,0], 0.2*a@_1[0,0]);"},
    {"shear_modulus",
     NULL,
     2,
     {J(1), J(1)},
     1,
     ref_mu,
     0,
     0,
     "r@ = shear_modulus(a@_0[0,0], 0.2*a@_1[0,0]);"},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static void test_double(void **state) {
    (void)state;
    for (int variant = 0; variant < 2; ++variant)
        check_cases(cases, N_CASES, variant, false, 1e-12);
}

static void test_float(void **state) {
    (void)state;
    for (int variant = 0; variant < 2; ++variant)
        check_cases(cases, N_CASES, variant, true, 4e-4);
}

static void test_all_are_here(void **state) {
    (void)state;
    check_all_are_here("solid/", cases, N_CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_here),
        cmocka_unit_test(test_double),
        cmocka_unit_test(test_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
