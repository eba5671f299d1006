/* labels: quick */
/* Bad form files: the exact message, its place and its hint. */
#include "forms/weft_ufl.h"
#include "test_support.h"

#include <string.h>

#define LEGACY "bad.ufl"
#define TODAY "bad.py"
#define FUNCTIONS                                                                                  \
    "V = FiniteElement(\"P\", triangle, 1)\n"                                                      \
    "W = VectorElement(\"P\", triangle, 1)\n"                                                      \
    "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"                                \
    "w = Coefficient(W)\n"
#define IMPORTS "import basix.ufl\nfrom ufl import *\n"

static const struct {
    const char *name, *text;
    int line, column;
    const char *message, *hint;
} cases[] = {
    {LEGACY, "a = (1 + 2\n", 2, 1, "expected ',' or ')', found the end of the file", NULL},
    {LEGACY, "a = 1 +\n", 1, 8, "expected an expression, found the end of the line", NULL},
    {LEGACY,
     "if True:\n"
     "x = 1\n",
     2, 1, "expected an indented block, found 'x'", NULL},
    {LEGACY,
     "def f(x):\n"
     "    return x\n"
     "  y = 2\n",
     3, 3, "the indentation of this line is that of no block around it", NULL},
    {LEGACY, "x = 'abc\n", 1, 5, "this string does not end", NULL},
    {LEGACY, "x = 3a\n", 1, 5, "a number is followed by a letter", NULL},
    {LEGACY, "x = 0x10\n", 1, 5,
     "hexadecimal, octal and binary numbers are not supported in form files", NULL},
    {LEGACY, "x = a $ b\n", 1, 7, "this character has no meaning here", NULL},
    {LEGACY,
     "for i in range(3)\n"
     "    pass\n",
     1, 18, "expected ':' after the sequence of the loop, found the end of the line", NULL},
    {LEGACY, "return 1\n", 1, 1, "'return' outside of a function", NULL},
    {LEGACY, "break\n", 1, 1, "'break' outside of a loop", NULL},
    {LEGACY, "1 = x\n", 1, 1, "expected a name to assign to", NULL},
    {LEGACY,
     "class Form:\n"
     "    pass\n",
     1, 1, "'class' statements are not supported in form files",
     "a form file has assignments, def, for, if and import"},
    {LEGACY,
     "while True:\n"
     "    pass\n",
     1, 1, "'while' statements are not supported in form files",
     "a form file has assignments, def, for, if and import"},
    {LEGACY,
     "with open('x') as f:\n"
     "    pass\n",
     1, 1, "'with' statements are not supported in form files",
     "a form file has assignments, def, for, if and import"},
    {LEGACY,
     "try:\n"
     "    x = 1\n"
     "except ValueError:\n"
     "    pass\n",
     1, 1, "'try' statements are not supported in form files",
     "a form file has assignments, def, for, if and import"},
    {LEGACY,
     "@jit\n"
     "def f(x):\n"
     "    return x\n",
     1, 1, "decorators are not supported in form files",
     "a form file has assignments, def, for, if and import"},
    {LEGACY, "x = [*y]\n", 1, 6, "'*' in a list is not supported in form files", NULL},
    {LEGACY, "k = 3.213 + 1.023j\n", 1, 13, "complex numbers are not supported",
     "Weft computes with real numbers: write the real and the imaginary part"
     " as two functions of a mixed space"},
    {TODAY,
     "import ufl\n"
     "from dolfinx import fem, mesh\n",
     2, 6, "this is a program, not a form file: line 2 imports dolfinx",
     "give the forms alone, in a file of their own"},
    {TODAY, "import numpy as np\n", 1, 8,
     "this is a program, not a form file: line 1 imports numpy",
     "give the forms alone, in a file of their own"},
    {TODAY, "import basics\n", 1, 8, "the module 'basics' is not available in form files",
     "did you mean 'basix'?"},
    {TODAY, "from ufl import graf\n", 1, 17, "the module ufl has no 'graf'",
     "did you mean 'grad'?"},
    {TODAY, "from ufl import VectorElement\n", 1, 17, "the module ufl has no 'VectorElement'",
     "VectorElement is of legacy UFL: name the file *.ufl, or write basix.uf"
     "l.element"},
    {TODAY, "u = TestFunction(V)\n", 1, 5, "the name 'TestFunction' is not defined",
     "write 'from ufl import TestFunction'"},
    {LEGACY, FUNCTIONS "a = iner(u, v)*dx\n", 5, 5, "the name 'iner' is not defined",
     "did you mean 'inner'?"},
    {LEGACY, FUNCTIONS "a = inner(u)*dx\n", 5, 5, "inner expects (a, b), it got 1 argument", NULL},
    {LEGACY, FUNCTIONS "a = u*v*dx(degre=2)\n", 5, 9, "this call has no argument 'degre'",
     "did you mean 'degree'?"},
    {LEGACY, FUNCTIONS "a = u('+')*v*dS\n", 5, 13,
     "v differs between the two sides of an interior facet",
     "write v('+') or v('-'), or avg or jump of an expression with it"},
    {LEGACY, FUNCTIONS "L = f.dx(0)*v('+')*dS\n", 5, 7,
     "grad(f) differs between the two sides of an interior facet",
     "write grad(f)('+') or grad(f)('-'), or avg or jump of an expression with it"},
    {LEGACY, FUNCTIONS "L = FacetNormal(triangle)[0]*v('+')*dS\n", 5, 36,
     "FacetNormal differs between the two sides of an interior facet",
     "write FacetNormal('+') or FacetNormal('-'), or avg or jump of an expression with it"},
    {LEGACY, FUNCTIONS "L = (f*v('+'))('-')*dS\n", 5, 8,
     "an expression is restricted to a side of a facet twice", NULL},
    {LEGACY, FUNCTIONS "a = inner(u, w)*dx\n", 5, 5,
     "inner expects two operands of one shape, not a scalar and a vector of "
     "shape (2,)",
     NULL},
    {LEGACY, FUNCTIONS "a = dot(u, w)*dx\n", 5, 5,
     "dot expects two tensors or two scalars, not a scalar and a vector of s"
     "hape (2,)",
     "a scalar times a tensor is written with *"},
    {LEGACY, FUNCTIONS "a = (u + w)*dx\n", 5, 8, "cannot add a scalar and a vector of shape (2,)",
     NULL},
    {LEGACY, FUNCTIONS "a = w*dx\n", 5, 6, "an integrand must be a scalar, this one has shape (2,)",
     "write inner(a, b) of two tensors"},
    {LEGACY, FUNCTIONS "a = w[i]*dx\n", 5, 9,
     "an integrand must be a scalar without free indices, this one has 1",
     "an index is summed where it occurs twice in a product"},
    {LEGACY, FUNCTIONS "a = w[2]*v*dx\n", 5, 5,
     "index 2 is out of range for a vector of shape (2,): expected 0 to 1", NULL},
    {LEGACY, FUNCTIONS "a = w[0, 1]*v*dx\n", 5, 5,
     "2 indices for a vector of shape (2,): expected 1", NULL},
    {LEGACY, FUNCTIONS "a = w*w*dx\n", 5, 6,
     "cannot multiply a vector of shape (2,) and a vector of shape (2,) with"
     " *",
     "write inner(a, b), dot(a, b) or outer(a, b)"},
    {LEGACY, FUNCTIONS "a = f/w*dx\n", 5, 6,
     "a denominator must be a scalar without free indices, not a vector of s"
     "hape (2,)",
     NULL},
    {LEGACY, FUNCTIONS "a = f**w*dx\n", 5, 6,
     "an exponent must be a scalar without free indices, not a vector of sha"
     "pe (2,)",
     NULL},
    {LEGACY, FUNCTIONS "a = sin(w)*dx\n", 5, 5,
     "the argument of sin must be a scalar without free indices, not a vecto"
     "r of shape (2,)",
     NULL},
    {LEGACY, FUNCTIONS "a = div(f)*v*dx\n", 5, 5,
     "div expects a vector or tensor whose last axis has 2 components, not a"
     " scalar",
     "the derivatives of a scalar are grad(f)"},
    {LEGACY, FUNCTIONS "a = det(w)*v*dx\n", 5, 5,
     "det expects a square matrix without free indices, not a vector of shap"
     "e (2,)",
     NULL},
    {LEGACY, FUNCTIONS "a = cross(w, w)[0]*v*dx\n", 5, 5,
     "cross expects two vectors of shape (3,), not a vector of shape (2,) an"
     "d a vector of shape (2,)",
     NULL},
    {LEGACY, FUNCTIONS "a = (f > 0)*v*dx\n", 5, 12,
     "a factor must be an expression, not a condition",
     "write conditional(condition, value, other value)"},
    {LEGACY,
     FUNCTIONS "if f > 0:\n"
               "    a = f*dx\n",
     5, 6, "a condition of an expression is not known when the file is read",
     "write conditional(condition, value, other value)"},
    {LEGACY, FUNCTIONS "a = conditional(f, v, 0)*dx\n", 5, 5,
     "the first argument of conditional must be a condition, not a scalar",
     "write a comparison, such as lt(x[0], 0.5)"},
    {LEGACY, FUNCTIONS "a = f*v*dx + u*v*dx\n", 5, 8,
     "the integrals of a form have different arguments: this one has the tes"
     "t function v, and the trial function u is missing",
     "write the terms as two forms, or take lhs and rhs of their sum"},
    {LEGACY, FUNCTIONS "a = (f*v + u*v)*dx\n", 5, 10,
     "the terms of a sum have different arguments: one has the test function"
     " v, the other the test function v and the trial function u",
     NULL},
    {LEGACY, FUNCTIONS "a = v*v*dx\n", 5, 6,
     "a product has the test function v in both factors: forms are linear in"
     " each argument",
     NULL},
    {LEGACY, FUNCTIONS "a = f/v*dx\n", 5, 6, "the test function v in a denominator", NULL},
    {LEGACY, FUNCTIONS "a = exp(v)*dx\n", 5, 5,
     "exp of the test function v: forms are linear in their arguments", NULL},
    {LEGACY, FUNCTIONS "a = conditional(gt(v, 0), v, f)*dx\n", 5, 5,
     "the test function v in a condition", NULL},
    {LEGACY, FUNCTIONS "a = as_vector([u, v])[0]*dx + as_vector([u, v])[i]*w[i]*dx\n", 5, 25,
     "the integrals of a form have different arguments: this one has the tri"
     "al function u, and the test function v is missing",
     "write the terms as two forms, or take lhs and rhs of their sum"},
    {LEGACY,
     FUNCTIONS "F = f**2*dx\n"
               "J = derivative(F, f**2)\n",
     6, 5, "derivative makes an argument only for whole coefficients",
     "give the direction as the third argument of derivative"},
    {LEGACY,
     FUNCTIONS "F = f**2*dx\n"
               "J = derivative(F, f, w)\n",
     6, 5, "the direction of a derivative has shape (2,), the function ()", NULL},
    {LEGACY,
     FUNCTIONS "F = f**2*dx\n"
               "J = adjoint(F)\n",
     6, 5,
     "adjoint expects a form with a test and a trial function, this one has "
     "0",
     NULL},
    {LEGACY, FUNCTIONS "P = diff(f**2, 2*f)\n", 5, 5,
     "diff expects a variable, a coefficient or the spatial coordinate as it"
     "s second argument",
     "write F = variable(F) before the expressions that use F"},
    {LEGACY,
     FUNCTIONS "a = f*v*dx\n"
               "b = f*a\n",
     6, 6, "a form can be multiplied by a number or a Constant alone",
     "multiply the integrand: f*v*dx"},
    {LEGACY,
     FUNCTIONS "a = f*v\n"
               "b = a + u*v*dx\n",
     6, 7, "'+' of an expression and a Form is not defined",
     "every term of a form ends with a measure, such as *dx"},
    {LEGACY, FUNCTIONS "a = dx*f\n", 5, 7, "'*' of a Measure and an expression is not defined",
     "the measure comes last: f*v*dx"},
    {LEGACY, "a = 2*dx\n", 1, 6,
     "the integral has no mesh: its integrand has none, and dx is not given "
     "one",
     "write dx(mesh), or dx(domain=mesh)"},
    {LEGACY, FUNCTIONS "a = f*v*dx(\"left\")\n", 5, 9,
     "the id of a subdomain is an int from 0 or a tuple of ints, not a strin"
     "g",
     NULL},
    {LEGACY, FUNCTIONS "a = f*v*dx(metadata={\"quadrature_rule\": \"Gauss\"})\n", 5, 9,
     "there is no quadrature rule 'Gauss'", "Weft has default, GJ (Gauss-Jacobi), GLL and vertex"},
    {LEGACY, "V = FiniteElement(\"Regge\", triangle, 1)\n", 1, 5,
     "Regge elements are not supported",
     "Weft has Lagrange (P, Q), discontinuous Lagrange (DG), Real, Bubble, Q"
     "uadrature, Crouzeix-Raviart (CR), Nedelec (N1curl, N2curl), Raviart-Th"
     "omas (RT) and Brezzi-Douglas-Marini (BDM) elements, and vectors, tenso"
     "rs and mixed elements of these"},
    {LEGACY, "V = FiniteElement(\"Lagrang\", triangle, 1)\n", 1, 5,
     "there is no family of elements 'Lagrang'", "did you mean 'Lagrange'?"},
    {LEGACY, "V = FiniteElement(\"P\", \"triangel\", 1)\n", 1, 5, "there is no cell 'triangel'",
     "did you mean 'triangle'?"},
    {LEGACY, "V = FiniteElement(\"P\", triangle, 0)\n", 1, 5,
     "a continuous Lagrange element has degree 1 or more",
     "write \"DG\" for values that are constant on each cell"},
    {LEGACY, "V = FiniteElement(\"P\", triangle, 13)\n", 1, 5,
     "Lagrange elements of the triangle have degree 1 to 12, this one 13", NULL},
    {LEGACY,
     "V = FiniteElement(\"P\", triangle, 1)*FiniteElement(\"P\", tetrahedron, 1)"
     "\n",
     1, 36,
     "the parts of an element are on one cell, not on a triangle and a tetra"
     "hedron",
     NULL},
    {LEGACY, "V = FiniteElement(\"P\", triangle, 4)[\"facet\"]\n", 1, 5,
     "restricted elements (element[\"facet\"]) are not supported", NULL},
    {LEGACY, FUNCTIONS "M = f*dI\n", 5, 7, "multimesh measures (dI) are not supported", NULL},
    {TODAY, IMPORTS "m = Mesh(basix.ufl.element(\"P\", \"triangle\", 1))\n", 3, 5,
     "the coordinates of a mesh are a Lagrange element of shape (1,), (2,) o"
     "r (3,), this one has shape ()",
     "write Mesh(basix.ufl.element(\"P\", \"triangle\", 1, shape=(2,)))"},
    {TODAY,
     IMPORTS "e = basix.ufl.element(\"P\", \"triangle\", 1)\n"
             "u = Coefficient(e)\n",
     4, 5, "the space of a function must be a FunctionSpace, not an element",
     "write FunctionSpace(mesh, element)"},
    {TODAY, IMPORTS "e = basix.ufl.element(\"HHJ\", \"triangle\", 1)\n", 3, 15,
     "Hellan-Herrmann-Johnson elements are not supported",
     "Weft has Lagrange (P, Q), discontinuous Lagrange (DG), Real, Bubble, Q"
     "uadrature, Crouzeix-Raviart (CR), Nedelec (N1curl, N2curl), Raviart-Th"
     "omas (RT) and Brezzi-Douglas-Marini (BDM) elements, and vectors, tenso"
     "rs and mixed elements of these"},
    {TODAY, IMPORTS "e = basix.ufl.element(\"P\", basix.CellType.trangle, 1)\n", 3, 43,
     "there is no cell 'trangle'", NULL},
    {TODAY,
     IMPORTS "def F():\n"
             "    return basix.ufl.element(\"P\", \"triangle\", 2, (2,), lagrange=1)\n"
             "e = F()\n",
     4, 22, "element has no argument 'lagrange'", NULL},
    {LEGACY, "forms = [1]\n", 1, 1, "forms[0] is an int, not a form", NULL},
    {LEGACY,
     "x = [1, 2]\n"
     "y = x[2]\n",
     2, 5, "index 2 is out of range: there are 2 elements", NULL},
    {LEGACY,
     "x = {\"a\": 1}\n"
     "y = x[\"b\"]\n",
     2, 5, "the dictionary has no key 'b'", NULL},
    {LEGACY, "a, b = 1, 2, 3\n", 1, 1, "3 values for 2 names", NULL},
    {LEGACY, "x = 1/0\n", 1, 6, "division by zero", NULL},
    {LEGACY,
     "def f(n):\n"
     "    return f(n + 1)\n"
     "f(0)\n",
     2, 12, "calls are nested more than 200 deep", NULL},
    {LEGACY,
     "for i in range(10**6):\n"
     "    x = i\n",
     2, 5, "the file executes more than 100000 statements", NULL},
    {LEGACY, "x = list(range(10**7))\n", 1, 10, "a list has more than 1000000 elements", NULL},
    {LEGACY, "x = eval('1')\n", 1, 5, "eval() is not supported in form files", NULL},
    {LEGACY, "x = 10**30\n", 1, 7, "an integer of the file is larger than 2**63 - 1", NULL},
    {LEGACY, "x = \"a\" + 1\n", 1, 9, "'+' of a string and an int is not defined", NULL},
    {LEGACY, FUNCTIONS "x = u.foo\n", 5, 7, "an expression has no attribute 'foo'", NULL},
    {LEGACY, FUNCTIONS "a = grad(2)*dx\n", 5, 5,
     "grad of an expression without a mesh: it has no coordinates to differe"
     "ntiate by",
     "multiply numbers by a Constant, or drop the term"},
    {LEGACY, FUNCTIONS "a = f(1)*dx\n", 5, 5,
     "an expression is called with the side of a facet, \"+\" or \"-\"",
     "a product is written with *"},
    {LEGACY, FUNCTIONS "a = inner(f, v)*dx(degree=2.5)\n", 5, 17,
     "a quadrature degree is an int from 0 to 1000, or -1 for an estimate", NULL},
    {LEGACY, FUNCTIONS "x = sqrt(-1)\n", 5, 5,
     "sqrt(-1) is not a real number, and Weft has no complex numbers", NULL},
};

static void test_messages(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        weft_ufl *ufl = NULL;
        weft_error error = {0};
        weft_status status = weft_ufl_read_text(cases[i].name, cases[i].text, strlen(cases[i].text),
                                                NULL, &ufl, &error);
        if (status == WEFT_OK || strcmp(error.message, cases[i].message) != 0)
            print_error("%s\n", cases[i].text);
        assert_int_not_equal(status, WEFT_OK);
        assert_null(ufl);
        assert_string_equal(error.message, cases[i].message);
        assert_string_equal(error.hint, cases[i].hint ? cases[i].hint : "");
        assert_string_equal(error.file, cases[i].name);
        assert_int_equal(error.line, cases[i].line);
        assert_int_equal(error.column, cases[i].column);
    }
}

/* The limit on the text's size has no place in it. */
static void test_long_text(void **state) {
    (void)state;
    static char text[262144 + 2];
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    memset(text, '\n', sizeof text - 1);
    assert_int_equal(weft_ufl_read_text("long.ufl", text, sizeof text - 1, NULL, &ufl, &error),
                     WEFT_ERROR_INPUT);
    assert_string_equal(error.message, "long.ufl has 262145 bytes: form files have at most 262144");
}

/* Deep nesting of each kind is refused, and does not overflow the stack. */
static void test_depth(void **state) {
    (void)state;
    static const struct {
        const char *begin, *repeated, *end;
        int times;
    } deep[] = {
        {"x = ", "(", "1", 100000},
        {"x = ", "-", "1", 100000},
        {"x = ", "not ", "1", 60000},
        {"x = 1", " + 1", "\n", 60000},
        {"x = 2", "**2", "\n", 60000},
        {"x = f", "(1)", "\n", 60000},
        {"x = ", "[", "1", 100000},
        {"x = 1", " if 1 else 1", "\n", 20000},
        {"x = ", "lambda: ", "1", 30000},
        {"V = FiniteElement(\"P\", triangle, 1)\nx = Coefficient(V)\nfor i in range(5000):\n"
         "    x = sin(x)\na = x*dx",
         "", "\n", 1},
        {"x = [1]*10**6\nfor i in range(50000):\n    y = sum(x)", "", "\n", 1},
        {"x = [1]*10**6\ny = [1]*10**6\nfor i in range(50000):\n    z = x == y", "", "\n", 1},
        {"x = [1]\nx.append(x)\ny = [1]\ny.append(y)\nz = 1/int(x == y)", "", "\n", 1},
        {"x = [1]\nx.append(x)\nx.append(x)\ny = [1]\ny.append(y)\ny.append(y)\n"
         "z = 1/int(x == y)",
         "", "\n", 1},
        {"x = []\nfor i in range(300):\n    x = [x]\ny = str(x)", "", "\n", 1}};
    static char text[262145];
    for (size_t i = 0; i < sizeof deep / sizeof deep[0]; ++i) {
        weft_ufl *ufl = NULL;
        weft_error error = {0};
        size_t length = strlen(deep[i].begin), n = strlen(deep[i].repeated);
        memcpy(text, deep[i].begin, length);
        for (int k = 0; k < deep[i].times; ++k, length += n)
            memcpy(text + length, deep[i].repeated, n);
        memcpy(text + length, deep[i].end, strlen(deep[i].end) + 1);
        weft_status status = weft_ufl_read_text("deep.ufl", text, strlen(text), NULL, &ufl, &error);
        if (i + 1 < sizeof deep / sizeof deep[0])
            assert_int_not_equal(status, WEFT_OK);
        weft_ufl_free(&ufl);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages),
                                       cmocka_unit_test(test_long_text),
                                       cmocka_unit_test(test_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
