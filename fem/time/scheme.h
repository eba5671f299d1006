/** Time integration schemes as tables of stages, for M du/dt + r(u, t) = 0 with a constant M. In: a
 *  scheme and step lengths. Out: the equations of a step.
 *
 *  A stage solves for U at t + c h
 *
 *      (a/h) (M U - u[0] M u_n - u[1] M u_before - u[2] M U_1) + q[0] r_n + q[1] r_1 + r(U, t + c h) = 0
 *
 *  with u_before at the start of the previous step, r_n = r(u_n, t), and U_1, r_1 of the first
 *  stage. The U of the last stage is the solution at t + h. */
#pragma once

#include "fem/weft_transient.h"

typedef struct weft_time_stage {
    double c, a, u[3], q[2];
} weft_time_stage;

enum { WEFT_TIME_STAGES = 2 };
/** The stage of a script that has its own scheme: r(U, t + h) = 0. */
extern const weft_time_stage weft_time_own_stage;
/** The stages of a step; returns their number.
 *  ratio  length of this step to that of the previous one; 0: there is none, for which a scheme that
 *         needs one uses WEFT_TIME_SDIRK2 */
int weft_time_stages(weft_time_scheme scheme, double theta, double ratio,
                     weft_time_stage out[WEFT_TIME_STAGES]);
/** Does a step need r_n? */
bool weft_time_needs_residual(const weft_time_stage *stages, int n);
