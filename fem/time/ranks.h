/** What several ranks have of an integrator, each of a part of the mesh. Not installed.
 *
 *      lists of parts <-> the same lists of the whole, on the first rank
 *
 *  All ranks call these. */
#pragma once

#include "fem/weft_transient.h"

/** Dofs of the lists of this rank. */
int64_t weft_transient_dofs(const weft_transient *transient);
/** The ranks; NULL: the integrator has the whole. */
weft_comm *weft_transient_comm(const weft_transient *transient);
/** A list of the integrator as one of the whole.
 *  list    [dofs]; copies of other ranks' dofs get the values of their owners
 *  whole   the spaces of the functions on the whole mesh; NULL on ranks besides the first
 *  out     [dofs of whole] on the first rank; not used on others
 *  Errors  those of weft_layout_collect */
weft_status weft_transient_collect(const weft_transient *transient, weft_memory *list,
                                   const weft_space *const *whole, double *out, weft_error *error);
/** The reverse.
 *  values  [dofs of whole]; NULL on ranks besides the first */
weft_status weft_transient_spread(const weft_transient *transient, const weft_space *const *whole,
                                  const double *values, weft_memory *list, weft_error *error);
