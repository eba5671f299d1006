/* Solves r(u) = 0 by Newton's method (fem/solve/newton.h) in load steps: the loads and prescribed values
 * of step i of n are i/n of all. */
#include "fem/solve/newton.h"
#include "apps/common/fem.h"
#include "apps/solve/solve.h"
#include "fem/base/memory.h"

#include <math.h>
#include <stdlib.h>

typedef struct load_step {
    solve *run;
    weft_solver *solver;
    weft_newton newton;
    weft_memory *is_free;
    double factor;     /* of the load, now */
    int number, first; /* from 1; index of the step's first iteration */
} load_step;

static weft_status step_alloc(load_step *step, solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    *step = (load_step){.run = run};
    run->vectors = (weft_vectors){.context = &run->base.context, .n = run->n_dofs};
    double *values = weft_array_make((size_t)run->n_dofs, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    for (int64_t i = 0; i < run->n_dofs; ++i)
        values[i] = 1;
    for (int64_t i = 0; i < run->base.n_constrained; ++i)
        values[run->base.constrained[i]] = 0;
    TRY(weft_memory_place(run->base.device, values, (size_t)run->n_dofs, sizeof *values,
                          &step->is_free, error));
    TRY(weft_solver_make(&run->base.context, run->base.op, &step->solver, error));
done:
    free(values);
    return status;
}

static void step_free(load_step *step) {
    weft_solver_free(&step->solver);
    weft_newton_clear(&step->newton);
    weft_memory_free(&step->is_free);
}

/* b = r(u) + R u - t g, and -b */
static weft_status residual_make(void *user, weft_memory *r, weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    solve *run = step->run;
    weft_terms terms = {0};
    TRY(solve_residual_make(run, step->factor, error));
    weft_terms_add(&terms, -1, run->base.b);
    TRY(weft_vectors_sum(&run->vectors, &terms, r, error));
done:
    return status;
}

static weft_status note(void *user, const weft_newton_state *state, weft_error *error) {
    load_step *step = user;
    solve *run = step->run;
    const solve_iteration now = {.step = step->number,
                                 .iteration = state->iteration,
                                 .residual = state->norm,
                                 .scale = state->scale,
                                 .damping = state->damping};
    weft_log(&run->base.messages->monitor, WEFT_LOG_INFO,
             "Newton: step %d, iteration %d, residual %.6e, damping %g", step->number,
             state->iteration, state->norm, state->damping);
    weft_progress(&run->base.messages->monitor, "newton", step->number - 1,
                  run->options->load_steps);
    return APP_APPEND(run->iterations, run->n_iterations, now, error);
}

/* Choose the method for the tangent, and make another solver if it is for another operator. */
static weft_status tangent_check(load_step *step, int iteration, weft_error *error) {
    weft_status status = WEFT_OK;
    bool is_remade = false;
    TRY(solve_tangent_check(step->run, step->number, iteration, &is_remade, error));
    if (is_remade) {
        weft_solver_free(&step->solver);
        TRY(weft_solver_make(&step->run->base.context, step->run->base.op, &step->solver, error));
    }
done:
    return status;
}

/* du = t g - u where u is given. */
static weft_status lift(load_step *step, weft_memory *du, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = step->run;
    double *values = weft_array_make((size_t)run->n_dofs, sizeof *values);
    double *given = weft_array_make((size_t)run->n_dofs, sizeof *given);
    if (!values || !given)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_vector_pull(run->base.u, run->base.u_values, run->n_dofs, error));
    app_run_set_conditions(&run->base, step->factor, given);
    for (int64_t i = 0; i < run->base.n_constrained; ++i) {
        const int32_t dof = run->base.constrained[i];
        values[dof] = given[dof] - run->base.u_values[dof];
    }
    TRY(weft_vector_push(du, values, run->n_dofs, error));
done:
    free(values);
    free(given);
    return status;
}

/* Is the step usable? A CG solve with some progress is sufficient. */
static bool is_usable(const weft_cg_result *cg) {
    return cg->outcome == WEFT_CG_CONVERGED ||
           ((cg->outcome == WEFT_CG_STAGNATION || cg->outcome == WEFT_CG_MAX_ITERATIONS) &&
            cg->residual < 0.1);
}

/* K du = r */
static weft_status correct(void *user, int iteration, weft_memory *r, weft_memory *du,
                           weft_operator **tangent, bool *usable, weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    solve *run = step->run;
    TRY(tangent_check(step, iteration, error));
    weft_cg_options options = app_run_solver_options(&run->base);
    if (iteration == 0)
        TRY(lift(step, du, error));
    TRY(weft_operator_assemble(run->base.op, error));
    TRY(app_run_precondition(&run->base, error));
    options.preconditioner = run->base.preconditioner;
    free(run->base.cg.history);
    run->base.cg = (weft_cg_result){0};
    TRY(weft_solver_solve(step->solver, r, du, &options, &run->base.cg, error));
    if (app_run_retries_by_jacobi(&run->base, &options)) {
        TRY(weft_memory_zero(du, error));
        if (iteration == 0)
            TRY(lift(step, du, error));
        TRY(weft_solver_solve(step->solver, r, du, &options, &run->base.cg, error));
    }
    run->iterations[run->n_iterations - 1].cg_iterations = run->base.cg.iterations;
    run->iterations[run->n_iterations - 1].method = run->base.method;
    *tangent = run->base.op;
    *usable = is_usable(&run->base.cg);
done:
    return status;
}

static weft_status step_solve(load_step *step, bool *converged, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = step->run;
    weft_newton_state state = {0};
    const weft_newton_problem problem = {.vectors = &run->vectors,
                                         .u = run->base.u,
                                         .is_free = step->is_free,
                                         .residual = residual_make,
                                         .solve = correct,
                                         .note = note,
                                         .user = step,
                                         .lifts = true,
                                         .tolerance = run->options->newton_tolerance,
                                         .max_iterations = run->options->newton_iterations};
    run->load_value = step->factor = (double)step->number / run->options->load_steps;
    step->first = run->n_iterations;
    TRY(weft_memory_write(run->load, 0, &run->load_value, sizeof run->load_value, error));
    TRY(weft_newton_solve(&step->newton, &problem, &state, error));
    *converged = state.converged;
    run->newton_to_rounding |= state.to_rounding;
done:
    for (int i = step->first; i < run->n_iterations; ++i) { /* relative to the largest of all */
        run->iterations[i].scale = state.scale;
        if (state.scale > 0)
            run->iterations[i].residual /= state.scale;
    }
    return status;
}

weft_status solve_newton(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = app_clock(&run->base.context);
    load_step step;
    bool converged = true;
    TRY(step_alloc(&step, run, error));
    for (step.number = 1; step.number <= run->options->load_steps && converged; ++step.number)
        TRY(step_solve(&step, &converged, error));
    run->newton_converged = converged;
    TRY(weft_vector_pull(run->base.u, run->base.u_values, run->n_dofs, error));
    TRY(weft_vector_pull(run->base.b, run->base.b_values, run->n_dofs, error));
done:
    step_free(&step);
    run->base.seconds.solve = app_clock(&run->base.context) - start;
    return status;
}
