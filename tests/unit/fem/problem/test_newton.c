/* labels: quick */
/* Problems r(u) = 0 of scripts, solved by the library alone. -div((1 + u^2) grad u) = f for a linear u has f and fluxes that
 * are polynomials, which the rules integrate exactly, so that u is the discrete solution too: expected up to
 * the tolerance of Newton's method, 1e-10, times the condition of the tangents. */
#include "quasilinear.h"
#include "test_support.h"

#include <math.h>

static const double CLOSE = 1e-7;

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static void open_setting(setting *s, int side, const char *source) {
    weft_error error = {0};
    check(open_context(s, &error), &error);
    check(make_problem(s, side, source, &error), &error);
}

/* The largest difference from x + slope y at nodes. */
static double apart(const setting *s, double slope) {
    const weft_space *space = weft_problem_space(s->problem);
    const double *u = weft_problem_values(s->problem), *x = weft_space_points(space);
    double most = 0;
    for (int64_t i = 0; i < weft_space_nodes(space); ++i)
        most = fmax(most, fabs(u[i] - x[2 * i] - slope * x[2 * i + 1]));
    return most;
}

/* Dirichlet, Neumann and Robin conditions, in one step and in three, and again from the solution. */
static void all_conditions(void **state) {
    (void)state;
    for (int steps = 1; steps <= 3; steps += 2) {
        setting s;
        weft_error error = {0};
        weft_problem_report report;
        const weft_newton_options newton = {sizeof(weft_newton_options), 1e-10, 30, steps};
        open_setting(&s, 6, "-10*(x + 2*y)");
        check(add(&s, WEFT_DIRICHLET, "left", 0, "2*y", &error), &error);
        check(add(&s, WEFT_DIRICHLET, "bottom", 0, "x", &error), &error);
        check(add(&s, WEFT_NEUMANN, "right", 0, "1 + (1 + 2*y)^2", &error), &error);
        check(add(&s, WEFT_ROBIN, "top", 0, "2*(1 + (x + 2)^2) + x + 2", &error), &error);
        for (int pass = 0; pass < 2; ++pass) {
            check(weft_problem_solve_nonlinear(s.problem, &s.options, &newton, &report, &error),
                  &error);
            assert_true(report.newton->converged);
            assert_int_equal(report.newton->outcome, WEFT_NEWTON_CONVERGED);
            assert_int_equal(report.newton->iterations[report.newton->n - 1].step, steps);
            assert_true(apart(&s, 2) < CLOSE);
        }
        assert_true(report.choice->method == WEFT_METHOD_GMRES);
        assert_true(report.asymmetry > 1e-3);
        close_setting(&s);
    }
}

/* Half of the loads and of the values is another solution: of the steps, only the last may remain. */
static void steps_grow(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_problem_report report;
    const weft_newton_options newton = {sizeof(weft_newton_options), 1e-10, 30, 4};
    open_setting(&s, 4, "-2*x");
    check(add(&s, WEFT_DIRICHLET, "left", 0, "0", &error), &error);
    check(add(&s, WEFT_DIRICHLET, "right", 0, "1", &error), &error);
    check(weft_problem_solve_nonlinear(s.problem, &s.options, &newton, &report, &error), &error);
    assert_true(apart(&s, 0) < CLOSE);
    int first[5] = {0};
    for (int i = 0; i < report.newton->n; ++i)
        first[report.newton->iterations[i].step] += report.newton->iterations[i].iteration == 0;
    for (int step = 1; step <= 4; ++step)
        assert_int_equal(first[step], 1);
    assert_true(s.problem->inputs.load_factor == 1);
    close_setting(&s);
}

/* What ends without convergence says so; options out of range and linear solves are refused. */
static void refused(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_problem_report report;
    weft_newton_options newton = {sizeof(weft_newton_options), 1e-12, 1, 1};
    open_setting(&s, 4, "100");
    check(add(&s, WEFT_DIRICHLET, "boundary", 0, "0", &error), &error);
    check(weft_problem_solve_nonlinear(s.problem, &s.options, &newton, &report, &error), &error);
    assert_false(report.newton->converged);
    assert_int_equal(report.newton->outcome, WEFT_NEWTON_MAX_ITERATIONS);
    newton.load_steps = 0;
    assert_int_equal(weft_problem_solve_nonlinear(s.problem, &s.options, &newton, &report, &error),
                     WEFT_ERROR_USAGE);
    assert_int_equal(weft_problem_solve(s.problem, &s.options, &report, &error),
                     WEFT_ERROR_UNSUPPORTED);
    s.options.method = WEFT_METHOD_CG; /* the tangent is not symmetric for u other than 0 */
    newton = (weft_newton_options){sizeof(weft_newton_options), 1e-10, 30, 1};
    check(weft_problem_set_initial(s.problem, "x", "the test", &error), &error);
    assert_int_equal(weft_problem_solve_nonlinear(s.problem, &s.options, &newton, &report, &error),
                     WEFT_ERROR_INPUT);
    close_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_conditions),
                                       cmocka_unit_test(steps_grow), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
