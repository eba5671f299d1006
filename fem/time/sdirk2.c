/* TR-BDF2: the trapezoidal rule to t + g h, then BDF2 to t + h, with equal matrices for g = 2 - sqrt(2).
 * Source: Bank et al. 1985; the embedded method of order 3: Hosea and Shampine 1996 */
#include "fem/time/scheme.h"

#include <math.h>

static void stages(double theta, double ratio, weft_time_stage *out) {
    const double g = 2 - sqrt(2), last = g * (2 - g);
    (void)theta, (void)ratio;
    out[0] = (weft_time_stage){.c = g, .a = 2 / g, .u = {1}, .q = 1};
    out[1] = (weft_time_stage){.c = 1, .a = 2 / g, .u = {-(1 - g) * (1 - g) / last, 0, 1 / last}};
}

static void embedded(double weights[WEFT_TIME_STAGES + 1]) {
    const double w = sqrt(2) / 4, d = 1 - sqrt(2) / 2;
    weights[0] = (4 * w - 1) / 3 / d;
    weights[1] = -1.0 / 3 / d;
    weights[WEFT_TIME_STAGES] = 2.0 / 3;
}

const weft_time_row weft_time_sdirk2 = {.about = {.name = "sdirk2",
                                                  .help = "TR-BDF2, diagonally implicit",
                                                  .order = 2,
                                                  .n_stages = 2,
                                                  .damps = true},
                                        .stages = stages,
                                        .embedded = embedded,
                                        .embedded_order = 2};
