/** Covers: implementations that contain every call exactly once. */
#pragma once

#include "fusion/plan/implementation.h"

/** Implementations that cover every call once, in an order of execution. */
typedef struct weft_cover {
    const weft_implementation **list;
    int n;
    double seconds; /* predicted, of a run: the sum of their costs */
    bool proved;    /* no cover costs less (of those after it in a list of the best: no other) */
} weft_cover;

/** What covers are chosen from. Outlives what is made of it; the covers are the arena's. */
typedef struct weft_cover_problem {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_fusions *fusions;
    const weft_implementations *implementations;
    weft_plan_kind kind; /* WEFT_PLAN_UNFUSED: covers of single calls */
    bool
        all; /* weft_covers_begin: every implementation of a fusion may be in one, not the best alone
               */
} weft_cover_problem;

/** The cover of least predicted cost. */
weft_status weft_cover_make(const weft_cover_problem *problem, weft_cover **out, weft_error *error);
/** The `most` best distinct ones, best first: two differ in an implementation at least. *n: how
 * many there are. They are found one after the other, what was found being forbidden by a no-good
 * cut. */
weft_status weft_covers_make(const weft_cover_problem *problem, int most, weft_cover ***out, int *n,
                             weft_error *error);

/** The same one by one: each costs a solution of the partition, so that who stops early has not
 *  paid for the rest. */
typedef struct weft_covers weft_covers;
weft_status weft_covers_begin(const weft_cover_problem *problem, weft_covers **out,
                              weft_error *error);
/** The next best; *out NULL: there is none left. */
weft_status weft_covers_next(weft_covers *covers, weft_cover **out, weft_error *error);
void weft_covers_end(weft_covers **covers);

void weft_cover_print(const weft_graph *graph, const weft_cover *cover, weft_text *out);
