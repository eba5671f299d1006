/* Solves a linear system by a Krylov method, from the steps in fem/solve/steps.c and, for methods
 * besides CG, fem/solve/krylov.c. */
#include "core/base/options.h"
#include "core/weft_core.h"
#include "fem/precondition/precondition.h"
#include "fem/solve/krylov.h"
#include "fem/weft_fem.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum {
    FEW_ITERATIONS = 20 /* iterations to request at first */
};
const char *weft_cg_outcome_name(weft_cg_outcome outcome) {
    switch (outcome) {
    case WEFT_CG_CONVERGED:
        return "converged";
    case WEFT_CG_MAX_ITERATIONS:
        return "max_iterations";
    case WEFT_CG_INDEFINITE:
        return "indefinite";
    case WEFT_CG_BREAKDOWN:
        return "breakdown";
    case WEFT_CG_NAN:
        return "nan";
    case WEFT_CG_STAGNATION:
        return "stagnation";
    case WEFT_CG_OVERFLOW:
        return "overflow";
    }
    return "unknown";
}

/* The loop of iterate, with the persistent kernel. */
static weft_status iterate_staying(weft_solver *cg, weft_cg_convergence *convergence,
                                   weft_cg_outcome *outcome, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_batch batch = {0};
    bool decided = false;
    while (!decided) {
        free(batch.rr);
        batch = (weft_cg_batch){0};
        if (!convergence->is_true) /* a batch leaves r outdated */
            TRY(weft_cg_residual(cg, error));
        TRY(weft_cg_persistent(cg, cg->options->max_iterations - convergence->iterations, &batch,
                               error));
        convergence->is_true = convergence->is_true && batch.n == 0;
        for (int i = 1; i <= batch.n; ++i) {
            convergence->iterations += 1;
            TRY(weft_cg_note(convergence, sqrt(batch.rr[i]) / cg->norm, error));
        }
        weft_cg_report(cg, convergence->history, convergence->iterations);
        TRY(weft_cg_judge(cg, convergence, batch.is_indefinite, &decided, outcome, error));
    }
done:
    free(batch.rr);
    return status;
}

/* Iterations to request at once: about a tenth of a second's, but none beyond the limit, and none
 * beyond the next check for stagnation, so that the outcome does not depend on timing. Methods with
 * cycles always run a whole one. */
static int iterations_wanted(const weft_solver *cg, const weft_cg_convergence *convergence) {
    const int left = cg->options->max_iterations - convergence->iterations;
    const int check = weft_cg_until_check(convergence->iterations);
    int iterations = convergence->at_once;
    if (weft_krylov_cycle(cg) > 0)
        return weft_krylov_cycle(cg) < left ? weft_krylov_cycle(cg) : left;
    iterations = iterations < left ? iterations : left;
    iterations = iterations < check ? iterations : check;
    return iterations > 1 ? iterations : 1;
}

/* Run one request of iterations. *broken: p.q of the next iteration is not positive. */
static weft_status advance(weft_solver *cg, weft_cg_convergence *convergence, bool *broken,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    static const double LONG = 0.1; /* seconds */
    const double start = weft_clock();
    int done = 0;
    const int wanted = iterations_wanted(cg, convergence);
    if (!convergence->is_true && weft_krylov_cycle(cg) > 0)
        TRY(weft_cg_true_residual(cg, convergence, error));
    TRY(cg->options->method == WEFT_METHOD_CG
            ? weft_cg_iterations(cg, wanted, &done, convergence->rr, error)
            : weft_krylov_iterations(cg, convergence->is_true, wanted, &done, convergence->rr,
                                     error));
    *broken = done > 0 && !(cg->pq > 0);
    for (int i = 1; i <= done - *broken; ++i) {
        convergence->is_true = false;
        convergence->iterations += 1;
        TRY(weft_cg_note(convergence, sqrt(convergence->rr[i]) / cg->norm, error));
    }
    const bool has_ranks = cg->op->layout != NULL; /* whose clocks differ */
    if ((has_ranks || weft_clock() - start < LONG) && convergence->at_once < WEFT_CG_ITERATIONS_MAX)
        convergence->at_once *= 2;
    else if (!has_ranks && weft_clock() - start > 4 * LONG && convergence->at_once > FEW_ITERATIONS)
        convergence->at_once /= 2;
done:
    return status;
}

static weft_status iterate(weft_solver *cg, weft_cg_convergence *convergence,
                           weft_cg_outcome *outcome, weft_error *error) {
    weft_status status = WEFT_OK;
    bool decided = false, broken = false, is_persistent = false;
    TRY(weft_cg_residual(cg, error));
    convergence->is_true = true;
    TRY(weft_cg_note(convergence, sqrt(cg->rr) / cg->norm, error));
    TRY(weft_cg_judge(cg, convergence, false, &decided, outcome, error));
    if (!decided && cg->options->method != WEFT_METHOD_CG)
        TRY(weft_krylov_prepare(cg, error));
    else if (!decided && !cg->options->preconditioner)
        TRY(weft_cg_persistent_prepare(cg, &is_persistent, error));
    if (is_persistent) {
        TRY(iterate_staying(cg, convergence, outcome, error));
        goto done;
    }
    while (!decided) {
        TRY(advance(cg, convergence, &broken, error));
        weft_cg_report(cg, convergence->history, convergence->iterations);
        TRY(weft_cg_judge(cg, convergence, broken, &decided, outcome, error));
    }
done:
    return status;
}

static weft_cg_convergence start_convergence(double *rr) {
    return (weft_cg_convergence){.lowest = INFINITY,
                                 .replaced = INFINITY,
                                 .at_once = FEW_ITERATIONS,
                                 .backward_error = NAN,
                                 .rr = rr};
}

/* Where a preconditioner that was made for other values fails or is slow, continue with one for these. */
static weft_status iterate_adapting(weft_solver *cg, weft_cg_convergence *convergence,
                                    weft_cg_outcome *outcome, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cg_options *options = cg->options;
    weft_preconditioner *preconditioner = options->preconditioner;
    weft_cg_options limited = *options;
    const int most =
        preconditioner ? weft_preconditioner_iterations_limit(preconditioner) : INT_MAX;
    if (most < options->max_iterations)
        limited.max_iterations = most;
    cg->options = &limited;
    status = iterate(cg, convergence, outcome, error);
    cg->options = options;
    TRY(status);
    if (!preconditioner ||
        !weft_preconditioner_used(preconditioner, convergence->iterations,
                                  *outcome == WEFT_CG_CONVERGED) ||
        *outcome == WEFT_CG_NAN)
        goto done;
    weft_log(
        options->monitor, WEFT_LOG_INFO,
        "the preconditioner, which was made for another matrix, is updated after %d iterations",
        convergence->iterations);
    weft_cg_unbind(cg, WEFT_CG_SINGLE_LOOP); /* which is bound to a list of the preconditioner */
    TRY(weft_preconditioner_update(preconditioner, error));
    free(convergence->history);
    free(convergence->gains);
    *convergence = start_convergence(convergence->rr);
    cg->breakdown = NULL;
    TRY(iterate(cg, convergence, outcome, error));
    (void)weft_preconditioner_used(preconditioner, convergence->iterations,
                                   *outcome == WEFT_CG_CONVERGED);
done:
    return status;
}

/* The reduced right-hand side is zero, and so is the solution. */
static weft_status solve_zero(weft_solver *cg, weft_cg_convergence *convergence,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_cg_clear(cg, error));
    cg->rr = 0;
    convergence->is_true = true;
    TRY(weft_cg_note(convergence, 0, error));
done:
    return status;
}

weft_status weft_solver_solve(weft_solver *cg, weft_memory *b, weft_memory *x,
                              const weft_cg_options *options, weft_cg_result *result,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_convergence convergence =
        start_convergence(malloc((WEFT_CG_ITERATIONS_MAX + 1) * sizeof *convergence.rr));
    weft_cg_outcome outcome = WEFT_CG_CONVERGED;
    double least = 0, wanted = 1, scale = 1, largest = 0;
    TRY(weft_options_check("weft_cg_options", options->size, sizeof *options, error));
    TRY(weft_cg_start(cg, b, x, options, error));
    if (!convergence.rr) {
        status = weft_out_of_memory(error, "the history of the residuals");
        goto done;
    }
    TRY(weft_cg_diagonal(cg, &least, error));
    TRY(weft_cg_norm(cg, error));
    TRY(weft_cg_scale_wanted(cg, &wanted, error));
    if (wanted != 1) {
        TRY(weft_cg_scale(cg, wanted, &largest, error));
        scale = wanted;
        TRY(weft_cg_norm(cg, error));
    }
    if (isnan(least)) /* which products with zero have not shown */
        cg->norm = NAN;
    weft_cg_limit(cg, options->tolerance);
    if (cg->norm <= 0) {
        TRY(solve_zero(cg, &convergence, error));
    } else if (isnan(least) ||
               (!(least > 0) && weft_method_about(options->method)->needs_definite)) {
        TRY(weft_cg_residual(cg, error));
        convergence.is_true = true;
        TRY(weft_cg_note(&convergence, sqrt(cg->rr) / cg->norm, error));
        outcome = isnan(least) ? WEFT_CG_NAN : WEFT_CG_INDEFINITE;
    } else if (options->until_discretisation) {
        TRY(weft_cg_until_discretisation(cg, &convergence, &outcome, error));
    } else {
        if (options->full_cycles > 0)
            TRY(weft_cg_full_start(cg, options->full_cycles, NULL, error));
        TRY(iterate_adapting(cg, &convergence, &outcome, error));
    }
    if (options->project_mean)
        TRY(weft_cg_run(cg, WEFT_CG_MEAN, error));
    if (!convergence.is_true)
        TRY(weft_cg_residual(cg, error));
    *result = (weft_cg_result){.outcome = outcome,
                               .breakdown = outcome == WEFT_CG_BREAKDOWN ? cg->breakdown : NULL,
                               .iterations = convergence.iterations,
                               .residual = cg->norm > 0 ? sqrt(cg->rr) / cg->norm : 0,
                               .history = convergence.history,
                               .to_rounding = convergence.to_rounding,
                               .backward_error = convergence.backward_error,
                               .jump = convergence.jump,
                               .discretisation_error = cg->discretisation,
                               .algebraic_error = cg->algebraic};
    if (isnan(cg->norm))
        result->residual = NAN;
    weft_cg_report(cg, convergence.history, convergence.iterations);
    convergence.history = NULL;
done:
    if (scale != 1) {
        weft_status restored =
            weft_cg_scale(cg, 1 / scale, &largest, status == WEFT_OK ? error : NULL);
        status = status == WEFT_OK ? restored : status;
        if (status == WEFT_OK && !isfinite(largest) && result->outcome == WEFT_CG_CONVERGED)
            result->outcome = WEFT_CG_OVERFLOW;
    }
    free(convergence.history);
    free(convergence.gains);
    free(convergence.rr);
    weft_cg_end(cg);
    return status;
}

weft_status weft_cg_solve(weft_context *context, weft_operator *op, weft_memory *b, weft_memory *x,
                          const weft_cg_options *options, weft_cg_result *result,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solver *solver = NULL;
    TRY(weft_solver_make(context, op, &solver, error));
    TRY(weft_solver_solve(solver, b, x, options, result, error));
done:
    weft_solver_free(&solver);
    return status;
}
