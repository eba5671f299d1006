/* Writes the results of a run as JSON. */
#include "apps/common/statement.h"
#include "apps/solve/solve.h"

#include <math.h>

static bool set_script(json_t *root, const solve *run) {
    if (!run->options->script)
        return true;
    return app_json_set(root, "script", app_json_text(run->options->script)) &&
           app_json_set(root, "components", json_integer(run->base.problem->fields.n_values)) &&
           app_json_set(root, "sum", app_json_real(run->sum)) &&
           app_json_set(
               root, "asymmetry",
               app_json_real(run->base.is_null ? NAN : run->base.problem->system.asymmetry));
}

static bool set_newton(json_t *root, const solve *run) {
    const weft_problem_newton_report *newton = &run->base.problem->newton;
    if (!run->options->nonlinear)
        return true;
    json_t *array = json_array();
    /* Its last linear system is of rounding, and how that one ended says nothing. */
    bool fine = (!newton->converged || app_json_set(root, "outcome", json_string("converged"))) &&
                app_json_set(root, "newton", array) &&
                app_json_set(root, "newton_converged", json_boolean(newton->converged)) &&
                app_json_set(root, "newton_to_rounding", json_boolean(newton->to_rounding));
    if (fine && !run->options->time.text && !run->base.is_null)
        fine = app_json_set(root, "newton_outcome",
                            json_string(weft_newton_outcome_name(newton->outcome)));
    for (int i = 0; fine && i < newton->n; ++i) {
        const weft_problem_iteration *iteration = &newton->iterations[i];
        json_t *object = json_object();
        fine = json_array_append_new(array, object) == 0 &&
               app_json_set(object, "step", json_integer(iteration->step)) &&
               app_json_set(object, "iteration", json_integer(iteration->iteration)) &&
               app_json_set(object, "residual", app_json_real(iteration->residual)) &&
               app_json_set(object, "scale", app_json_real(iteration->scale)) &&
               app_json_set(object, "damping", app_json_real(iteration->damping)) &&
               app_json_set(object, "method",
                            json_string(weft_method_about(iteration->method)->name)) &&
               app_json_set(object, "cg_iterations", json_integer(iteration->linear_iterations));
    }
    return fine;
}

/* The errors of each component of a mixed function. */
static bool set_errors(json_t *root, const solve *run) {
    bool fine = true;
    for (int i = 0; i < 2 && fine && run->exact && run->base.problem->fields.n > 1; ++i)
        fine = app_json_set(root, i == 0 ? "l2_errors" : "h1_errors",
                            app_json_values(run->errors[i], run->base.problem->fields.n_values));
    return fine;
}

/* On the null device nothing is solved: the outcome is "planned" and every number is null. */
static bool set_results(json_t *root, const solve *run) {
    const bool solved = !run->base.is_null;
    const int n_values = run->base.problem->fields.n_values;
    const weft_linear *linear = &run->base.problem->system.linear;
    return app_json_set(root, "method",
                        json_string(weft_method_about(linear->choice.method)->name)) &&
           app_json_set(root, "method_reason", json_string(linear->choice.method_reason)) &&
           app_run_json_preconditioner(root, &run->base) &&
           app_json_set(
               root, "expected_iterations",
               app_json_real(linear->choice.expected > 0 ? linear->choice.expected : NAN)) &&
           app_json_set_solution(root, &linear->cg, solved) &&
           app_json_set(root, "l2_error", app_json_real(run->base.l2_error)) &&
           app_json_set(root, "h1_error", app_json_real(run->base.h1_error)) &&
           app_json_set(root, "integral_u",
                        solved ? app_json_values(run->integral_u, n_values) : json_null()) &&
           app_json_set(root, "energy", app_json_real(run->base.energy));
}

static bool set_amounts(json_t *root, const solve *run) {
    return app_json_set(root, "dofs", json_integer(run->base.problem->fields.n_dofs)) &&
           app_json_set(root, "bytes_product", app_json_real(run->base.problem->product_bytes)) &&
           app_json_set(root, "bytes_device_predicted",
                        json_integer((json_int_t)run->base.problem->system.linear.choice.bytes));
}

weft_status solve_json_write(const solve *run, weft_error *error) {
    const app_run *base = &run->base;
    const app_run_options *options = base->options;
    if (!options->json)
        return WEFT_OK;
    json_t *root = json_object();
    const bool fine =
        root && app_json_set_mesh(root, base->mesh) && app_run_json_statement(root, base) &&
        set_script(root, run) &&
        app_json_set_plan(root, &base->context, base->device_reason,
                          base->problem->system.linear.choice.assembly) &&
        solve_ranks_json(run, root) &&
        (run->eigen ? solve_eigen_json(root, run) : set_results(root, run)) &&
        set_errors(root, run) && set_newton(root, run) && solve_gradient_json(root, run) &&
        solve_time_json(root, run) && set_amounts(root, run) &&
        app_run_json_constraints(root, base) && app_run_json_derived(root, base) &&
        app_json_set_probes(root, &base->points, base->probes, base->problem->fields.n_values) &&
        (options->verbosity != APP_VERBOSE ||
         app_json_set_history(root, &base->problem->system.linear.cg)) &&
        app_json_set_costs(root, base->device, &base->seconds, false);
    return app_run_write_json(base, root, fine, error);
}
