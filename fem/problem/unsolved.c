/* Says what to try where a problem was not solved, by the outcome and what was chosen. */
#include "core/base/number.h"
#include "fem/problem/advice.h"
#include "fem/problem/problem.h"
#include "fem/solve/krylov.h"

#include <string.h>

/* ---- linear systems -------------------------------------------------------------------------- */

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

static bool has_preconditioner(const weft_problem *problem, const char *name) {
    const int kind = problem->system.linear.choice.preconditioner;
    return kind >= 0 && strcmp(weft_preconditioner_about(kind)->name, name) == 0;
}

static bool is_slender(const weft_problem *problem) {
    const weft_solution u = weft_problem_solution(problem);
    return weft_slenderness(&u) > WEFT_SLENDER;
}

static const char *iterations_advice(const weft_problem *problem, weft_cg_outcome outcome) {
    const weft_problem_options *options = problem->system.linear.options;
    const bool is_definite =
        weft_method_about(problem->system.linear.choice.method)->needs_definite;
    if (outcome == WEFT_CG_MAX_ITERATIONS && (options->max_iterations >= 0 || !is_definite))
        return "raise --max-iterations or --tolerance";
    if (!is_definite)
        return "try another --preconditioner, or raise --tolerance";
    if (outcome == WEFT_CG_BREAKDOWN && problem->system.linear.choice.preconditioner >= 0 &&
        is_definite)
        return "rounding has made the preconditioner indefinite, as happens where the matrix is "
               "badly conditioned or singular: try " FACTORISE ", or --preconditioner jacobi";
    if (is_slender(problem))
        return "the body is slender, and its bending makes the matrix badly conditioned: "
               "try " FACTORISE ", and fewer, longer cells of degree 2 (elasticity.ufl --degree 2)";
    return has_preconditioner(problem, "aggregation")
               ? "the matrix is badly conditioned: try " FACTORISE
               : "the matrix is badly conditioned: try --preconditioner aggregation or " FACTORISE;
}

/* Of systems that are not symmetric: Jacobi's preconditioner is no use for saddle points. */
static const char *general_advice(const weft_problem *problem) {
    return problem->fields.n > 1
               ? "for flows try --preconditioner commutator or augmented, on the host; else a "
                 "larger "
                 "--restart"
               : "try --preconditioner jacobi or hypre, a larger --restart, or --method bicgstab";
}

static const char *singular_advice(const weft_problem *problem) {
    return is_slender(problem)
               ? "the body is so slender that rounding of its stiffness leaves hardly any correct "
                 "digit of its bending: take fewer, longer cells of degree 2, or a thicker body"
               : "the system is nearly singular, so rounding leaves hardly any correct digit: use "
                 "coefficients of more similar size, or, if nothing holds a part, fix u in more "
                 "places";
}

static const char *linear_advice(const weft_problem *problem) {
    const weft_problem_options *options = problem->system.linear.options;
    const weft_cg_result *cg = &problem->system.linear.cg;
    if (cg->breakdown && problem->system.linear.choice.method == WEFT_METHOD_BICGSTAB)
        return "try --method gmres";
    if (cg->breakdown)
        return "the matrix is singular: fix u in more places, or look at the coefficients";
    if (problem->system.linear.choice.method == WEFT_METHOD_GMRES &&
        (cg->outcome == WEFT_CG_STAGNATION || cg->outcome == WEFT_CG_MAX_ITERATIONS) &&
        !is_nearly_singular(cg))
        return problem->system.linear.choice.preconditioner >= 0
                   ? general_advice(problem)
                   : "raise --restart, try --method bicgstab, or raise --tolerance";
    switch (cg->outcome) {
    case WEFT_CG_INDEFINITE:
        return problem->forms.is_diffusion
                   ? "the operator is not positive definite: check --diffusivity <= 0 and "
                     "ALPHA < 0 in --robin"
                   : "the matrix is not positive definite: look at the signs in the "
                     "script, at coefficients <= 0, and at ALPHA < 0 in --robin";
    case WEFT_CG_BREAKDOWN:
        return problem->system.linear.choice.preconditioner >= 0
                   ? iterations_advice(problem, cg->outcome)
               : problem->forms.is_diffusion
                   ? "look at --diffusivity and --robin, or try --preconditioner none"
                   : "look at the coefficients, or try --preconditioner none";
    case WEFT_CG_NAN:
        return problem->forms.is_diffusion
                   ? "a value is not a number or too large: look at --diffusivity and ALPHA in "
                     "--robin"
                   : "a value is not a number or too large: look at --input and --define";
    case WEFT_CG_OVERFLOW:
        return "the solution exceeds the largest number, 1.8e308: choose units in which sources "
               "and coefficients are of more similar size";
    case WEFT_CG_MAX_ITERATIONS:
        return iterations_advice(problem, cg->outcome);
    default:
        break;
    }
    if (cg->jump > 0)
        return JUMP;
    if (is_nearly_singular(cg))
        return singular_advice(problem);
    return options->preconditioner != WEFT_NO_PRECONDITIONER
               ? iterations_advice(problem, cg->outcome)
               : "try --preconditioner jacobi, or raise --tolerance";
}

/* The outcomes after which a factorization may help. */
static bool may_help(weft_cg_outcome outcome) {
    return outcome == WEFT_CG_STAGNATION || outcome == WEFT_CG_MAX_ITERATIONS ||
           outcome == WEFT_CG_BREAKDOWN || outcome == WEFT_CG_INDEFINITE;
}

/* Add lu to the advice, with its price, where it takes what the method cannot, and a longer restart with its memory.
 * Returns the advice, or out. */
static const char *add_lu(const weft_problem *problem, weft_cg_outcome outcome, const char *advice,
                          char out[WEFT_ADVICE_MAX]) {
    const weft_problem_choice *choice = &problem->system.linear.choice;
    const weft_method_info *method = weft_method_about(choice->method);
    const bool is_indefinite = outcome == WEFT_CG_INDEFINITE;
    const bool on_gpu =
        weft_device_limits(problem->context->device)->execution == WEFT_EXECUTION_SIMT;
    char seconds[32];
    if (!may_help(outcome) || has_preconditioner(problem, "lu") || problem->forms.is_diffusion ||
        (method->needs_definite && !is_indefinite) || problem->fields.n == 0)
        return advice;
    const int64_t n = problem->fields.n_dofs;
    const int components = problem->fields.n_values;
    const weft_factorization_cost cost =
        weft_factorization_predict(problem->mesh->dimension, n / components, components);
    int length = weft_print(
        out, WEFT_ADVICE_MAX, "%s; or %s--preconditioner lu, a factorisation%s: %s and %.3g MB",
        advice, method->needs_symmetric ? "--method gmres " : "",
        on_gpu                                           ? " (cuDSS must be installed)"
        : weft_preconditioner_is_found(weft_linear_lu()) ? ""
                                                         : " (UMFPACK or MUMPS must be installed)",
        weft_seconds_text(cost.seconds, seconds), cost.bytes * 1e-6);
    if (choice->method == WEFT_METHOD_GMRES && length > 0 && length < WEFT_ADVICE_MAX)
        length +=
            weft_print(out + length, WEFT_ADVICE_MAX - (size_t)length, "; --restart 200: %.3g MB",
                       1e-6 * (double)weft_krylov_basis_bytes(
                                  weft_device_limits(problem->context->device), n, 200));
    return out;
}

/* ---- Newton's method ------------------------------------------------------------------------- */

/* What to try where a linear system was not solved. */
static const char *tangent_advice(const weft_problem *problem) {
    switch (problem->system.linear.cg.outcome) {
    case WEFT_CG_INDEFINITE:
        return "the tangent is not positive definite there, for example because a part buckles: "
               "take smaller loads or more --load-steps, or start closer by --initial; --method "
               "minres continues, perhaps to an unstable state";
    case WEFT_CG_MAX_ITERATIONS:
        return iterations_advice(problem, problem->system.linear.cg.outcome);
    case WEFT_CG_NAN:
    case WEFT_CG_OVERFLOW:
        return "a value is not a number or too large: where the derivative of r has none, as that "
               "of sqrt(s) for s = 0, start elsewhere by --initial or write sqrt(s + 1e-12); "
               "otherwise take more --load-steps, or look at --input and --define";
    default:
        if (problem->fields.n > 1)
            return "the tangent is badly conditioned or nearly singular there: take smaller loads "
                   "or more --load-steps; for flows try --preconditioner commutator or augmented, "
                   "on the host";
        return weft_method_about(problem->system.linear.choice.method)->needs_definite
                   ? "the tangent is badly conditioned or nearly singular there, as at the largest "
                     "load that a body bears: take smaller loads or more --load-steps; for slender "
                     "bodies try --preconditioner cholmod where it is installed"
                   : "the tangent is badly conditioned or nearly singular there: take smaller "
                     "loads or more "
                     "--load-steps, or try --preconditioner jacobi and a larger --restart";
    }
}

static const char *newton_advice(const weft_problem *problem) {
    switch (problem->newton.outcome) {
    case WEFT_NEWTON_MAX_ITERATIONS:
        return "take more --load-steps or --newton-iterations, or start closer by --initial; where "
               "the residuals fall no more, raise --newton-tolerance, or look whether K is the "
               "derivative of r";
    case WEFT_NEWTON_NO_DESCENT:
        return "no step along the direction of Newton's method is better: look whether K is the "
               "derivative of r; if it is, start closer by --initial or take more --load-steps; "
               "the problem may have no solution";
    case WEFT_NEWTON_NAN:
        return "r has no value there, as sqrt(u) for u < 0: start elsewhere by --initial, take "
               "more --load-steps, or look at --input and --define";
    default:
        return tangent_advice(problem);
    }
}

/* Advice where a component can have any constant and its equations have no solution. */
static const char *open_advice(const weft_problem *problem, char out[WEFT_ADVICE_MAX]) {
    int value = 0;
    if (weft_nullspace_imbalance(&problem->system, &value) <= 0.01)
        return NULL;
    (void)weft_print(
        out, WEFT_ADVICE_MAX,
        "the residual of component %d of u, to which a constant can be added, does not add up "
        "to 0: what is prescribed is not compatible, such as more inflow than outflow",
        value);
    return out;
}

const char *weft_problem_advice(const weft_problem *problem, char out[WEFT_ADVICE_MAX]) {
    const bool is_nonlinear = problem->forms.is_nonlinear;
    if (!problem->system.linear.options ||
        (is_nonlinear ? problem->newton.converged
                      : problem->system.linear.cg.outcome == WEFT_CG_CONVERGED))
        return NULL;
    const weft_cg_outcome outcome = problem->system.linear.cg.outcome;
    if (!is_nonlinear)
        return is_nearly_singular(&problem->system.linear.cg)
                   ? linear_advice(problem)
                   : add_lu(problem, outcome, linear_advice(problem), out);
    const char *advice = open_advice(problem, out);
    if (advice)
        return advice;
    advice = newton_advice(problem);
    return problem->newton.outcome == WEFT_NEWTON_NOT_SOLVED ? add_lu(problem, outcome, advice, out)
                                                             : advice;
}

/* ---- steps in time --------------------------------------------------------------------------- */

static const char *step_advice(const weft_problem *problem, weft_cg_outcome outcome) {
    const bool is_definite =
        weft_method_about(problem->system.linear.choice.method)->needs_definite;
    switch (outcome) {
    case WEFT_CG_NAN:
    case WEFT_CG_OVERFLOW:
        return "a value is not a number or too large: look whether the conditions, --input and "
               "--define have values at the times of this step, and with --nonlinear whether the "
               "derivative of r has one at the u of --initial";
    case WEFT_CG_INDEFINITE:
        return "the matrix of a step, made of the mass and the step's part of K, is not positive "
               "definite: look at the signs of both, take a smaller step, or --method minres";
    case WEFT_CG_BREAKDOWN:
        if (is_definite && problem->system.linear.choice.preconditioner >= 0)
            return iterations_advice(problem, outcome);
        return "the matrix of a step is singular: look at the mass and at the coefficients, or fix "
               "u in more places";
    case WEFT_CG_STAGNATION:
        if (is_definite)
            return iterations_advice(problem, outcome);
        return "take a smaller step, raise --tolerance, or try another --preconditioner";
    default:
        return "raise --max-iterations or --tolerance, or take a smaller step";
    }
}

const char *weft_problem_step_advice(const weft_problem *problem, weft_cg_outcome outcome,
                                     char out[WEFT_ADVICE_MAX]) {
    return add_lu(problem, outcome, step_advice(problem, outcome), out);
}
