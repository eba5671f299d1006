/** Time integration schemes as tables of stages, for M du/dt + r(u, t) = 0 with a constant M. In: a
 *  scheme and step lengths. Out: the equations of a step, and what estimates its error.
 *
 *  A stage solves for U at t + c h
 *
 *      (a/h) (M U - u[0] M u_n - u[1] M u_before - u[2] M U_1 - ...) + q r_n + r(U, t + c h) = 0
 *
 *  with u_before at the start of the previous step, r_n = r(u_n, t), and U_1, ... of the earlier stages. The
 *  U of the last stage is the solution at t + h. All stages of a step have the same a. */
#pragma once

#include "fem/weft_time_scheme.h"

enum { WEFT_TIME_STAGES = 4 };

typedef struct weft_time_stage {
    double c, a, u[WEFT_TIME_STAGES + 1], q;
} weft_time_stage;

/** A row of the table of schemes. The last three are for steps whose length is chosen: a scheme has an
 *  embedded method or a truncation error. */
typedef struct weft_time_row {
    weft_time_scheme_info about;
    /** Write about.n_stages stages.
     *  ratio  length of this step to that of the previous one, if about.n_before is 1, its most */
    void (*stages)(double theta, double ratio, weft_time_stage *out);
    /** Weights of r_n, of r of each stage but the last, and behind these [WEFT_TIME_STAGES] of r of the last. They
     *  make up d, where (a/h M + K) e = d has the error of the embedded method, of order embedded_order. */
    void (*embedded)(double weights[WEFT_TIME_STAGES + 1]);
    int embedded_order;
    /** C (p + 1)! h^(p+1), of which the error is a multiple by the divided difference of order p + 1, for p up
     *  to 2, as three earlier solutions are kept.
     *  before  length of the previous step */
    double (*truncation)(double theta, double h, double before);
} weft_time_row;

/** NULL: there is no such scheme. */
const weft_time_row *weft_time_row_of(weft_time_scheme scheme);
/** The one-step scheme with an embedded method that makes the first steps of others. */
const weft_time_row *weft_time_row_to_start(void);
