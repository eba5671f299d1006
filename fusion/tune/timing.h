/** How long a piece of work takes that may be done again and again (fusion/tune/timing.c). */
#pragma once

#include "core/weft_core.h"

typedef struct weft_timing_loop {
    weft_device *device; /* borrowed, as is the timer */
    weft_timer *timer;
    weft_status (*work)(void *user, weft_error *error); /* launches, zeroes and copies */
    void *user;
    int rounds;       /* the best one counts, as what disturbs only adds */
    double round;     /* seconds that one lasts at least, by doing the work again and again */
    double slow;      /* work that takes longer is done once more alone */
    double worthless; /* what is half as slow again than this is not done again; 0: none */
} weft_timing_loop;

/** Seconds of the work once. Short work is captured where the device captures, a round as one
 *  device graph: what counts is the device's time, starts of kernels with it, not the host's.
 *  Errors  those of the work, the timer and the device graph */
weft_status weft_timing_loop_run(const weft_timing_loop *watch, double *seconds, weft_error *error);
