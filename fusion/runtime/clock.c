/* Times the applications of a script's operators, and the kernels that contain products, where the host launches them. */
#include "fusion/base/array.h"
#include "fusion/runtime/private.h"

#include <stdlib.h>
#include <string.h>

/* Seconds and applications of each operator of a script. */
struct weft_operator_clock {
    weft_timer *timer;
    const weft_script *script; /* borrowed */
    struct weft_operator_time {
        double seconds;
        int64_t n;
    } * times; /* [script->n_operators] */
};

void weft_operator_clock_free(weft_operator_clock **clock) {
    if (!*clock)
        return;
    weft_timer_free(&(*clock)->timer);
    free((*clock)->times);
    free(*clock);
    *clock = NULL;
}

weft_status weft_program_time_operators(weft_program *program, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script *script = program->compilation->control->script;
    weft_operator_clock *made = NULL;
    if (program->clock || weft_device_captures(program->device) ||
        weft_device_limits(program->device)->records_only)
        goto done;
    made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_program_no_memory(error));
    made->script = script;
    made->times = calloc((size_t)script->n_operators + 1, sizeof *made->times);
    if (!made->times)
        TRY(weft_program_no_memory(error));
    TRY(weft_timer_make(program->device, &made->timer, error));
    program->clock = made;
    for (int i = 0; i < program->compilation->control->n_segments; ++i)
        program->segments[i]->clock = made;
    made = NULL;
done:
    weft_operator_clock_free(&made);
    return status;
}

weft_status weft_operator_clock_start(weft_operator_clock *clock, weft_error *error) {
    return clock ? weft_timer_start(clock->timer, error) : WEFT_OK;
}

weft_status weft_operator_clock_stop(weft_operator_clock *clock, const char *name,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    double seconds = 0;
    if (!clock)
        goto done;
    const int found = WEFT_FIND_NAME(clock->script->operators, clock->script->n_operators, name);
    TRY(weft_timer_stop(clock->timer, error));
    TRY(weft_timer_seconds(clock->timer, &seconds, error));
    if (found >= 0) {
        clock->times[found].seconds += seconds;
        ++clock->times[found].n;
    }
done:
    return status;
}

int64_t weft_program_operator_time(const weft_program *program, const char *name, double *seconds) {
    const weft_operator_clock *clock = program->clock;
    const int found =
        clock ? WEFT_FIND_NAME(clock->script->operators, clock->script->n_operators, name) : -1;
    *seconds = found >= 0 ? clock->times[found].seconds : 0;
    return found >= 0 ? clock->times[found].n : 0;
}
