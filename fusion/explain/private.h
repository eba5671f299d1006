/** What the parts of an explanation share: both plans of one graph. */
#pragma once

#include "fusion/plan/segment.h"

typedef struct explanation {
    const weft_segment *segment;
    const weft_graph *graph;
    double real_bytes;
    const weft_plan *plans[2]; /* by weft_plan_kind */
    const weft_cover *covers[2];
    int *questions; /* that may still be asked about pairs: each is a search for a cover */
    weft_text *out;
} explanation;

/** What both plans do with a segment, and why not more. Errors WEFT_ERROR_MEMORY. */
weft_status weft_explain_segment(const weft_segment *segment, weft_text *out, weft_error *error);
/** Both plans; that of the kind that was compiled is the segment's own. */
weft_status weft_explain_plans(explanation *e, weft_arena *scratch, weft_error *error);
/** fusion/explain/why.c: the least time of a cover in which calls a and b are together, or apart; *found
 *  false: there is none. */
weft_status weft_explain_best_with(const weft_segment *c, int a, int b, bool together, bool *found,
                                   double *seconds, weft_error *error);

/** fusion/explain/pairs.c: for each pair of calls fused, or why not, and the bytes it is about. */
void weft_explain_pairs(const explanation *e);
/** "fused: ..." or "not fused: ...", with a line's end; a is before b. */
void weft_explain_pair(const explanation *e, const weft_call *a, const weft_call *b);
