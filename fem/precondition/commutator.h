/** The least-squares commutator: a Schur complement with convection. Not installed.
 *
 *      In: rows of a saddle point with a block F of convection and diffusion, and its multiplier,
 *
 *          [ F  B' ]      q: the diagonal of the mass matrix of the first, up to a factor, which drops out
 *          [ B  0  ]
 *
 *      Out: with L = B q^-1 B', for S = -B F^-1 B',
 *
 *          S^-1 = -L^-1 (B q^-1 F q^-1 B') L^-1
 *
 *      which is exact where F q^-1 B' = B' X for some X. Products are those of the whole matrix; L^-1 is a cycle of multigrid.
 *
 *  Source  Elman, Howle, Shadid, Shuttleworth and Tuminaro 2006, Block preconditioners based on approximate
 *          commutators */
#pragma once

#include "fem/form/form.h"
#include "fem/precondition/precondition.h"

typedef struct weft_commutator weft_commutator;
/** Make a commutator.
 *  A        borrowed, the whole matrix; must outlive it
 *  first, n the rows of the multiplier
 *  weights  [rows of A] 1/q in the free rows of F, 0 elsewhere
 *  out      caller's; weft_commutator_free
 *  Errors   those of compiling and of the device, WEFT_ERROR_MEMORY */
weft_status weft_commutator_make(weft_context *context, weft_operator *A, int64_t first, int64_t n,
                                 const double *weights, weft_commutator **out, weft_error *error);
void weft_commutator_free(weft_commutator **commutator);
/** z = -S^-1 r.
 *  cycle  approximates the inverse of L or -L
 *  r, z   [n] */
weft_status weft_commutator_apply(weft_commutator *commutator, weft_preconditioner *cycle,
                                  weft_memory *r, weft_memory *z, weft_error *error);
