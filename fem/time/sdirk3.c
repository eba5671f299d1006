/* The L-stable, diagonally implicit scheme of order 3 of Kennedy and Carpenter (2003: ARK3(2)4L[2]SA), whose stages
 * have order 2 as those of TR-BDF2.
 *
 *  U_i = u_n + h (a_i k_n + sum of b_ij k_j + g k_i) with slopes k_n = -r_n, k_2, k_3, k_4, at 0, 2 g, 3/5 and 1. The
 *  slopes k_2 and k_3 are replaced by the U. L-stability, the choice of g, leaves no r_n in the last equation. */
#include "fem/time/scheme.h"

/* Of g^3 - 3 g^2 + 3/2 g - 1/6 = 0 */
static const double g = 0.43586652150845899942;

/* Weights of the slopes: in the third stage, where sums of c are c^2/2, and in the last, of the order conditions. */
typedef struct weights {
    double third[2], last[3];
} weights;

static weights weights_of_slopes(void) {
    const double c2 = 2 * g, c3 = 0.6, sum = 0.5 - g, squares = 1.0 / 3 - g,
                 b = c3 * (c3 / 2 - g) / c2, last2 = (sum * c3 - squares) / c2 / (c3 - c2),
                 last3 = (squares - sum * c2) / c3 / (c3 - c2);
    return (weights){{c3 - g - b, b}, {1 - g - last2 - last3, last2, last3}};
}

static void stages(double theta, double ratio, weft_time_stage *out) {
    const weights w = weights_of_slopes();
    const double of_2 = w.third[1] / g, last_3 = w.last[2] / g,
                 last_2 = w.last[1] / g - last_3 * of_2;
    (void)theta, (void)ratio;
    out[0] = (weft_time_stage){.c = 2 * g, .a = 1 / g, .u = {1}, .q = 1};
    out[1] = (weft_time_stage){
        .c = 0.6, .a = 1 / g, .u = {1 - of_2, 0, of_2}, .q = (w.third[0] - w.third[1]) / g};
    out[2] = (weft_time_stage){.c = 1, .a = 1 / g, .u = {1 - last_2 - last_3, 0, last_2, last_3}};
}

/* The weights less those of the embedded method, of order 2. */
static void embedded(double out[WEFT_TIME_STAGES + 1]) {
    const weights w = weights_of_slopes();
    out[0] = (w.last[0] - 2756255671327.0 / 12835298489170) / g;
    out[1] = (w.last[1] + 10771552573575.0 / 22201958757719) / g;
    out[2] = (w.last[2] - 9247589265047.0 / 10645013368117) / g;
    out[WEFT_TIME_STAGES] = (g - 2193209047091.0 / 5459859503100) / g;
}

const weft_time_row weft_time_sdirk3 = {
    .about = {.name = "sdirk3",
              .help = "Kennedy and Carpenter's, diagonally implicit",
              .order = 3,
              .n_stages = 3,
              .damps = true},
    .stages = stages,
    .embedded = embedded,
    .embedded_order = 2};
