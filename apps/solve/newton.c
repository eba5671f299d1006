/* Solves r(u) = 0 by Newton's method (fem/solve/newton.h) in load steps: the loads and prescribed values
 * of step i of n are i/n of all. With constraints u = C v + g it is C^T r(C v + g) = 0. */
#include "fem/solve/newton.h"
#include "apps/common/fem.h"
#include "apps/solve/solve.h"
#include "fem/base/memory.h"
#include "fem/time/transient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct load_step {
    solve *run;
    weft_solver *solver;
    weft_newton newton;
    weft_memory *is_free;
    weft_memory *guess;                  /* of du, for a second solve */
    int64_t fields[WEFT_FIELDS_MAX + 1]; /* first dofs */
    double factor;                       /* of the load, now */
    int number, first;                   /* from 1; index of the step's first iteration */
} load_step;

static weft_status step_alloc(load_step *step, solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)run->n_dofs * sizeof(double);
    *step = (load_step){.run = run};
    for (int i = 0; i < run->base.problem->n_fields; ++i)
        step->fields[i] = run->base.problem->fields[i].first_dof;
    step->fields[run->base.problem->n_fields] = run->n_dofs;
    double *values = weft_array_make((size_t)run->n_dofs, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    for (int64_t i = 0; i < run->n_dofs; ++i)
        values[i] = 1;
    for (int64_t i = 0; i < run->base.problem->n_constrained; ++i)
        values[run->base.problem->constrained[i]] = 0;
    TRY(weft_memory_place(run->base.device, values, bytes / sizeof *values, sizeof *values,
                          &step->is_free, error));
    if (run->base.problem->constraints)
        TRY(weft_constraints_pin(run->base.problem->constraints, &run->base.problem->modes, NULL,
                                 error));
    TRY(weft_problem_reduce(run->base.problem, error));
    TRY(weft_memory_make(run->base.device, bytes, &step->guess, error));
done:
    free(values);
    return status;
}

static void step_free(load_step *step) {
    weft_solver_free(&step->solver);
    weft_newton_clear(&step->newton);
    weft_memory_free(&step->is_free);
    weft_memory_free(&step->guess);
}

/* b = r(u) + R u - t g, and -b */
static weft_status residual_make(void *user, weft_memory *r, weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    solve *run = step->run;
    weft_terms terms = {0};
    TRY(weft_problem_residual(run->base.problem, step->factor, error));
    weft_terms_add(&terms, -1, run->base.problem->b);
    TRY(weft_vectors_sum(&run->base.problem->vectors, &terms, r, error));
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

/* Choose the method for the tangent at u, assemble it, and make a solver for it. */
static weft_status assemble(void *user, int iteration, weft_newton_tangent *out,
                            weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    solve *run = step->run;
    bool is_remade = false;
    TRY(solve_tangent_check(run, step->number, iteration, &is_remade, error));
    TRY(weft_operator_assemble(run->base.problem->op, error));
    if (run->base.problem->reduction)
        TRY(weft_reduction_update(run->base.problem->reduction, run->base.problem->op, error));
    const weft_system whole = weft_problem_system(run->base.problem);
    const weft_system solved = weft_reduction_system(run->base.problem->reduction, &whole);
    if (is_remade || !step->solver) {
        weft_solver_free(&step->solver);
        TRY(weft_solver_make(&run->base.context, solved.op, &step->solver, error));
    }
    TRY(weft_linear_precondition(&run->base.problem->linear, &solved, error));
    run->base.seconds.precondition = run->base.problem->linear.precondition_seconds;
    *out = (weft_newton_tangent){
        .whole = run->base.problem->op,
        .solved = solved.op,
        .is_definite = weft_method_about(run->base.problem->linear.choice.method)->needs_definite};
done:
    return status;
}

/* du = t g - u where u is given. */
static weft_status lift(void *user, weft_memory *du, weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    solve *run = step->run;
    double *values = weft_array_make((size_t)run->n_dofs, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_vector_pull(run->base.problem->u, run->base.problem->u_values, run->n_dofs, error));
    memcpy(values, run->base.problem->u_values, (size_t)run->n_dofs * sizeof *values);
    weft_problem_set_conditions(run->base.problem, step->factor, values);
    TRY(weft_vector_push(du, values, run->n_dofs, error));
    if (run->base.problem->reduction)
        TRY(weft_reduction_fill(run->base.problem->reduction, step->factor, du, error));
    TRY(weft_vector_pull(du, values, run->n_dofs, error));
    for (int64_t i = 0; i < run->n_dofs; ++i)
        values[i] -= run->base.problem->u_values[i];
    TRY(weft_vector_push(du, values, run->n_dofs, error));
done:
    free(values);
    return status;
}

/* Is the step usable? A CG solve with some progress is sufficient. */
static bool is_usable(const weft_cg_result *cg) {
    return cg->outcome == WEFT_CG_CONVERGED ||
           ((cg->outcome == WEFT_CG_STAGNATION || cg->outcome == WEFT_CG_MAX_ITERATIONS) &&
            cg->residual < 0.1);
}

/* K du = r by the present preconditioner */
static weft_status solve_tangent(load_step *step, weft_memory *r, weft_memory *du,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = step->run;
    weft_system whole = weft_problem_system(run->base.problem);
    whole.b = r;
    whole.u = du;
    const weft_system system = weft_reduction_system(run->base.problem->reduction, &whole);
    weft_cg_options options = weft_linear_options(&run->base.problem->linear, &system);
    options.preconditioner = run->base.problem->linear.preconditioner;
    free(run->base.problem->linear.cg.history);
    run->base.problem->linear.cg = (weft_cg_result){0};
    TRY(weft_reduction_enter(run->base.problem->reduction, &whole, error));
    TRY(weft_solver_solve(step->solver, system.b, system.u, &options, &run->base.problem->linear.cg,
                          error));
    TRY(weft_reduction_leave(run->base.problem->reduction, &whole, error));
done:
    return status;
}

/* b_values = r - K g of a system that was not solved, g the prescribed values, for advice. */
static weft_status keep_system(load_step *step, weft_memory *r, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = step->run;
    double *product = NULL;
    weft_memory *memory = NULL;
    TRY(weft_vector_make(run->base.device, run->n_dofs, &product, &memory, error));
    TRY(weft_operator_apply(run->base.problem->op, step->guess, memory, error));
    TRY(weft_vector_pull(memory, product, run->n_dofs, error));
    TRY(weft_vector_pull(r, run->base.problem->b_values, run->n_dofs, error));
    for (int64_t i = 0; i < run->n_dofs; ++i)
        run->base.problem->b_values[i] -= product[i];
done:
    weft_memory_free(&memory);
    free(product);
    return status;
}

static weft_status correct(void *user, weft_memory *r, weft_memory *du, bool *usable,
                           weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    solve *run = step->run;
    solve_iteration *now = &run->iterations[run->n_iterations - 1];
    weft_cg_options options = {0};
    TRY(weft_memory_copy(step->guess, du, (size_t)run->n_dofs * sizeof(double), error));
    TRY(solve_tangent(step, r, du, error));
    if (weft_linear_lengthens_cycles(&run->base.problem->linear, &options))
        TRY(solve_tangent(step, r, du, error));
    if (weft_linear_retries_by_jacobi(&run->base.problem->linear, &options)) {
        TRY(weft_memory_copy(du, step->guess, (size_t)run->n_dofs * sizeof(double), error));
        TRY(solve_tangent(step, r, du, error));
    }
    for (int m = 0; m < run->n_open; ++m) {
        const weft_transient_open open = solve_open_dofs(run, m);
        TRY(weft_transient_center(&open, 1, run->n_dofs, du, error));
    }
    now->cg_iterations += run->base.problem->linear.cg.iterations;
    now->method = run->base.problem->linear.choice.method;
    *usable = is_usable(&run->base.problem->linear.cg);
    if (!*usable && run->n_open > 0)
        TRY(keep_system(step, r, error));
done:
    return status;
}

static weft_status step_solve(load_step *step, bool *converged, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = step->run;
    weft_newton_state state = {0};
    const weft_newton_problem problem = {.vectors = &run->base.problem->vectors,
                                         .u = run->base.problem->u,
                                         .is_free = step->is_free,
                                         .constraints = run->base.problem->reduction,
                                         .residual = residual_make,
                                         .assemble = assemble,
                                         .solve = correct,
                                         .lift = lift,
                                         .note = note,
                                         .user = step,
                                         .fields = step->fields,
                                         .n_fields = run->base.problem->n_fields,
                                         .tolerance = run->options->newton_tolerance,
                                         .max_iterations = run->options->newton_iterations};
    step->factor = (double)step->number / run->options->load_steps;
    step->first = run->n_iterations;
    TRY(weft_problem_scale_loads(run->base.problem, step->factor, error));
    TRY(weft_newton_solve(&step->newton, &problem, &state, error));
    *converged = state.converged;
    run->newton_to_rounding |= state.to_rounding;
    run->newton_outcome = state.outcome;
done:
    for (int i = step->first; i < run->n_iterations; ++i) { /* relative to that of the end */
        run->iterations[i].scale = state.scale;
        if (state.scale > 0)
            run->iterations[i].residual /= state.scale;
    }
    return status;
}

/* Is r(u - part of a mode) as small as r(u), over free dofs? Else the mode stays. */
static weft_status remove_mode(load_step *step, int k, double most, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = step->run;
    const int64_t n = run->n_dofs;
    double norms[2], *kept = weft_array_make((size_t)n, sizeof *kept);
    const weft_free_modes one = {.n = 1,
                                 .modes = run->base.problem->modes.modes + k * n,
                                 .weighted = run->base.problem->modes.weighted + k * n};
    if (!kept)
        return weft_out_of_memory(error, NULL);
    memcpy(kept, run->base.problem->u_values, (size_t)n * sizeof *kept);
    weft_free_modes_remove(&one, n, run->base.problem->u_values);
    TRY(weft_vector_push(run->base.problem->u, run->base.problem->u_values, n, error));
    TRY(residual_make(step, step->newton.r, error));
    TRY(weft_reduction_restrict(run->base.problem->reduction, step->newton.r, step->guess, error));
    TRY(weft_vectors_norms(&run->base.problem->vectors, step->guess, step->is_free, norms, error));
    if (!(norms[1] <= most))
        memcpy(run->base.problem->u_values, kept, (size_t)n * sizeof *kept);
    TRY(weft_vector_push(run->base.problem->u, run->base.problem->u_values, n, error));
done:
    free(kept);
    return status;
}

/* Pins carry nothing; of the solutions, take the one without mean, and rotation if it can be removed. */
static weft_status decide_modes(load_step *step, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = step->run;
    const solve_iteration *last = &run->iterations[run->n_iterations - 1];
    if (run->base.problem->modes.n == 0 || !run->newton_converged)
        return WEFT_OK;
    TRY(weft_free_modes_check(&run->base.problem->modes, run->n_dofs, run->base.problem->b_values,
                              fmax(1e-6, 10 * run->options->newton_tolerance) * last->scale,
                              error));
    for (int k = 0; k < run->base.problem->modes.n; ++k)
        TRY(remove_mode(step, k, 10 * run->options->newton_tolerance * last->scale, error));
done:
    return status;
}

static bool has_values(const double *values, int64_t n) {
    for (int64_t i = 0; values && i < n; ++i)
        if (values[i] != 0)
            return true;
    return false;
}

/* Without loads and prescribed values, all load steps are the same. */
static weft_status check_steps(load_step *step, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = step->run;
    const int64_t n = run->n_dofs;
    double *values = NULL;
    if (run->options->load_steps == 1 || run->script.has_load ||
        weft_problem_has_load(run->base.problem) || has_values(run->base.problem->flux, n))
        return WEFT_OK;
    values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        return weft_out_of_memory(error, NULL);
    weft_problem_set_conditions(run->base.problem, 1, values);
    if (run->base.problem->reduction) {
        TRY(weft_vector_push(step->guess, values, n, error));
        TRY(weft_reduction_fill(run->base.problem->reduction, 1, step->guess, error));
        TRY(weft_vector_pull(step->guess, values, n, error));
    }
    if (!has_values(values, n))
        weft_log(&run->base.messages->monitor, WEFT_LOG_WARNING,
                 "--load-steps %d: nothing grows from step to step, as no condition has a value "
                 "but 0 and no input is called load; multiply what shall grow by load, a Constant "
                 "of a form file or a uniform input of a script",
                 run->options->load_steps);
done:
    free(values);
    return status;
}

weft_status solve_newton(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_context_clock(&run->base.context);
    load_step step;
    bool converged = true;
    TRY(step_alloc(&step, run, error));
    TRY(check_steps(&step, error));
    for (step.number = 1; step.number <= run->options->load_steps && converged; ++step.number)
        TRY(step_solve(&step, &converged, error));
    run->newton_converged = converged;
    TRY(weft_vector_pull(run->base.problem->u, run->base.problem->u_values, run->n_dofs, error));
    TRY(weft_vector_pull(run->base.problem->b, run->base.problem->b_values, run->n_dofs, error));
    TRY(decide_modes(&step, error));
done:
    step_free(&step);
    run->base.seconds.solve = weft_context_clock(&run->base.context) - start;
    return status;
}
