/* The theta scheme, (1 - theta) r_n + theta r(U). */
#include "fem/time/scheme.h"

static void stages(double theta, double ratio, weft_time_stage *out) {
    (void)ratio;
    *out = (weft_time_stage){.c = 1, .a = 1 / theta, .u = {1}, .q = (1 - theta) / theta};
}

static double truncation(double theta, double h, double before) {
    (void)before;
    return theta == 0.5 ? h * h * h / 12 * 6 : (theta - 0.5) * h * h * 2;
}

const weft_time_row weft_time_theta = {
    .about = {.name = "theta",
              .help = "theta scheme, Crank-Nicolson for 0.5, implicit Euler for 1",
              .order = 2,
              .n_stages = 1,
              .takes_theta = true},
    .stages = stages,
    .truncation = truncation};
