/** Problems in time: options and state of --time. */
#pragma once

#include "apps/common/history.h"
#include "apps/common/in_time.h"
#include "fem/problem/files.h"

struct solve;

typedef struct solve_time_options {
    const char *text; /* of --time; NULL: the problem is stationary */
    double dt, end;
    weft_time_scheme scheme;
    double theta;
    const char *previous;   /* name of the input of own schemes */
    double output_interval; /* of time; 0: not by time */
    double tolerance;       /* of the error; 0: equal steps */
    app_time_options files;
} solve_time_options;
solve_time_options solve_time_options_default(void);
/** Rows of a solve_time_options. */
extern const app_option solve_time_option_table[];
/** Refuse options that contradict each other.
 *  Errors  WEFT_ERROR_USAGE */
weft_status solve_time_options_check(const solve_time_options *options, weft_error *error);

/** State of a run in time. */
typedef struct solve_time {
    weft_transient *transient;
    weft_transient_state state;
    weft_transient_outcome outcome;
    weft_problem_files_options file_options;
    weft_problem_files *files; /* of --output, --checkpoint and --resume */
    app_history history;
    double first_t; /* at which this process starts */
    int stopped;    /* the signal that requested the stop, or 0 */
} solve_time;

/** Does the script or form file have its own scheme? */
bool solve_time_is_own(const struct solve *run);
/** Check the names of output files, and refuse what cannot be in time.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_UNSUPPORTED, WEFT_ERROR_IO */
weft_status solve_time_check(const struct solve *run, weft_error *error);
/** Set u to the initial values and make the form: the first part of solve_time_make. */
weft_status solve_time_start(struct solve *run, weft_error *error);
/** Make the weft_transient from the form, conditions and initial values. (apps/solve/time.c) */
weft_status solve_time_make(struct solve *run, weft_error *error);
/** Make all steps, with output. */
weft_status solve_time_run(struct solve *run, weft_error *error);
void solve_time_clear(struct solve *run);
/** Print and write what the steps took. (apps/solve/time_report.c) */
void solve_time_print(const struct solve *run);
bool solve_time_json(json_t *root, const struct solve *run);
/** Report a failed step to stderr; returns the exit code. */
int solve_time_report(const struct solve *run);
