/** Device graphs: launches with their loops, run without the host; and timers of a device's
 *  work. */
#ifndef WEFT_DEVICE_GRAPH_H
#define WEFT_DEVICE_GRAPH_H

#include "core/weft_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A list of launches, zeroes and copies, with loops, that the device runs by itself (cuda: a graph
 *  with conditional nodes). For example
 *
 *      TRY(weft_device_graph_begin(device, error));
 *      TRY(weft_device_launch(device, &first, error));      captured, not run
 *      TRY(weft_device_graph_while(device, flag, error));      while (*flag != 0) {
 *      TRY(weft_device_launch(device, &turn, error));           one of these sets *flag
 *      TRY(weft_device_graph_end_while(device, error));        }
 *      TRY(weft_device_graph_end(device, &graph, error));
 *      TRY(weft_device_graph_run(graph, error));           as often as wanted
 *
 *  From begin to end the device takes launches, weft_memory_zero and weft_memory_copy, and what any
 *  thread asks for is captured. Kernels may be compiled meanwhile. Everything else is refused by
 *  WEFT_ERROR_USAGE and is to be done before: making and wrapping memory, reading, writing,
 * waiting, timers, running. Memory or a module that is freed meanwhile is kept until the end, which
 * then answers that mistake. A device graph holds addresses: a memory or module that it uses must
 * outlive it. Where one was freed, weft_device_graph_run says so and runs nothing. It is freed
 * before its device. */
typedef struct weft_device_graph weft_device_graph;
/** Can the device record? Not host, null, nor a driver before CUDA 12.3, which is logged. */
bool weft_device_captures(const weft_device *device);
/** Errors WEFT_ERROR_UNSUPPORTED: the device does not record; WEFT_ERROR_USAGE: it does already */
weft_status weft_device_graph_begin(weft_device *device, weft_error *error);
/** Begin a loop that is repeated while the uint32_t at the start of `flag` is not 0, tested before
 *  each iteration. Loops may stand in loops, 8 deep.
 *  Errors WEFT_ERROR_USAGE: nothing is being captured, or flag is no memory of 4 bytes of this
 *  device; WEFT_ERROR_DEVICE, after which end answers the same */
weft_status weft_device_graph_while(weft_device *device, weft_memory *flag, weft_error *error);
weft_status weft_device_graph_end_while(weft_device *device, weft_error *error);
/** End the capture, in any case: where it answers an error (a loop is open, something was freed
 *  meanwhile, a step failed) what was captured is dropped and *out untouched.
 *  out NULL: drop it. */
weft_status weft_device_graph_end(weft_device *device, weft_device_graph **out, weft_error *error);
/** Start it, after what was launched before; returns before it is done, as launches do. */
weft_status weft_device_graph_run(weft_device_graph *graph, weft_error *error);
/** Waits for its runs. */
void weft_device_graph_free(weft_device_graph **graph);

/* ---- timers ----------------------------------------------------------------------------- */

/** The time between two points of a device's work: events on cuda (half a microsecond apart at
 *  best), the clock elsewhere, whose devices have done what was asked when the call returns. */
typedef struct weft_timer weft_timer;
weft_status weft_timer_make(weft_device *device, weft_timer **out, weft_error *error);
void weft_timer_free(weft_timer **timer);
weft_status weft_timer_start(weft_timer *timer, weft_error *error);
weft_status weft_timer_stop(weft_timer *timer, weft_error *error);
/** Waits for the stop. Errors WEFT_ERROR_USAGE: it was not started and stopped */
weft_status weft_timer_seconds(weft_timer *timer, double *seconds, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
