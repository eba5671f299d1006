/** Loading a saved plan in place of the planner's choice. */
#pragma once

#include "fusion/plan/segment.h"

/** Replace the cover and the implementations of a segment by those of a saved plan.
 *  c       its graph, fusions and implementations are made; on error c->cover is untouched
 *  text    JSON as printed by weft_plan_json, or a list of such plans, from which the one of this
 *          segment is taken
 *  Errors  WEFT_ERROR_INPUT: the plan does not fit, with the reason; WEFT_ERROR_MEMORY */
weft_status weft_plan_force(weft_segment *c, const char *text, weft_error *error);

/** Read from a saved plan which loops recompute values that could have been stored for them.
 *  recomputed  caller's, [n_loops]; unchanged if the plan has no such entry
 *  found       the plan has such an entry
 *  Errors      WEFT_ERROR_INPUT: not JSON, or a loop number out of range */
weft_status weft_plan_force_loops(const char *text, int n_loops, bool *recomputed, bool *found,
                                  weft_error *error);
