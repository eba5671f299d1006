/* Integrates any form in time, step by step. */
#include "fem/time/transient.h"
#include "core/base/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 12 + 2 * WEFT_TIME_STAGES };

static int list_vectors(weft_transient *transient, weft_memory **out[VECTORS]) {
    weft_memory **const all[] = {
        &transient->load,      &transient->rhs,         &transient->work,
        &transient->work2,     &transient->mass_now,    &transient->mass_u[0],
        &transient->mass_u[1], &transient->residual[0], &transient->residual_now,
        &transient->u_old,     &transient->u_before,    &transient->u_older,
        &transient->is_free};
    int n = sizeof all / sizeof *all;
    const int own = weft_time_scheme_about(transient->problem.scheme)->n_stages,
              start = weft_time_row_to_start()->about.n_stages;
    memcpy(out, all, sizeof all);
    for (int i = 1; i < (own > start ? own : start); ++i) {
        out[n++] = &transient->mass_u[i + 1];
        out[n++] = &transient->residual[i];
    }
    if (transient->problem.n_open > 0)
        out[n++] = &transient->of_given;
    return n;
}

static weft_status make_vectors(weft_transient *transient, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory **all[VECTORS];
    const int n = list_vectors(transient, all);
    for (int i = 0; i < n; ++i)
        TRY(weft_memory_make(transient->vectors.context->device,
                             (size_t)transient->vectors.n * sizeof(double), all[i], error));
done:
    return status;
}

/* u = the nearest values that satisfy the constraints, weighted by the lumped mass, so that heat is kept
 * where groups are tied. */
static weft_status project(weft_transient *transient, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_time_system *system = &transient->system;
    const int64_t n = transient->vectors.n;
    if (!system->reduction || !system->mass)
        goto done;
    for (int64_t i = 0; i < n; ++i)
        values[i] = 1;
    TRY(weft_memory_write(transient->work, 0, values, (size_t)n * sizeof *values, error));
    TRY(weft_operator_apply(system->mass, transient->work, transient->work2, error));
    TRY(weft_reduction_project(system->reduction, transient->work2, transient->u, error));
done:
    return status;
}

/* u = the initial field, with what is prescribed at the start */
static weft_status set_start(weft_transient *transient, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = transient->vectors.n;
    const weft_transient_problem *problem = &transient->problem;
    double *values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "a form in time"));
    TRY(weft_vector_pull(transient->u, values, n, error));
    weft_time_fields_values(problem, values);
    TRY(weft_vector_push(transient->u, values, n, error));
    TRY(weft_time_system_set(&transient->system, problem->start, error));
    TRY(weft_time_fields_apply(transient, error));
    TRY(project(transient, values, error));
    TRY(weft_time_system_prescribe(&transient->system, transient->u, error));
    TRY(weft_time_exchange(&transient->system, transient->u, error));
    if (transient->system.mass)
        TRY(weft_operator_apply(transient->system.mass, transient->u, transient->mass_u[0], error));
    weft_time_fields_free(problem, values);
    TRY(weft_vector_push(transient->is_free, values, n, error));
    transient->state.t = problem->start;
done:
    free(values);
    return status;
}

static weft_status check_scheme(const weft_transient_problem *problem, weft_error *error) {
    const weft_time_row *row = weft_time_row_of(problem->scheme);
    if (!row)
        return weft_error_set(error, WEFT_ERROR_USAGE, "there is no time integration scheme %d",
                              (int)problem->scheme);
    return row->about.takes_theta && !(problem->theta > 0 && problem->theta <= 1)
               ? weft_error_set(error, WEFT_ERROR_USAGE,
                                "theta is %g, expected a number above 0, at most 1", problem->theta)
               : WEFT_OK;
}

weft_status weft_transient_make(weft_context *context, const weft_transient_problem *problem,
                                weft_transient **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient *transient = NULL;
    TRY(weft_options_check("weft_cg_options", problem->solver.size, sizeof problem->solver, error));
    TRY(check_scheme(problem, error));
    transient = calloc(1, sizeof *transient);
    if (!transient)
        TRY(weft_out_of_memory(error, "a form in time"));
    transient->problem = *problem;
    transient->u = problem->u;
    transient->field = (weft_transient_field){problem->space, problem->bc};
    if (problem->n_fields == 0) {
        transient->problem.fields = &transient->field;
        transient->problem.n_fields = 1;
    }
    transient->vectors =
        (weft_vector_programs){.context = context, .n = weft_time_dofs(&transient->problem)};
    TRY(weft_time_fields_view(transient, error));
    TRY(make_vectors(transient, error));
    TRY(weft_time_system_make(context, &transient->problem, transient->load, &transient->system,
                              error));
    transient->vectors.share = weft_layout_share(transient->system.layout);
    TRY(set_start(transient, error));
    TRY(weft_time_record_make(&transient->problem, &transient->record, error));
    *out = transient;
    transient = NULL;
done:
    weft_transient_free(&transient);
    return status;
}

void weft_transient_free(weft_transient **out) {
    weft_transient *transient = out ? *out : NULL;
    weft_memory **all[VECTORS];
    if (!transient)
        return;
    weft_time_system_clear(&transient->system);
    weft_time_record_free(&transient->record);
    weft_newton_clear(&transient->newton);
    weft_vectors_clear(&transient->vectors);
    const int n = list_vectors(transient, all);
    for (int i = 0; i < n; ++i)
        weft_memory_free(all[i]);
    for (int i = 0; i < WEFT_TRANSIENT_FIELDS_MAX; ++i)
        weft_memory_free(&transient->views[i]);
    free(transient);
    *out = NULL;
}

const weft_preconditioner *weft_transient_preconditioner(const weft_transient *transient) {
    return transient->system.linear.preconditioner;
}

double weft_transient_assembly_seconds(const weft_transient *transient) {
    const weft_time_system *system = &transient->system;
    return weft_device_limits(system->context->device)->records_only ? NAN
                                                                     : system->assembly_seconds;
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
        TRY(weft_time_record_stage(transient, i, error));
        if (i + 1 < n) {
            swap(&transient->mass_now, &transient->mass_u[2 + i]);
            swap(&transient->residual_now, &transient->residual[1 + i]);
        }
    }
done:
    return status;
}

/* What was at the end of the step is at the start of the next. */
static void advance(weft_transient *transient, double dt) {
    swap(&transient->u_older, &transient->u_before);
    swap(&transient->u_before, &transient->u_old);
    swap(&transient->mass_u[1], &transient->mass_u[0]);
    swap(&transient->mass_u[0], &transient->mass_now);
    swap(&transient->residual_now, &transient->residual[0]);
    transient->has_residual = true;
    transient->dt_older = transient->dt_before;
    transient->dt_before = dt;
    transient->n_history += transient->n_history < 3;
    transient->state.step += 1;
    transient->state.t += dt;
    transient->state.dt = dt;
}

/* Is r_n in an equation of the step? */
static bool needs_residual(const weft_time_stage *stages, int n) {
    for (int i = 0; i < n; ++i)
        if (stages[i].q != 0)
            return true;
    return false;
}

/* Solve for u at the end of a step, which is not taken yet. */
static weft_status attempt(weft_transient *transient, double dt, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)transient->vectors.n * sizeof(double);
    weft_time_stage stages[WEFT_TIME_STAGES];
    const weft_time_row *row = weft_time_row_now(transient);
    const int n = transient->problem.previous ? 1 : row->about.n_stages;
    row->stages(transient->problem.theta, dt / transient->dt_before, stages);
    if (transient->problem.previous) /* the script has its own scheme: r(U, t + h) = 0 */
        stages[0] = (weft_time_stage){.c = 1};
    transient->state.iterations = transient->state.newton = 0;
    transient->state.outcome = WEFT_TRANSIENT_DONE;
    TRY(weft_memory_copy(transient->u_old, transient->u, bytes, error));
    TRY(weft_time_record_begin(transient, dt, stages, n, error));
    if (needs_residual(stages, n) && !transient->has_residual)
        TRY(weft_time_residual_start(transient, error));
    if (transient->problem.previous) {
        TRY(weft_memory_copy(transient->problem.previous, transient->u, bytes, error));
        TRY(weft_memory_write(transient->problem.length, 0, &dt, sizeof dt, error));
    }
    transient->last = stages[n - 1];
    TRY(solve_stages(transient, stages, n, dt, error));
    transient->state.all_iterations += transient->state.iterations;
    transient->state.all_newton += transient->state.newton;
done:
    return status;
}

static weft_status go_back(weft_transient *transient, weft_error *error) {
    return weft_memory_copy(transient->u, transient->u_old,
                            (size_t)transient->vectors.n * sizeof(double), error);
}

/* What a step ended with. After an error, also that of a call that was cancelled, the state is that before, so that the
 * step can be made again. */
static weft_status ended(weft_transient *transient, const weft_transient_state *before,
                         weft_status status) {
    weft_error ignored; /* of a device that has failed, whose steps have no results */
    if (status == WEFT_OK)
        return WEFT_OK;
    transient->state = *before;
    if (go_back(transient, &ignored) == WEFT_OK)
        (void)weft_time_system_set(&transient->system, before->t, &ignored);
    transient->system.has_vector = false;
    weft_transient_forget(transient);
    return status;
}

static weft_status step(weft_transient *transient, double dt, weft_transient_state *state,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(attempt(transient, dt, error));
    if (transient->state.outcome == WEFT_TRANSIENT_DONE)
        TRY(weft_time_record_end(transient, error));
    if (transient->state.outcome == WEFT_TRANSIENT_DONE)
        advance(transient, dt);
    else
        TRY(go_back(transient, error));
    *state = transient->state;
done:
    return status;
}

weft_status weft_transient_step(weft_transient *transient, double dt, weft_transient_state *state,
                                weft_error *error) {
    const weft_transient_state before = transient->state;
    if (!(dt > 0) || !isfinite(dt))
        return weft_error_set(error, WEFT_ERROR_USAGE, "a time step of length %g", dt);
    return ended(transient, &before, step(transient, dt, state, error));
}

/* The length of a step that does not end after, nor shortly before, `until`. */
static double fit(double dt, double left) {
    return left <= dt * (1 + 1e-9) ? left : left < 2 * dt ? left / 2 : dt;
}

static weft_status step_by_error(weft_transient *transient, double until,
                                 weft_transient_state *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = &transient->problem;
    const double least = 1e-14 * fmax(fabs(problem->start), fabs(problem->end));
    double dt = transient->dt_next > 0 ? transient->dt_next : problem->dt;
    for (;;) {
        bool accepted = false;
        double next = 0;
        const double wanted = dt;
        dt = fit(dt, until - transient->state.t);
        TRY(attempt(transient, dt, error));
        if (transient->state.outcome == WEFT_TRANSIENT_DONE)
            TRY(weft_time_control(transient, dt, &accepted, &next, error));
        const bool is_solved = transient->state.outcome == WEFT_TRANSIENT_DONE;
        if (accepted && is_solved) {
            advance(transient, dt);
            transient->dt_next = dt < wanted ? fmax(next, wanted) : next;
            break;
        }
        transient->state.n_rejected += 1;
        TRY(go_back(transient, error));
        dt = is_solved ? next : dt / 4;
        if (dt > least)
            continue;
        if (is_solved)
            transient->state.outcome = WEFT_TRANSIENT_STEP;
        break;
    }
    *state = transient->state;
done:
    return status;
}

weft_status weft_transient_advance(weft_transient *transient, double until,
                                   weft_transient_state *state, weft_error *error) {
    const weft_transient_state before = transient->state;
    return ended(transient, &before, step_by_error(transient, until, state, error));
}
