/** Covers: sets of implementations that contain every call exactly once (a set partition).
 *  In:  graph, fusions, implementations with predicted costs
 *  Out: the cover of least predicted cost, or the best few in order */
#pragma once

#include "fusion/plan/implementation.h"

/** Implementations that contain every call exactly once, in order of execution. */
typedef struct weft_cover {
    const weft_implementation **list;
    int n;
    double seconds; /* predicted time of a run: the sum of their costs */
    bool proved;    /* optimal among the covers that were not found before it */
    /* of a saved plan: */
    const int *group; /* [n] the shared launch of each kernel, from 1; 0: none; NULL: not chosen */
    const weft_combination *combinations; /* [number of shared launches] */
    const bool *folds; /* [n] may a gather evaluate the kernel's call? NULL: chosen later */
} weft_cover;

/** The input of the search for covers. It must outlive them; covers are allocated in the arena. */
typedef struct weft_cover_problem {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_fusions *fusions;
    const weft_implementations *implementations;
    weft_plan_kind kind; /* WEFT_PLAN_UNFUSED: covers of single calls */
    bool all; /* weft_covers_begin: allow every implementation of a fusion, not only its best one */
} weft_cover_problem;

/** The cover of least predicted cost.
 *  Errors  WEFT_ERROR_UNSUPPORTED: no choice of kernels covers every call; WEFT_ERROR_MEMORY */
weft_status weft_cover_make(const weft_cover_problem *problem, weft_cover **out, weft_error *error);
/** The `most` best distinct covers, best first; two covers differ in at least one implementation.
 *  out     [*n] in the arena; *n may be less than `most`, or 0
 *  Method  repeated optimisation with a no-good cut for each cover found */
weft_status weft_covers_make(const weft_cover_problem *problem, int most, weft_cover ***out, int *n,
                             weft_error *error);

/** Lazy enumeration of covers, best first: each step solves one set partition problem. */
typedef struct weft_covers weft_covers;
weft_status weft_covers_begin(const weft_cover_problem *problem, weft_covers **out,
                              weft_error *error);
/** The next best cover; *out is NULL when there are no more. */
weft_status weft_covers_next(weft_covers *covers, weft_cover **out, weft_error *error);
void weft_covers_end(weft_covers **covers);

void weft_cover_print(const weft_graph *graph, const weft_cover *cover, weft_text *out);
