/** How much the planner has looked at, and why it left out what it left out (fusion/plan/print.c).
 */
#pragma once

#include "fusion/plan/segment.h"

enum { WEFT_PRUNE_REASONS = 8 };

/** Sums over compilations. made = kept + dominated + slower + too_large + too_many_threads +
 *  not_as_directed + those by reason. */
typedef struct weft_planner_counts {
    int64_t calls, candidates, connected, not_convex, unfit; /* of fusions */
    int max_calls;
    bool shrunk;
    int64_t made, kept; /* of implementations */
    int64_t dominated;  /* another block of the same variants takes no more time */
    int64_t slower;     /* WEFT_BEAM_WIDTH of the same calls take less */
    int64_t too_large;  /* shared memory */
    int64_t too_many_threads, not_as_directed; /* of a block; another block than the script's */
    int64_t untried;                         /* choices of variants that were too many to look at */
    const char *reasons[WEFT_PRUNE_REASONS]; /* of those pruned later, in the order met */
    int64_t by_reason[WEFT_PRUNE_REASONS];
    int n_reasons;
} weft_planner_counts;

/** Add those of one graph; start from {0}. */
void weft_planner_counts_add(const weft_segment *c, weft_planner_counts *counts);
/** "15 connected sets of 2 to 8 calls ...; left out: ...", a line. */
void weft_fusion_counts_print(const weft_planner_counts *counts, weft_text *out);
/** "implementations: 1240 made, 52 kept; 900 dominated, ...", a line. */
void weft_implementation_counts_print(const weft_planner_counts *counts, weft_text *out);
/** Both, as a part of an explanation. */
void weft_planner_counts_explain(const weft_planner_counts *counts, weft_text *out);
