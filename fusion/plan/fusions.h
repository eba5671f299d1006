/** Fusions: sets of calls that may share a kernel. */
#pragma once

#include "fusion/graph/graph.h"

typedef struct weft_fusion {
    int *calls; /* ascending */
    int n_calls;
    int index_set;
    int level;         /* global barriers before it: of its latest call */
    bool spans_depths; /* its calls are of several levels */
} weft_fusion;

/** What the search for subgraphs has seen (fusion/plan/enumerate.c). */
typedef struct weft_fusion_counts {
    int64_t connected;  /* sets of two calls and more that share data, none of them apart */
    int64_t not_convex; /* of these: a path leaves and comes back */
    int64_t unfit;      /* of these: against the rules of product calls */
    bool stopped;       /* there were too many */
} weft_fusion_counts;

typedef struct weft_dependence weft_dependence; /* fusion/plan/dependence.h */

typedef struct weft_fusions {
    weft_fusion *list; /* candidates: every call alone first, then every convex subgraph that spares
                          traffic, up to max_calls, then the maximal ones of a level beyond that */
    int n, capacity;
    int *level; /* [n_calls] global barriers before each call */
    const weft_dependence *dependence;
    int max_calls; /* of the subgraphs that were all listed */
    bool shrunk;   /* it had to be less than what was asked for: too many candidates */
    weft_fusion_counts counts;
} weft_fusions;

enum {
    WEFT_FUSION_CALLS = 8,        /* max_calls where nothing is asked for */
    WEFT_FUSION_CANDIDATES = 3000 /* subgraphs, at most */
};

weft_status weft_fusions_make(weft_arena *arena, const weft_graph *graph,
                              const weft_compile_options *options, weft_fusions **out,
                              weft_error *error);
/** Is a set of calls listed? List it: one that is legal (fusion/plan/legality.h) and not listed. */
bool weft_fusions_have(const weft_graph *graph, const weft_fusions *fusions, const uint64_t *set);
weft_status weft_fusions_add(weft_arena *arena, const weft_graph *graph, weft_fusions *fusions,
                             const uint64_t *set, weft_error *error);
/** fusion/plan/enumerate.c: call `found` with each connected, convex, fitting set of 2 to max_calls calls.
 * Ends early, counts->stopped, past WEFT_FUSION_CANDIDATES. */
weft_status weft_fusion_sets(const weft_graph *graph, const weft_dependence *dependence,
                             int max_calls, weft_fusion_counts *counts,
                             weft_status (*found)(void *user, const uint64_t *set), void *user);
/** fusion/plan/barrier_depth.c: how many global barriers come before each call. */
void weft_barrier_depths_make(const weft_graph *graph, int *level);
/** The call that the product call of this fusion takes as its prologue, or -1; the product call, or
 *  -1. */
int weft_fusion_prologue(const weft_graph *graph, const weft_fusion *fusion);
int weft_fusion_product(const weft_graph *graph, const weft_fusion *fusion);
/** fusion/plan/implementations.c: is a value of this fusion needed in memory after its kernel? The
 *  whole shape behind an operand. */
bool weft_value_is_live_out(const weft_graph *graph, const weft_fusion *fusion, int value);
