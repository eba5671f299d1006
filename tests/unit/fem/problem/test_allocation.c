/* labels: full */
/* A nonlinear problem, solved with the n-th allocation failing. */
#include "allocation.h"
#include "quasilinear.h"
#include "test_support.h"

static weft_status solve(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    setting *s = user;
    weft_problem_report report;
    const weft_newton_options newton = weft_newton_options_default();
    TRY(make_problem(s, 2, "-2*x", error));
    s->options.preconditioner = WEFT_JACOBI;
    TRY(add(s, WEFT_DIRICHLET, "left", "0", error));
    TRY(add(s, WEFT_NEUMANN, "right", "2", error));
    TRY(weft_problem_solve_nonlinear(s->problem, &s->options, &newton, &report, error));
    assert_true(report.newton->converged);
done:
    free_problem(s);
    return status;
}

static void solving(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    assert_int_equal(open_context(&s, &error), WEFT_OK);
    assert_true(test_every_allocation("Newton's method", solve, &s) > 100);
    close_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solving)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
