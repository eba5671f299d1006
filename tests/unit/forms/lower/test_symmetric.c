/* labels: quick */
/* Proofs of symmetry by the text of a form: which forms have one, and the matrix of each that has, also of random forms,
 * against its transpose. */
#include "test_support.h"

#include "forms_support.h"

#include <math.h>
#include <stdio.h>

#define RELATIVE 1e-12 /* sums of at most a thousand products */

static const char scalars[] =
    "V = FunctionSpace(domain, basix.ufl.element('Lagrange', '%s', 2))\n"
    "k = Coefficient(V)\nl = Coefficient(V)\nc = Constant(domain)\n"
    "u, v = TrialFunction(V), TestFunction(V)\nx = SpatialCoordinate(domain)\n";
static const char vectors[] =
    "V = FunctionSpace(domain, basix.ufl.element('Lagrange', '%s', 1, shape=(2,)))\n"
    "k = Coefficient(V)\nc = Constant(domain)\nu, v = TrialFunction(V), TestFunction(V)\n";
static const char mixed[] =
    "V = FunctionSpace(domain, basix.ufl.mixed_element([basix.ufl.element('Lagrange', '%s', 2, "
    "shape=(2,)), basix.ufl.element('Lagrange', 'triangle', 1)]))\n"
    "(u, p) = TrialFunctions(V)\n(v, q) = TestFunctions(V)\n";

static void read_form(const char *space, const char *cell, const char *form, weft_ufl **out) {
    char text[2000];
    weft_error error = {0};
    int n = snprintf(text, sizeof text,
                     "from ufl import *\nimport basix.ufl\n"
                     "domain = Mesh(basix.ufl.element('Lagrange', '%s', 1, shape=(2,)))\n",
                     cell);
    n += snprintf(text + n, sizeof text - (size_t)n, space, cell);
    snprintf(text + n, sizeof text - (size_t)n, "a = %s\n", form);
    if (weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, out, &error) != WEFT_OK)
        fail_msg("%s: line %d: %s", form, error.line, error.message);
}

static uint32_t next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* max |A - A^T| / max |A| on a distorted cell with random data. */
static double measure(const ufl_lowered *lowered) {
    static const double x[16] = {0,   0,   1,   0.1, 0.2, 0.8, 1.3, 1.1, /* facets: of two cells */
                                 2.1, 0.2, 1.9, 1.2, 2.2, 2.4, 3.1, 3.3};
    double data[FORMS_ARGUMENTS][40], apart = 0, most = 0;
    const double *pointers[FORMS_ARGUMENTS];
    const int n = lowered->sizes[0];
    double *A = calloc((size_t)(n * n), sizeof *A);
    forms_way way = {NULL, false, 0};
    forms_job job = {0};
    weft_error error = {0};
    uint32_t state = 7;
    assert_non_null(A);
    for (int i = 0; i < lowered->n_arguments; ++i) {
        for (int k = 0; k < 40; ++k)
            data[i][k] =
                lowered->arguments[i].node ? 1 + (double)next(&state) / (1 << 24) : x[k % 16];
        pointers[i] = data[i];
    }
    assert_int_equal(weft_device_open("host:1", NULL, &way.device, &error), WEFT_OK);
    if (forms_job_make(&job, &way, lowered, pointers, 1, &error) != WEFT_OK ||
        forms_job_run(&job, A, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            apart = fmax(apart, fabs(A[i * n + j] - A[j * n + i]));
            most = fmax(most, fabs(A[i * n + j]));
        }
    forms_job_free(&job);
    weft_device_free(&way.device);
    free(A);
    return most > 0 ? apart / most : 0;
}

/* Returns whether the form is proved symmetric; then its matrix must be. */
static bool check(const char *space, const char *cell, const char *form, bool *of_shape) {
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    read_form(space, cell, form, &ufl);
    ufl->context.error = &error;
    const int facets[2] = {1, 1};
    const ufl_integral *integral = &ufl->prepared[0]->form.integrals[0];
    const int *where = integral->type == UFL_CELL ? NULL : facets;
    const ufl_symmetry proved = ufl_prove_symmetry(&ufl->graph, ufl->prepared[0], 0, where);
    assert_int_equal(ufl->context.status, WEFT_OK);
    const ufl_lowered *lowered =
        ufl_lower_integral(&ufl->graph, ufl->prepared[0], 0, "tensor", where);
    if (!lowered)
        fail_msg("%s: %s", form, error.message);
    if (proved.is_symmetric) {
        const double apart = measure(lowered);
        if (apart > RELATIVE)
            fail_msg("%s is proved symmetric, and is not: %g", form, apart);
    }
    *of_shape = proved.is_of_shape;
    weft_ufl_free(&ufl);
    return proved.is_symmetric;
}

static void proofs_are_as_expected(void **state) {
    (void)state;
    static const struct {
        const char *space, *form;
        bool is_symmetric, is_of_shape;
    } forms[] = {
        {scalars, "inner(grad(u), grad(v))*dx", true, true},
        {scalars, "u*v*dx", true, true},
        {scalars, "u*v*ds", true, true},
        {scalars, "inner(jump(u), jump(v))*dS", true, true},
        {scalars, "avg(u)*v('+')*dS", false, true},
        {scalars, "u('+')*v('-')*dS", false, true},
        {scalars, "(u('+')*v('-') + u('-')*v('+'))*dS", true, true},
        {scalars, "k*u*v*dx", true, false},
        {scalars, "c*inner(grad(u), grad(v))*dx", true, false},
        {scalars, "conditional(lt(k, 0.5), u*v, 2*u*v)*dx", true, false},
        {scalars, "conditional(lt(k, 0.5), u*v, u.dx(0)*v)*dx", false, false},
        {scalars, "variable(k)*u*v*dx", true, false},
        {scalars, "sqrt(x[0])*u*v*dx", true, false},
        {scalars, "u*v/Jacobian(domain)[0,1]*dx", true, false}, /* 0 in some cells */
        {scalars, "u*v/JacobianDeterminant(domain)*dx", true, true},
        {scalars, "u.dx(0)*v*dx", false, true},
        {scalars, "u.dx(0)*v.dx(1)*dx", false, true},
        {scalars, "(u.dx(0)*v.dx(1) + u.dx(1)*v.dx(0))*dx", true, true},
        {scalars, "(u.dx(0)*v - u*v.dx(0))*dx", false, true},
        {scalars, "(u.dx(0)*v + u*v.dx(0))*dx", true, true},
        {vectors, "inner(sym(grad(u)), sym(grad(v)))*dx", true, true},
        {vectors, "div(u)*div(v)*dx", true, true},
        {vectors, "inner(dot(grad(u), k), v)*dx", false, false},
        {vectors, "u[0]*v[1]*dx", false, true},
        {mixed, "(inner(grad(u), grad(v)) - div(v)*p - q*div(u))*dx", true, true},
        {mixed, "(inner(grad(u), grad(v)) - div(v)*p + q*div(u))*dx", false, true},
    };
    static const char *const cells[] = {"triangle", "quadrilateral"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
        for (int k = 0; k < 1 + (forms[i].space != mixed); ++k) {
            bool of_shape = false;
            const bool proved = check(forms[i].space, cells[k], forms[i].form, &of_shape);
            if (proved != forms[i].is_symmetric)
                fail_msg("%s on %s: %s", forms[i].form, cells[k],
                         proved ? "proved symmetric" : "not proved");
            if (of_shape != forms[i].is_of_shape)
                fail_msg("%s on %s: depends on data: %d", forms[i].form, cells[k], !of_shape);
        }
}

/* Sums of products of random factors; three of four terms have their transposes beside them. */
static void random_proofs_hold(void **state) {
    (void)state;
    static const char *const tests[] = {"v", "v.dx(0)", "v.dx(1)", "(v + 2*v.dx(1))"};
    static const char *const trials[] = {"u", "u.dx(0)", "u.dx(1)", "(u + 2*u.dx(1))"};
    static const char *const factors[] = {"1", "k", "c", "(k + l)", "k*l", "exp(k)", "-3"};
    uint32_t seed = 1;
    int n_proved = 0;
    for (int n = 0; n < 40; ++n) {
        char form[600] = "(";
        bool of_shape;
        const int n_terms = 1 + (int)(next(&seed) % 3);
        for (int t = 0; t < n_terms; ++t) {
            const uint32_t i = next(&seed) % 4, j = next(&seed) % 4, f = next(&seed) % 7;
            const size_t at = strlen(form);
            if (next(&seed) % 4 > 0)
                snprintf(form + at, sizeof form - at, "%s%s*%s*%s + %s*%s*%s", t ? " + " : "",
                         factors[f], trials[i], tests[j], trials[j], factors[f], tests[i]);
            else
                snprintf(form + at, sizeof form - at, "%s%s*%s*%s", t ? " + " : "", factors[f],
                         trials[i], tests[j]);
        }
        strcat(form, ")*dx");
        n_proved += check(scalars, n % 2 ? "triangle" : "quadrilateral", form, &of_shape);
    }
    assert_in_range(n_proved, 5, 35); /* some of both */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_are_as_expected),
        cmocka_unit_test(random_proofs_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
