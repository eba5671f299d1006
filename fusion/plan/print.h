/** Statistics of the planner's search: what it considered, and why it rejected the rest. */
#pragma once

#include "fusion/plan/segment.h"

enum { WEFT_PRUNE_REASONS = 8 };

/** Sums over segments.
 *  made = kept + dominated + slower + too_large + too_many_threads + not_as_directed
 *         + sum of by_reason */
typedef struct weft_planner_counts {
    int64_t calls, candidates, connected, not_convex, unfit; /* fusions */
    int max_calls;
    bool shrunk;
    int64_t made, kept; /* implementations */
    int64_t dominated;  /* another block shape with the same variants is not slower */
    int64_t slower;     /* WEFT_BEAM_WIDTH implementations of the same fusion are faster */
    int64_t too_large;  /* needs too much shared memory */
    int64_t too_many_threads, not_as_directed; /* per block; not the script's block shape */
    int64_t untried;                           /* choices of variants not tried: too many */
    const char *reasons[WEFT_PRUNE_REASONS];   /* of those pruned later, in order of occurrence */
    int64_t by_reason[WEFT_PRUNE_REASONS];
    int n_reasons;
} weft_planner_counts;

/** Add the statistics of one segment; start from {0}. */
void weft_planner_counts_add(const weft_segment *c, weft_planner_counts *counts);
/** Print a line such as "15 connected sets of 2 to 8 calls ...; left out: ...". */
void weft_fusion_counts_print(const weft_planner_counts *counts, weft_text *out);
/** Print a line such as "implementations: 1240 made, 52 kept; 900 dominated, ...". */
void weft_implementation_counts_print(const weft_planner_counts *counts, weft_text *out);
/** Print both lines as a section of an explanation. */
void weft_planner_counts_explain(const weft_planner_counts *counts, weft_text *out);
