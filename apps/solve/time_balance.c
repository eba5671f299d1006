/* Makes the balance of the last step of a problem in time. */
#include "apps/solve/solve.h"

#include <stdlib.h>
#include <string.h>

/* Vectors on the device, and one on the host. */
typedef struct room {
    weft_memory *storage, *r, *b;
    double *values, *sum; /* of the terms: M du/dt + weights (K u - b) */
} room;

static weft_status make_room(const solve *run, room *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)run->n_dofs * sizeof(double);
    TRY(weft_memory_make(run->base.device, bytes, &out->storage, error));
    TRY(weft_memory_make(run->base.device, bytes, &out->r, error));
    TRY(weft_memory_make(run->base.device, bytes, &out->b, error));
    out->values = weft_array_make((size_t)run->n_dofs, sizeof *out->values);
    out->sum = weft_array_make((size_t)run->n_dofs, sizeof *out->sum);
    if (!out->values || !out->sum)
        TRY(weft_out_of_memory(error, NULL));
done:
    return status;
}

static void free_room(room *r) {
    weft_memory_free(&r->storage);
    weft_memory_free(&r->r);
    weft_memory_free(&r->b);
    free(r->values);
    free(r->sum);
}

/* Add a vector to the sum, and return its sums by component. */
static weft_status take(solve *run, room *at, double weight, weft_memory *vector, bool adds,
                        double out[WEFT_VALUES_MAX], weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_vector_pull(vector, at->values, run->n_dofs, error));
    TRY(weft_problem_sum(run->base.problem, at->values, out, error));
    weft_problem_balance_size(run->base.problem, at->values);
    for (int64_t i = 0; adds && i < run->n_dofs; ++i)
        at->sum[i] += weight * at->values[i];
done:
    return status;
}

/* K u - b at one time */
static weft_status add_time(solve *run, const weft_transient_terms *terms, int i, room *at,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_balance *balance = &run->base.problem->balance;
    const double weight = terms->weights[i];
    double r[WEFT_VALUES_MAX], b[WEFT_VALUES_MAX], given[WEFT_VALUES_MAX] = {0},
                                                   taken[WEFT_VALUES_MAX] = {0};
    TRY(weft_transient_residual(run->time.transient, terms->t[i], terms->u[i], at->r, at->b,
                                error));
    TRY(take(run, at, weight, at->r, true, r, error));
    TRY(take(run, at, weight, at->b, false, b, error));
    TRY(weft_problem_exchange(run->base.problem, terms->u[i], weight, given, taken, error));
    for (int k = 0; k < WEFT_VALUES_MAX; ++k) {
        balance->loads[k] += weight * (b[k] - given[k]);
        balance->equation[k] += weight * (r[k] + b[k] - taken[k]);
    }
done:
    return status;
}

static void explain(solve *run) {
    weft_problem_balance *balance = &run->base.problem->balance;
    const bool is_mean =
        run->options->time.scheme == WEFT_TIME_THETA && run->options->time.theta < 1;
    if (run->options->nonlinear)
        (void)snprintf(
            balance->loads_reason, sizeof balance->loads_reason,
            "loads in the residual of %.60s are not separable from its other terms, and are in "
            "'equation'",
            run->options->script);
    if (solve_time_is_own(run))
        (void)snprintf(balance->note, sizeof balance->note,
                       "as the script writes its own scheme; storage is in 'equation'");
    else if (is_mean)
        (void)snprintf(balance->note, sizeof balance->note, "means over the last step");
}

weft_status solve_time_balance(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient_terms terms = {.n = 0};
    room at = {.sum = NULL};
    if (!run->options->run.derived.reactions || run->base.is_null ||
        run->time.state.outcome != WEFT_TRANSIENT_DONE)
        return WEFT_OK;
    TRY(make_room(run, &at, error));
    TRY(weft_transient_balance(run->time.transient, at.storage, &terms, error));
    if (terms.n == 0) {
        weft_log(&run->base.messages->monitor, WEFT_LOG_WARNING,
                 "no step was made: there are no reactions");
        goto done;
    }
    run->base.problem->balance.in_time = !solve_time_is_own(run);
    TRY(take(run, &at, 1, at.storage, true, run->base.problem->balance.storage, error));
    for (int i = terms.n - 1; i >= 0; --i) /* the last is the present time */
        TRY(add_time(run, &terms, i, &at, error));
    explain(run);
    TRY(weft_problem_balance_make(run->base.problem, at.sum, error));
done:
    free_room(&at);
    return status;
}
