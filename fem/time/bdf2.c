/* Backward differentiation of order 2. */
#include "fem/time/scheme.h"

/* u' at the end of a parabola through three points, the step being w times the one before. */
static void stages(double theta, double w, weft_time_stage *out) {
    (void)theta;
    *out = (weft_time_stage){.c = 1,
                             .a = (1 + 2 * w) / (1 + w),
                             .u = {(1 + w) * (1 + w) / (1 + 2 * w), -w * w / (1 + 2 * w)}};
}

static double truncation(double theta, double h, double before) {
    const double w = h / before;
    (void)theta;
    return h * h * (h + before) * (1 + w) / (1 + 2 * w);
}

const weft_time_row weft_time_bdf2 = {.about = {.name = "bdf2",
                                                .help = "backward differentiation",
                                                .order = 2,
                                                .n_stages = 1,
                                                .n_before = 1,
                                                .damps = true},
                                      .stages = stages,
                                      .truncation = truncation};
