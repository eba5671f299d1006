/* Measures the time of GPU work by events. */
#include "core/cuda/cuda.h"

#include <stdlib.h>

enum { EVENT_WITH_TIME = 0 };

typedef struct cuda_timer {
    weft_cu_event events[2];
} cuda_timer;

static void timer_free(weft_device *device, void *state) {
    weft_cuda_state *cuda = device->state;
    cuda_timer *timer = state;
    weft_error ignored;
    if (timer && weft_cuda_enter(cuda, &ignored) == WEFT_OK) {
        for (int i = 0; i < 2; ++i)
            if (timer->events[i])
                (void)cuda->driver.cuEventDestroy(timer->events[i]);
        weft_cuda_leave(cuda);
    }
    free(timer);
}

static weft_status timer_make(weft_device *device, void **state, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *cuda = device->state;
    cuda_timer *timer = calloc(1, sizeof *timer);
    if (!timer)
        TRY(weft_out_of_memory(error, "a timer"));
    TRY(weft_cuda_enter(cuda, error));
    for (int i = 0; i < 2 && status == WEFT_OK; ++i)
        status =
            weft_cuda_check(cuda, cuda->driver.cuEventCreate(&timer->events[i], EVENT_WITH_TIME),
                            "making a timer", error);
    weft_cuda_leave(cuda);
    if (status != WEFT_OK)
        goto done;
    *state = timer;
    timer = NULL;
done:
    timer_free(device, timer);
    return status;
}

static weft_status timer_mark(weft_device *device, void *state, int which, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *cuda = device->state;
    const cuda_timer *timer = state;
    TRY(weft_cuda_enter(cuda, error));
    status = weft_cuda_check(cuda, cuda->driver.cuEventRecord(timer->events[which], cuda->stream),
                             "marking a time", error);
    weft_cuda_leave(cuda);
done:
    return status;
}

static weft_status timer_seconds(weft_device *device, void *state, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *cuda = device->state;
    const cuda_timer *timer = state;
    float milliseconds = 0;
    TRY(weft_cuda_enter(cuda, error));
    status = weft_cuda_check(cuda, cuda->driver.cuEventSynchronize(timer->events[1]),
                             "waiting for a timer", error);
    if (status == WEFT_OK)
        status = weft_cuda_check(
            cuda,
            cuda->driver.cuEventElapsedTime(&milliseconds, timer->events[0], timer->events[1]),
            "reading a timer", error);
    weft_cuda_leave(cuda);
    if (status == WEFT_OK)
        *out = (double)milliseconds * 1e-3;
done:
    return status;
}

const weft_timer_table weft_cuda_timer = {
    .make = timer_make, .free = timer_free, .mark = timer_mark, .seconds = timer_seconds};
