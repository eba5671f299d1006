/* labels: quick */
/* Quadrature rules integrate every monomial up to their degree over each reference cell:
 *
 *     simplex: int x^a y^b z^c = a! b! c! / (a + b + c + d)!    otherwise: 1/((a+1)(b+1)(c+1))
 *
 *  Tolerance: 1e-13 of the measure, some hundreds of units in the last place of sums of up to 1331
 *  positive terms. test_tables.c checks that the degree of a rule is not higher than it says. */
#include "fem/weft_element.h"
#include "test_support.h"

#include <math.h>

static double exact(const weft_cell *cell, const int *powers) {
    double value = 1;
    int n = cell->dimension;
    for (int k = 0; k < cell->dimension; ++k) {
        n += powers[k];
        for (int i = 2; i <= powers[k] && cell->simplex; ++i)
            value *= i;
        value /= cell->simplex ? 1 : powers[k] + 1;
    }
    for (int i = 2; i <= n && cell->simplex; ++i)
        value /= i;
    return value;
}

static double integrate(const weft_quadrature *rule, const int *powers) {
    double sum = 0;
    for (int q = 0; q < rule->n; ++q) {
        double term = rule->weights[q];
        for (int k = 0; k < rule->dimension; ++k)
            for (int i = 0; i < powers[k]; ++i)
                term *= rule->points[q * rule->dimension + k];
        sum += term;
    }
    return sum;
}

static void check_rule(const weft_cell *cell, weft_scheme scheme, int degree) {
    weft_quadrature rule;
    int p[3];
    assert_int_equal(weft_quadrature_make(cell->type, scheme, degree, &rule, NULL), WEFT_OK);
    assert_int_equal(rule.dimension, cell->dimension);
    const int d = cell->dimension;
    for (p[0] = 0; p[0] <= degree; ++p[0])
        for (p[1] = 0; p[1] <= (d > 1 ? degree : 0); ++p[1])
            for (p[2] = 0; p[2] <= (d > 2 ? degree : 0); ++p[2]) {
                if (cell->simplex && p[0] + p[1] + p[2] > degree)
                    continue;
                const double error = integrate(&rule, p) - exact(cell, p);
                if (fabs(error) > 1e-13 * cell->measure)
                    fail_msg("%s, scheme %d, degree %d: x^%d y^%d z^%d is wrong by %g", cell->name,
                             (int)scheme, degree, p[0], p[1], p[2], error);
            }
    for (int q = 0; q < rule.n; ++q) {
        double sum = 0;
        assert_true(rule.weights[q] > 0);
        for (int k = 0; k < d; ++k) {
            const double x = rule.points[q * d + k];
            assert_true(x >= 0 && x <= 1);
            sum += x;
        }
        assert_true(!cell->simplex || sum <= 1 + 1e-15);
    }
    weft_quadrature_free(&rule);
}

static void test_monomials(void **state) {
    (void)state;
    for (int type = WEFT_INTERVAL; type < WEFT_CELL_TYPES; ++type) {
        const weft_cell *cell = weft_cell_of((weft_cell_type)type);
        const int most = cell->dimension == 3 ? 18 : 22;
        for (int degree = 0; degree <= most; ++degree) {
            check_rule(cell, WEFT_SCHEME_DEFAULT, degree);
            check_rule(cell, WEFT_SCHEME_GAUSS_JACOBI, degree);
            if (!cell->simplex || cell->dimension == 1)
                check_rule(cell, WEFT_SCHEME_GLL, degree);
        }
        check_rule(cell, WEFT_SCHEME_VERTEX, 1);
    }
    check_rule(weft_cell_of(WEFT_INTERVAL), WEFT_SCHEME_GAUSS_JACOBI, WEFT_QUADRATURE_DEGREE_MAX);
    check_rule(weft_cell_of(WEFT_INTERVAL), WEFT_SCHEME_GLL, WEFT_QUADRATURE_DEGREE_MAX);
}

/* exp(b . (1, 2, 3, 4)) of the barycentric coordinates b in another order: the same up to rounding, though it is not a polynomial. */
static double integrate_reoriented(const weft_quadrature *rule, const int *order) {
    double sum = 0;
    for (int q = 0; q < rule->n; ++q) {
        const int d = rule->dimension;
        double b[4] = {1}, power = 0;
        for (int k = 0; k < d; ++k) {
            b[k + 1] = rule->points[q * d + k];
            b[0] -= b[k + 1];
        }
        for (int k = 0; k <= d; ++k)
            power += (k + 1) * b[order[k]];
        sum += rule->weights[q] * exp(power);
    }
    return sum;
}

static void test_symmetry(void **state) {
    (void)state;
    static const int orders[][4] = {{0, 1, 2, 3}, {1, 2, 0, 3}, {1, 0, 2, 3},
                                    {2, 0, 1, 3}, {3, 1, 2, 0}, {1, 3, 0, 2}};
    for (int d = 2; d <= 3; ++d)
        for (int degree = 0; degree <= (d == 2 ? 20 : 18); ++degree) {
            weft_quadrature rule;
            const weft_cell_type cell = d == 2 ? WEFT_TRIANGLE : WEFT_TETRAHEDRON;
            assert_int_equal(weft_quadrature_make(cell, WEFT_SCHEME_DEFAULT, degree, &rule, NULL),
                             WEFT_OK);
            const double one = integrate_reoriented(&rule, orders[0]);
            for (int i = 1; i < (d == 2 ? 4 : 6); ++i)
                if (fabs(integrate_reoriented(&rule, orders[i]) - one) > 1e-13 * one)
                    fail_msg("dimension %d, degree %d: order %d of the vertices changes %g to %g",
                             d, degree, i, one, integrate_reoriented(&rule, orders[i]));
            weft_quadrature_free(&rule);
        }
}

/* Numbers of points: those of the rules in the literature that have as few. */
static void test_number_of_points(void **state) {
    (void)state;
    static const struct {
        weft_cell_type cell;
        weft_scheme scheme;
        int degree, n;
    } known[] = {{WEFT_TRIANGLE, WEFT_SCHEME_DEFAULT, 1, 1},
                 {WEFT_TRIANGLE, WEFT_SCHEME_DEFAULT, 3, 6},
                 {WEFT_TRIANGLE, WEFT_SCHEME_DEFAULT, 6, 12},
                 {WEFT_TRIANGLE, WEFT_SCHEME_DEFAULT, 8, 16},
                 {WEFT_TRIANGLE, WEFT_SCHEME_DEFAULT, 10, 25},
                 {WEFT_TRIANGLE, WEFT_SCHEME_GAUSS_JACOBI, 8, 25},
                 {WEFT_TETRAHEDRON, WEFT_SCHEME_DEFAULT, 2, 4},
                 {WEFT_TETRAHEDRON, WEFT_SCHEME_DEFAULT, 4, 14},
                 {WEFT_TETRAHEDRON, WEFT_SCHEME_DEFAULT, 6, 24},
                 {WEFT_TETRAHEDRON, WEFT_SCHEME_DEFAULT, 7, 35},
                 {WEFT_TRIANGLE, WEFT_SCHEME_DEFAULT, 20, 79},
                 {WEFT_TETRAHEDRON, WEFT_SCHEME_DEFAULT, 3, 8},
                 {WEFT_TETRAHEDRON, WEFT_SCHEME_DEFAULT, 8, 46},
                 {WEFT_TETRAHEDRON, WEFT_SCHEME_DEFAULT, 18, 352},
                 {WEFT_TETRAHEDRON, WEFT_SCHEME_DEFAULT, 26, 2744},
                 {WEFT_HEXAHEDRON, WEFT_SCHEME_DEFAULT, 7, 64},
                 {WEFT_HEXAHEDRON, WEFT_SCHEME_GLL, 2, 27},
                 {WEFT_HEXAHEDRON, WEFT_SCHEME_VERTEX, 5, 8},
                 {WEFT_POINT, WEFT_SCHEME_DEFAULT, 5, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        weft_quadrature rule;
        assert_int_equal(
            weft_quadrature_make(known[i].cell, known[i].scheme, known[i].degree, &rule, NULL),
            WEFT_OK);
        assert_int_equal(rule.n, known[i].n);
        weft_quadrature_free(&rule);
        assert_null(rule.points);
    }
}

/* The collapsed rule of degree 3 has the points of Basix 0.11, which sqrt(6) gives in closed form:
 * y = (4 -+ sqrt 6) / 10, x = (1 - y) (1/2 -+ sqrt 3 / 6), y fastest. Integrands that are no
 * polynomials have the same values only at the same points. */
static void test_collapsed_points(void **state) {
    (void)state;
    weft_quadrature rule;
    assert_int_equal(weft_quadrature_make(WEFT_TRIANGLE, WEFT_SCHEME_GAUSS_JACOBI, 3, &rule, NULL),
                     WEFT_OK);
    for (int q = 0; q < 4; ++q) {
        const double y = (4 + (q % 2 ? 1 : -1) * sqrt(6.0)) / 10;
        const double x = (1 - y) * (0.5 + (q / 2 ? 1 : -1) * sqrt(3.0) / 6);
        assert_double_near(rule.points[2 * q], x, 0, 1e-14);
        assert_double_near(rule.points[2 * q + 1], y, 0, 1e-14);
    }
    weft_quadrature_free(&rule);
}

static void test_errors(void **state) {
    (void)state;
    weft_error error = {0};
    weft_quadrature rule;
    assert_int_equal(weft_quadrature_make(WEFT_TRIANGLE, WEFT_SCHEME_GLL, 2, &rule, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message, "there is no Gauss-Lobatto-Legendre rule on a triangle");
    assert_int_equal(weft_quadrature_make(WEFT_TRIANGLE, WEFT_SCHEME_DEFAULT, -1, &rule, &error),
                     WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "no quadrature of degree -1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monomials),        cmocka_unit_test(test_symmetry),
        cmocka_unit_test(test_number_of_points), cmocka_unit_test(test_collapsed_points),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
