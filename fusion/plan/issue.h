/** The instructions of kernels of several threads per element on a GPU.
 *  In:  an implementation with its shape and placement
 *  Out: what its warps issue, for weft_cost_issue (fusion/cost/occupancy.h) */
#pragma once

#include "fusion/cost/occupancy.h"
#include "fusion/plan/implementations.h"

/** Count the work of the bodies of all calls, in p->work. (fusion/plan/issue.c)
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_issue_prepare(weft_arena *arena, weft_predictor *p, weft_error *error);
/** The work of the warps of an implementation with several threads per element. */
weft_warp_work weft_issue_work(const weft_predictor *p, const weft_implementation *made);
/** Instructions of a warp per element that no shape or placement can avoid, if no lane is idle. */
double weft_issue_least(const weft_predictor *p, const weft_implementation *made);
/** Barriers inside the bodies of an implementation, per block and serial iteration. */
double weft_issue_barriers(const weft_predictor *p, const weft_implementation *made);
/** Components of the arrays that a thread of the call at a position declares; 0 where bodies are not counted. */
double weft_issue_arrays(const weft_predictor *p, const weft_implementation *made, int position);
