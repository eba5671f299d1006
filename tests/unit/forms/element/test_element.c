/* labels: quick */
/* Form files have the elements of every family, degree and cell that fem has: degrees 0 to 12, of as many functions as
 * polynomials, and their integrals are lowered. Other degrees are refused, and the degrees that there are named. */
#include "test_support.h"

#include "forms_support.h"

#include <stdio.h>

static const char *const cells[] = {"interval", "triangle", "quadrilateral", "tetrahedron",
                                    "hexahedron"};
static const int dimensions[] = {1, 2, 2, 3, 3};
static const bool simplices[] = {true, true, false, true, false};
enum { N_CELLS = 5 };

static weft_status read_one(const char *family, const char *cell, int degree, weft_ufl **out,
                            weft_error *error) {
    char text[200];
    const int length = snprintf(text, sizeof text,
                                "v = TestFunction(FiniteElement('%s', %s, %d))\n"
                                "L = v*dx(degree=%d)\n",
                                family, cell, degree, degree);
    return weft_ufl_read_text("forms.ufl", text, (size_t)length, NULL, out, error);
}

static int power(int base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/* Polynomials of the degree: on simplices (k + d) over d, on products (k + 1)^d. */
static int polynomials(int cell, int degree) {
    int n = 1;
    for (int i = 1; i <= dimensions[cell]; ++i)
        n = n * (degree + i) / i;
    return degree < 0 ? 0 : simplices[cell] ? n : power(degree + 1, dimensions[cell]);
}

/* The element exists, and the vector of its functions' integrals has n entries. */
static void check(const char *family, int cell, int degree, int n) {
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    if (read_one(family, cells[cell], degree, &ufl, &error) != WEFT_OK)
        fail_msg("%s %s %d: %s", family, cells[cell], degree, error.message);
    ufl->context.error = &error;
    const ufl_lowered *lowered = ufl_lower_integral(&ufl->graph, ufl->prepared[0], 0, "L", NULL);
    if (!lowered)
        fail_msg("%s %s %d: %s", family, cells[cell], degree, error.message);
    assert_int_equal(forms_size(lowered), n);
    weft_ufl_free(&ufl);
}

static void check_refused(const char *family, int cell, int degree, const char *message) {
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    assert_int_not_equal(read_one(family, cells[cell], degree, &ufl, &error), WEFT_OK);
    assert_string_equal(error.message, message);
    assert_null(ufl);
}

/* The message about an unknown family lists all families of the table of fem, but of those of vectors the ones that have
 * a text for it. */
static void test_families_are_listed(void **state) {
    (void)state;
    static const char *const others[] = {"Argyris", "Lagrnge"};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        weft_ufl *ufl = NULL;
        weft_error error = {0};
        assert_int_not_equal(read_one(others[i], "triangle", 1, &ufl, &error), WEFT_OK);
        for (weft_family family = 0; family < weft_family_count(false); ++family)
            if (i == 0 &&
                (!weft_family_about(family)->is_vector || weft_family_about(family)->listed) &&
                !strstr(error.hint, weft_family_about(family)->prefix))
                fail_msg("%s is not in '%s'", weft_family_about(family)->prefix, error.hint);
        assert_true(i == 0 || strstr(error.hint, "did you mean 'Lagrange'?"));
        weft_ufl_free(&ufl);
    }
}

static void test_lagrange(void **state) {
    (void)state;
    for (int cell = 0; cell < N_CELLS; ++cell)
        for (int degree = 0; degree <= 12; ++degree) {
            const int n = polynomials(cell, degree);
            check("DG", cell, degree, n);
            if (degree > 0)
                check(simplices[cell] ? "P" : "Q", cell, degree, n);
        }
    check_refused("P", 1, 13, "Lagrange elements of the triangle have degree 1 to 12, this one 13");
    check_refused("P", 4, 0, "a continuous Lagrange element has degree 1 or more");
    check_refused("DG", 0, 13,
                  "discontinuous Lagrange elements of the interval have degree 0 to 12, this one "
                  "13");
}

static void test_bubbles(void **state) {
    (void)state;
    for (int cell = 0; cell < N_CELLS; ++cell) {
        const int least = simplices[cell] ? dimensions[cell] + 1 : 2;
        for (int degree = least; degree <= 12; ++degree)
            check("Bubble", cell, degree,
                  polynomials(cell, degree - (simplices[cell] ? dimensions[cell] + 1 : 2)));
    }
    check_refused("B", 3, 3, "bubble elements of the tetrahedron have degree 4 to 12, this one 3");
}

static void test_others(void **state) {
    (void)state;
    for (int cell = 0; cell < N_CELLS; ++cell) {
        check("R", cell, 0, 1);
        check("Quadrature", cell, 3,
              simplices[cell] && cell > 0 ? (cell == 1 ? 6 : 8) : power(2, dimensions[cell]));
    }
    check_refused("Quadrature", 0, 101,
                  "quadrature elements of the interval have degree 0 to 100, this one 101");
    check_refused("Morley", 1, 2, "Morley elements are not supported");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families_are_listed),
        cmocka_unit_test(test_lagrange),
        cmocka_unit_test(test_bubbles),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
