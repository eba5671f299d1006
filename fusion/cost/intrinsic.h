/** The cost primitive of a function of formulas: one evaluation.
 *  In:  the table of functions (fusion/base/intrinsics.h)
 *  Out: a primitive of the kind WEFT_COST_COMPUTE */
#pragma once

#include "fusion/base/intrinsics.h"
#include "fusion/cost/cost.h"

/** One evaluation of a function, "compute sin 1 intrinsic double registers".
 *  Returns  the primitive, its name in arena; name NULL: out of memory */
weft_cost_primitive weft_cost_of_intrinsic(weft_arena *arena, const weft_intrinsic *intrinsic,
                                           bool single);
/** The function of such a primitive; NULL: the primitive is another one. */
const weft_intrinsic *weft_cost_intrinsic(const weft_cost_primitive *primitive);
