/** The scripts of Dey's slides (2020) in docs/examples/slides: seven reductions and three transpositions, timed in a shape.
 *  In: a device, a step, a shape. Out: seconds of a run, and those that are predicted. */
#pragma once

#include "core/weft_core.h"
#include "fusion/weft_library.h"

enum {
    SLIDES_STEPS = 7,
    SLIDES_TRANSPOSITIONS = 3,
    SLIDES_TILE = 256, /* numbers of a tile of the reductions, and its most threads */
    SLIDES_TEXT = 4096
};

/** Everything that a measurement needs: slides_open, slides_close. */
typedef struct slides_bench {
    weft_device *device; /* borrowed */
    weft_library *library;
    weft_timer *timer;
    bool gpu, predicts; /* predicts: the device computes nothing */
    double numbers;
    int repeats; /* of which the median is taken */
} slides_bench;
weft_status slides_open(weft_device *device, slides_bench *out, weft_error *error);
void slides_close(slides_bench *bench);

/** One script to be timed. */
typedef struct slides_case {
    const char *text;
    int threads, serial; /* per tile, tiles one after another; 0: the planner's choice */
    bool transposes;
    int tiles;  /* of a block; 0: one where threads are given */
    int stride; /* of the transposition entry by entry */
    double seconds, predicted;
} slides_case;

/** Read reduction_STEP or transpose_STEP.
 *  text    caller's, [SLIDES_TEXT]
 *  Errors  WEFT_ERROR_IO */
weft_status slides_read(const char *name, int step, char *text, weft_error *error);
/** Set seconds and predicted; on a null device both are the prediction. */
weft_status slides_time(const slides_bench *bench, slides_case *one, weft_error *error);
