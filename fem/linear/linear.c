/* Solves linear systems by the method and the preconditioner that are requested or chosen, and by others where
 * these fail. */
#include "fem/linear/linear.h"
#include "core/base/number.h"
#include "fem/base/memory.h"
#include "fem/mesh/mesh.h"
#include "fem/mesh/part.h"
#include "fem/precondition/precondition.h"
#include "fem/solve/krylov.h"
#include "fem/space/space.h"
#include "fem/weft_transient.h"

#include <stdlib.h>
#include <string.h>

static void clear_result(weft_linear *linear) {
    free(linear->cg.history);
    linear->cg = (weft_cg_result){0};
}

void weft_linear_reset(weft_linear *linear) {
    weft_solver_free(&linear->solver);
    weft_preconditioner_free(&linear->preconditioner);
}

void weft_linear_clear(weft_linear *linear) {
    weft_linear_reset(linear);
    clear_result(linear);
}

static const weft_monitor *monitor_of(const weft_linear *linear) {
    return linear->context->monitor;
}

int64_t weft_linear_dofs(const weft_linear *linear) {
    int64_t n = 0;
    for (int i = 0; i < linear->n_spaces; ++i)
        n += weft_space_dofs(linear->spaces[i]);
    return n;
}

/* May Jacobi's preconditioner take its place? */
static bool is_exchangeable(const weft_problem_options *options) {
    return options->preconditioner == WEFT_AUTO && !options->until_discretisation;
}

/* Is it the matrix that a preconditioner does not suit? The memory of factors is known when they are made. */
static bool is_about_matrix(int kind, weft_status status) {
    return status == WEFT_ERROR_UNSUPPORTED || status == WEFT_ERROR_INPUT ||
           (status == WEFT_ERROR_MEMORY && kind == weft_linear_lu());
}

/* Before there are spaces, those of shipped scripts are assumed. */
bool weft_linear_is_on_levels(const weft_linear *linear) {
    if (linear->n_spaces == 0)
        return linear->mesh && linear->mesh->dimension > 1 && weft_mesh_is_affine(linear->mesh);
    return linear->n_spaces == 1 && weft_space_is_barycentric(linear->spaces[0]);
}

/* As a solver, or as a start on the coarser levels, which saves two iterations for half of
 * one. Its scripts are worth their compilation for large systems, on a GPU their launches, which no
 * graph captures, for larger ones. */
int weft_linear_full_cycles(const weft_linear *linear) {
    const int64_t least = weft_context_is_on_gpu(linear->context) ? 2000000 : 100000;
    const int kind = linear->choice.preconditioner;
    if (kind < 0)
        return 0;
    if (linear->options->until_discretisation)
        return WEFT_FULL_CYCLES_UNTIL;
    return linear->solves_once && !linear->mesh->part && linear->choice.method == WEFT_METHOD_CG &&
           weft_linear_is_on_levels(linear) && weft_preconditioner_about(kind)->needs_levels &&
           weft_linear_dofs(linear) >= least;
}

/* Use Jacobi's preconditioner from now on. */
static void drop_preconditioner(weft_linear *linear, const char *reason) {
    weft_problem_choice *choice = &linear->choice;
    choice->preconditioner = WEFT_JACOBI;
    weft_preconditioner_free(&linear->preconditioner);
    (void)weft_print(choice->preconditioner_reason, sizeof choice->preconditioner_reason, "%s",
                     reason);
    weft_log(monitor_of(linear), WEFT_LOG_INFO, "preconditioner jacobi: %s", reason);
}

/* Say once what it costs that block does not suit the matrix, and what a factorization would. Stokes' equations in Taylor and Hood's
 * elements take 10 times the iterations of a scalar in the plane, and 20 in space (docs/solvers.md). */
static void warn_mixed(weft_linear *linear, const char *reason) {
    static const double PLANE = 10, SPACE = 20;
    const int kind = linear->choice.preconditioner, d = linear->mesh->dimension;
    const double times = d < 3 ? PLANE : SPACE;
    char seconds[32];
    int components = 0;
    if (linear->has_warned || kind < 0 ||
        strcmp(weft_preconditioner_about(kind)->name, "block") != 0)
        return;
    if (linear->mesh->part) {
        linear->has_warned = true;
        weft_log(
            monitor_of(linear), WEFT_LOG_WARNING,
            "the preconditioner block does not suit the matrix (%s). Jacobi's takes its place, "
            "with many iterations: try %s",
            reason, WEFT_RANKS_FACTORISE);
        return;
    }
    for (int i = 0; i < linear->n_spaces; ++i)
        components += weft_space_components(linear->spaces[i]);
    const weft_factorization_cost lu =
        weft_factorization_predict(d, weft_linear_dofs(linear) / components, components);
    weft_assembly_problem scalar = weft_space_problem(linear->spaces[0], 0);
    scalar.is_elastic = false;
    linear->has_warned = true;
    weft_log(monitor_of(linear), WEFT_LOG_WARNING,
             "the preconditioner block does not suit the matrix (%s). With Jacobi's, which takes "
             "its place, Stokes' equations take about %.0f iterations on this mesh, and convection "
             "more: try --preconditioner lu on the host, about %s and %.3g MB, or commutator for a "
             "flow%s",
             reason, times * weft_cg_iterations_expected(&scalar, linear->options->tolerance),
             weft_seconds_text(lu.seconds, seconds), lu.bytes * 1e-6,
             linear->choice.method == WEFT_METHOD_GMRES ? ", or --restart 200" : "");
}

static int compare(const void *a, const void *b) {
    const int32_t i = *(const int32_t *)a, k = *(const int32_t *)b;
    return (i > k) - (i < k);
}

/* Set the first free dof of each constant that the equations leave open, ascending. Returns how many there are. */
static int find_pins(weft_linear *linear, const weft_system *system) {
    int n = 0;
    for (int k = 0; k < linear->n_open && n < WEFT_VALUES_MAX; ++k) {
        const weft_transient_open *of = &linear->open[k];
        int64_t next = 0, dof = of->first;
        for (; dof < of->last; dof += of->step) {
            while (next < system->n_constrained && system->constrained[next] < dof)
                ++next;
            if (next == system->n_constrained || system->constrained[next] > dof)
                break;
        }
        if (dof < of->last)
            linear->pins[n++] = (int32_t)dof;
    }
    qsort(linear->pins, (size_t)n, sizeof *linear->pins, compare);
    return n;
}

/* May the matrix be factorised, where what was chosen has failed? */
static bool may_factorise(const weft_linear *linear) {
    int components = 0;
    weft_factorization_cost cost;
    for (int i = 0; i < linear->n_spaces; ++i)
        components += weft_space_components(linear->spaces[i]);
    return components > 0 && !linear->mesh->part &&
           linear->choice.preconditioner != weft_linear_lu() &&
           weft_assembly_about(linear->choice.assembly)->stores_matrix &&
           weft_linear_may_factorise(linear, weft_linear_dofs(linear) / components, components,
                                     &cost);
}

/* Factorise from now on, with CG or GMRES where MINRES was chosen. */
static void take_lu(weft_linear *linear, const char *reason) {
    weft_problem_choice *choice = &linear->choice;
    weft_preconditioner_free(&linear->preconditioner);
    choice->preconditioner = weft_linear_lu();
    (void)weft_print(choice->preconditioner_reason, sizeof choice->preconditioner_reason, "%s",
                     reason);
    weft_log(monitor_of(linear), WEFT_LOG_INFO, "preconditioner lu: %s", reason);
    if (choice->method != WEFT_METHOD_MINRES)
        return;
    choice->method = linear->project_mean ? WEFT_METHOD_CG : WEFT_METHOD_GMRES;
    (void)weft_print(choice->method_reason, sizeof choice->method_reason,
                     "the matrix is symmetric, the preconditioner not definite");
}

/* Does the basis of GMRES fit into a quarter of the free memory? */
static bool basis_fits(const weft_linear *linear, int restart) {
    const weft_device *device = linear->context->device;
    if (linear->mesh->part) /* all ranks decide alike */
        return true;
    return weft_krylov_basis_bytes(weft_device_limits(device), weft_linear_dofs(linear), restart) <=
           weft_device_bytes_free(device) / 4;
}

/* Take the restart of GMRES that suits the preconditioner, unless one was asked for. */
static void suit_restart(weft_linear *linear) {
    const int restart =
        linear->preconditioner ? weft_preconditioner_reported(linear->preconditioner)->restart : 0;
    if (linear->options->restart == 0 && restart > linear->choice.restart &&
        basis_fits(linear, restart))
        linear->choice.restart = restart;
}

weft_status weft_linear_precondition(weft_linear *linear, const weft_system *system,
                                     weft_error *error) {
    weft_context *context = linear->context;
    const int kind = linear->choice.preconditioner;
    const bool is_general = !weft_method_about(linear->choice.method)->needs_symmetric;
    const bool is_mixed = linear->n_spaces > 1;
    if (kind < 0 || is_general != linear->preconditioner_is_general ||
        linear->project_mean != linear->preconditioner_projects)
        weft_preconditioner_free(&linear->preconditioner);
    if (kind < 0)
        return WEFT_OK;
    const weft_preconditioner_problem problem = {
        .op = system->op,
        .constrained = system->constrained,
        .n_constrained = system->n_constrained,
        .pinned = linear->pins,
        .n_pinned = find_pins(linear, system),
        .is_general = is_general,
        .is_final = linear->solves_once,
        .project_mean = linear->project_mean,
        .space = is_mixed ? NULL : linear->spaces[0],
        .spaces = linear->spaces,
        .n_spaces = is_mixed ? linear->n_spaces : 0,
        .hierarchy = linear->hierarchy,
        .degree = linear->options->smoother_degree,
        .full_cycles = weft_linear_full_cycles(linear),
        /* ranks add up no floats, as full multigrid has to */
        .double_levels = linear->options->until_discretisation && linear->mesh->part,
        .coarser = system->op == linear->coarsened ? linear->coarser : NULL,
        .petsc_options = linear->options->petsc_options,
        .monitor = monitor_of(linear)};
    const double start = weft_context_clock(context);
    weft_error why = {0};
    linear->preconditioner_is_general = is_general;
    linear->preconditioner_projects = linear->project_mean;
    weft_status status =
        linear->preconditioner
            ? weft_preconditioner_refresh(linear->preconditioner, &why)
            : weft_preconditioner_make(context, kind, &problem, &linear->preconditioner, &why);
    linear->precondition_seconds += weft_context_clock(context) - start;
    if (is_exchangeable(linear->options) && is_about_matrix(kind, status)) {
        if (why.hint[0] && is_mixed && may_factorise(linear)) { /* Jacobi's does not do as well */
            take_lu(linear, why.message);
            return weft_linear_precondition(linear, system, error);
        }
        if (why.hint[0])
            warn_mixed(linear, why.message);
        drop_preconditioner(linear, why.message);
        status = WEFT_OK;
    }
    suit_restart(linear);
    if (status != WEFT_OK && error)
        *error = why;
    return status;
}

static bool has_any_sign(int kind) {
    return kind >= 0 && weft_preconditioner_about(kind)->any_sign;
}

/* A mixed problem is a saddle point, as a rule. */
void weft_linear_choose_method(weft_linear *linear, bool is_symmetric, bool is_mixed,
                               double asymmetry) {
    const int requested = linear->options->method;
    const bool is_auto = requested == WEFT_AUTO;
    weft_problem_choice *choice = &linear->choice;
    const bool any_sign = linear->is_saddle || has_any_sign(choice->preconditioner);
    /* GPUs of ranks do not add up the products with all of its vectors */
    const bool has_no_basis =
        choice->basis_is_too_large ||
        (linear->context && linear->context->comm && weft_context_is_on_gpu(linear->context));
    char *reason = choice->method_reason;
    const size_t size = sizeof choice->method_reason;
    choice->method = !is_auto                    ? (weft_method)requested
                     : is_symmetric && !is_mixed ? WEFT_METHOD_CG
                     : is_symmetric && !any_sign ? WEFT_METHOD_MINRES
                     : has_no_basis              ? WEFT_METHOD_BICGSTAB
                                                 : WEFT_METHOD_GMRES;
    if (!is_auto)
        (void)weft_print(reason, size, "as requested");
    else if (is_symmetric)
        (void)weft_print(reason, size, "the matrix is symmetric%s%s",
                         is_mixed ? ", the space mixed" : "",
                         is_mixed && any_sign ? ", the preconditioner not definite" : "");
    else
        (void)weft_print(
            reason, size, "the matrix is not symmetric: |K - K^T| is %.1e of |K|%s", asymmetry,
            choice->basis_is_too_large ? ", and the basis of GMRES does not fit into memory" : "");
}

int weft_linear_iterations_limit(const weft_problem_options *options, const weft_mesh *mesh) {
    return options->max_iterations >= 0
               ? options->max_iterations
               : weft_cg_iterations_limit(mesh->dimension,
                                          mesh->part ? mesh->part->n_global_nodes : mesh->n_nodes,
                                          options->tolerance);
}

weft_cg_options weft_linear_options(const weft_linear *linear, const weft_system *system) {
    const weft_problem_options *options = linear->options;
    return (weft_cg_options){.size = sizeof(weft_cg_options),
                             .method = linear->choice.method,
                             .restart = linear->choice.restart,
                             .jacobi = options->preconditioner != WEFT_NO_PRECONDITIONER,
                             .tolerance = options->tolerance,
                             .max_iterations = weft_linear_iterations_limit(options, linear->mesh),
                             .constrained = system->constrained,
                             .n_constrained = system->n_constrained,
                             .monitor = monitor_of(linear),
                             .spaces = linear->spaces,
                             .n_spaces = linear->n_spaces};
}

/* If GMRES stagnates with the default number of iterations between restarts, set a larger one, for a solve that
 * continues from u. */
static bool lengthens_cycles(weft_linear *linear, weft_cg_options *options) {
    enum { LONG = 200 };
    const weft_cg_outcome outcome = linear->cg.outcome;
    const bool is_slow = outcome == WEFT_CG_MAX_ITERATIONS && linear->options->max_iterations < 0;
    if (!(is_slow || outcome == WEFT_CG_STAGNATION) || linear->choice.method != WEFT_METHOD_GMRES ||
        linear->options->restart > 0 || linear->choice.restart >= LONG || !basis_fits(linear, LONG))
        return false;
    weft_log(monitor_of(linear), WEFT_LOG_INFO,
             "GMRES: %s after %d iterations; it continues with %d between restarts",
             weft_cg_outcome_name(outcome), linear->cg.iterations, LONG);
    linear->choice.restart = options->restart = LONG;
    clear_result(linear);
    return true;
}

/* "with block: stagnation after 120 iterations" */
static void describe_failure(const weft_linear *linear, char out[WEFT_CHOICE_REASON]) {
    const int kind = linear->choice.preconditioner;
    (void)weft_print(out, WEFT_CHOICE_REASON, "with %s: %s after %d iterations",
                     kind < 0 ? "jacobi" : weft_preconditioner_about(kind)->name,
                     weft_cg_outcome_name(linear->cg.outcome), linear->cg.iterations);
}

/* Factorise from now on, with CG or GMRES. A matrix that is refused leaves Jacobi's preconditioner, and the result as it is.
 * retries  the options are set for another solve */
static weft_status factorise(weft_linear *linear, const weft_system *system,
                             weft_cg_options *options, bool *retries, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_choice *choice = &linear->choice;
    const weft_problem_choice before = *choice;
    char reason[WEFT_CHOICE_REASON];
    describe_failure(linear, reason);
    take_lu(linear, reason);
    TRY(weft_linear_precondition(linear, system, error));
    options->preconditioner = linear->preconditioner;
    options->full_cycles = 0;
    *retries = linear->preconditioner != NULL;
    if (!*retries) {
        choice->method = before.method;
        memcpy(choice->method_reason, before.method_reason, sizeof choice->method_reason);
        goto done;
    }
    options->method = choice->method;
    clear_result(linear);
done:
    return status;
}

/* If what was chosen automatically does not converge, factorise the matrix. */
static weft_status retry_by_lu(weft_linear *linear, const weft_system *system,
                               weft_cg_options *options, bool *retries, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cg_outcome outcome = linear->cg.outcome;
    const bool is_slow = outcome == WEFT_CG_MAX_ITERATIONS && linear->options->max_iterations < 0;
    *retries = false;
    if ((is_slow || outcome == WEFT_CG_BREAKDOWN || outcome == WEFT_CG_STAGNATION) &&
        may_factorise(linear))
        TRY(factorise(linear, system, options, retries, error));
done:
    return status;
}

/* If a preconditioner that was chosen automatically broke the method down, drop it, for a solve by Jacobi's. */
static bool retries_by_jacobi(weft_linear *linear, weft_cg_options *options) {
    const weft_cg_outcome outcome = linear->cg.outcome;
    char reason[WEFT_CHOICE_REASON];
    if (!linear->preconditioner || !is_exchangeable(linear->options) ||
        (outcome != WEFT_CG_BREAKDOWN && outcome != WEFT_CG_STAGNATION && outcome != WEFT_CG_NAN))
        return false;
    describe_failure(linear, reason);
    warn_mixed(linear, reason);
    drop_preconditioner(linear, reason);
    options->preconditioner = NULL;
    clear_result(linear);
    return true;
}

/* Take the next preconditioner, for a solve that continues from u. One that refuses the matrix, or for which there is no
 * memory, is none. */
static weft_status take_next(weft_linear *linear, const weft_system *system,
                             weft_cg_options *options, weft_error *error) {
    weft_problem_choice *choice = &linear->choice;
    const char *name = choice->preconditioner < 0
                           ? "jacobi"
                           : weft_preconditioner_about(choice->preconditioner)->name;
    weft_error why = {0};
    weft_preconditioner_free(&linear->preconditioner);
    choice->preconditioner = choice->next;
    choice->next_after = 0; /* once */
    weft_status status = weft_linear_precondition(linear, system, &why);
    if (status == WEFT_ERROR_MEMORY) {
        drop_preconditioner(linear, why.message);
        status = WEFT_OK;
    }
    if (status == WEFT_OK && linear->preconditioner) {
        (void)weft_print(choice->preconditioner_reason, sizeof choice->preconditioner_reason,
                         "%s did not converge in %d iterations, and %.0f were predicted", name,
                         linear->cg.iterations, choice->expected);
        weft_log(monitor_of(linear), WEFT_LOG_INFO, "preconditioner %s: %s",
                 weft_preconditioner_about(choice->preconditioner)->name,
                 choice->preconditioner_reason);
    }
    if (choice->expected > 0)
        linear->took = linear->times * linear->cg.iterations / choice->expected;
    choice->expected = 0;
    options->preconditioner = linear->preconditioner;
    options->full_cycles = 0;
    clear_result(linear);
    if (status != WEFT_OK && error)
        *error = why;
    return status;
}

static weft_status solve(weft_linear *linear, const weft_system *system,
                         const weft_cg_options *options, weft_error *error) {
    return linear->solver ? weft_solver_solve(linear->solver, system->b, system->u, options,
                                              &linear->cg, error)
                          : weft_cg_solve(linear->context, system->op, system->b, system->u,
                                          options, &linear->cg, error);
}

/* MINRES instead of CG, from where that stopped, or GMRES with a factorization. */
static weft_status solve_indefinite(weft_linear *linear, const weft_system *system,
                                    weft_cg_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_choice *choice = &linear->choice;
    bool factorised = false;
    (void)weft_print(
        choice->method_reason, sizeof choice->method_reason,
        "the matrix is symmetric, but not positive definite, as CG found in iteration %d",
        linear->cg.iterations);
    if (!options->project_mean && may_factorise(linear))
        TRY(factorise(linear, system, options, &factorised, error));
    const bool any_sign =
        linear->preconditioner && !options->project_mean && has_any_sign(choice->preconditioner);
    choice->method = options->method = any_sign ? WEFT_METHOD_GMRES : WEFT_METHOD_MINRES;
    if (linear->options->preconditioner == WEFT_AUTO && linear->preconditioner && !any_sign) {
        drop_preconditioner(linear, "the method is MINRES");
        options->preconditioner = NULL;
    }
    weft_log(options->monitor, WEFT_LOG_INFO, "%s: %s", weft_method_about(choice->method)->title,
             choice->method_reason);
    clear_result(linear);
    TRY(solve(linear, system, options, error));
done:
    return status;
}

/* Solve, and if that takes many more iterations than were predicted, continue with the next preconditioner. */
static weft_status solve_as_predicted(weft_linear *linear, const weft_system *system,
                                      weft_cg_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_choice *choice = &linear->choice;
    const int limit = options->max_iterations;
    if (choice->next_after > 0 && choice->method == WEFT_METHOD_CG && choice->next_after < limit)
        options->max_iterations = choice->next_after;
    TRY(solve(linear, system, options, error));
    const bool is_slow =
        linear->cg.outcome == WEFT_CG_MAX_ITERATIONS && options->max_iterations < limit;
    options->max_iterations = limit;
    if (is_slow) {
        TRY(take_next(linear, system, options, error));
        TRY(solve(linear, system, options, error));
    }
done:
    return status;
}

/* Between weft_reduction_enter and weft_reduction_leave.
 *  values, memory  where the solve starts, on the host or on the device */
static weft_status solve_with_retries(weft_linear *linear, const weft_system *whole,
                                      weft_reduction *reduction, weft_cg_options *options,
                                      const double *values, weft_memory *memory,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_operator_dofs(whole->op);
    const weft_system system = weft_reduction_system(reduction, whole);
    bool again = false;
    TRY(solve_as_predicted(linear, &system, options, error));
    TRY(retry_by_lu(linear, &system, options, &again, error));
    if (!again && lengthens_cycles(linear, options))
        TRY(solve(linear, &system, options, error));
    again = again || retries_by_jacobi(linear, options);
    if (again) {
        TRY(memory ? weft_memory_copy(whole->u, memory, (size_t)n * sizeof(double), error)
                   : weft_vector_push(whole->u, values, n, error));
        TRY(weft_reduction_enter(reduction, whole, error));
        TRY(solve(linear, &system, options, error));
    }
    if (linear->cg.outcome == WEFT_CG_INDEFINITE && linear->options->method == WEFT_AUTO &&
        linear->minres_if_indefinite)
        TRY(solve_indefinite(linear, &system, options, error));
done:
    return status;
}

weft_status weft_linear_solve(weft_linear *linear, const weft_system *whole,
                              weft_reduction *reduction, const double *guess, weft_cg_options *used,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_system system = weft_reduction_system(reduction, whole);
    weft_cg_options options = weft_linear_options(linear, &system);
    options.project_mean = linear->project_mean;
    options.until_discretisation = linear->options->until_discretisation;
    TRY(weft_linear_precondition(linear, &system, error));
    TRY(weft_reduction_enter(reduction, whole, error));
    options.method = linear->choice.method;
    options.restart = linear->choice.restart;
    options.preconditioner = linear->preconditioner;
    options.full_cycles = linear->preconditioner ? weft_linear_full_cycles(linear) : 0;
    TRY(solve_with_retries(linear, whole, reduction, &options, guess, NULL, error));
    TRY(weft_reduction_leave(reduction, whole, error));
    *used = options;
done:
    return status;
}

/* ---- repeated solves ------------------------------------------------------------------------- */

weft_status weft_linear_update(weft_linear *linear, const weft_system *whole,
                               weft_reduction *reduction, weft_error *error) {
    weft_status status = WEFT_OK;
    if (reduction)
        TRY(weft_reduction_update(reduction, whole->op, error));
    const weft_system system = weft_reduction_system(reduction, whole);
    TRY(weft_linear_precondition(linear, &system, error));
    if (!linear->solver)
        TRY(weft_solver_make(linear->context, system.op, &linear->solver, error));
done:
    return status;
}

weft_status weft_linear_repeat(weft_linear *linear, const weft_system *whole,
                               weft_reduction *reduction, weft_cg_options *options,
                               weft_memory *guess, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)weft_operator_dofs(whole->op) * sizeof(double);
    options->preconditioner = linear->preconditioner;
    clear_result(linear);
    TRY(weft_memory_copy(guess, whole->u, bytes, error));
    TRY(weft_reduction_enter(reduction, whole, error));
    TRY(solve_with_retries(linear, whole, reduction, options, NULL, guess, error));
    TRY(weft_reduction_leave(reduction, whole, error));
done:
    return status;
}
