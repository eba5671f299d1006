/* Reports the steps of a problem in time. */
#include "apps/solve/solve.h"

#include <inttypes.h>

void solve_time_print(const solve *run) {
    const weft_transient_state *state = &run->time.state;
    printf("time        %s", solve_time_is_own(run)
                                 ? "scheme of the script"
                                 : weft_time_scheme_about(run->options->time.scheme)->name);
    if (!solve_time_is_own(run) && weft_time_scheme_about(run->options->time.scheme)->takes_theta)
        printf(" %g", run->options->time.theta);
    const double steps = state->step > 0 ? (double)state->step : 1;
    printf(", %" PRId64 " step%s to t = %.10g", state->step, state->step == 1 ? "" : "s", state->t);
    if (run->options->time.tolerance > 0)
        printf(" and %" PRId64 " rejected", state->n_rejected);
    if (run->options->nonlinear)
        printf(", %.1f of Newton's method and", (double)state->all_newton / steps);
    else
        putchar(',');
    printf(" %.1f iterations of %s per step\n", (double)state->all_iterations / steps,
           weft_method_about(run->base.problem->system.linear.choice.method)->title);
    if (run->base.problem->steps.changed_at > 0)
        printf("            %s since the step to t = %.6g: %s\n",
               weft_method_about(run->base.problem->system.linear.choice.method)->title,
               run->base.problem->steps.changed_at,
               run->base.problem->system.linear.choice.method_reason);
    if (run->time.stopped)
        printf("            stopped by a signal\n");
    if (run->options->time.files.checkpoint && run->time.files->kept_step > 0)
        printf("checkpoint  %s, step %" PRId64 "\n", run->options->time.files.checkpoint,
               run->time.files->kept_step);
}

bool solve_time_json(json_t *root, const solve *run) {
    static const char *const outcomes[] = {"done", "not_solved", "newton_not_converged",
                                           "no_step_short_enough"};
    const weft_transient_state *state = &run->time.state;
    if (!run->options->time.text)
        return true;
    json_t *object = json_object();
    return app_json_set(root, "time", object) &&
           app_json_set(object, "scheme",
                        json_string(weft_time_scheme_about(run->options->time.scheme)->name)) &&
           app_json_set(object, "outcome", json_string(outcomes[state->outcome])) &&
           app_json_set(object, "steps", json_integer(state->step)) &&
           app_json_set(object, "t", app_json_real(state->t)) &&
           app_json_set(object, "assembly_seconds",
                        app_json_real(weft_transient_assembly_seconds(run->time.transient))) &&
           app_json_set(object, "rejected", json_integer(state->n_rejected)) &&
           app_json_set(object, "newton", json_integer(state->all_newton)) &&
           app_json_set(object, "iterations", json_integer(state->all_iterations));
}

int solve_time_report(const solve *run) {
    const weft_transient_state *state = &run->time.state;
    char advice[WEFT_ADVICE_MAX];
    if (state->outcome == WEFT_TRANSIENT_DONE)
        return run->time.stopped ? 128 + run->time.stopped : 0;
    fprintf(stderr, "solve: error: the step from t = %g has failed: ", state->t);
    if (state->outcome == WEFT_TRANSIENT_SOLVER)
        fprintf(stderr, "%s: %s\nhint: %s\n",
                weft_method_about(run->base.problem->system.linear.choice.method)->title,
                weft_cg_outcome_name(state->solver),
                weft_problem_step_advice(run->base.problem, state->solver, advice));
    else if (state->outcome == WEFT_TRANSIENT_NEWTON)
        fputs("Newton's method has not converged\nhint: take a smaller step or more "
              "--newton-iterations, or look whether K is the derivative of r\n",
              stderr);
    else
        fprintf(stderr,
                "no step is short enough for --time-tolerance\nhint: raise it; a jump in the data "
                "takes a scheme that damps it, such as %s\n",
                weft_time_scheme_about(weft_time_scheme_default())->name);
    return 1;
}
