/** Timing loop: measures repeatable work (fusion/tune/timing.c). */
#pragma once

#include "core/weft_core.h"

typedef struct weft_timing_loop {
    weft_device *device; /* borrowed, as is the timer */
    weft_timer *timer;
    weft_status (*work)(void *user, weft_error *error); /* only launches, zeroing and copies */
    void *user;
    int rounds;       /* the fastest round counts, since disturbances only add time */
    double round;     /* minimum seconds per round; short work is repeated */
    double slow;      /* work slower than this, in seconds, is timed in one round only */
    double worthless; /* stop after a round slower than 1.5 times this, in seconds; 0: never */
} weft_timing_loop;

/** Measure the seconds of one execution of the work. Rounds of short work are captured in a device
 *  graph if the device supports it, so that device time, including kernel launches, is measured
 *  rather than host time.
 *  Errors  those of the work, the timer and the device graph */
weft_status weft_timing_loop_run(const weft_timing_loop *watch, double *seconds, weft_error *error);
