/* Reports the outcome of a solve and decides whether its result is written. */
#include "apps/common/fem.h"
#include "apps/common/run.h"

#include <math.h>

/* "converged", "converged to rounding", or the name of the failure. */
static const char *cg_outcome(const weft_cg_result *cg) {
    return cg->to_rounding ? "converged to rounding" : weft_cg_outcome_name(cg->outcome);
}

void app_cg_print(weft_method method, const char *reason, const weft_cg_result *cg) {
    const char *title = weft_method_about(method)->title;
    if (method != WEFT_METHOD_CG)
        printf("method      %s: %s\n", title, reason);
    printf("%-11s %s, %d iterations, relative residual %.2e", title, cg_outcome(cg), cg->iterations,
           app_strip_nan_sign(cg->residual));
    if (cg->to_rounding)
        printf(" (backward error %.1e)", cg->backward_error);
    putchar('\n');
    if (!isnan(cg->discretisation_error))
        printf("            full multigrid, estimated errors in the energy norm: %.2e of the "
               "discretisation, %.2e of the solver\n",
               cg->discretisation_error, cg->algebraic_error);
}

void app_cg_complain(const char *program, const app_run *run) {
    char advice[WEFT_ADVICE_MAX];
    const app_run_options *options = run->options;
    const weft_cg_result *cg = &run->problem->system.linear.cg;
    fprintf(stderr, "%s: error: not converged: %s", program, weft_cg_outcome_name(cg->outcome));
    if (cg->breakdown)
        fprintf(stderr, " of %s (%s)",
                weft_method_about(run->problem->system.linear.choice.method)->title, cg->breakdown);
    fprintf(stderr, " after %d iterations, relative residual %.2e", cg->iterations,
            fabs(cg->residual));
    if (cg->jump > 0)
        fprintf(stderr, ", diagonal entries from 1 to %.1e", cg->jump);
    fprintf(stderr, " (tolerance %g)\nhint: %s", options->solver.tolerance,
            weft_problem_advice(run->problem, advice));
    if (options->output && !options->keep_unconverged)
        fprintf(stderr, "; --keep-unconverged writes %s anyway", options->output);
    fputc('\n', stderr);
}

bool app_output_wanted(const app_run_options *options, bool converged,
                       const weft_monitor *monitor) {
    if (!options->output || converged)
        return options->output != NULL;
    /* Write an unconverged solution only on request. */
    weft_log(monitor, WEFT_LOG_WARNING,
             options->keep_unconverged ? "%s is written though the solution has not converged"
                                       : "%s is not written because the solution has not converged",
             options->output);
    return options->keep_unconverged;
}

bool app_json_set_solution(json_t *root, const weft_cg_result *cg, bool solved) {
    const char *outcome = solved ? weft_cg_outcome_name(cg->outcome) : "planned";
    return app_json_set(root, "iterations", solved ? json_integer(cg->iterations) : json_null()) &&
           app_json_set(root, "outcome", json_string(outcome)) &&
           app_json_set(root, "breakdown",
                        solved && cg->breakdown ? json_string(cg->breakdown) : json_null()) &&
           app_json_set(root, "to_rounding",
                        solved ? json_boolean(cg->to_rounding) : json_null()) &&
           app_json_set(root, "residual", app_json_real(solved ? cg->residual : NAN)) &&
           app_json_set(root, "backward_error", app_json_real(solved ? cg->backward_error : NAN)) &&
           app_json_set(root, "discretisation_error",
                        app_json_real(solved ? cg->discretisation_error : NAN)) &&
           app_json_set(root, "algebraic_error", app_json_real(solved ? cg->algebraic_error : NAN));
}
