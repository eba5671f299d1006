/* The state of a problem in time from which a run continues as if it had not been interrupted. */
#include "fem/time/transient.h"

#include <string.h>

int weft_transient_lists(const weft_transient *transient, const char *names[WEFT_TRANSIENT_LISTS],
                         weft_memory *memories[WEFT_TRANSIENT_LISTS]) {
    static const char *const all[WEFT_TRANSIENT_LISTS] = {"u",      "u_before",      "u_older",
                                                          "mass_u", "mass_u_before", "residual"};
    weft_memory *const of[WEFT_TRANSIENT_LISTS] = {transient->u,         transient->u_before,
                                                   transient->u_older,   transient->mass_u[0],
                                                   transient->mass_u[1], transient->residual[0]};
    memcpy(names, all, sizeof all);
    memcpy(memories, of, sizeof of);
    return WEFT_TRANSIENT_LISTS;
}

void weft_transient_numbers(const weft_transient *transient, double out[WEFT_TRANSIENT_NUMBERS]) {
    const weft_transient_state *state = &transient->state;
    const double all[WEFT_TRANSIENT_NUMBERS] = {(double)state->step,
                                                state->t,
                                                state->dt,
                                                (double)state->all_iterations,
                                                (double)state->all_newton,
                                                (double)state->n_rejected,
                                                transient->dt_before,
                                                transient->dt_older,
                                                (double)transient->n_history,
                                                transient->size,
                                                transient->dt_next,
                                                transient->has_residual};
    memcpy(out, all, sizeof all);
}

weft_status weft_transient_resume(weft_transient *transient,
                                  const double numbers[WEFT_TRANSIENT_NUMBERS],
                                  weft_transient_state *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient_state *state = &transient->state;
    state->step = (int64_t)numbers[0];
    state->t = numbers[1];
    state->dt = numbers[2];
    state->all_iterations = (int64_t)numbers[3];
    state->all_newton = (int64_t)numbers[4];
    state->n_rejected = (int64_t)numbers[5];
    transient->dt_before = numbers[6];
    transient->dt_older = numbers[7];
    transient->n_history = (int)numbers[8];
    transient->size = numbers[9];
    transient->dt_next = numbers[10];
    transient->has_residual = numbers[11] != 0;
    TRY(weft_time_system_set(&transient->system, state->t, error));
    weft_transient_forget(transient);
    *out = *state;
done:
    return status;
}

void weft_transient_forget(weft_transient *transient) {
    weft_linear *linear = &transient->system.linear;
    weft_preconditioner_free(&linear->preconditioner);
    linear->choice.preconditioner = transient->problem.preconditioner; /* as at the start */
    linear->choice.next_after = transient->problem.choice.next_after;
    linear->choice.restart = linear->options->restart;
    linear->choice.method = transient->problem.solver.method;
    transient->system.is_assembled = false;
}
