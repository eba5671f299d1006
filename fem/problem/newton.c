/* Solves r(u) = 0 by Newton's method in load steps: the loads and prescribed values of step i of n are i/n of
 * all. With constraints u = C v + g it is C^T r(C v + g) = 0. */
#include "fem/problem/newton.h"
#include "core/base/fault.h"
#include "fem/base/memory.h"
#include "fem/linear/newton.h"
#include "fem/problem/problem.h"
#include "fem/space/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct load_step {
    weft_problem *problem;
    const weft_newton_options *options;
    weft_newton newton;
    weft_memory *is_free;
    weft_memory *guess;                  /* of du, for a second solve */
    int64_t fields[WEFT_FIELDS_MAX + 1]; /* first dofs */
    double factor;                       /* of the load, now */
    int number, first;                   /* from 1; index of the step's first iteration */
} load_step;

static weft_status step_alloc(load_step *step, weft_problem *problem,
                              const weft_newton_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)problem->fields.n_dofs * sizeof(double);
    *step = (load_step){.problem = problem, .options = options};
    for (int i = 0; i < problem->fields.n; ++i)
        step->fields[i] = problem->fields.list[i].first_dof;
    step->fields[problem->fields.n] = problem->fields.n_dofs;
    double *values = weft_array_make((size_t)problem->fields.n_dofs, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    for (int64_t i = 0; i < problem->fields.n_dofs; ++i)
        values[i] = 1;
    for (int64_t i = 0; i < problem->fields.n_constrained; ++i)
        values[problem->fields.constrained[i]] = 0;
    TRY(weft_memory_place(problem->context->device, values, bytes / sizeof *values, sizeof *values,
                          &step->is_free, error));
    if (problem->system.constraints)
        TRY(weft_constraints_pin(problem->system.constraints, &problem->system.modes, NULL, error));
    TRY(weft_problem_reduce(problem, error));
    TRY(weft_memory_make(problem->context->device, bytes, &step->guess, error));
done:
    free(values);
    return status;
}

static void step_free(load_step *step) {
    weft_solver_free(&step->problem->system.linear.solver);
    weft_newton_clear(&step->newton);
    weft_memory_free(&step->is_free);
    weft_memory_free(&step->guess);
}

/* b = r(u) + R u - t g, and -b */
static weft_status residual_make(void *user, weft_memory *r, weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    weft_problem *problem = step->problem;
    weft_terms terms = {0};
    if (problem->fields.layout && !weft_fault("iterate_not_exchanged"))
        TRY(weft_layout_update(problem->fields.layout, problem->system.u, error));
    TRY(weft_problem_residual(problem, step->factor, error));
    weft_terms_add(&terms, -1, problem->system.b);
    TRY(weft_vectors_sum(&problem->system.vectors, &terms, r, error));
done:
    return status;
}

static weft_status add_iteration(weft_problem_newton_report *report,
                                 const weft_problem_iteration *now, weft_error *error) {
    weft_problem_iteration *list =
        realloc(report->iterations, (size_t)(report->n + 1) * sizeof *list);
    if (!list)
        return weft_out_of_memory(error, "the iterations of Newton's method");
    report->iterations = list;
    list[report->n++] = *now;
    return WEFT_OK;
}

static weft_status note(void *user, const weft_newton_state *state, weft_error *error) {
    load_step *step = user;
    weft_problem *problem = step->problem;
    const weft_problem_iteration now = {.step = step->number,
                                        .iteration = state->iteration,
                                        .residual = state->norm,
                                        .scale = state->scale,
                                        .damping = state->damping};
    weft_log(problem->context->monitor, WEFT_LOG_INFO,
             "Newton: step %d, iteration %d, residual %.6e, damping %g", step->number,
             state->iteration, state->norm, state->damping);
    weft_progress(problem->context->monitor, "newton", step->number - 1, step->options->load_steps);
    return add_iteration(&problem->newton, &now, error);
}

/* Choose the method for the tangent at u, and assemble it. */
static weft_status assemble(void *user, int iteration, weft_newton_tangent *out,
                            weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    weft_problem *problem = step->problem;
    TRY(weft_problem_check_tangent(problem, step->number, iteration, error));
    TRY(weft_operator_assemble(problem->system.op, error));
    const weft_system whole = weft_problem_system(problem);
    TRY(weft_linear_update(&problem->system.linear, &whole, problem->system.reduction, error));
    *out =
        weft_linear_tangent(&problem->system.linear, problem->system.op, problem->system.reduction);
done:
    return status;
}

/* du = t g - u where u is given. */
static weft_status lift(void *user, weft_memory *du, weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    weft_problem *problem = step->problem;
    double *values = weft_array_make((size_t)problem->fields.n_dofs, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_vector_pull(problem->system.u, problem->system.u_values, problem->fields.n_dofs,
                         error));
    memcpy(values, problem->system.u_values, (size_t)problem->fields.n_dofs * sizeof *values);
    weft_fields_set_conditions(&problem->fields, step->factor, values);
    TRY(weft_vector_push(du, values, problem->fields.n_dofs, error));
    if (problem->system.reduction)
        TRY(weft_reduction_fill(problem->system.reduction, step->factor, du, error));
    TRY(weft_vector_pull(du, values, problem->fields.n_dofs, error));
    for (int64_t i = 0; i < problem->fields.n_dofs; ++i)
        values[i] -= problem->system.u_values[i];
    TRY(weft_vector_push(du, values, problem->fields.n_dofs, error));
done:
    free(values);
    return status;
}

static weft_status solve_tangent(void *user, weft_memory *r, weft_memory *du, bool *usable,
                                 weft_error *error) {
    load_step *step = user;
    weft_status status = WEFT_OK;
    weft_problem *problem = step->problem;
    weft_problem_iteration *now = &problem->newton.iterations[problem->newton.n - 1];
    TRY(weft_nullspace_balance(&problem->system, r, du, error));
    weft_system whole = weft_problem_system(problem);
    whole.b = r;
    whole.u = du;
    const weft_system system = weft_reduction_system(problem->system.reduction, &whole);
    weft_cg_options options = weft_linear_options(&problem->system.linear, &system);
    TRY(weft_linear_repeat(&problem->system.linear, &whole, problem->system.reduction, &options,
                           step->guess, error));
    TRY(weft_linear_accept(&problem->system.linear, problem->system.vectors.share, du, usable,
                           error));
    now->linear_iterations += problem->system.linear.cg.iterations;
    now->method = problem->system.linear.choice.method;
done:
    return status;
}

/* b = r - K g of a system that was not solved, g the prescribed values, for advice. */
static weft_status keep_system(load_step *step, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = step->problem;
    double *product = NULL;
    weft_memory *memory = NULL;
    TRY(weft_vector_make(problem->context->device, problem->fields.n_dofs, &product, &memory,
                         error));
    TRY(weft_operator_apply(problem->system.op, step->guess, memory, error));
    TRY(weft_vector_pull(memory, product, problem->fields.n_dofs, error));
    TRY(weft_vector_pull(step->newton.r, problem->system.b_values, problem->fields.n_dofs, error));
    for (int64_t i = 0; i < problem->fields.n_dofs; ++i)
        problem->system.b_values[i] -= product[i];
    TRY(weft_vector_push(problem->system.b, problem->system.b_values, problem->fields.n_dofs,
                         error));
done:
    weft_memory_free(&memory);
    free(product);
    return status;
}

static weft_status step_solve(load_step *step, bool *converged, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = step->problem;
    weft_newton_state state = {0};
    const weft_newton_problem equations = {.vectors = &problem->system.vectors,
                                           .u = problem->system.u,
                                           .is_free = step->is_free,
                                           .constraints = problem->system.reduction,
                                           .fields = step->fields,
                                           .n_fields = problem->fields.n,
                                           .tolerance = step->options->tolerance,
                                           .max_iterations = step->options->iterations,
                                           .residual = residual_make,
                                           .assemble = assemble,
                                           .solve = solve_tangent,
                                           .lift = lift,
                                           .note = note,
                                           .user = step};
    step->factor = (double)step->number / step->options->load_steps;
    step->first = problem->newton.n;
    TRY(weft_inputs_scale_loads(&problem->inputs, step->factor, error));
    TRY(weft_newton_solve(&step->newton, &equations, &state, error));
    if (state.outcome == WEFT_NEWTON_NOT_SOLVED && problem->system.open.n > 0)
        TRY(keep_system(step, error));
    *converged = state.converged;
    problem->newton.to_rounding |= state.to_rounding;
    problem->newton.outcome = state.outcome;
done:
    for (int i = step->first; i < problem->newton.n; ++i) { /* relative to that of the end */
        problem->newton.iterations[i].scale = state.scale;
        if (state.scale > 0)
            problem->newton.iterations[i].residual /= state.scale;
    }
    return status;
}

/* Is r(u - part of a mode) as small as r(u), over free dofs? Else the mode stays. */
static weft_status remove_mode(load_step *step, int k, double most, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = step->problem;
    const int64_t n = problem->fields.n_dofs;
    double norms[2], *kept = weft_array_make((size_t)n, sizeof *kept);
    const weft_free_modes one = {.n = 1,
                                 .modes = problem->system.modes.modes + k * n,
                                 .weighted = problem->system.modes.weighted + k * n,
                                 .share = problem->system.modes.share};
    if (!kept)
        TRY(weft_out_of_memory(error, NULL));
    memcpy(kept, problem->system.u_values, (size_t)n * sizeof *kept);
    TRY(weft_free_modes_remove(&one, n, problem->system.u_values, error));
    TRY(weft_vector_push(problem->system.u, problem->system.u_values, n, error));
    TRY(residual_make(step, step->newton.r, error));
    TRY(weft_reduction_restrict(problem->system.reduction, step->newton.r, step->guess, error));
    TRY(weft_vectors_norms(&problem->system.vectors, step->guess, step->is_free, norms, error));
    if (!(norms[1] <= most))
        memcpy(problem->system.u_values, kept, (size_t)n * sizeof *kept);
    TRY(weft_vector_push(problem->system.u, problem->system.u_values, n, error));
done:
    free(kept);
    return status;
}

/* Pins carry nothing; of the solutions, take the one without mean, and rotation if it can be removed. */
static weft_status decide_modes(load_step *step, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = step->problem;
    const weft_problem_iteration *last = &problem->newton.iterations[problem->newton.n - 1];
    if (problem->system.modes.n == 0 || !problem->newton.converged)
        goto done;
    TRY(weft_free_modes_check(&problem->system.modes, problem->fields.n_dofs,
                              problem->system.b_values,
                              fmax(1e-6, 10 * step->options->tolerance) * last->scale, error));
    for (int k = 0; k < problem->system.modes.n; ++k)
        TRY(remove_mode(step, k, 10 * step->options->tolerance * last->scale, error));
done:
    return status;
}

/* Is one of the values not zero, on any rank? */
static weft_status has_values(const weft_problem *problem, const double *values, bool *out,
                              weft_error *error) {
    double found = 0;
    for (int64_t i = 0; values && i < problem->fields.n_dofs && found == 0; ++i)
        found = values[i] != 0;
    const weft_status status =
        weft_comm_maximum(weft_layout_comm(problem->fields.layout), &found, error);
    *out = found > 0;
    return status;
}

/* Is there an input called `load`? */
static bool reads_load(const weft_problem *problem) {
    bool found = weft_inputs_have_load(&problem->inputs);
    for (int i = 0; i < problem->forms.n_parts; ++i)
        for (int k = 0; k < problem->forms.parts[i].bound.form.n_inputs; ++k)
            found |= strcmp(problem->forms.parts[i].bound.inputs[k].name, "load") == 0;
    return found;
}

/* Without loads and prescribed values, all load steps are the same. */
static weft_status check_steps(load_step *step, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = step->problem;
    const int64_t n = problem->fields.n_dofs;
    double *values = NULL;
    bool has_flux = false, grows = false;
    if (step->options->load_steps == 1 || reads_load(problem))
        goto done;
    TRY(has_values(problem, problem->system.flux, &has_flux, error));
    if (has_flux)
        goto done;
    values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    weft_fields_set_conditions(&problem->fields, 1, values);
    if (problem->system.reduction) {
        TRY(weft_vector_push(step->guess, values, n, error));
        TRY(weft_reduction_fill(problem->system.reduction, 1, step->guess, error));
        TRY(weft_vector_pull(step->guess, values, n, error));
    }
    TRY(has_values(problem, values, &grows, error));
    if (!grows)
        weft_log(problem->context->monitor, WEFT_LOG_WARNING,
                 "--load-steps %d: nothing grows from step to step, as no condition has a value "
                 "but 0 and no input is called load; multiply what shall grow by load, a Constant "
                 "of a form file or a uniform input of a script",
                 step->options->load_steps);
done:
    free(values);
    return status;
}

weft_status weft_problem_newton(weft_problem *problem, const weft_newton_options *options,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_context_clock(problem->context);
    load_step step;
    bool converged = true;
    weft_problem_newton_clear(&problem->newton);
    TRY(step_alloc(&step, problem, options, error));
    TRY(check_steps(&step, error));
    for (step.number = 1; step.number <= options->load_steps && converged; ++step.number)
        TRY(step_solve(&step, &converged, error));
    problem->newton.converged = converged;
    TRY(weft_vector_pull(problem->system.u, problem->system.u_values, problem->fields.n_dofs,
                         error));
    TRY(weft_vector_pull(problem->system.b, problem->system.b_values, problem->fields.n_dofs,
                         error));
    TRY(decide_modes(&step, error));
done:
    step_free(&step);
    problem->system.linear.solve_seconds = weft_context_clock(problem->context) - start;
    return status;
}

void weft_problem_newton_clear(weft_problem_newton_report *report) {
    free(report->iterations);
    *report = (weft_problem_newton_report){0};
}
