/* Solves the equation of a stage: one linear system, or Newton's method. */
#include "fem/time/transient.h"

double weft_time_shift(const weft_time_stage *stage, double dt) {
    return (stage->a > 0 ? stage->a : 1) / dt; /* an own scheme's matrix depends on dt */
}

void weft_time_known(const weft_transient *transient, const weft_time_stage *stage, double dt,
                     weft_terms *terms) {
    for (int i = 0; i <= WEFT_TIME_STAGES; ++i)
        weft_terms_add(terms, stage->a / dt * stage->u[i], transient->mass_u[i]);
    weft_terms_add(terms, -stage->q, transient->residual[0]);
}

weft_status weft_time_solve(weft_transient *transient, weft_memory *b, weft_memory *x,
                            double tolerance, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cg_result *result = &transient->system.linear.cg;
    TRY(weft_time_fields_project(transient, b, x, error));
    TRY(weft_time_system_solve(&transient->system, tolerance, b, x, transient->work, error));
    transient->state.iterations += result->iterations;
    transient->state.solver = result->outcome;
    if (result->outcome != WEFT_CG_CONVERGED)
        transient->state.outcome = WEFT_TRANSIENT_SOLVER;
    TRY(weft_time_exchange(&transient->system, x, error)); /* a method may leave copies behind */
done:
    return status;
}

/* mass_now = M U, residual_now = r(U), which the equation of the stage gives. */
static weft_status take_residual(weft_transient *transient, const weft_time_stage *stage, double dt,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_terms terms = {0};
    if (!transient->system.mass)
        goto done;
    TRY(weft_operator_apply(transient->system.mass, transient->u, transient->mass_now, error));
    weft_terms_add(&terms, -stage->a / dt, transient->mass_now);
    weft_time_known(transient, stage, dt, &terms);
    TRY(weft_vectors_sum(&transient->vectors, &terms, transient->residual_now, error));
done:
    return status;
}

/* A U = b + known */
static weft_status solve_linear(weft_transient *transient, const weft_time_stage *stage, double dt,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_time_system *system = &transient->system;
    weft_terms terms = {0};
    TRY(weft_time_system_assemble(system, weft_time_shift(stage, dt), true, error));
    TRY(weft_time_system_load(system, &transient->vectors, transient->u, transient->load, error));
    weft_terms_add(&terms, 1, transient->load);
    weft_time_known(transient, stage, dt, &terms);
    TRY(weft_vectors_sum(&transient->vectors, &terms, transient->rhs, error));
    TRY(weft_time_solve(transient, transient->rhs, transient->u,
                        transient->problem.solver.tolerance, error));
    if (transient->state.outcome == WEFT_TRANSIENT_DONE)
        TRY(take_residual(transient, stage, dt, error));
done:
    return status;
}

weft_status weft_time_stage_solve(weft_transient *transient, const weft_time_stage *stage,
                                  double dt, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_time_system_set(&transient->system, transient->state.t + stage->c * dt, error));
    TRY(weft_time_fields_apply(transient, error));
    TRY(weft_time_system_prescribe(&transient->system, transient->u, error));
    TRY(weft_time_exchange(&transient->system, transient->u, error));
    TRY(transient->problem.is_nonlinear ? weft_time_newton(transient, stage, dt, error)
                                        : solve_linear(transient, stage, dt, error));
done:
    return status;
}

weft_status weft_time_residual_start(weft_transient *transient, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_time_system *system = &transient->system;
    weft_terms terms = {0};
    TRY(weft_time_system_set(system, transient->state.t, error));
    TRY(weft_time_system_load(system, &transient->vectors, transient->u, transient->load, error));
    if (transient->problem.is_nonlinear) {
        TRY(weft_memory_copy(transient->residual[0], transient->load,
                             (size_t)system->n * sizeof(double), error));
        goto done;
    }
    TRY(weft_time_system_assemble(system, 0, false, error));
    TRY(weft_operator_apply(system->total, transient->u, transient->work, error));
    TRY(weft_time_means_round(system, transient->work, error));
    weft_terms_add(&terms, 1, transient->work);
    weft_terms_add(&terms, -1, transient->load);
    TRY(weft_vectors_sum(&transient->vectors, &terms, transient->residual[0], error));
done:
    return status;
}
