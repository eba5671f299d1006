/* Reports the outcome of a solve and decides whether its result is written. */
#include "apps/common/fem.h"
#include "apps/common/run.h"
#include "fem/problem/advice.h"

#include <math.h>
#include <string.h>

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

/* Is the backward error at rounding level while the solution has hardly a correct digit? See
 * weft_solver_solve. */
static bool is_nearly_singular(const weft_cg_result *cg) {
    return cg->outcome == WEFT_CG_STAGNATION && cg->backward_error < 1e-12;
}

static const char JUMP[] =
    "what rounding leaves in the stiffest rows may hide errors of the softest ones: try "
    "--preconditioner aggregation or, "
    "where it is installed, cholmod, use coefficients of more similar size, or raise --tolerance";

#define FACTORISE "--preconditioner cholmod, a factorisation, where it is installed (libcholmod)"

static bool has_preconditioner(const app_run *run, const char *name) {
    const int kind = run->problem->system.linear.choice.preconditioner;
    return kind >= 0 && strcmp(weft_preconditioner_about(kind)->name, name) == 0;
}

static bool is_slender(const app_run *run) {
    const weft_solution u = weft_problem_solution(run->problem);
    return weft_slenderness(&u) > WEFT_SLENDER;
}

const char *app_cg_advice_of(const app_run *run, weft_cg_outcome outcome) {
    const app_run_options *options = run->options;
    const bool is_definite =
        weft_method_about(run->problem->system.linear.choice.method)->needs_definite;
    if (outcome == WEFT_CG_MAX_ITERATIONS && (options->solver.max_iterations >= 0 || !is_definite))
        return "raise --max-iterations or --tolerance";
    if (!is_definite)
        return "try another --preconditioner, or raise --tolerance";
    if (outcome == WEFT_CG_BREAKDOWN && run->problem->system.linear.choice.preconditioner >= 0 &&
        is_definite)
        return "rounding has made the preconditioner indefinite, as happens where the matrix is "
               "badly conditioned or singular: try " FACTORISE ", or --preconditioner jacobi";
    if (is_slender(run))
        return "the body is slender, and its bending makes the matrix badly conditioned: "
               "try " FACTORISE ", and fewer, longer cells of degree 2 (elasticity.ufl --degree 2)";
    return has_preconditioner(run, "aggregation")
               ? "the matrix is badly conditioned: try " FACTORISE
               : "the matrix is badly conditioned: try --preconditioner aggregation or " FACTORISE;
}

static const char *singular_advice(const app_run *run) {
    return is_slender(run)
               ? "the body is so slender that rounding of its stiffness leaves hardly any correct "
                 "digit of its bending: take fewer, longer cells of degree 2, or a thicker body"
               : "the system is nearly singular, so rounding leaves hardly any correct digit: use "
                 "coefficients of more similar size, or, if nothing holds a part, fix u in more "
                 "places";
}

static const char *advice_on(const app_run *run, const app_cg_advice *advice) {
    const app_run_options *options = run->options;
    const weft_cg_result *cg = &run->problem->system.linear.cg;
    if (cg->breakdown && run->problem->system.linear.choice.method == WEFT_METHOD_BICGSTAB)
        return "try --method gmres";
    if (cg->breakdown)
        return "the matrix is singular: fix u in more places, or look at the coefficients";
    if (run->problem->system.linear.choice.method == WEFT_METHOD_GMRES &&
        (cg->outcome == WEFT_CG_STAGNATION || cg->outcome == WEFT_CG_MAX_ITERATIONS) &&
        !is_nearly_singular(cg))
        return run->problem->system.linear.choice.preconditioner >= 0
                   ? "try --preconditioner jacobi or hypre, a larger --restart, or --method "
                     "bicgstab"
                   : "raise --restart, try --method bicgstab, or raise --tolerance";
    switch (cg->outcome) {
    case WEFT_CG_INDEFINITE:
        return advice->indefinite;
    case WEFT_CG_BREAKDOWN:
        return run->problem->system.linear.choice.preconditioner >= 0
                   ? app_cg_advice_of(run, cg->outcome)
                   : advice->breakdown;
    case WEFT_CG_NAN:
        return advice->nan;
    case WEFT_CG_OVERFLOW:
        return "the solution exceeds the largest number, 1.8e308: choose units in which sources "
               "and coefficients are of more similar size";
    case WEFT_CG_MAX_ITERATIONS:
        return app_cg_advice_of(run, cg->outcome);
    default:
        break;
    }
    if (cg->jump > 0)
        return JUMP;
    if (is_nearly_singular(cg))
        return singular_advice(run);
    return options->solver.preconditioner != WEFT_NO_PRECONDITIONER
               ? app_cg_advice_of(run, cg->outcome)
               : "try --preconditioner jacobi, or raise --tolerance";
}

void app_cg_complain(const char *program, const app_run *run, const app_cg_advice *advice) {
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
    fprintf(stderr, " (tolerance %g)\nhint: %s", options->solver.tolerance, advice_on(run, advice));
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
