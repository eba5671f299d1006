/* Solves the equation of a stage of a nonlinear problem by Newton's method:
 *
 *      R(U) = a/h (M U - ...) + ... + r(U) = 0,    (a/h M + K) dU = -R(U) */
#include "fem/time/transient.h"

typedef struct stage_now {
    weft_transient *transient;
    const weft_time_stage *stage;
    double dt;
} stage_now;

static weft_status residual_make(void *user, weft_memory *r, weft_error *error) {
    const stage_now *now = user;
    weft_status status = WEFT_OK;
    weft_transient *transient = now->transient;
    weft_terms terms = {0};
    if (transient->system.mass)
        TRY(weft_operator_apply(transient->system.mass, transient->u, transient->mass_now, error));
    TRY(weft_time_system_load(&transient->system, &transient->vectors, transient->u,
                              transient->load, error));
    weft_terms_add(&terms, -now->stage->a / now->dt, transient->mass_now);
    weft_terms_add(&terms, -1, transient->load);
    weft_time_known(transient, now->stage, now->dt, &terms);
    TRY(weft_vectors_sum(&transient->vectors, &terms, r, error));
    TRY(weft_time_fields_project(transient, r, NULL, error));
done:
    return status;
}

static weft_status assemble(void *user, int iteration, weft_newton_tangent *out,
                            weft_error *error) {
    const stage_now *now = user;
    weft_status status = WEFT_OK;
    weft_time_system *system = &now->transient->system;
    (void)iteration;
    TRY(weft_time_system_assemble(system, weft_time_shift(now->stage, now->dt), true, error));
    *out = weft_linear_tangent(&system->linear, system->total, system->reduction);
done:
    return status;
}

static weft_status solve(void *user, weft_memory *r, weft_memory *du, bool *usable,
                         weft_error *error) {
    const stage_now *now = user;
    weft_status status = WEFT_OK;
    weft_transient *transient = now->transient;
    const weft_transient_problem *problem = &transient->problem;
    TRY(weft_time_solve(transient, r, du, problem->solver.tolerance, error));
    TRY(weft_linear_accept(&transient->system.linear, transient->vectors.share, du, usable, error));
done:
    return status;
}

weft_status weft_time_newton(weft_transient *transient, const weft_time_stage *stage, double dt,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    stage_now now = {transient, stage, dt};
    weft_newton_state state;
    int64_t fields[WEFT_TRANSIENT_FIELDS_MAX + 1] = {0};
    for (int i = 0; i < transient->problem.n_fields; ++i)
        fields[i + 1] = fields[i] + weft_space_dofs(transient->problem.fields[i].space);
    const weft_newton_problem problem = {.vectors = &transient->vectors,
                                         .u = transient->u,
                                         .is_free = transient->is_free,
                                         .constraints = transient->system.reduction,
                                         .fields = fields,
                                         .n_fields = transient->problem.n_fields,
                                         .tolerance = transient->problem.newton_tolerance,
                                         .max_iterations = transient->problem.newton_iterations,
                                         .residual = residual_make,
                                         .assemble = assemble,
                                         .solve = solve,
                                         .user = &now};
    TRY(weft_newton_solve(&transient->newton, &problem, &state, error));
    transient->state.newton += state.iteration;
    transient->state.outcome = state.converged                           ? WEFT_TRANSIENT_DONE
                               : state.outcome == WEFT_NEWTON_NOT_SOLVED ? WEFT_TRANSIENT_SOLVER
                                                                         : WEFT_TRANSIENT_NEWTON;
    TRY(weft_memory_copy(transient->residual_now, transient->load,
                         (size_t)transient->vectors.n * sizeof(double), error));
done:
    return status;
}
