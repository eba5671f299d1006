/** A saved plan in place of the planner's choice. */
#pragma once

#include "fusion/plan/segment.h"

/** c has its graph, fusions and implementations; the cover, and the implementations that it is made
 *  of, become those of the plan.
 *  text    as printed by weft_plan_json, or a list of those: the one with this graph's calls
 *  Errors  WEFT_ERROR_INPUT: what does not fit, in words */
weft_status weft_plan_force(weft_segment *c, const char *text, weft_error *error);

/** What a saved plan tells of loops: which recompute what could be stored for them.
 *  recomputed  [n_loops], kept where the plan does not tell
 *  Errors      WEFT_ERROR_INPUT */
weft_status weft_plan_force_loops(const char *text, int n_loops, bool *recomputed, bool *found,
                                  weft_error *error);
