/* labels: quick */
/* A problem of a mesh, a form, conditions, a load and options that leave everything to choose, against solutions that
 * are known: in the space exactly, up to the tolerance; else with the orders 2 in L2 and 1 in H1 of degree 1. */
#include "fem/problem/problem.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s", error->message);
}

typedef struct setting {
    weft_context context;
    weft_library *library;
    weft_mesh *mesh;
    weft_problem *problem;
    weft_bound_form form;
} setting;

static void open_setting(setting *s, int side, const char *script) {
    weft_error error = {0};
    *s = (setting){.context.plan = WEFT_PLAN_FUSED};
    check(weft_device_open("host:1", NULL, &s->context.device, &error), &error);
    check(weft_fem_library_make(&s->library, &error), &error);
    s->context.library = s->library;
    check(weft_mesh_make_square(side, &s->mesh, &error), &error);
    check(weft_problem_make(&s->context, s->mesh, WEFT_ELEMENT_P1, 1, &s->problem, &error), &error);
    const weft_space *space = weft_problem_space(s->problem);
    check(weft_form_ship(space, script, weft_space_cells(space), &s->form, &error), &error);
    weft_problem_form(s->problem, &s->form.form);
}

static void add(setting *s, weft_condition condition) {
    weft_error error = {0};
    check(weft_problem_condition(s->problem, &condition, &error), &error);
}

static void close_setting(setting *s) {
    weft_problem_free(&s->problem);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_device_free(&s->context.device);
}

/* The largest difference from x + 2y at nodes. */
static double apart(const setting *s) {
    const weft_space *space = weft_problem_space(s->problem);
    const double *u = weft_problem_values(s->problem), *x = weft_space_points(space);
    double most = 0;
    for (int64_t i = 0; i < weft_space_nodes(space); ++i)
        most = fmax(most, fabs(u[i] - x[2 * i] - 2 * x[2 * i + 1]));
    return most;
}

/* Of every preconditioner and assembly that can be requested for such a problem. */
static void in_the_space(void **state) {
    (void)state;
    static const int assemblies[] = {WEFT_AUTO, WEFT_ASSEMBLY_CSR, WEFT_ASSEMBLY_MATRIX_FREE};
    static const char *const preconditioners[] = {NULL, "chebyshev", "aggregation"};
    setting s;
    weft_error error = {0};
    open_setting(&s, 16, "poisson.weft");
    add(&s, (weft_condition){WEFT_DIRICHLET, .group = "boundary", .value = "x + 2*y"});
    for (size_t k = 0; k < 5; ++k) {
        weft_problem_report report;
        weft_problem_options options = weft_problem_options_default();
        options.tolerance = 1e-10;
        options.assembly = k < 3 ? assemblies[k] : WEFT_AUTO;
        if (k >= 3)
            check(weft_preconditioner_find(preconditioners[k - 2], &options.preconditioner, &error),
                  &error);
        const weft_problem_options given = options;
        check(weft_problem_solve(s.problem, &options, &report, &error), &error);
        assert_memory_equal(&given, &options, sizeof given);
        assert_int_equal(report.result->outcome, WEFT_CG_CONVERGED);
        assert_int_equal(report.choice->method, WEFT_METHOD_CG);
        assert_true(report.asymmetry < 1e-12);
        if (options.assembly != WEFT_AUTO)
            assert_int_equal(report.choice->assembly, options.assembly);
        if (options.preconditioner != WEFT_AUTO)
            assert_int_equal(report.choice->preconditioner, options.preconditioner);
        assert_true(report.choice->preconditioner_reason[0] != '\0');
        assert_true(report.choice->bytes > 0);
        assert_true(k > 2 || report.choice->expected >= 0.5 * report.result->iterations);
        /* what follows where Jacobi's takes many more */
        if (k < 3 && weft_assembly_about(report.choice->assembly)->stores_matrix)
            assert_true(report.choice->next >= 0 &&
                        report.choice->next_after >= 10 * report.choice->expected);
        else
            assert_int_equal(report.choice->next_after, 0);
        assert_true(apart(&s) < 1e-7);
    }
    close_setting(&s);
}

/* -div(grad u) = 2 sin(x) cos(y) with conditions of all kinds; u = sin(x) cos(y). */
static void errors_of(int side, double squares[2]) {
    setting s;
    weft_error error = {0};
    weft_memory *u = NULL;
    double *values = NULL;
    weft_problem_report report;
    const weft_problem_options options = weft_problem_options_default();
    open_setting(&s, side, "poisson.weft");
    const weft_space *space = weft_problem_space(s.problem);
    const int64_t n = weft_space_dofs(space);
    add(&s, (weft_condition){WEFT_DIRICHLET, .group = "left", .value = "0"});
    add(&s, (weft_condition){WEFT_ROBIN, .group = "right", .alpha = "1",
                             .value = "(cos(1) + sin(1))*cos(y)"});
    add(&s, (weft_condition){WEFT_NEUMANN, .group = "top", .value = "-sin(1)*sin(x)"});
    weft_problem_source(s.problem, "2*sin(x)*cos(y)", "the source");
    check(weft_problem_solve(s.problem, &options, &report, &error), &error);
    assert_int_equal(report.result->outcome, WEFT_CG_CONVERGED);
    check(weft_vector_make(s.context.device, n, &values, &u, &error), &error);
    memcpy(values, weft_problem_values(s.problem), (size_t)n * sizeof *values);
    check(weft_vector_push(u, values, n, &error), &error);
    check(weft_space_errors(&s.context, space, u, "sin(x)*cos(y)", NULL, squares, &error), &error);
    weft_memory_free(&u);
    free(values);
    close_setting(&s);
}

static void orders(void **state) {
    (void)state;
    double coarse[2], fine[2];
    errors_of(8, coarse);
    errors_of(16, fine);
    assert_true(sqrt(coarse[0] / fine[0]) > 3.6 && sqrt(coarse[0] / fine[0]) < 4.4);
    assert_true(sqrt(coarse[1] / fine[1]) > 1.8 && sqrt(coarse[1] / fine[1]) < 2.2);
}

/* -div(grad u) = 2 pi^2 cos(pi x) cos(pi y) without a condition on u: of the solutions the one whose mean is zero. */
static double error_without_condition(int side) {
    setting s;
    weft_error error = {0};
    weft_problem_report report;
    double l2 = 0, h1 = 0, integral = 1;
    const char *exact = "cos(pi*x)*cos(pi*y)";
    const weft_problem_options options = weft_problem_options_default();
    open_setting(&s, side, "poisson.weft");
    add(&s, (weft_condition){WEFT_NEUMANN, .group = "boundary", .value = "0"});
    weft_problem_source(s.problem, "2*pi^2*cos(pi*x)*cos(pi*y)", "the source");
    check(weft_problem_solve(s.problem, &options, &report, &error), &error);
    assert_int_equal(report.result->outcome, WEFT_CG_CONVERGED);
    check(weft_problem_integrals(s.problem, &integral, &error), &error);
    assert_true(fabs(integral) < 1e-12);
    check(weft_problem_errors(s.problem, &exact, "exact", 0, &l2, &h1, &error), &error);
    close_setting(&s);
    return l2;
}

static void without_condition(void **state) {
    (void)state;
    const double ratio = error_without_condition(8) / error_without_condition(16);
    assert_true(ratio > 3.6 && ratio < 4.4);
}

/* u = 10 + x with k = 1 + y: integral u = 21/2, integral k |grad u|^2 / 2 = 3/4. */
static void diffusion(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_problem_report report;
    double integral = 0, energy = 0;
    weft_problem_options options = weft_problem_options_default();
    options.tolerance = 1e-14;
    open_setting(&s, 8, "poisson.weft");
    check(weft_problem_diffusion(s.problem, "1 + y", "k", &error), &error);
    add(&s, (weft_condition){WEFT_DIRICHLET, .group = "left", .value = "10"});
    add(&s, (weft_condition){WEFT_DIRICHLET, .group = "right", .value = "11"});
    check(weft_problem_solve(s.problem, &options, &report, &error), &error);
    check(weft_problem_measure(s.problem, &integral, &energy, &error), &error);
    assert_true(fabs(integral - 10.5) < 1e-9);
    assert_true(fabs(energy - 0.75) < 1e-9);
    integral = energy = 0;
    check(weft_problem_integrals(s.problem, &integral, &error), &error);
    check(weft_problem_energy(s.problem, &energy, &error), &error);
    assert_true(fabs(integral - 10.5) < 1e-9 && fabs(energy - 0.75) < 1e-9);
    close_setting(&s);
}

static void refused(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_problem_report report;
    weft_problem_options options = weft_problem_options_default();
    open_setting(&s, 4, "poisson.weft");
    add(&s, (weft_condition){WEFT_NEUMANN, .group = "boundary", .value = "1"});
    assert_int_equal(weft_problem_solve(s.problem, &options, &report, &error), WEFT_ERROR_INPUT);
    add(&s, (weft_condition){WEFT_DIRICHLET, .group = "nowhere", .value = "1"});
    assert_int_equal(weft_problem_solve(s.problem, &options, &report, &error), WEFT_ERROR_INPUT);
    weft_problem_form(s.problem, NULL);
    assert_int_equal(weft_problem_solve(s.problem, &options, &report, &error), WEFT_ERROR_USAGE);
    close_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_the_space), cmocka_unit_test(orders),
                                       cmocka_unit_test(without_condition),
                                       cmocka_unit_test(diffusion), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
