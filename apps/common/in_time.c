/* Checks the files of a run in time, and shows its progress. */
#include "apps/common/in_time.h"
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "fem/problem/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

weft_status app_time_check(const app_run *run, const char *script, const app_time_options *options,
                           const weft_series_options *series, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *checkpoint = options->checkpoint, *output = run->options->output;
    TRY(app_files_check(run->options, script, options, error));
    if (checkpoint)
        TRY(weft_state_check_name(checkpoint, error));
    if (run->is_null)
        goto done;
    if (options->history)
        TRY(app_file_check(options->history, error));
    if (checkpoint) {
        TRY(weft_result_check(checkpoint, error));
        TRY(app_file_claim(checkpoint, error));
    }
    if (output) {
        TRY(weft_series_check(output, series, error));
        TRY(app_file_claim(output, error));
    }
done:
    return status;
}

void app_conditions_write(const app_conditions *conditions, weft_text *out) {
    static const char *const names[] = {"dirichlet", "neumann", "robin"};
    for (int i = 0; i < conditions->n; ++i) {
        const app_condition *condition = &conditions->list[i];
        weft_text_add(out, " --%s '%s=%s%s%s'", names[condition->kind], condition->group,
                      condition->alpha ? condition->alpha : "", condition->alpha ? "," : "",
                      condition->value);
    }
}

/* ---- progress -------------------------------------------------------------------------------- */

void app_progress_show(const weft_monitor *monitor, const app_progress *progress) {
    char phase[160], left[32];
    const double done = progress->t - progress->first_t, rest = progress->end - progress->t;
    snprintf(phase, sizeof phase, "step %" PRId64 ", t = %.4g, %.0f iterations a step, %s left",
             progress->step, progress->t, progress->iterations,
             done > 0 ? app_print_seconds(progress->seconds / done * rest, left) : "?");
    weft_progress(monitor, phase, progress->t, progress->end);
}
