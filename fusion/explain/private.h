/** Shared by the writers of explanations: the fused and the unfused plan of one graph. */
#pragma once

#include "fusion/plan/segment.h"

typedef struct explanation {
    const weft_segment *segment;
    weft_arena *scratch;
    const weft_graph *graph;
    double real_bytes;
    const weft_plan *plans[2]; /* by weft_plan_kind */
    const weft_cover *covers[2];
    int *questions; /* remaining budget of searches for a cover, for pairs of calls */
    weft_text *out;
} explanation;

/** Explain both plans of a segment.  Errors  WEFT_ERROR_MEMORY */
weft_status weft_explain_segment(const weft_segment *segment, weft_text *out, weft_error *error);
/** Make both plans and covers in scratch; for the compiled kind, the segment's own are used. */
weft_status weft_explain_plans(explanation *e, weft_arena *scratch, weft_error *error);
/** fusion/explain/why.c: the least predicted time of a cover that fuses calls a and b (together),
 *  or that does not; *found false: there is none. */
weft_status weft_explain_best_with(const weft_segment *c, int a, int b, bool together, bool *found,
                                   double *seconds, weft_error *error);

/** fusion/explain/pairs.c: for each pair of calls whether it is fused, or why not, and the bytes
 *  that fusion saves or would save. */
void weft_explain_pairs(const explanation *e);
/** One line "fused: ..." or "not fused: ..."; a precedes b. */
void weft_explain_pair(const explanation *e, const weft_call *a, const weft_call *b);
