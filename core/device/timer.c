/* Measures the time of device work, by marks of the device or by the clock. */
#include "core/device/device.h"

#include <stdlib.h>

/* Devices without marks are synchronous, so the clock is read. */
struct weft_timer {
    weft_device *device;
    void *state; /* the device's */
    double clock[2];
    bool marked[2];
};

weft_status weft_timer_make(weft_device *device, weft_timer **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_timer *timer = calloc(1, sizeof *timer);
    if (!timer)
        TRY(weft_out_of_memory(error, "a timer"));
    timer->device = device;
    if (device->table->timer)
        TRY(device->table->timer->make(device, &timer->state, error));
    *out = timer;
    timer = NULL;
done:
    free(timer);
    return status;
}

void weft_timer_free(weft_timer **timer) {
    if (!timer || !*timer)
        return;
    weft_device *device = (*timer)->device;
    if (device->table->timer)
        device->table->timer->free(device, (*timer)->state);
    free(*timer);
    *timer = NULL;
}

static weft_status mark(weft_timer *timer, int which, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = timer->device;
    timer->marked[which] = false;
    TRY(weft_device_graph_refuses(device, "a timer", error));
    if (device->table->timer)
        TRY(device->table->timer->mark(device, timer->state, which, error));
    else
        timer->clock[which] = weft_clock();
    timer->marked[which] = true;
done:
    return status;
}

weft_status weft_timer_start(weft_timer *timer, weft_error *error) {
    timer->marked[1] = false;
    return mark(timer, 0, error);
}

weft_status weft_timer_stop(weft_timer *timer, weft_error *error) {
    if (!timer->marked[0])
        return weft_error_set(error, WEFT_ERROR_USAGE, "a timer is stopped that was not started");
    return mark(timer, 1, error);
}

weft_status weft_timer_seconds(weft_timer *timer, double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!timer->marked[0] || !timer->marked[1])
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "a timer is read that was not started and stopped"));
    TRY(weft_device_graph_refuses(timer->device, "reading a timer", error));
    if (timer->device->table->timer)
        status = timer->device->table->timer->seconds(timer->device, timer->state, seconds, error);
    else
        *seconds = timer->clock[1] - timer->clock[0];
done:
    return status;
}
