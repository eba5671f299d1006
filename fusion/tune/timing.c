/* Measures repeatable work in rounds between two events of the device's timer. */
#include "fusion/tune/timing.h"

#include <math.h>

enum { MOST_REPEATS = 200 };
static const double SHORT = 5e-5; /* seconds; the host can launch longer work fast enough */

static weft_status do_work(const weft_timing_loop *watch, int repeats, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < repeats; ++i)
        TRY(watch->work(watch->user, error));
done:
    return status;
}

static weft_status record(const weft_timing_loop *watch, int repeats, weft_device_graph **out,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_device_graph_begin(watch->device, error));
    status = do_work(watch, repeats, error);
    if (status != WEFT_OK) {
        (void)weft_device_graph_end(watch->device, NULL, NULL);
        goto done;
    }
    TRY(weft_device_graph_end(watch->device, out, error));
done:
    return status;
}

static weft_status time_round(const weft_timing_loop *watch, int repeats,
                              weft_device_graph *device_graph, double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_timer_start(watch->timer, error));
    TRY(device_graph ? weft_device_graph_run(device_graph, error) : do_work(watch, repeats, error));
    TRY(weft_timer_stop(watch->timer, error));
    TRY(weft_timer_seconds(watch->timer, seconds, error));
    *seconds /= repeats;
done:
    return status;
}

weft_status weft_timing_loop_run(const weft_timing_loop *watch, double *seconds,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_graph *device_graph = NULL;
    double best = INFINITY, once = 0;
    int repeats = 1, rounds = watch->rounds;
    TRY(time_round(watch, 1, NULL, &once, error)); /* warms up: compiles, loads, prepares */
    if (once > watch->slow)
        rounds = 1;
    else {
        TRY(time_round(watch, 1, NULL, &once, error));
        if (once < watch->round)
            repeats =
                once > watch->round / MOST_REPEATS ? (int)(watch->round / once) + 1 : MOST_REPEATS;
        if (once < SHORT && weft_device_captures(watch->device))
            TRY(record(watch, repeats, &device_graph, error));
        if (device_graph) /* the first run uploads the graph to the device */
            TRY(time_round(watch, repeats, device_graph, &once, error));
    }
    for (int round = 0; round < rounds; ++round) {
        TRY(time_round(watch, repeats, device_graph, &once, error));
        best = once < best ? once : best;
        if (watch->worthless > 0 && best > 1.5 * watch->worthless)
            break; /* too slow to be the best */
    }
    *seconds = best;
done:
    weft_device_graph_free(&device_graph);
    return status;
}
