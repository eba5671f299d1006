/* Makes the cost primitives of functions of formulas.
 *
 * Decision  docs/decisions/0004-intrinsics-are-one-table.md */
#include "fusion/cost/intrinsic.h"

weft_cost_primitive weft_cost_of_intrinsic(weft_arena *arena, const weft_intrinsic *intrinsic,
                                           bool single) {
    return (weft_cost_primitive){.name =
                                     weft_arena_print(arena, "compute %s 1 intrinsic %s registers",
                                                      intrinsic->name, single ? "float" : "double"),
                                 .kind = WEFT_COST_COMPUTE,
                                 .function = intrinsic->name,
                                 .intrinsic = true,
                                 .threads = 1,
                                 .flops = intrinsic->flops,
                                 .real_bytes = (int)(single ? sizeof(float) : sizeof(double)),
                                 .handle = -1};
}

const weft_intrinsic *weft_cost_intrinsic(const weft_cost_primitive *primitive) {
    return primitive->intrinsic ? weft_intrinsic_find(primitive->function) : NULL;
}
