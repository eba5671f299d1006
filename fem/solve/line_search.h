/** The length of a step of Newton's method. In: the residual R(u + s du) as a function of s. Out: an s at
 *  which the iterate is better than at 0, or the answer that there is none.
 *
 *  Where the tangent K is symmetric and positive definite, R is the gradient of an energy, as far as is
 *  known, and the slope of this energy, R(u + s du).du, is negative at s = 0. Its zero is bracketed, over as
 *  many powers of ten as that takes, and approached until the slope is a fifth of the first one. No energy
 *  has to be computed. Elsewhere s is shortened until the norm of R falls.
 *
 *  Source  Nocedal and Wright 2006, sections 3.1 and 3.5; Crisfield 1991, section 9.2 */
#pragma once

#include "core/weft_core.h"

typedef struct weft_line_point {
    double s;
    double norm; /* |R|; NaN or infinite where R has no value */
    double fall; /* -R.du, in any unit: how fast the energy falls */
} weft_line_point;

typedef struct weft_line {
    /** Set norm and fall at point->s. */
    weft_status (*evaluate)(void *user, weft_line_point *point, weft_error *error);
    void *user;
    weft_line_point start; /* s = 0; fall > 0 where there is an energy, else 0 or NaN */
    double least;          /* steps that are shorter change nothing */
} weft_line;

/** out    the point that was evaluated last
 *  found  false: no step is better, and `out` is none to take */
weft_status weft_line_search(const weft_line *line, weft_line_point *out, bool *found,
                             weft_error *error);
