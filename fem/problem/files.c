/* Writes the series and the checkpoints of a problem in time when they are due, and continues from a checkpoint. */
#include "fem/problem/files.h"
#include "core/base/options.h"
#include "fem/io/result.h"
#include "fem/problem/problem.h"
#include "fem/problem/state.h"
#include "fem/time/ranks.h"

#include <math.h>
#include <stdlib.h>

static const double OUTPUTS_MOST = 1e9;

/* ---- when they are due ----------------------------------------------------------------------- */

/* Steps of this length in a time, the last of which may be shorter. */
static double count(double time, double dt) {
    return ceil(time / dt * (1 - 1e-9));
}

/* The most steps of the series after the first. */
static double count_outputs(const weft_problem_files_options *options,
                            const weft_transient_problem *settings) {
    const double time = settings->end - settings->start;
    const double by_time = options->output_interval > 0 ? count(time, options->output_interval) : 0;
    const double by_steps =
        options->output_every > 0 ? count(time, settings->dt) / options->output_every + by_time : 0;
    return by_time + by_steps + 1;
}

static bool is_at(const weft_problem_files *files, double t) {
    return fabs(files->state->t - t) <= 1e-9 * files->problem->steps.settings.dt;
}

/* The time of the next output by time, or the end. */
static double until(const weft_problem_files *files) {
    const weft_transient_problem *settings = &files->problem->steps.settings;
    const double interval = files->options->output_interval;
    const double next = settings->start + (double)(files->n_outputs + 1) * interval;
    return interval > 0 && next < settings->end * (1 - 1e-9) ? next : settings->end;
}

static bool is_multiple(int64_t step, int every) {
    return every > 0 && step % every == 0;
}

/* Is the present state one of the series? n_outputs are those up to it. */
static bool is_output(const weft_problem_files *files) {
    const weft_problem_files_options *options = files->options;
    const weft_transient_problem *settings = &files->problem->steps.settings;
    const double at = settings->start + (double)files->n_outputs * options->output_interval;
    return files->state->step == 0 || (options->output_interval > 0 && is_at(files, at)) ||
           is_multiple(files->state->step, options->output_every) || is_at(files, settings->end);
}

weft_series_options weft_problem_files_series(const weft_problem_files_options *options,
                                              const weft_transient_problem *settings,
                                              const weft_transient_state *state) {
    return (weft_series_options){.size = sizeof(weft_series_options),
                                 .problem = "",
                                 .statement = options->statement,
                                 .n_steps = (int64_t)count_outputs(options, settings),
                                 .at_start = true,
                                 .start = state->t,
                                 .end = settings->end,
                                 .resume = options->resume != NULL,
                                 .overwrite = options->overwrite};
}

/* ---- make ------------------------------------------------------------------------------------ */

static weft_status refuse_same(const char *option, const char *what, const char *path,
                               weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s would write over %s, %s", option, what, path);
    weft_error_hint(error, "give %s another name", option);
    return WEFT_ERROR_USAGE;
}

static weft_status check_names(const weft_problem_files *files, weft_error *error) {
    const weft_problem_files_options *o = files->options;
    const char *mesh = files->problem->mesh->source;
    if (weft_same_file(o->checkpoint, mesh))
        return refuse_same("--checkpoint", "the mesh", mesh, error);
    if (weft_same_file(o->output, mesh))
        return refuse_same("--output", "the mesh", mesh, error);
    if (weft_same_file(o->output, o->resume))
        return refuse_same("--output", "the file of --resume", o->resume, error);
    if (weft_same_file(o->output, o->checkpoint))
        return refuse_same("--output", "the file of --checkpoint", o->checkpoint, error);
    return WEFT_OK;
}

static weft_status check(const weft_problem_files *files, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_files_options *o = files->options;
    const weft_transient_problem *settings = &files->problem->steps.settings;
    if (settings->tolerance > 0 && o->output_every > 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              "with a tolerance in time the number of steps is not known",
                              "write the series by output_interval, an interval of time"));
    if (o->output && count_outputs(o, settings) > OUTPUTS_MOST)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "more than 1e9 outputs are too many",
                              "write fewer of the steps"));
    TRY(check_names(files, error));
    if (o->checkpoint) {
        TRY(weft_state_check_name(o->checkpoint, error));
        TRY(weft_result_check(o->checkpoint, error));
    }
    if (o->output) {
        const weft_series_options series = weft_problem_files_series(o, settings, files->state);
        TRY(weft_series_check(o->output, &series, error));
    }
done:
    return status;
}

/* Is the integrator divided among ranks? */
static bool is_divided(const weft_problem_files *files) {
    return weft_transient_comm(files->transient) != NULL;
}

/* Are the files this process's? Of several ranks they are those of the first one. */
static bool has_files(const weft_problem_files *files) {
    return weft_comm_rank(weft_transient_comm(files->transient)) == 0;
}

/* The state with its numbers, [WEFT_TRANSIENT_NUMBERS]. */
static weft_state state_of(const weft_problem_files *files, double *numbers) {
    weft_state state = {.problem = files->stated,
                        .step = files->state->step,
                        .n_dofs = files->problem->fields.n_dofs,
                        .divided = weft_transient_divided(files->transient),
                        .spaces = has_files(files) ? files->problem->fields.spaces : NULL,
                        .numbers = numbers,
                        .n_numbers = WEFT_TRANSIENT_NUMBERS};
    state.n = weft_transient_lists(files->transient, state.names, state.memories);
    return state;
}

static weft_status refuse_later(const weft_problem_files *files, double t, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "the checkpoint was written at t = %g, and the run ends at t = %g", t,
                   files->problem->steps.settings.end);
    weft_error_location(error, files->options->resume, NULL, 0, 0);
    weft_error_hint(error, "raise END of --time DT,END: it counts from t = 0");
    return WEFT_ERROR_USAGE;
}

static weft_status resume(weft_problem_files *files, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *settings = &files->problem->steps.settings;
    const weft_problem_files_options *options = files->options;
    double numbers[WEFT_TRANSIENT_NUMBERS];
    weft_state state = state_of(files, numbers);
    if (!options->resume)
        goto done;
    TRY(weft_state_read(&state, options->resume, files->problem->mesh, error));
    TRY(weft_transient_resume(files->transient, numbers, files->state, error));
    if (files->state->t > settings->end * (1 + 1e-9))
        TRY(refuse_later(files, files->state->t, error));
    files->kept_step = files->state->step;
    if (options->output_interval > 0)
        files->n_outputs =
            (int64_t)((files->state->t - settings->start) / options->output_interval * (1 + 1e-9));
done:
    return status;
}

static weft_status state_problem(weft_problem_files *files, weft_error *error) {
    const weft_problem *problem = files->problem;
    const weft_stated_parts parts = {.stated = &problem->stated,
                                     .forms = &problem->forms,
                                     .previous = problem->names.previous,
                                     .fields = &problem->fields,
                                     .declared = &problem->declared,
                                     .settings = &problem->steps.settings,
                                     .tolerance = problem->system.linear.options->tolerance};
    return weft_stated_write(&parts, &files->stated, error);
}

weft_status weft_problem_files_make(weft_problem *problem, weft_transient *transient,
                                    const weft_problem_files_options *options,
                                    weft_transient_state *state, weft_problem_files **out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_files *files = NULL;
    TRY(weft_options_check("weft_problem_files_options", options->size, sizeof *options, error));
    files = calloc(1, sizeof *files);
    if (!files)
        TRY(weft_out_of_memory(error, NULL));
    *files = (weft_problem_files){
        .problem = problem, .transient = transient, .options = options, .state = state};
    if (weft_records_only(problem->context)) { /* nothing is written */
        files->has_ended = true;
    } else {
        if (has_files(files))
            TRY(check(files, error));
        TRY(state_problem(files, error));
        TRY(resume(files, error));
    }
    *out = files;
    files = NULL;
done:
    weft_problem_files_free(&files);
    return status;
}

void weft_problem_files_free(weft_problem_files **files) {
    if (!files || !*files)
        return;
    (void)weft_problem_series_close(&(*files)->series, NULL);
    weft_text_free(&(*files)->stated);
    free(*files);
    *files = NULL;
}

/* ---- write ----------------------------------------------------------------------------------- */

/* u on the host, without the means of open components */
static weft_status pull(const weft_problem_files *files, weft_error *error) {
    const double *values = NULL;
    return weft_problem_pull(files->problem, &values, error);
}

static weft_status add_output(weft_problem_files *files, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solution u;
    if (!files->series.series)
        goto done;
    TRY(pull(files, error));
    u = weft_problem_solution(files->problem);
    TRY(weft_problem_series_add(&u, &files->series, files->state->t, error));
done:
    return status;
}

static weft_status write_checkpoint(weft_problem_files *files, weft_error *error) {
    weft_status status = WEFT_OK;
    double numbers[WEFT_TRANSIENT_NUMBERS];
    const weft_state state = state_of(files, numbers);
    if (!is_divided(files))
        TRY(pull(files, error));
    weft_transient_numbers(files->transient, numbers);
    TRY(weft_state_write(&state, files->options->checkpoint, files->problem->mesh, error));
    files->kept_step = state.step;
done:
    return status;
}

weft_status weft_problem_files_begin(weft_problem_files *files, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_series_options series =
        weft_problem_files_series(files->options, &files->problem->steps.settings, files->state);
    const bool is_due = is_output(files);
    weft_solution u;
    if (!files->options->output || files->has_ended)
        goto done;
    series.problem = files->stated.data;
    series.at_start = is_due;
    u = weft_problem_solution(files->problem);
    TRY(weft_problem_series_make(&u, files->options->output, &series, &files->series, error));
    if (is_due)
        TRY(add_output(files, error));
done:
    return status;
}

double weft_problem_files_before(weft_problem_files *files) {
    if (files->state->step > 0 && files->state->step == files->kept_step)
        weft_transient_forget(files->transient);
    return until(files);
}

bool weft_problem_files_due(const weft_problem_files *files) {
    return is_at(files, until(files)) ||
           is_multiple(files->state->step, files->options->output_every);
}

bool weft_problem_files_keeps(const weft_problem_files *files) {
    return files->options->checkpoint && !files->has_ended &&
           is_multiple(files->state->step, files->options->checkpoint_every);
}

weft_status weft_problem_files_after(weft_problem_files *files, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_due = weft_problem_files_due(files);
    if (files->has_ended)
        goto done;
    if (is_at(files, until(files)))
        files->n_outputs += 1;
    if (is_due)
        TRY(add_output(files, error));
    if (weft_problem_files_keeps(files))
        TRY(write_checkpoint(files, error));
done:
    return status;
}

weft_status weft_problem_files_end(weft_problem_files *files, weft_error *error) {
    weft_status status = WEFT_OK;
    if (files->has_ended)
        goto done;
    files->has_ended = true;
    if (files->options->checkpoint && files->state->step > files->kept_step)
        TRY(write_checkpoint(files, error));
    TRY(weft_problem_series_close(&files->series, error));
done:
    return status;
}
