/* labels: quick */
/* Degrees by UFL 2026.1's rules, worked out by hand: the rows of the table in its algorithm
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

static void test_degrees(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[2000];
        weft_ufl *ufl = NULL;
        weft_error error = {0};
        weft_ufl_integral_info integral;
        snprintf(text, sizeof text, "cell = %s\n" FUNCTIONS "M = %s\n", cases[i].cell,
                 cases[i].form);
        if (weft_ufl_read_text("test.ufl", text, strlen(text), NULL, &ufl, &error) != WEFT_OK)
            fail_msg("%s\n%d:%d: %s", text, error.line, error.column, error.message);
        weft_ufl_integral(ufl, 0, 0, &integral);
        if (integral.degree != cases[i].degree)
            fail_msg("%s on %s: degree %d, not %d", cases[i].form, cases[i].cell, integral.degree,
                     cases[i].degree);
        weft_ufl_free(&ufl);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_degrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
