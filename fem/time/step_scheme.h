/** Schemes of advection-diffusion steps as tables: explicit Runge-Kutta methods of the advection, and splittings, from
 *  which the script of a step is written (fem/time/step_script.c). */
#pragma once

#include "fem/weft_time.h"

enum { WEFT_RUNGE_KUTTA_STAGES = 4 };
/** Stage i has the slope M k_i = -A Y_i of Y_i = T + a_i k_(i-1); the result is T + sum b_i k_i. */
typedef struct weft_runge_kutta_row {
    weft_step_scheme_info about;
    int n;
    const char *a[WEFT_RUNGE_KUTTA_STAGES], *b[WEFT_RUNGE_KUTTA_STAGES]; /* texts in h; a_1 is 0 */
    double stable; /* the square of the largest h w with which T' = i w T does not grow */
} weft_runge_kutta_row;
extern const weft_runge_kutta_row weft_runge_kutta_rows[];

/** In each pass an advection, or none, and then a diffusion. */
typedef struct weft_splitting_row {
    weft_step_scheme_info about;
    int n_passes;
    const char *advects; /* advections in a pass, 0 or 1, as a text in `pass`, from 0 */
    double duration;     /* of each diffusion, times h */
} weft_splitting_row;
extern const weft_splitting_row weft_splitting_rows[];
