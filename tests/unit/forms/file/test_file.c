/* labels: quick */
/* One form file from text to degrees: what each stage passes on. */
#include "forms/weft_ufl.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char poisson[] = "element = FiniteElement(\"Lagrange\", triangle, 1)\n"
                              "u = TrialFunction(element)\n"
                              "v = TestFunction(element)\n"
                              "f = Coefficient(element)\n"
                              "a = inner(grad(v), grad(u))*dx\n"
                              "L = v*f*dx\n";

static void test_poisson(void **state) {
    (void)state;
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    weft_ufl_form_info form;
    weft_ufl_integral_info integral;
    assert_int_equal(
        weft_ufl_read_text("Poisson.ufl", poisson, strlen(poisson), NULL, &ufl, &error), WEFT_OK);
    assert_int_equal(weft_ufl_n_forms(ufl), 2);
    weft_ufl_form(ufl, 0, &form);
    assert_string_equal(form.name, "a");
    assert_int_equal(form.rank, 2);
    assert_int_equal(form.n_coefficients, 0);
    weft_ufl_integral(ufl, 0, 0, &integral);
    assert_string_equal(integral.type, "cell");
    assert_int_equal(integral.degree, 0); /* grad v and grad u are constant */
    weft_ufl_form(ufl, 1, &form);
    assert_string_equal(form.name, "L");
    assert_int_equal(form.rank, 1);
    assert_int_equal(form.n_coefficients, 1);
    weft_ufl_integral(ufl, 1, 0, &integral);
    assert_int_equal(integral.degree, 2); /* v and f are linear */
    weft_ufl_free(&ufl);
}

static void test_text(void **state) {
    (void)state;
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    weft_text text = {0};
    assert_int_equal(
        weft_ufl_read_text("Poisson.ufl", poisson, strlen(poisson), NULL, &ufl, &error), WEFT_OK);
    assert_int_equal(weft_ufl_print_forms(ufl, "L", &text, &error), WEFT_OK);
    assert_string_equal(text.data, "L: linear form\n"
                                   "  arguments    v: P1 triangle\n"
                                   "  coefficients f: P1 triangle\n"
                                   "  integrals    (v*f)*dx\n\n");
    assert_int_equal(weft_ufl_print_forms(ufl, "l", &text, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "Poisson.ufl has no form 'l'");
    weft_text_free(&text);
    weft_ufl_free(&ufl);
}

static void test_missing_trial_function(void **state) {
    (void)state;
    static const char text[] = "e = FiniteElement(\"CG\", triangle, 1)\n"
                               "v, u, f = TestFunction(e), TrialFunction(e), Coefficient(e)\n"
                               "a = f*v*dx + u*v*dx\n";
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    assert_int_equal(weft_ufl_read_text("bad.ufl", text, strlen(text), NULL, &ufl, &error),
                     WEFT_ERROR_TYPE);
    assert_null(ufl);
    assert_int_equal(error.line, 3);
    assert_string_equal(error.message,
                        "the integrals of a form have different arguments: this one has the test "
                        "function v, and the trial function u is missing");
}

static void keep_message(void *user, weft_log_level level, const char *message) {
    weft_text_add(user, "%d %s\n", level == WEFT_LOG_WARNING, message);
}

/* High estimates are obeyed, with a warning; degrees that the file gives are not warned of. */
static void test_high_degrees(void **state) {
    static const char text[] = "e = FiniteElement('P', tetrahedron, 2)\n"
                               "w, v = Coefficient(e), TestFunction(e)\n"
                               "L = w**12*v*dx\n"
                               "M = w**12*w*dx(degree=20) + w**5*dx\n";
    weft_ufl *ufl = NULL;
    weft_text log = {0};
    const weft_monitor monitor = {.log = keep_message, .user = &log};
    const weft_ufl_options options = {.size = sizeof options, .monitor = &monitor};
    weft_ufl_integral_info integral;
    (void)state;
    assert_int_equal(weft_ufl_read_text("high.ufl", text, strlen(text), &options, &ufl, NULL),
                     WEFT_OK);
    weft_ufl_integral(ufl, 0, 0, &integral);
    assert_int_equal(integral.degree, 26);
    assert_string_equal(log.data,
                        "1 high.ufl:3: form L: degree 26 was estimated for dx, 2744 points for "
                        "each cell; dx(degree=4) would take 14\n");
    weft_text_free(&log);
    weft_ufl_free(&ufl);
}

/* The degree that a warning recommends is not below that of a product of two functions of the form, of degree 8 here. Where the
 * estimate is that degree there is nothing to warn of: with fewer points the mass matrix is singular. */
static void test_recommended_degrees(void **state) {
    static const struct {
        const char *forms;
        int recommended; /* 0: no warning; negative: of too few points */
    } cases[] = {
        {"a = u*v*dx", 0},
        {"a = inner(grad(u), grad(v))*dx + u*v*dx", 0},
        {"a = (1 + w**2)*u*v*dx", 16},
        {"a = (1 + w**2)*u*v*dx(degree=16)", 0},
        {"a = (1 + w**2)*u*v*dx(degree=4)", -16},
        {"a = inner(grad(u), grad(v))*dx(degree=6) + u*v*ds", -16},
        {"a = inner(grad(u), grad(v))*dx(degree=4) + u*v*dx(degree=14)", 0},
        {"L = w*v*dx(degree=4)", 0},
        {"F = (1 + w**2)*inner(grad(w), grad(v))*dx", 16},
        {"F = (1 + w**2)*inner(grad(w), grad(v))*ds(2)", 16},
        {"M = w**3*q*dx", 16},
        {"M = q**15*dx", 4},
        {"L = q**15*v*dx", 16},
        {"L = exp(q)*v*dx", 0},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        char text[400], expected[40];
        weft_ufl *ufl = NULL;
        weft_text log = {0};
        const weft_monitor monitor = {.log = keep_message, .user = &log};
        const weft_ufl_options options = {.size = sizeof options, .monitor = &monitor};
        snprintf(text, sizeof text,
                 "e, c = FiniteElement('P', triangle, 8), FiniteElement('P', triangle, 1)\n"
                 "u, v, w, q = TrialFunction(e), TestFunction(e), Coefficient(e), Coefficient(c)\n"
                 "%s\n",
                 cases[k].forms);
        assert_int_equal(weft_ufl_read_text("high.ufl", text, strlen(text), &options, &ufl, NULL),
                         WEFT_OK);
        snprintf(expected, sizeof expected,
                 cases[k].recommended > 0 ? "(degree=%d) would take " : "arguments has degree %d\n",
                 abs(cases[k].recommended));
        if (cases[k].recommended != 0 ? !log.data || !strstr(log.data, expected) : log.data != NULL)
            fail_msg("%s: %s", cases[k].forms, log.data ? log.data : "no warning");
        weft_text_free(&log);
        weft_ufl_free(&ufl);
    }
}

/* The shipped form file for cells and a degree: of degree 2 on triangles, grad u and grad v are linear, and so is the
 * strain; Young's modulus is a coefficient only where it is given. */
static void test_shipped(void **state) {
    (void)state;
    static const struct {
        const char *given;
        int n_coefficients, n_forms;
    } cases[] = {{NULL, 0, 1}, {"young poisson", 2, 1}, {"young traction", 1, 2}};
    weft_error error = {0};
    weft_ufl *ufl = NULL;
    assert_true(weft_ufl_is_shipped("elasticity.ufl"));
    assert_false(weft_ufl_is_shipped("elasticity.weft"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        weft_ufl_form_info form;
        weft_ufl_integral_info integral;
        assert_int_equal(weft_ufl_read_shipped("elasticity.ufl", WEFT_TRIANGLE, 2, cases[i].given,
                                               NULL, &ufl, &error),
                         WEFT_OK);
        assert_int_equal(weft_ufl_n_forms(ufl), cases[i].n_forms);
        weft_ufl_form(ufl, 0, &form);
        assert_string_equal(form.name, "a");
        assert_int_equal(form.n_coefficients, cases[i].n_coefficients);
        weft_ufl_integral(ufl, 0, 0, &integral);
        assert_string_equal(integral.cell, "triangle");
        assert_int_equal(integral.degree, 2);
        weft_ufl_free(&ufl);
    }
    assert_int_equal(
        weft_ufl_read_shipped("nothing.ufl", WEFT_TRIANGLE, 1, NULL, NULL, &ufl, &error),
        WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "no form file 'nothing.ufl' is shipped"));
    assert_null(ufl);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_poisson),
                                       cmocka_unit_test(test_text),
                                       cmocka_unit_test(test_high_degrees),
                                       cmocka_unit_test(test_recommended_degrees),
                                       cmocka_unit_test(test_missing_trial_function),
                                       cmocka_unit_test(test_shipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
