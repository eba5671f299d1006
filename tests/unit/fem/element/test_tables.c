/* labels: quick */
/* Quadrature integrates every monomial up to its degree exactly, over the reference simplex:
 *     int x^a y^b z^c = a! b! c! / (a + b + c + d)!
 * Tolerance: 1e-13 relative to the measure 1/d!, some tens of units in the last place of sums of up
 * to 1331 positive terms. One degree more is not integrated exactly by at least one monomial where
 * the number of points is least (a test that could not fail would let a table of higher degree
 * stand in for all). */
#include "core/weft_core.h"
#include "fem/element/tables.h"
#include "fusion/library/library.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <math.h>

enum { DEGREE_MAX = 20 };

static double factorial(int n) {
    double f = 1;
    for (int i = 2; i <= n; ++i)
        f *= i;
    return f;
}

static double integrate(int d, int q, const double *points, const double *weights,
                        const int *powers) {
    double sum = 0;
    for (int p = 0; p < q; ++p) {
        double term = weights[p];
        for (int k = 0; k < d; ++k)
            term *= pow(points[p * d + k], powers[k]);
        sum += term;
    }
    return sum;
}

/* The largest error over all monomials of total degree n, relative to the measure. */
static double worst_error(int d, int n, int q, const double *points, const double *weights) {
    double worst = 0;
    int p[3];
    for (p[0] = 0; p[0] <= n; ++p[0])
        for (p[1] = 0; p[1] <= (d > 1 ? n - p[0] : 0); ++p[1]) {
            p[2] = d > 2 ? n - p[0] - p[1] : 0;
            if (p[0] + p[1] + p[2] != n)
                continue;
            double exact = factorial(p[0]) * factorial(p[1]) * factorial(p[2]) / factorial(n + d);
            worst = fmax(worst, fabs(integrate(d, q, points, weights, p) - exact) * factorial(d));
        }
    return worst;
}

static void test_monomials(void **state) {
    (void)state;
    for (int d = 1; d <= 3; ++d)
        for (int degree = 0; degree <= DEGREE_MAX; ++degree) {
            weft_error error = {0};
            weft_arena *arena = NULL;
            double *points = NULL, *weights = NULL;
            int q = 0;
            assert_int_equal(weft_arena_make(&arena, &error), WEFT_OK);
            assert_int_equal(
                weft_simplex_quadrature(arena, d, degree, &q, &points, &weights, &error), WEFT_OK);
            for (int n = 0; n <= degree; ++n) {
                double worst = worst_error(d, n, q, points, weights);
                if (worst > 1e-13)
                    fail_msg("d = %d, degree %d: monomials of degree %d are wrong by %g", d, degree,
                             n, worst);
            }
            for (int p = 0; p < q; ++p) {
                double sum = 0;
                assert_true(weights[p] > 0);
                for (int k = 0; k < d; ++k) {
                    assert_true(points[p * d + k] > 0);
                    sum += points[p * d + k];
                }
                assert_true(sum < 1);
            }
            weft_arena_free(&arena);
        }
}

static void test_number_of_points(void **state) {
    (void)state;
    static const struct {
        int d, degree, q, next;
    } known[] = {{1, 1, 1, 2}, {1, 3, 2, 4}, {1, 9, 5, 10}, {2, 1, 1, 2},  {2, 2, 3, 3},
                 {2, 4, 6, 5}, {2, 5, 7, 6}, {2, 6, 12, 7}, {2, 8, 16, 9}, {3, 6, 24, 7},
                 {3, 1, 1, 2}, {3, 2, 4, 3}, {3, 3, 8, 4},  {3, 5, 14, 6}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        weft_arena *arena = NULL;
        double *points = NULL, *weights = NULL;
        int q = 0;
        assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
        assert_int_equal(weft_simplex_quadrature(arena, known[i].d, known[i].degree, &q, &points,
                                                 &weights, NULL),
                         WEFT_OK);
        assert_int_equal(q, known[i].q);
        assert_true(worst_error(known[i].d, known[i].next, q, points, weights) > 1e-8);
        weft_arena_free(&arena);
    }
}

/* A function that has all three tables, so that its specialisation shows them. */
static void test_tables_agree(void **state) {
    (void)state;
    static const char text[] =
        "//@ function probe(x: real[d]) -> y: real[d]\n//@ kind map\n//@ flops 1\n"
        "//@ source none\n//@ table w: real[q] = simplex_weights(d, 4)\n"
        "//@ table p: real[q,d] = simplex_points(d, 4)\n"
        "//@ table s: real[d+1,q] = simplex_shape(d, 4)\n//@ threads 1\n"
        "for (int i = 0; i < d; ++i) y(i) = x(i);\n";
    weft_library *library = NULL;
    weft_arena *arena = NULL;
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_tables_register(library, NULL), WEFT_OK);
    assert_int_equal(weft_library_add_text(library, "probe", text, NULL), WEFT_OK);
    for (int d = 1; d <= 3; ++d) {
        weft_shape shape = {1, {d}};
        weft_specialisation *specialisation = NULL;
        assert_int_equal(
            weft_specialisation_make(
                arena, library,
                &(weft_element_request){.function = weft_library_find(library, "probe"),
                                        .arguments = &shape,
                                        .n_arguments = 1},
                &specialisation, NULL),
            WEFT_OK);
        int q = specialisation->table_shapes[0].sizes[0];
        double measure = 0;
        for (int p = 0; p < q; ++p) {
            double sum = 0;
            for (int i = 0; i <= d; ++i)
                sum += specialisation->tables[2][i * q + p];
            assert_double_near(sum, 1.0, 1e-13, 0);
            for (int i = 0; i < d; ++i) /* shape function i + 1 is coordinate i */
                assert_true(specialisation->tables[2][(i + 1) * q + p] ==
                            specialisation->tables[1][p * d + i]);
            measure += specialisation->tables[0][p];
        }
        assert_double_near(measure * factorial(d), 1.0, 1e-13, 0);
    }
    weft_library_free(&library);
    weft_arena_free(&arena);
}

static void test_out_of_range(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    double *points = NULL, *weights = NULL;
    int q = 0;
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    assert_int_equal(weft_simplex_quadrature(arena, 4, 1, &q, &points, &weights, &error),
                     WEFT_ERROR_USAGE);
    assert_int_equal(weft_simplex_quadrature(arena, 2, 101, &q, &points, &weights, &error),
                     WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "no quadrature of degree 101");
    assert_string_equal(error.hint, "degrees go from 0 to 100");
    assert_int_equal(weft_simplex_quadrature(arena, 2, -1, &q, &points, &weights, &error),
                     WEFT_ERROR_USAGE);
    weft_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monomials),
        cmocka_unit_test(test_number_of_points),
        cmocka_unit_test(test_tables_agree),
        cmocka_unit_test(test_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
