/* Solves the script's problem in time: makes the steps, with their output. */
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/solve/solve.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- checks ---------------------------------------------------------------------------------- */

static weft_series_options series_options(const solve *run) {
    const int64_t every = run->options->time.output_every, n = run->time.n_steps;
    return (weft_series_options){.name = "u",
                                 .problem = "",
                                 .n_steps = every > 0 ? n / every + (n % every != 0) : 1,
                                 .at_start = true,
                                 .end = run->options->time.end,
                                 .overwrite = run->options->time.overwrite};
}

static weft_status refuse_option(const char *option, const char *hint, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s cannot be used with --time", option);
    weft_error_location(error, option, NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status solve_time_check(const solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_options *options = run->options;
    const app_overwrite pairs[] = {
        {"--json", options->run.json, options->run.output, "the file of --output"},
        {"--output", options->run.output, options->run.mesh.name, "the mesh"}};
    const weft_series_options series = series_options(run);
    TRY(app_overwrite_check(pairs, 2, error));
    if (options->run.until_discretisation)
        TRY(refuse_option("--until", "leave out --until discretisation", error));
    if (options->load_steps > 1)
        TRY(refuse_option("--load-steps", "let the conditions depend on t", error));
    if (options->run.constraints.n > 0)
        TRY(refuse_option(
            options->run.constraints.list[0].origin,
            "constraints between nodes and loads at points are for stationary problems", error));
    if (options->run.derived.reactions)
        TRY(refuse_option("--reactions", "reactions are computed for stationary problems", error));
    if (options->run.output && !run->base.is_null)
        TRY(weft_series_check(options->run.output, &series, error));
done:
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Set u to the formulas of --initial. */
static weft_status make_initial(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *text = run->options->time.initial;
    const int c = run->components;
    const int64_t n = weft_space_nodes(run->base.space);
    char **list = NULL;
    double *column = NULL, constant = 0;
    weft_memory *memory = NULL;
    int n_texts = 0;
    if (!text)
        return WEFT_OK;
    TRY(app_split_components("--initial", text, c, &list, error));
    n_texts = c;
    TRY(weft_vector_make(run->base.device, n, &column, &memory, error));
    for (int k = 0; k < c; ++k) {
        const bool is_constant = weft_formula_constant(list[k], &constant);
        if (!is_constant)
            TRY(weft_space_evaluate(&run->base.context, run->base.space, list[k], "--initial",
                                    memory, column, error));
        for (int64_t i = 0; i < n; ++i) {
            const double value = is_constant ? constant : column[i];
            if (!isfinite(value) && !run->base.is_null)
                TRY(weft_formula_refuse(run->base.space, list[k], "--initial", i, error));
            run->base.u_values[i * c + k] = value;
        }
    }
done:
    weft_memory_free(&memory);
    free(column);
    app_free_list(&list, n_texts);
    return status;
}

static weft_status make_parts(solve *run, weft_error *error) {
    const solve_script *script = &run->script;
    run->time.parts = calloc((size_t)script->n_parts, sizeof *run->time.parts);
    if (!run->time.parts)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < script->n_parts; ++i) {
        solve_part *part = &script->parts[i];
        if (!part->has_matrix)
            solve_form_of(run, part, &part->bound);
        run->time.parts[i] =
            (weft_transient_part){.form = &part->bound.form,
                                  .matrix = part->has_matrix ? script->matrix : NULL,
                                  .mass = i == 0 ? script->mass : NULL,
                                  .vector = part->has_vector ? script->vector : NULL};
    }
    return WEFT_OK;
}

weft_status solve_time_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_time_options *time = &run->options->time;
    TRY(make_initial(run, error));
    TRY(weft_vector_push(run->base.u, run->base.u_values, run->n_dofs, error));
    TRY(weft_memory_make(run->base.device, sizeof(double), &run->time.t, error));
    TRY(run->problem->form_make(run, error));
    TRY(make_parts(run, error));
    const weft_transient_problem problem = {.space = run->base.space,
                                            .bc = run->base.bc,
                                            .parts = run->time.parts,
                                            .n_parts = run->script.n_parts,
                                            .is_nonlinear = run->options->nonlinear,
                                            .scheme = time->scheme,
                                            .theta = time->theta,
                                            .u = run->base.u,
                                            .time = run->time.t,
                                            .assembly = run->base.assembly,
                                            .mass_assembly = run->base.assembly,
                                            .solver = app_run_solver_options(&run->base),
                                            .preconditioner = run->base.options->preconditioner,
                                            .hierarchy = run->base.mesh_made.hierarchy,
                                            .smoother_degree = run->base.options->smoother_degree};
    TRY(weft_transient_make(&run->base.context, &problem, &run->time.transient, error));
    run->time.n_steps = (int64_t)ceil(time->end / time->dt * (1 - 1e-9));
done:
    return status;
}

void solve_time_clear(solve *run) {
    (void)weft_series_close(&run->time.series, NULL); /* after an error; else it is closed */
    weft_transient_free(&run->time.transient);
    free(run->time.parts);
    weft_memory_free(&run->time.t);
}

/* ---- the steps ------------------------------------------------------------------------------- */

static weft_status pull(solve *run, weft_error *error) {
    return weft_vector_pull(run->base.u, run->base.u_values, run->n_dofs, error);
}

static bool is_due(const solve *run) {
    const int every = run->options->time.output_every;
    const int64_t step = run->time.state.step;
    return step == run->time.n_steps || (every > 0 && step % every == 0);
}

static weft_status series_open(solve *run, weft_error *error) {
    const weft_series_options options = series_options(run);
    if (!run->base.options->output)
        return WEFT_OK;
    return weft_series_make(run->base.options->output, run->base.mesh, &options,
                            &run->base.messages->monitor, &run->time.series, error);
}

static weft_status series_add(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    if (!run->time.series)
        return WEFT_OK;
    TRY(pull(run, error));
    TRY(weft_series_add(run->time.series, run->time.state.t, run->base.u_values, error));
done:
    run->base.seconds.output += weft_clock() - start;
    return status;
}

static void report(const solve *run, double start) {
    char phase[160], left[32];
    const weft_transient_state *state = &run->time.state;
    const double spent = weft_clock() - start, done = (double)state->step;
    snprintf(phase, sizeof phase, "step %" PRId64 ", t = %.4g, %.0f iterations a step, %s left",
             state->step, state->t, (double)state->all_iterations / done,
             app_print_seconds(spent / done * ((double)run->time.n_steps - done), left));
    weft_progress(&run->base.messages->monitor, phase, done, (double)run->time.n_steps);
}

/* The length of the next step: the last one may be shorter. */
static double next_step(const solve *run) {
    const solve_time_options *time = &run->options->time;
    const double left = time->end - run->time.state.t;
    const bool is_last = run->time.state.step + 1 == run->time.n_steps;
    return is_last && fabs(left - time->dt) > 1e-9 * time->dt ? left : time->dt;
}

weft_status solve_time_run(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double begin = weft_clock();
    TRY(series_open(run, error));
    TRY(series_add(run, error));
    while (run->time.state.step < run->time.n_steps &&
           run->time.state.outcome == WEFT_TRANSIENT_DONE) {
        const double start = weft_clock();
        TRY(weft_transient_step(run->time.transient, next_step(run), &run->time.state, error));
        run->base.seconds.solve += weft_clock() - start;
        if (run->time.state.outcome == WEFT_TRANSIENT_DONE) {
            report(run, begin);
            if (is_due(run))
                TRY(series_add(run, error));
        }
    }
    TRY(pull(run, error));
    TRY(weft_series_close(&run->time.series, error));
done:
    return status;
}
