/* The equation of the last step in its terms: what is stored, and what the stiffness and the loads have. */
#include "fem/time/transient.h"

/* M (a U - ...)/h as the last stage has it; M of the solutions is computed again, for a step that fails overwrites it. */
static weft_status make_storage(weft_transient *transient, double weight, weft_memory *storage,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_time_stage *stage = &transient->last;
    const double factor = weight * stage->a / transient->dt_before;
    weft_terms solutions = {0}, all = {0};
    weft_terms_add(&solutions, factor, transient->u);
    weft_terms_add(&solutions, -factor * stage->u[0], transient->u_before);
    weft_terms_add(&solutions, -factor * stage->u[1], transient->u_older);
    TRY(weft_vectors_sum(&transient->vectors, &solutions, transient->work, error));
    TRY(weft_operator_apply(transient->system.mass, transient->work, transient->work2, error));
    weft_terms_add(&all, 1, transient->work2);
    for (int i = 2; i <= WEFT_TIME_STAGES; ++i)
        weft_terms_add(&all, -factor * stage->u[i], transient->mass_u[i]);
    TRY(weft_vectors_sum(&transient->vectors, &all, storage, error));
done:
    return status;
}

weft_status weft_transient_balance(weft_transient *transient, weft_memory *storage,
                                   weft_transient_terms *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_time_stage *stage = &transient->last;
    const double weight = 1 / (1 + stage->q), t = transient->state.t;
    *out = (weft_transient_terms){.n = 0};
    if (transient->dt_before <= 0 || transient->last.c == 0)
        goto done;
    *out = (weft_transient_terms){.n = stage->q > 0 ? 2 : 1,
                                  .weights = {weight, weight * stage->q},
                                  .t = {t, t - transient->dt_before},
                                  .u = {transient->u, transient->u_before}};
    if (transient->system.mass)
        TRY(make_storage(transient, weight, storage, error));
    else
        TRY(weft_memory_zero(storage, error));
done:
    return status;
}

/* r = K u - b */
static weft_status subtract(weft_transient *transient, weft_memory *u, weft_memory *r,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_terms terms = {0};
    TRY(weft_time_system_assemble(
        &transient->system,
        transient->system.mass ? 0 : weft_time_shift(&transient->last, transient->dt_before), false,
        error));
    TRY(weft_operator_apply(transient->system.total, u, transient->work, error));
    weft_terms_add(&terms, 1, transient->work);
    weft_terms_add(&terms, -1, transient->load);
    TRY(weft_vectors_sum(&transient->vectors, &terms, r, error));
done:
    return status;
}

weft_status weft_transient_residual(weft_transient *transient, double t, weft_memory *u,
                                    weft_memory *r, weft_memory *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_time_system *system = &transient->system;
    const size_t bytes = (size_t)system->n * sizeof(double);
    TRY(weft_time_system_set(system, t, error));
    if (transient->problem.is_nonlinear) { /* whose vector reads transient->u */
        TRY(weft_memory_copy(transient->work2, transient->u, bytes, error));
        TRY(weft_memory_copy(transient->u, u, bytes, error));
    }
    TRY(weft_time_system_load(system, &transient->vectors, u, transient->load, error));
    TRY(weft_memory_copy(b, transient->problem.is_nonlinear ? system->flux : transient->load, bytes,
                         error));
    if (transient->problem.is_nonlinear) {
        TRY(weft_memory_copy(r, transient->load, bytes, error));
        TRY(weft_memory_copy(transient->u, transient->work2, bytes, error));
    } else {
        TRY(subtract(transient, u, r, error));
    }
done:
    return status;
}
