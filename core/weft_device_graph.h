/** Device graphs: captured launches and loops that run without the host; and timers of device work.
 *  In: launches, copies and loops, captured once. Out: a graph that is run any number of times. */
#ifndef WEFT_DEVICE_GRAPH_H
#define WEFT_DEVICE_GRAPH_H

#include "core/weft_launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A sequence of launches, zeroes, copies and loops that the device runs by itself (cuda: a CUDA
 *  graph with conditional nodes). For example
 *
 *      TRY(weft_device_graph_begin(device, error));
 *      TRY(weft_device_launch(device, &first, error));      captured, not run
 *      TRY(weft_device_graph_while(device, flag, error));      while (*flag != 0) {
 *      TRY(weft_device_launch(device, &iteration, error));             one of these sets *flag
 *      TRY(weft_device_graph_end_while(device, error));        }
 *      TRY(weft_device_graph_end(device, &graph, error));
 *      TRY(weft_device_graph_run(graph, error));              any number of times
 *
 *  During a capture
 *    - launches, weft_memory_zero and weft_memory_copy of every thread are captured, not run;
 *    - modules may be compiled;
 *    - making, wrapping, reading and writing memory, waiting, timers and running graphs fail with
 *      WEFT_ERROR_USAGE;
 *    - memory and modules that are freed stay alive until the capture ends, which fails if the
 *      graph uses them.
 *
 *  A device graph holds addresses: the memories and modules that it uses must outlive it. If one of
 *  them was freed, weft_device_graph_run fails and runs nothing. Free the graph before its
 *  device. */
typedef struct weft_device_graph weft_device_graph;
/** Can the device capture graphs? False on host, null and "traced" cuda devices, and with drivers
 *  older than CUDA 12.3 (logged). */
bool weft_device_captures(const weft_device *device);
/** Begin a capture.
 *  Errors  WEFT_ERROR_UNSUPPORTED: the device cannot capture;
 *          WEFT_ERROR_USAGE: a capture is in progress */
weft_status weft_device_graph_begin(weft_device *device, weft_error *error);
/** Begin a loop that runs while the uint32_t at the start of `flag` is not 0, tested before each
 *  iteration. Loops nest up to 8 deep.
 *  Errors  WEFT_ERROR_USAGE: no capture in progress, or flag is not memory of this device with at
 *          least 4 bytes; WEFT_ERROR_DEVICE, which weft_device_graph_end then returns too */
weft_status weft_device_graph_while(weft_device *device, weft_memory *flag, weft_error *error);
weft_status weft_device_graph_end_while(weft_device *device, weft_error *error);
/** End the capture, also if this fails.
 *  out     caller's; weft_device_graph_free. NULL: discard the graph
 *  Errors  an open loop, used memory or a used module freed during the capture, or a captured
 *          step that failed; the graph is discarded, *out untouched */
weft_status weft_device_graph_end(weft_device *device, weft_device_graph **out, weft_error *error);
/** Start the graph after all earlier launches. Asynchronous, like launches.
 *  Errors  WEFT_ERROR_USAGE: a memory or module that it uses was freed, or a capture is in
 *          progress */
weft_status weft_device_graph_run(weft_device_graph *graph, weft_error *error);
/** Wait for the graph's runs and free it. */
void weft_device_graph_free(weft_device_graph **graph);

/* ---- timers ----------------------------------------------------------------------------- */

/** The time between two points in a device's work: by events on cuda (resolution half a
 *  microsecond), by the host's clock on the other devices, which are synchronous. */
typedef struct weft_timer weft_timer;
weft_status weft_timer_make(weft_device *device, weft_timer **out, weft_error *error);
void weft_timer_free(weft_timer **timer);
weft_status weft_timer_start(weft_timer *timer, weft_error *error);
weft_status weft_timer_stop(weft_timer *timer, weft_error *error);
/** Wait until the device reaches the stop.
 *  Errors  WEFT_ERROR_USAGE: the timer was not started and stopped */
weft_status weft_timer_seconds(weft_timer *timer, double *seconds, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
