/* Solves the script's problem in time: makes the steps, with their output. */
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/solve/solve.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---------------------------------------------------------------------------------- */

/* Steps of length --time between 0 and t, the last of which may be shorter. */
static double count(double t, double dt) {
    return ceil(t / dt * (1 - 1e-9));
}

/* The most steps of the series after the first. */
static int64_t count_outputs(const solve_time_options *o) {
    const double by_time = o->output_interval > 0 ? count(o->end, o->output_interval) : 0;
    const double by_steps =
        o->files.output_every > 0 ? count(o->end, o->dt) / o->files.output_every + by_time : 0;
    return (int64_t)(by_time + by_steps) + 1;
}

/* Where a step must end: at the next output by time, or the end. */
static double until(const solve *run) {
    const solve_time_options *time = &run->options->time;
    const double next = (double)(run->time.n_outputs + 1) * time->output_interval;
    return time->output_interval > 0 && next < time->end * (1 - 1e-9) ? next : time->end;
}

static bool is_at(const solve *run, double t) {
    return fabs(run->time.state.t - t) <= 1e-9 * run->options->time.dt;
}

/* Is the present step written to the series? n_outputs are those before it, or include it. */
static bool is_output_due(const solve *run) {
    const solve_time_options *time = &run->options->time;
    const double outputs = (double)run->time.n_outputs * time->output_interval;
    return (time->output_interval > 0 && is_at(run, outputs)) ||
           (time->files.output_every > 0 && run->time.state.step % time->files.output_every == 0) ||
           is_at(run, time->end);
}

static weft_series_options series_options(const solve *run) {
    return (weft_series_options){.size = sizeof(weft_series_options),
                                 .problem = "",
                                 .n_steps = count_outputs(&run->options->time),
                                 .at_start = run->time.state.step == 0 || is_output_due(run),
                                 .start = run->time.state.t,
                                 .end = run->options->time.end,
                                 .resume = run->options->time.files.resume != NULL,
                                 .overwrite = run->options->time.files.overwrite};
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
    const weft_series_options series = series_options(run);
    if (options->run.solver.until_discretisation)
        TRY(refuse_option("--until", "leave out --until discretisation", error));
    if (options->newton.load_steps > 1)
        TRY(refuse_option("--load-steps", "let the conditions depend on t", error));
    TRY(app_time_check(&run->base, options->script, &options->time.files, &series, error));
done:
    return status;
}

/* ---- own schemes ----------------------------------------------------------------------------- */

bool solve_time_is_own(const solve *run) {
    return run->base.problem->names.previous != NULL;
}

static weft_status refuse_scheme(weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "a script with a scheme of its own takes no other one");
    weft_error_location(error, "--scheme", NULL, 0, 0);
    weft_error_hint(error, "leave out --scheme, or write a script that makes a mass matrix");
    return WEFT_ERROR_USAGE;
}

static weft_status check_own(const solve *run, weft_error *error) {
    if (!solve_time_is_own(run))
        return WEFT_OK;
    if (run->options->time.tolerance > 0)
        return refuse_option("--time-tolerance",
                             "the errors of a script's own scheme are not known", error);
    return run->options->time.scheme != solve_time_options_default().scheme ? refuse_scheme(error)
                                                                            : WEFT_OK;
}

/* ---- the problem in time ---------------------------------------------------------------------- */

weft_status solve_time_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_time_options *time = &run->options->time;
    if (run->options->initial)
        TRY(weft_problem_set_initial(run->base.problem, run->options->initial, "--initial", error));
    TRY(weft_vector_push(run->base.problem->system.u, run->base.problem->system.u_values,
                         run->base.problem->fields.n_dofs, error));
    TRY(check_own(run, error));
    TRY(weft_problem_start_step(run->base.problem, time->dt, error));
    TRY(run->program->form_make(run, error));
    const weft_transient_problem settings = {.scheme = time->scheme,
                                             .theta = time->theta,
                                             .end = time->end,
                                             .dt = time->dt,
                                             .tolerance = time->tolerance,
                                             .newton_tolerance = run->options->newton.tolerance,
                                             .newton_iterations = run->options->newton.iterations};
    TRY(weft_problem_integrate(run->base.problem, &settings, &run->time.transient, error));
    run->time.first = run->base.problem->system.linear.choice;
    TRY(solve_resume(run, error));
done:
    return status;
}

void solve_time_clear(solve *run) {
    (void)weft_problem_series_close(&run->time.series,
                                    NULL); /* after an error; else it is closed */
    weft_transient_free(&run->time.transient);
    app_history_close(&run->time.history);
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* u on the host, without the means of open components */
static weft_status pull(const solve *run, weft_error *error) {
    const double *values = NULL;
    return weft_problem_pull(run->base.problem, &values, error);
}

static weft_status series_open(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text problem = {0};
    weft_series_options options = series_options(run);
    weft_solution u;
    if (!run->base.options->output)
        goto done;
    solve_problem_write(run, &problem);
    if (problem.failed)
        TRY(weft_out_of_memory(error, NULL));
    options.problem = problem.data;
    options.statement = run->base.statement;
    u = weft_problem_solution(run->base.problem);
    TRY(weft_problem_series_make(&u, run->base.options->output, &options, &run->time.series,
                                 error));
done:
    weft_text_free(&problem);
    return status;
}

static weft_status series_add(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    weft_solution u;
    if (!run->time.series.series)
        goto done;
    TRY(pull(run, error));
    u = weft_problem_solution(run->base.problem);
    TRY(weft_problem_series_add(&u, &run->time.series, run->time.state.t, error));
    run->base.seconds.output += weft_clock() - start;
done:
    return status;
}

static weft_status history_add(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    if (!run->time.history.path)
        goto done;
    TRY(pull(run, error));
    TRY(app_run_measure_probes(&run->base, error));
    if (run->base.derive)
        TRY(weft_derive_run(run->base.derive, run->time.state.t, error));
    TRY(app_history_add(&run->time.history, &run->base,
                        &(app_history_row){.t = run->time.state.t,
                                           .symbol = "u",
                                           .resumes = run->options->time.files.resume != NULL,
                                           .probes = run->base.probes,
                                           .components = run->base.problem->fields.n_values},
                        error));
    run->base.seconds.measure += weft_clock() - start;
done:
    return status;
}

static void report(const solve *run, double start) {
    const weft_transient_state *state = &run->time.state;
    const app_progress progress = {.step = state->step,
                                   .t = state->t,
                                   .first_t = run->time.first_t,
                                   .end = run->options->time.end,
                                   .iterations =
                                       (double)state->all_iterations / (double)state->step,
                                   .seconds = weft_clock() - start};
    app_progress_show(run->base.monitor, &progress);
}

/* One step: of the length that is given, unless it would end later than it may. After a checkpoint
 * the preconditioner is set up again, as by a run that resumes; until then reports name it. */
static weft_status step(solve *run, weft_error *error) {
    const solve_time_options *time = &run->options->time;
    if (run->time.state.step > 0 && run->time.state.step == run->time.kept_step)
        weft_transient_forget(run->time.transient);
    const double left = until(run) - run->time.state.t;
    const double dt = left < time->dt * (1 - 1e-9) ? left : time->dt;
    return time->tolerance > 0
               ? weft_transient_advance(run->time.transient, until(run), &run->time.state, error)
               : weft_transient_step(run->time.transient, dt, &run->time.state, error);
}

/* Write and measure after a step, where it is due. */
static weft_status attend(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const int every = run->options->time.files.output_every,
              rows = run->options->time.files.history_every;
    const bool is_due = is_at(run, until(run));
    if (is_due)
        run->time.n_outputs += 1;
    if (is_due || (every > 0 && run->time.state.step % every == 0))
        TRY(series_add(run, error));
    if (run->time.state.step % (rows > 0 ? rows : 1) == 0 || is_at(run, run->options->time.end))
        TRY(history_add(run, error));
    if (run->options->time.files.checkpoint_every > 0 &&
        run->time.state.step % run->options->time.files.checkpoint_every == 0) {
        TRY(pull(run, error));
        TRY(solve_checkpoint_write(run, error));
    }
done:
    return status;
}

/* What the steps after the first one were solved with. */
static void report_preconditioner(solve *run, int64_t first) {
    run->base.preconditioner_in_time = weft_transient_preconditioner(run->time.transient);
    if (run->time.state.step > first && !run->base.preconditioner_in_time &&
        run->base.problem->system.linear.choice.preconditioner >= 0)
        (void)snprintf(
            run->base.problem->system.linear.choice.preconditioner_reason,
            sizeof run->base.problem->system.linear.choice.preconditioner_reason,
            "%s refuses the matrix",
            weft_preconditioner_about(run->base.problem->system.linear.choice.preconditioner)
                ->name);
}

weft_status solve_time_run(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double begin = weft_clock();
    const int64_t first = run->time.state.step;
    run->time.first_t = run->time.state.t;
    run->time.history.path = run->options->time.files.history;
    app_stop_catch();
    TRY(series_open(run, error));
    if (run->time.state.step == 0 || is_output_due(run))
        TRY(series_add(run, error));
    TRY(history_add(run, error));
    while (!is_at(run, run->options->time.end) && run->time.state.outcome == WEFT_TRANSIENT_DONE &&
           !app_stop_caught()) {
        const double start = weft_clock();
        TRY(step(run, error));
        run->base.seconds.solve += weft_clock() - start;
        if (run->time.state.outcome != WEFT_TRANSIENT_DONE)
            break;
        report(run, begin);
        TRY(attend(run, error));
    }
    run->time.stopped = app_stop_caught();
    run->base.problem->system.linear.cg.outcome =
        run->time.state.outcome == WEFT_TRANSIENT_DONE     ? WEFT_CG_CONVERGED
        : run->time.state.outcome == WEFT_TRANSIENT_SOLVER ? run->time.state.solver
                                                           : WEFT_CG_STAGNATION;
    run->base.problem->system.linear.cg.iterations = (int)run->time.state.all_iterations;
    run->base.problem->newton.converged =
        run->options->nonlinear && run->time.state.outcome == WEFT_TRANSIENT_DONE;
    run->base.problem->system.linear.cg.residual = NAN;
    TRY(pull(run, error));
    report_preconditioner(run, first);
    if (run->options->time.files.checkpoint && run->time.state.step > run->time.kept_step)
        TRY(solve_checkpoint_write(run, error));
    TRY(weft_problem_series_close(&run->time.series, error));
done:
    app_stop_release();
    return status;
}
