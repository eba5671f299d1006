/** Participation factors and effective masses of eigenvectors.
 *
 *      In: eigenvectors u of K u = l M u, and the directions r: one component of u is 1 everywhere.
 *      Out: factors u.M r/u.M u, effective masses (u.M r)^2/u.M u, and the whole mass r.M r, which all of a problem's effective masses add
 *           up to but for what moves with the ground. */
#pragma once

#include "fem/problem/pencil.h"

/** Start from {0}; weft_participation_clear. */
typedef struct weft_participation {
    int n_directions;         /* the components of u; 0: nothing is computed */
    double *factors, *masses; /* [n][n_directions] */
    double *total;            /* [n_directions] */
} weft_participation;
void weft_participation_clear(weft_participation *out);
/** Nothing is computed of buckling, nor of elements whose dofs are no values of components.
 *  pairs   with vectors in all dofs, u.M u = 1
 *  out     weft_participation_clear, also after an error
 *  Errors  WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE */
weft_status weft_participation_find(const weft_problem_pencil *p, const weft_eigenpairs *pairs,
                                    weft_participation *out, weft_error *error);
