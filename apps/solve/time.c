/* Solves the script's problem in time: makes the steps, with their output. */
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/solve/solve.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_at(const solve *run, double t) {
    return fabs(run->time.state.t - t) <= 1e-9 * run->options->time.dt;
}

static weft_transient_problem settings_of(const solve *run) {
    const solve_time_options *time = &run->options->time;
    return (weft_transient_problem){.scheme = time->scheme,
                                    .theta = time->theta,
                                    .end = time->end,
                                    .dt = time->dt,
                                    .tolerance = time->tolerance,
                                    .checkpoints = !run->options->gradient ? 0
                                                   : run->options->checkpoints > 0
                                                       ? run->options->checkpoints
                                                       : 100,
                                    .newton_tolerance = run->options->newton.tolerance,
                                    .newton_iterations = run->options->newton.iterations};
}

static weft_problem_files_options files_of(const solve *run) {
    const solve_time_options *time = &run->options->time;
    weft_problem_files_options files = weft_problem_files_options_default();
    files.output = run->base.options->output;
    files.output_every = time->files.output_every;
    files.output_interval = time->output_interval;
    files.overwrite = time->files.overwrite;
    files.statement = run->base.statement;
    files.checkpoint = time->files.checkpoint;
    files.checkpoint_every = time->files.checkpoint_every;
    files.resume = time->files.resume;
    return files;
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
    const weft_transient_problem settings = settings_of(run);
    const weft_problem_files_options files = files_of(run);
    const weft_series_options series =
        weft_problem_files_series(&files, &settings, &run->time.state);
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

weft_status solve_time_start(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->options->initial)
        TRY(weft_problem_set_initial(run->base.problem, run->options->initial, "--initial", error));
    TRY(weft_vector_push(run->base.problem->system.u, run->base.problem->system.u_values,
                         run->base.problem->fields.n_dofs, error));
    TRY(check_own(run, error));
    TRY(weft_problem_start_step(run->base.problem, run->options->time.dt, error));
    TRY(run->program->form_make(run, error));
done:
    return status;
}

/* The first rank writes the whole; others only count what is written. */
static weft_status make_files(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *part = run->base.problem;
    TRY(solve_whole_make(run, error));
    weft_problem *whole = solve_shown(run)->base.problem;
    if (whole != part) {
        whole->steps.settings = part->steps.settings;
        whole->stated.first = part->stated.first;
    }
    run->time.file_options = files_of(solve_shown(run));
    if (weft_comm_rank(run->comm) > 0)
        run->time.file_options.output = NULL;
    TRY(weft_problem_files_make(whole, run->time.transient, &run->time.file_options,
                                &run->time.state, &run->time.files, error));
done:
    return status;
}

weft_status solve_time_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem settings = settings_of(run);
    TRY(solve_time_start(run, error));
    TRY(weft_problem_integrate(run->base.problem, &settings, &run->time.transient, error));
    TRY(make_files(run, error));
done:
    return status;
}

void solve_time_clear(solve *run) {
    weft_problem_files_free(&run->time.files);
    weft_transient_free(&run->time.transient);
    app_history_close(&run->time.history);
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* u on the host, without the means of open components; all ranks call it */
static weft_status pull(const solve *run, weft_error *error) {
    const double *values = NULL;
    return weft_problem_pull(run->base.problem, &values, error);
}

/* On several ranks after solve_whole_update, which has pulled u. */
static weft_status history_add(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    app_run *shown = &solve_shown(run)->base;
    if (!run->time.history.path)
        goto done;
    if (!run->comm)
        TRY(pull(run, error));
    TRY(app_run_measure_probes(shown, error));
    if (shown->derive)
        TRY(weft_derive_run(shown->derive, run->time.state.t, error));
    TRY(app_history_add(&run->time.history, shown,
                        &(app_history_row){.t = run->time.state.t,
                                           .symbol = "u",
                                           .resumes = run->options->time.files.resume != NULL,
                                           .probes = shown->probes,
                                           .components = shown->problem->fields.n_values},
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

/* One step: of the length that is given, unless it would end later than it may. */
static weft_status step(solve *run, weft_error *error) {
    const solve_time_options *time = &run->options->time;
    const double end = weft_problem_files_before(run->time.files);
    const double left = end - run->time.state.t;
    const double dt = left < time->dt * (1 - 1e-9) ? left : time->dt;
    return time->tolerance > 0
               ? weft_transient_advance(run->time.transient, end, &run->time.state, error)
               : weft_transient_step(run->time.transient, dt, &run->time.state, error);
}

static weft_status write_files(solve *run,
                               weft_status (*write)(weft_problem_files *files, weft_error *error),
                               weft_error *error) {
    const double start = weft_clock();
    const weft_status status = write(run->time.files, error);
    run->base.seconds.output += weft_clock() - start;
    return status;
}

/* Write and measure after a step, where it is due. */
static weft_status attend(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const int rows = run->options->time.files.history_every;
    const bool adds_row =
        run->time.state.step % (rows > 0 ? rows : 1) == 0 || is_at(run, run->options->time.end);
    if ((adds_row && run->options->time.files.history) ||
        (run->options->run.output && weft_problem_files_due(run->time.files)))
        TRY(solve_whole_update(run, error));
    else if (run->comm && weft_problem_files_keeps(run->time.files))
        TRY(pull(run, error));
    if (adds_row)
        TRY(history_add(run, error));
    TRY(write_files(run, weft_problem_files_after, error));
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
    if (weft_comm_rank(run->comm) == 0)
        run->time.history.path = run->options->time.files.history;
    if (app_rank_is_signalled(run->comm))
        app_stop_catch();
    TRY(solve_whole_update(run, error));
    TRY(write_files(run, weft_problem_files_begin, error));
    TRY(history_add(run, error));
    TRY(app_ranks_stop(run->comm, &run->time.stopped, error));
    while (!is_at(run, run->options->time.end) && run->time.state.outcome == WEFT_TRANSIENT_DONE &&
           !run->time.stopped) {
        const double start = weft_context_clock(&run->base.context);
        TRY(step(run, error));
        run->base.seconds.solve += weft_context_clock(&run->base.context) - start;
        if (run->time.state.outcome != WEFT_TRANSIENT_DONE)
            break;
        report(run, begin);
        TRY(attend(run, error));
        TRY(app_ranks_stop(run->comm, &run->time.stopped, error));
    }
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
    TRY(write_files(run, weft_problem_files_end, error));
done:
    if (app_rank_is_signalled(run->comm))
        app_stop_release();
    return status;
}
