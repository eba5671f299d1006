/** What programs in time share besides the steps: their files and progress. */
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

/** Where a run is: since the first step of this process. */
typedef struct app_progress {
    int64_t step;
    double t, first_t, end;
    double iterations; /* per step, on average */
    double seconds;
} app_progress;
/** "step 80, t = 0.4, 88 iterations a step, 12 s left" */
void app_progress_show(const weft_monitor *monitor, const app_progress *progress);
