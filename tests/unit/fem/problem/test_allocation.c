/* labels: full */
/* A nonlinear problem, one with constraints, and what follows from its solution, with the n-th allocation failing. */
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
    TRY(add(s, WEFT_DIRICHLET, "left", 0, "0", error));
    TRY(add(s, WEFT_NEUMANN, "right", 0, "2", error));
    TRY(weft_problem_solve_nonlinear(s->problem, &s->options, &newton, &report, error));
    assert_true(report.newton->converged);
done:
    free_problem(s);
    return status;
}

/* -div(grad u) = 0 with constraints. */
static weft_status make_constrained(setting *s, weft_bound_form *form, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_constraint tie = {sizeof tie, WEFT_CONSTRAINT_TIE, .group = "right"};
    const weft_constraint point = {sizeof point, WEFT_CONSTRAINT_POINT, .point = {0.2, 0.5},
                                   .value = "x"};
    const weft_point_load load = {sizeof load, .point = {1, 0.3}, .value = "2"};
    TRY(weft_mesh_make_square(2, &s->mesh, error));
    TRY(weft_problem_make(&s->context, s->mesh, WEFT_ELEMENT_P1, 1, &s->problem, error));
    const weft_space *space = weft_problem_space(s->problem);
    TRY(weft_form_ship(space, "poisson.weft", weft_space_cells(space), form, error));
    weft_problem_form(s->problem, &form->form);
    s->options.preconditioner = WEFT_JACOBI;
    TRY(add(s, WEFT_DIRICHLET, "left", 0, "0", error));
    TRY(add(s, WEFT_ROBIN, "top", 0, "1", error));
    TRY(weft_problem_constraint(s->problem, &tie, error));
    TRY(weft_problem_constraint(s->problem, &point, error));
    TRY(weft_problem_point_load(s->problem, &load, error));
done:
    return status;
}

static weft_status constrain(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    setting *s = user;
    weft_problem_report report;
    weft_bound_form form;
    TRY(make_constrained(s, &form, error));
    TRY(weft_problem_solve(s->problem, &s->options, &report, error));
done:
    free_problem(s);
    return status;
}

/* Of a problem that is solved. */
static weft_status measure(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    setting *s = user;
    static const char *const exact[] = {"x"};
    const weft_derived_quantity range = {WEFT_DERIVE_EXTREMA, "range", NULL, "u", "it"};
    const double from[] = {0, 0.5}, to[] = {1, 0.5};
    double value = 0, other = 0, at[3];
    weft_probes *probes = NULL;
    weft_derive *derive = NULL;
    weft_problem_balance balance = {0};
    TRY(weft_problem_integrals(s->problem, &value, error));
    TRY(weft_problem_errors(s->problem, exact, "it", 0, &value, &other, error));
    TRY(weft_problem_energy(s->problem, &value, error));
    TRY(weft_probes_make_line(&s->context, s->mesh, from, to, 3, NULL, &probes, error));
    TRY(weft_problem_evaluate(s->problem, probes, at, error));
    TRY(weft_problem_derive(s->problem, &range, 1, NULL, &derive, error));
    TRY(weft_problem_reactions(s->problem, &balance, error));
done:
    weft_problem_balance_clear(&balance);
    weft_derive_free(&derive);
    weft_probes_free(&probes);
    return status;
}

static void measuring(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_problem_report report;
    weft_bound_form form;
    assert_int_equal(open_context(&s, &error), WEFT_OK);
    assert_int_equal(make_constrained(&s, &form, &error), WEFT_OK);
    assert_int_equal(weft_problem_solve(s.problem, &s.options, &report, &error), WEFT_OK);
    assert_int_equal(measure(&s, &error), WEFT_OK); /* what is made once */
    assert_true(test_every_allocation("results", measure, &s) > 100);
    close_setting(&s);
}

static void solving(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    assert_int_equal(open_context(&s, &error), WEFT_OK);
    assert_true(test_every_allocation("Newton's method", solve, &s) > 100);
    assert_true(test_every_allocation("constraints", constrain, &s) > 100);
    close_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solving), cmocka_unit_test(measuring)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
