/** What programs in time share besides the steps: their files, checkpoints and progress. */
#pragma once

#include "apps/common/files.h"
#include "apps/common/run.h"

/** Check the names of all files, and claim those that are written.
 *  series  of --output
 *  Errors  those of app_files_check, weft_series_check, weft_result_check and app_file_check; WEFT_ERROR_USAGE: the
 *          name of a checkpoint does not end in .vtkhdf */
weft_status app_time_check(const app_run *run, const char *script, const app_time_options *options,
                           const weft_series_options *series, weft_error *error);
/** Append conditions as options, for what a continued run must share with the original. */
void app_conditions_write(const app_conditions *conditions, weft_text *out);

enum { APP_STATE_LISTS = 16 };
/** What one step passes to the next. */
typedef struct app_state {
    weft_text problem; /* what a continued run must share with the original; app_state_clear */
    int64_t step;
    int n; /* lists */
    const char *names[APP_STATE_LISTS];
    weft_memory *memories[APP_STATE_LISTS];
    int64_t n_dofs; /* of each list */
    double *
        numbers; /* [n_numbers], borrowed; NULL: none, and the lists are nodal fields, which ParaView shows */
    int64_t n_numbers;
} app_state;
void app_state_clear(app_state *state);
/** Write a checkpoint, or continue from one, which sets step, lists and numbers.
 *  Errors  those of weft_checkpoint_write or weft_checkpoint_read; WEFT_ERROR_MEMORY */
weft_status app_state_write(const app_state *state, const char *path, const weft_mesh *mesh,
                            weft_error *error);
weft_status app_state_read(app_state *state, const char *path, const weft_mesh *mesh,
                           weft_error *error);

/** Of a run that continues from a checkpoint: keep its automatic choices.
 *  path    of the checkpoint; NULL: no effect
 *  Errors  those of weft_checkpoint_problem; the preconditioner is not known */
weft_status app_resume_choices(const char *path, weft_problem_options *options, weft_error *error);

/** Where a run is: since the first step of this process. */
typedef struct app_progress {
    int64_t step;
    double t, first_t, end;
    double iterations; /* per step, on average */
    double seconds;
} app_progress;
/** "step 80, t = 0.4, 88 iterations a step, 12 s left" */
void app_progress_show(const weft_monitor *monitor, const app_progress *progress);
