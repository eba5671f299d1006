/* labels: quick */
/* Derivatives against central differences, by a naive interpreter of the expanded integrands.
 * Differences with the step 1e-5 of values of order 1 to 100 have an error of about 1e-9: 1e-6 is the
 * tolerance. */
#include "forms/file/file.h"
#include "test_support.h"
#include "ufl_evaluate.h"

#include <stdio.h>
#include <string.h>

#define STEP 1e-5
#define TOLERANCE 1e-6

/* Functions w, u, A and directions dw, du, dA of each cell; %s is the expression of f. */
#define FILE_TEXT                                                                                  \
    "cell = %s\n"                                                                                  \
    "S, V, T = FiniteElement('P', cell, 2), VectorElement('P', cell, 2), TensorElement('P', "      \
    "cell, 2)\n"                                                                                   \
    "w, u, A = Coefficient(S), Coefficient(V), Coefficient(T)\n"                                   \
    "dw, du, dA = Coefficient(S), Coefficient(V), Coefficient(T)\n"                                \
    "c, x, I = Constant(cell), SpatialCoordinate(cell), Identity(cell.geometric_dimension())\n"    \
    "%s\n"

static const char *const expressions[] = {
    "w**3 + w*w - 2*w + 1",
    "w/(2 + w**2)",
    "sqrt(2 + w**2)",
    "exp(w/3)",
    "ln(3 + w**2)",
    "cos(w) + sin(2*w)",
    "tan(w/4)",
    "cosh(w/2) + sinh(w/3) + tanh(w)",
    "acos(w/9) + asin(w/9) + atan(w)",
    "erf(w/2)",
    "atan2(w, 2 + x[0])",
    "bessel_J(0, w) + bessel_J(2, w) + bessel_Y(1, 3 + w**2)",
    "abs(w - 5)",
    "max_value(w, 2*w - 100) + min_value(w, w**2 + 50)",
    "conditional(lt(x[0], 0.5), w**2, w**3)",
    "(3 + w**2)**w",
    "(2 + w**2)**2.5",
    "inner(u, u)*w",
    "u**2",
    "dot(A*u, u)",
    "tr(A)*det(A)",
    "inner(inv(3*I + A), A)",
    "inner(cofac(A), dev(A)) + inner(skew(A), A) + inner(sym(A), A)",
    "inner(outer(u, u), A.T)",
    "A[0, :][1]*u[0] + A[i, j]*A[j, i]",
    "inner(grad(u), grad(u)) + dot(grad(w), u)",
    "div(u)*w + inner(nabla_grad(u), A) + nabla_div(A)[0]",
    "dot(grad(div(u)), grad(w)) + w.dx(0, 1)",
    "c*exp(tr((I + grad(u)).T*(I + grad(u)))/20)",
    "ln(det(3*I + grad(u)))",
    "dot(as_vector([w, u[1]]), as_vector([u[0], w**2]))",
    "inner(as_tensor(A[i, j]*u[j], (i,)), u)",
    "jump(w)*0 + avg(w)",
    "elem_mult(A, A)[0, 1] + diag(u)[1, 1] + diag_vector(A)[0]",
    "x[0]*w*x[1] + dot(x, u)",
};
enum { N_EXPRESSIONS = sizeof expressions / sizeof expressions[0] };
static const char *const cells[] = {"triangle", "tetrahedron"};

/* The forms of a text, which must be right. */
static weft_ufl *read(const char *cell, const char *statements) {
    char text[4000];
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    snprintf(text, sizeof text, FILE_TEXT, cell, statements);
    if (weft_ufl_read_text("test.ufl", text, strlen(text), NULL, &ufl, &error) != WEFT_OK)
        fail_msg("%s\n%d:%d: %s", text, error.line, error.column, error.message);
    return ufl;
}

/* The function that a variable of the file holds. */
static const ufl_node *function(const weft_ufl *ufl, const char *name) {
    for (int i = 0; i < ufl->module->n_names; ++i)
        if (strcmp(ufl->module->names[i].name, name) == 0)
            return ufl->module->names[i].node;
    return NULL;
}

/* The sum of the integrands of form k, 0 where the form vanished. */
static double value(const weft_ufl *ufl, int k, ufl_point *point) {
    double sum = 0;
    for (int i = 0; i < ufl->prepared[k]->form.n_integrals; ++i)
        sum += ufl_test_value(point, ufl->prepared[k]->form.integrals[i].integrand, NULL);
    assert_false(point->failed);
    return sum;
}

static const double places[][3] = {{0.2, 0.3, 0.1}, {0.7, -0.4, 0.25}};

/* d/dt M(w + t dw) of each expression, with respect to w, u and A. */
static void test_gateaux(void **state) {
    (void)state;
    static const char *const names[][2] = {{"w", "dw"}, {"u", "du"}, {"A", "dA"}};
    char text[2000];
    for (int e = 0; e < 2 * N_EXPRESSIONS; ++e) {
        snprintf(text, sizeof text,
                 "M = (%s)*dx\nforms = [M, derivative(M, w, dw), derivative(M, u, du), "
                 "derivative(M, A, dA)]",
                 expressions[e / 2]);
        weft_ufl *ufl = read(cells[e % 2], text);
        for (int k = 0; k < 3; ++k)
            for (int p = 0; p < 2; ++p) {
                ufl_point point = {.moved = function(ufl, names[k][0]),
                                   .along = function(ufl, names[k][1])};
                memcpy(point.x, places[p], sizeof point.x);
                double derivative = value(ufl, 1 + k, &point);
                point.step = STEP;
                double above = value(ufl, 0, &point);
                point.step = -STEP;
                double difference = (above - value(ufl, 0, &point)) / (2 * STEP);
                assert_double_near(derivative, difference, TOLERANCE, TOLERANCE);
            }
        weft_ufl_free(&ufl);
    }
}

/* The second derivative is the derivative of the first. */
static void test_second(void **state) {
    (void)state;
    char text[2000];
    for (int e = 0; e < N_EXPRESSIONS; ++e) {
        snprintf(text, sizeof text,
                 "M = (%s)*dx\nF = derivative(M, w, dw)\nforms = [F, derivative(F, w, dw)]",
                 expressions[e]);
        weft_ufl *ufl = read("triangle", text);
        ufl_point point = {.moved = function(ufl, "w"), .along = function(ufl, "dw")};
        memcpy(point.x, places[0], sizeof point.x);
        double derivative = value(ufl, 1, &point);
        point.step = STEP;
        double above = value(ufl, 0, &point);
        point.step = -STEP;
        assert_double_near(derivative, (above - value(ufl, 0, &point)) / (2 * STEP), TOLERANCE,
                           TOLERANCE);
        weft_ufl_free(&ufl);
    }
}

/* grad(f)[k] and f.dx(k), where f has no second derivatives of its own. */
static void test_space(void **state) {
    (void)state;
    char text[2000];
    for (int e = 0; e < N_EXPRESSIONS; ++e) {
        snprintf(text, sizeof text, "f = %s\nforms = [f*dx, grad(f)[0]*dx, f.dx(1)*dx]",
                 expressions[e]);
        if (strstr(text, "grad(div") || strstr(text, "avg("))
            continue;
        weft_ufl *ufl = read("triangle", text);
        for (int k = 0; k < 2; ++k) {
            ufl_point point = {.x = {0.2, 0.3, 0.1}};
            double derivative = value(ufl, 1 + k, &point);
            point.x[k] += STEP;
            double above = value(ufl, 0, &point);
            point.x[k] -= 2 * STEP;
            assert_double_near(derivative, (above - value(ufl, 0, &point)) / (2 * STEP), TOLERANCE,
                               TOLERANCE);
        }
        weft_ufl_free(&ufl);
    }
}

/* diff(f(v), v) : dv of a scalar, a vector and a matrix variable. */
static void test_variable(void **state) {
    (void)state;
    char text[2000];
    for (int e = 0; e < N_EXPRESSIONS; ++e) {
        if (strstr(expressions[e], "grad") || strstr(expressions[e], "dx(") ||
            strstr(expressions[e], "div"))
            continue; /* a variable has no derivatives in space */
        snprintf(text, sizeof text,
                 "w0, u0, A0 = w, u, A\nM = (%s)*dx\n"
                 "w, u, A = variable(w), variable(u), variable(A)\nf = %s\n"
                 "w1, u1, A1 = w, u, A\nw, u, A = w0, u0, A0\n"
                 "forms = [M, diff(f, w1)*dw*dx, inner(diff(f, u1), du)*dx, "
                 "inner(diff(f, A1), dA)*dx]",
                 expressions[e], expressions[e]);
        weft_ufl *ufl = read("tetrahedron", text);
        static const char *const names[][2] = {{"w", "dw"}, {"u", "du"}, {"A", "dA"}};
        for (int k = 0; k < 3; ++k) {
            ufl_point point = {.x = {0.2, 0.3, 0.1},
                               .moved = function(ufl, names[k][0]),
                               .along = function(ufl, names[k][1])};
            double derivative = value(ufl, 1 + k, &point);
            point.step = STEP;
            double above = value(ufl, 0, &point);
            point.step = -STEP;
            assert_double_near(derivative, (above - value(ufl, 0, &point)) / (2 * STEP), TOLERANCE,
                               TOLERANCE);
        }
        weft_ufl_free(&ufl);
    }
}

/* Lowered operators against their definitions, by hand. */
static void test_algebra(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"det(A)",
         "A[0,0]*(A[1,1]*A[2,2] - A[1,2]*A[2,1]) - A[0,1]*(A[1,0]*A[2,2] - A[1,2]*A[2,0]) "
         "+ A[0,2]*(A[1,0]*A[2,1] - A[1,1]*A[2,0])"},
        {"(inv(A)*A)[0, 0] + (A*inv(A))[1, 2]", "1"},
        {"(cofac(A)*A.T)[1, 1]", "det(A)"},
        {"tr(dev(A))", "0"},
        {"inner(sym(A) + skew(A), A)", "inner(A, A)"},
        {"dot(cross(u, A[0, :]), u)", "0"},
        {"cross(u, x)[2]", "u[0]*x[1] - u[1]*x[0]"},
        {"curl(u)[0]", "u[2].dx(1) - u[1].dx(2)"},
        {"div(A)[1]", "A[1,0].dx(0) + A[1,1].dx(1) + A[1,2].dx(2)"},
        {"nabla_div(A)[1]", "A[0,1].dx(0) + A[1,1].dx(1) + A[2,1].dx(2)"},
        {"nabla_grad(u)[1, 2]", "u[2].dx(1)"},
        {"grad(u)[1, 2]", "u[1].dx(2)"},
        {"outer(u, x)[1, 2]", "u[1]*x[2]"},
        {"dot(A, A)[0, 1]", "A[0,0]*A[0,1] + A[0,1]*A[1,1] + A[0,2]*A[2,1]"},
        {"PermutationSymbol(3)[i, j, k]*A[i, j]*u[k]",
         "(A[0,1] - A[1,0])*u[2] + (A[1,2] - A[2,1])*u[0] + (A[2,0] - A[0,2])*u[1]"},
        {"diag(u)[1, 1] + diag(u)[0, 1] + diag(A)[2, 2]", "u[1] + A[2, 2]"},
        {"(A**2) + unit_vector(1, 3)[1] + unit_matrix(0, 2, 3)[0, 2]", "inner(A, A) + 2"},
        {"replace(w**2, {w: w + 1})", "(w + 1)**2"},
    };
    char text[2000];
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; ++k) {
        snprintf(text, sizeof text, "forms = [(%s)*dx(cell), (%s)*dx(cell)]", pairs[k][0],
                 pairs[k][1]);
        weft_ufl *ufl = read("tetrahedron", text);
        ufl_point point = {.x = {0.2, 0.3, 0.1}};
        double a = value(ufl, 0, &point), b = value(ufl, 1, &point);
        assert_double_near(a, b, 1e-12, 1e-12);
        weft_ufl_free(&ufl);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gateaux), cmocka_unit_test(test_second), cmocka_unit_test(test_space),
        cmocka_unit_test(test_variable), cmocka_unit_test(test_algebra)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
