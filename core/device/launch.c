/* Checks launches and their schedules, and starts them. */
#include "core/device/device.h"

#include <stdatomic.h>
#include <stdlib.h>

void weft_schedule_free(weft_schedule **schedule) {
    if (!schedule || !*schedule)
        return;
    free((*schedule)->colour_start);
    free((*schedule)->ranges);
    free(*schedule);
    *schedule = NULL;
}

static weft_status wrong_launch(const weft_launch *launch, const char *what, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_USAGE, "launch of %s: %s",
                          launch->kernel ? launch->kernel : "no kernel", what);
}

static weft_status check_arguments(const weft_device *device, const weft_launch *launch,
                                   weft_error *error) {
    if (!launch->kernel || !launch->module || launch->module->device != device)
        return wrong_launch(launch, "it needs a kernel in a module of this device", error);
    if (launch->n_elements < 0 || launch->lanes < 1 || launch->n_arguments < 0)
        return wrong_launch(launch, "a count is negative, or there are no lanes", error);
    if (launch->n_blocks < 0)
        return wrong_launch(launch, "its number of thread blocks is negative", error);
    for (int i = 0; i < launch->n_arguments; ++i)
        if (!launch->arguments[i] || launch->arguments[i]->device != device)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "launch of %s: argument %d is not memory of this device",
                                  launch->kernel, i);
    return WEFT_OK;
}

static weft_status check_schedule(const weft_launch *launch, int64_t n_blocks, weft_error *error) {
    const weft_schedule *schedule = launch->schedule;
    if (!schedule)
        return WEFT_OK;
    if (schedule->n_colours < 0 || (schedule->n_colours > 0 && schedule->colour_start[0] != 0))
        return wrong_launch(launch, "its schedule has no sound colours", error);
    for (int c = 0; c < schedule->n_colours; ++c)
        if (schedule->colour_start[c + 1] < schedule->colour_start[c])
            return wrong_launch(launch, "its schedule has no sound colours", error);
    int64_t n_ranges = schedule->n_colours > 0 ? schedule->colour_start[schedule->n_colours] : 0;
    int64_t n_covered = 0;
    for (int64_t i = 0; i < n_ranges; ++i) {
        int64_t first = schedule->ranges[i][0], last = schedule->ranges[i][1];
        if (first < 0 || last < first || last > n_blocks)
            return wrong_launch(launch, "a range of its schedule is not one of its blocks", error);
        n_covered += last - first;
    }
    if (n_covered != n_blocks)
        return wrong_launch(launch, "its schedule does not hold every block once", error);
    return WEFT_OK;
}

weft_status weft_device_launch(weft_device *device, const weft_launch *launch, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_arguments(device, launch, error));
    int64_t n_blocks =
        launch->n_elements / launch->lanes + (launch->n_elements % launch->lanes > 0);
    TRY(check_schedule(launch, n_blocks, error));
    for (int i = 0; i < launch->n_arguments; ++i)
        TRY(weft_memory_restore(launch->arguments[i], error));
    TRY(device->table->launch(device, launch, n_blocks, error));
    if (!atomic_load(&device->graph))
        atomic_fetch_add(&device->launches, 1);
done:
    return status;
}
