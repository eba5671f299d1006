/* labels: quick */
/* Degrees by the rules of UFL 2026.1 and 2026.2, worked out by hand: the rows of the table in its algorithm
 * estimate_degrees, and the traps in which a rule that is nearly right gives another degree. */
#include "forms/weft_ufl.h"
#include "test_support.h"

#include <stdio.h>
#include <string.h>

/* w, v, u, d: P1, P2, vector P2, DG0; m in P2 x P1 with parts m2 (vector) and m1. */
#define FUNCTIONS                                                                                  \
    "P1, P2 = FiniteElement('P', cell, 1), FiniteElement('P', cell, 2)\n"                          \
    "w, v, d = Coefficient(P1), Coefficient(P2), Coefficient(FiniteElement('DG', cell, 0))\n"      \
    "u, m = Coefficient(VectorElement(P2)), Coefficient(VectorElement(P2)*P1)\n"                   \
    "m2, m1 = split(m)\n"                                                                          \
    "S = TensorElement('P', cell, 4, symmetry=True)\n"                                             \
    "k = Coefficient((P1*FiniteElement('P', cell, 3))*P1)\n"                                       \
    "s, e = Coefficient(MixedElement(P1, S, P2)), Coefficient(FiniteElement('DG', cell, 2)*P1)\n"  \
    "i = indices(1)[0]\n"                                                                          \
    "c, x, n = Constant(cell), SpatialCoordinate(cell), FacetNormal(cell)\n"

static const struct {
    const char *cell, *form;
    int degree;
} cases[] = {
    {"triangle", "w*v*dx", 3},
    {"triangle", "(w + v)*dx", 2},
    {"triangle", "w/v*dx", 3},
    {"triangle", "v**2*dx", 4},
    {"triangle", "v**2.0*dx", 4},
    {"triangle", "v**3*dx", 6},
    {"triangle", "v**3.0*dx", 4}, /* 2 + 2: the exponent is not an int */
    {"triangle", "w**(-1)*dx", 3},
    {"triangle", "u**2*dx", 4}, /* inner(u, u) */
    {"triangle", "sin(w)*dx", 3},
    {"triangle", "sin(d)*dx", 0},
    {"triangle", "sqrt(c)*w*dx", 1},
    {"triangle", "atan2(w, v)*dx", 4},
    {"triangle", "abs(v)*dx", 2},
    {"triangle", "max_value(w, v)*dx", 2},
    {"triangle", "conditional(lt(v, 0), w, 1)*dx", 1}, /* conditions do not count */
    {"triangle", "dot(grad(v), grad(v))*dx", 2},
    {"triangle", "div(u)*dx", 1},
    {"triangle", "v.dx(0, 1)*dx", 0},
    {"triangle", "x[0]*w*dx", 2},
    {"triangle", "dot(n, u)*ds", 2},
    {"triangle", "m1*dx", 2}, /* the degree of the whole mixed element */
    {"triangle", "m1*m2[0]*dx", 4},
    {"triangle", "cell_avg(v)*w*dx", 1},
    {"triangle", "v*dx(degree=7)", 7},
    {"triangle", "v*dx(degree=-1)", 2},
    {"triangle", "v*dx + w*v*dx", 3}, /* summed, then estimated */
    {"triangle", "derivative(v**3*dx, v, v)", 6},
    {"triangle", "Circumradius(cell)*v*dx", 2},
    {"tetrahedron", "v*v*dx", 4},
    {"interval", "v*v*dx", 4},
    {"quadrilateral", "v*v*dx", 6},                   /* 4 + 2 */
    {"quadrilateral", "dot(grad(v), grad(v))*dx", 6}, /* derivatives lower nothing */
    {"quadrilateral", "v*v*ds", 8},                   /* 4 + 4 */
    {"hexahedron", "v*v*dx", 7},                      /* 2p + 3 */
    {"hexahedron", "dot(grad(v), grad(v))*dx", 7},
    {"hexahedron", "v*ds", 8},            /* 2 + 6 */
    {"hexahedron", "dot(n, n)*v*ds", 10}, /* 1 + 1 + 2 + 6: normals vary on facets */
    {"hexahedron", "v*dx(degree=3)", 3},  /* nothing is added */
};

/* Mixed functions: by 2026.1, and by 2026.2 with the degrees of parts. */
static const struct {
    const char *cell, *form;
    int degrees[2];
} mixed[] = {
    {"triangle", "m1*dx", {2, 1}},
    {"triangle", "m1*m2[0]*dx", {4, 3}},
    {"triangle", "m[2]*m[0]*dx", {4, 3}},
    {"triangle", "dot(m2, m2)*dx", {4, 4}},
    {"triangle", "m[i]*m[i]*dx", {4, 4}},               /* the index is not fixed */
    {"triangle", "div(m2)*m1*dx", {3, 2}},              /* 1 + 1: as in Stokes' equations */
    {"triangle", "dot(grad(m1), grad(m1))*dx", {2, 2}}, /* gradients are of the whole function */
    {"triangle", "m1**3*dx", {6, 3}},
    {"triangle", "sin(m1)*dx", {4, 3}},
    {"triangle", "derivative(m1**4*dx, m, m)", {8, 4}},
    {"triangle", "k[0]*dx", {3, 3}}, /* P1 of P1 x P3, which is one part */
    {"triangle", "k[2]*dx", {3, 1}},
    {"triangle", "e[0]('+')*e[1]('-')*dS", {4, 3}}, /* a side of a component */
    {"triangle", "e('+')[1]*dS", {2, 2}},           /* a component of a side */
    {"triangle", "s[0]*dx", {4, 1}},
    {"triangle", "s[3]*dx", {4, 4}},
    {"triangle", "s[4]*dx", {4, 2}}, /* the last of 2 x 2, of which the reference cell has 3 */
    {"triangle", "w*u[0]*dx", {3, 3}},
    {"triangle", "m1*dx(degree=5)", {5, 5}},
    {"quadrilateral", "m1*m1*dx", {6, 4}}, /* 2 is added for the cell */
};

static void check_degree(const char *cell, const char *form, weft_ufl_degrees degrees, int degree) {
    char text[2000];
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    weft_ufl_integral_info integral;
    const weft_ufl_options options = {.size = sizeof options, .degrees = degrees};
    snprintf(text, sizeof text, "cell = %s\n" FUNCTIONS "M = %s\n", cell, form);
    if (weft_ufl_read_text("test.ufl", text, strlen(text), &options, &ufl, &error) != WEFT_OK)
        fail_msg("%s\n%d:%d: %s", text, error.line, error.column, error.message);
    weft_ufl_integral(ufl, 0, 0, &integral);
    if (integral.degree != degree)
        fail_msg("%s on %s: degree %d, not %d", form, cell, integral.degree, degree);
    weft_ufl_free(&ufl);
}

static void test_degrees(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        check_degree(cases[i].cell, cases[i].form, WEFT_UFL_DEGREES_2026_1, cases[i].degree);
}

static void test_parts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; ++i)
        for (int k = 0; k < 2; ++k)
            check_degree(mixed[i].cell, mixed[i].form, (weft_ufl_degrees)k, mixed[i].degrees[k]);
}

static void test_versions(void **state) {
    weft_ufl_degrees degrees = WEFT_UFL_DEGREES_2026_1;
    weft_error error = {0};
    (void)state;
    assert_int_equal(weft_ufl_degrees_find("main", &degrees, &error), WEFT_OK);
    assert_int_equal(degrees, WEFT_UFL_DEGREES_2026_2);
    assert_int_equal(weft_ufl_degrees_find("2026.1", &degrees, &error), WEFT_OK);
    assert_int_equal(degrees, WEFT_UFL_DEGREES_2026_1);
    assert_int_equal(weft_ufl_degrees_find("2019.1", &degrees, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "UFL has no degrees '2019.1'");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_degrees), cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_versions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
