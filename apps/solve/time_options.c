/* Reads the options of problems in time. */
#include "apps/solve/time.h"

#include <math.h>
#include <string.h>

enum { STEPS_MOST = 1000000000 };

/* DT,END */
static weft_status read_time(const app_option *row, const char *option, const char *text, void *at,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    solve_time_options *o = at;
    char *dt = NULL, *end = NULL;
    (void)row;
    TRY(app_split_comma(option, text, "DT,END", &dt, &end, error));
    TRY(app_parse_number(option, dt, 0, 1e300, &o->dt, error));
    TRY(app_parse_number(option, end, 0, 1e300, &o->end, error));
    if (!(o->dt > 0) || !(o->end > 0)) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "%s of 0",
                                o->dt > 0 ? "an end" : "a time step");
        weft_error_location(error, option, text, 1, 1);
        weft_error_hint(error, "write --time DT,END: steps of length DT from t = 0 to END");
        goto done;
    }
    o->text = text;
done:
    free(dt);
    free(end);
    return status;
}

static weft_status read_scheme(const app_option *row, const char *option, const char *text,
                               void *at, weft_error *error) {
    (void)row;
    const weft_status status = weft_time_scheme_find(text, at, error);
    if (status != WEFT_OK)
        weft_error_location(error, option, text, 1, 1);
    return status;
}

const app_option solve_time_option_table[] = {
    {.help = "Time:"},
    {"time", "DT,END",
     "Solve M du/dt + K u = b, or with --nonlinear M du/dt + r(u) = 0, in steps of length DT from "
     "t = 0 to END. The script makes the local matrix M too; its input t is the time, and "
     "conditions may use t",
     .read = read_time, .is_joined = true},
    {"scheme", "NAME", "{time schemes}; all are stable for steps of any length",
     APP_BY(read_scheme, solve_time_options, scheme)},
    {"theta", "THETA",
     "Weight of the new time in the theta scheme: 0.5 (default) is Crank-Nicolson, of order 2, 1 "
     "implicit Euler, of order 1",
     APP_NUMBER(solve_time_options, theta, 0.5, 1)},
    {"time-tolerance", "T",
     "Choose the length of steps, the first of which is DT, so that their errors add up to T times "
     "the largest u, both measured by sqrt(u.M u)",
     APP_NUMBER(solve_time_options, tolerance, 0, 1)},
    {"previous", "NAME",
     "Name of the input that is u at the start of a step, in scripts and form files with a scheme "
     "of their "
     "own, which make no mass matrix (default u_old); their input dt is the length of a step",
     APP_TEXT(solve_time_options, previous)},
    {"output-every", "N",
     "Write a time series, NAME.pvd or NAME.vtkhdf, to --output after every N steps (default: only "
     "at the start and the end)",
     APP_INTEGER(solve_time_options, files.output_every, 1, STEPS_MOST)},
    {"output-interval", "DT", "The same after every interval of time, at whose ends steps end",
     APP_NUMBER(solve_time_options, output_interval, 0, 1e300)},
    {"overwrite", NULL, "Replace an existing series of --output",
     APP_FLAG(solve_time_options, files.overwrite, true)},
    {"checkpoint", "FILE.vtkhdf", "Write the state for --resume",
     APP_TEXT(solve_time_options, files.checkpoint)},
    {"checkpoint-every", "N", "Write it after every N steps too (default: only at the end)",
     APP_INTEGER(solve_time_options, files.checkpoint_every, 1, STEPS_MOST)},
    {"resume", "FILE.vtkhdf",
     "Continue from a checkpoint, and continue --output and --history; with unchanged other "
     "options the result is bitwise that of an uninterrupted run",
     APP_TEXT(solve_time_options, files.resume)},
    {"history", "FILE.csv",
     "Write u at the probes, and --integral and --extrema, after each step while the run goes",
     APP_TEXT(solve_time_options, files.history)},
    {"history-every", "N", "Write to --history after every N steps (default 1)",
     APP_INTEGER(solve_time_options, files.history_every, 1, STEPS_MOST)},
    {0}};

solve_time_options solve_time_options_default(void) {
    return (solve_time_options){.scheme = weft_time_scheme_default(),
                                .theta = 0.5,
                                .previous = "u_old",
                                .files = {.resume_option = "--resume"}};
}

/* Options that need --time. */
static weft_status check_rests(const solve_time_options *o, weft_error *error) {
    const solve_time_options defaults = solve_time_options_default();
    const char *without = o->files.output_every > 0                     ? "--output-every"
                          : o->output_interval > 0                      ? "--output-interval"
                          : o->files.history                            ? "--history"
                          : o->files.checkpoint                         ? "--checkpoint"
                          : o->files.checkpoint_every > 0               ? "--checkpoint-every"
                          : o->files.resume                             ? "--resume"
                          : o->tolerance > 0                            ? "--time-tolerance"
                          : o->files.history_every > 0                  ? "--history-every"
                          : o->scheme != defaults.scheme                ? "--scheme"
                          : o->theta != defaults.theta                  ? "--theta"
                          : o->files.overwrite                          ? "--overwrite"
                          : strcmp(o->previous, defaults.previous) != 0 ? "--previous"
                                                                        : NULL;
    if (!without)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s is for problems in time", without);
    weft_error_location(error, without, NULL, 0, 0);
    weft_error_hint(error, "add --time DT,END, or leave it out");
    return WEFT_ERROR_USAGE;
}

static weft_status refuse(const char *option, const char *text, const char *what, const char *hint,
                          weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s", what);
    weft_error_location(error, option, text, text != NULL, text != NULL);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_USAGE;
}

weft_status solve_time_options_check(const solve_time_options *options, weft_error *error) {
    const double steps = options->end / options->dt;
    if (!options->text)
        return check_rests(options, error);
    if (options->dt > options->end * (1 + 1e-9))
        return refuse("--time", options->text, "the first step would end after the end",
                      "write --time DT,END, with the length of a step first", error);
    if (options->theta != solve_time_options_default().theta &&
        !weft_time_scheme_about(options->scheme)->takes_theta)
        return refuse("--theta", NULL, "--theta is for the scheme theta", "add --scheme theta",
                      error);
    if (options->tolerance > 0 && options->files.output_every > 0)
        return refuse("--output-every", NULL,
                      "with --time-tolerance the number of steps is not known",
                      "write --output-interval DT, an interval of time", error);
    if (options->files.checkpoint_every > 0 && !options->files.checkpoint)
        return refuse(NULL, NULL, "--checkpoint-every says when to write, but not where",
                      "add --checkpoint FILE.vtkhdf", error);
    if (options->output_interval > 0 && options->end / options->output_interval > STEPS_MOST) {
        weft_error_set(error, WEFT_ERROR_USAGE, "%.3g outputs are too many",
                       options->end / options->output_interval);
        weft_error_location(error, "--output-interval", NULL, 0, 0);
        weft_error_hint(error, "give an interval of time with at most 1e9 outputs until END");
        return WEFT_ERROR_USAGE;
    }
    if (steps > STEPS_MOST) {
        weft_error_set(error, WEFT_ERROR_USAGE, "%.3g time steps are too many", steps);
        weft_error_location(error, "--time", options->text, 1, 1);
        weft_error_hint(error, "write --time DT,END, with at most 1e9 steps");
        return WEFT_ERROR_USAGE;
    }
    return WEFT_OK;
}
