/** The steps of a run, through which one can go backwards, as adjoint equations do.
 *
 *      In: a weft_transient whose problem has `checkpoints`, and its steps. Out: what each stage solved, the last step first.
 *
 *  Up to so many steps are stored; of more the state is stored at as many steps, and those between are made again, as often as
 *  the binomial schedule does that makes the fewest (Griewank and Walther 2000, algorithm 799). Matrices that change are set up
 *  again in each recorded step, so that steps that are made again are bitwise those before. */
#pragma once

#include "fem/time/scheme.h"
#include "fem/weft_transient.h"

/** A step that was made. */
typedef struct weft_time_visit {
    double t, dt; /* its start, its length */
    int n_stages;
    const weft_time_stage *stages;
    const double *const *u; /* [n_stages + 1][n_dofs]: at the start, and of each stage */
} weft_time_visit;
typedef struct weft_time_visitor {
    weft_status (*visit)(void *user, const weft_time_visit *step, weft_error *error);
    void *user;
} weft_time_visitor;

/** Go through the recorded steps, the last one first; then the state is that after the last one.
 *  Errors  WEFT_ERROR_USAGE: no steps are recorded; those of weft_transient_step and of visit */
weft_status weft_time_record_reverse(weft_transient *transient, const weft_time_visitor *visitor,
                                     weft_error *error);
/** Recorded steps, and how many were made again by the last weft_time_record_reverse. */
int64_t weft_time_record_steps(const weft_transient *transient);
int64_t weft_time_record_repeated(const weft_transient *transient);
