/* Integrates any form in time, step by step. */
#include "fem/time/transient.h"

#include <math.h>
#include <stdlib.h>

static weft_status make_memories(weft_transient *transient, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)transient->vectors.n * sizeof(double);
    weft_device *device = transient->vectors.context->device;
    weft_memory **const all[] = {
        &transient->load,         &transient->rhs,         &transient->work,
        &transient->mass_u[0],    &transient->mass_u[1],   &transient->mass_u[2],
        &transient->mass_now,     &transient->residual[0], &transient->residual[1],
        &transient->residual_now, &transient->u_old,       &transient->u_before};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        TRY(weft_memory_make(device, bytes, all[i], error));
done:
    return status;
}

/* u = the initial field, with the Dirichlet values of the start */
static weft_status set_start(weft_transient *transient, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = transient->vectors.n;
    const weft_transient_problem *problem = &transient->problem;
    double *values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        return weft_out_of_memory(error, "a form in time");
    TRY(weft_vector_pull(transient->u, values, n, error));
    weft_bc_set(problem->bc, 1, values);
    TRY(weft_vector_push(transient->u, values, n, error));
    TRY(weft_time_system_set(&transient->system, problem->start, error));
    TRY(weft_bc_apply(problem->bc, transient->u, error));
    TRY(weft_operator_apply(transient->system.mass, transient->u, transient->mass_u[0], error));
    transient->state.t = problem->start;
done:
    free(values);
    return status;
}

weft_status weft_transient_make(weft_context *context, const weft_transient_problem *problem,
                                weft_transient **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient *transient = calloc(1, sizeof *transient);
    if (!transient)
        return weft_out_of_memory(error, "a form in time");
    transient->problem = *problem;
    transient->u = problem->u;
    transient->vectors = (weft_vectors){.context = context, .n = weft_space_dofs(problem->space)};
    TRY(make_memories(transient, error));
    TRY(weft_time_system_make(context, &transient->problem, transient->load, &transient->system,
                              error));
    TRY(set_start(transient, error));
    *out = transient;
    transient = NULL;
done:
    weft_transient_free(&transient);
    return status;
}

void weft_transient_free(weft_transient **out) {
    weft_transient *transient = out ? *out : NULL;
    if (!transient)
        return;
    weft_time_system_clear(&transient->system);
    weft_vectors_clear(&transient->vectors);
    weft_memory_free(&transient->load);
    weft_memory_free(&transient->rhs);
    weft_memory_free(&transient->work);
    for (int i = 0; i < 3; ++i)
        weft_memory_free(&transient->mass_u[i]);
    weft_memory_free(&transient->mass_now);
    for (int i = 0; i < 2; ++i)
        weft_memory_free(&transient->residual[i]);
    weft_memory_free(&transient->residual_now);
    weft_memory_free(&transient->u_old);
    weft_memory_free(&transient->u_before);
    free(transient);
    *out = NULL;
}

static void swap(weft_memory **a, weft_memory **b) {
    weft_memory *const kept = *a;
    *a = *b;
    *b = kept;
}

/* The initial guess of a stage at t + c dt: the line through the last two solutions. */
static weft_status guess(weft_transient *transient, double c, double dt, weft_error *error) {
    weft_terms terms = {0};
    if (transient->dt_before <= 0)
        return WEFT_OK;
    const double far = c * dt / transient->dt_before;
    weft_terms_add(&terms, 1 + far, transient->u_old);
    weft_terms_add(&terms, -far, transient->u_before);
    return weft_vectors_sum(&transient->vectors, &terms, transient->u, error);
}

static weft_status solve_stages(weft_transient *transient, const weft_time_stage *stages, int n,
                                double dt, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < n && transient->state.outcome == WEFT_TRANSIENT_DONE; ++i) {
        TRY(guess(transient, stages[i].c, dt, error));
        TRY(weft_time_stage_solve(transient, &stages[i], dt, error));
        if (i + 1 < n) {
            swap(&transient->mass_now, &transient->mass_u[2]);
            swap(&transient->residual_now, &transient->residual[1]);
        }
    }
done:
    return status;
}

/* What was at the end of the step is at the start of the next. */
static void advance(weft_transient *transient, double dt) {
    swap(&transient->u_old, &transient->u_before);
    swap(&transient->mass_u[0], &transient->mass_u[1]);
    swap(&transient->mass_now, &transient->mass_u[0]);
    swap(&transient->residual_now, &transient->residual[0]);
    transient->has_residual = true;
    transient->dt_before = dt;
    transient->state.step += 1;
    transient->state.t += dt;
    transient->state.dt = dt;
}

weft_status weft_transient_step(weft_transient *transient, double dt, weft_transient_state *state,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)transient->vectors.n * sizeof(double);
    weft_time_stage stages[WEFT_TIME_STAGES];
    if (!(dt > 0) || !isfinite(dt))
        return weft_error_set(error, WEFT_ERROR_USAGE, "a time step of length %g", dt);
    const double ratio = transient->dt_before > 0 ? dt / transient->dt_before : 0;
    const int n =
        weft_time_stages(transient->problem.scheme, transient->problem.theta, ratio, stages);
    if (weft_time_needs_residual(stages, n) && !transient->has_residual)
        TRY(weft_time_residual_start(transient, error));
    TRY(weft_memory_copy(transient->u_old, transient->u, bytes, error));
    transient->state.iterations = 0;
    transient->state.outcome = WEFT_TRANSIENT_DONE;
    TRY(solve_stages(transient, stages, n, dt, error));
    transient->state.all_iterations += transient->state.iterations;
    if (transient->state.outcome == WEFT_TRANSIENT_DONE)
        advance(transient, dt);
    else
        TRY(weft_memory_copy(transient->u, transient->u_old, bytes, error));
    *state = transient->state;
done:
    return status;
}
