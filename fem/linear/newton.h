/** What Newton's method (fem/solve/newton.h) takes from a weft_linear, in stationary problems and in steps in time.
 *
 *      In: a weft_linear after weft_linear_update, and after weft_linear_repeat. Out: the tangent; whether du is a step. */
#pragma once

#include "fem/linear/linear.h"
#include "fem/solve/newton.h"
#include "fusion/weft_share.h"

/** The tangent of weft_linear_update.
 *  K  its operator, before the reduction of constraints, or NULL */
weft_newton_tangent weft_linear_tangent(const weft_linear *linear, weft_operator *K,
                                        const weft_reduction *reduction);
/** Subtract from the values of each open component the mean of values - given; given NULL: 0.
 *  share  of the dofs; NULL: one rank
 *  Errors  those of weft_comm_join_sums */
weft_status weft_open_center(const weft_transient_open *open, int n_open, const weft_share *share,
                             const double *given, double *values, weft_error *error);
/** After a solve for du: subtract its mean over each open component, which can have any.
 *  du      [n] on the device
 *  usable  a solve with some progress is sufficient
 *  Errors  WEFT_ERROR_MEMORY, those of weft_memory_read and weft_memory_write */
weft_status weft_linear_accept(const weft_linear *linear, const weft_share *share, weft_memory *du,
                               bool *usable, weft_error *error);
