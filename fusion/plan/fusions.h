/** Fusions: sets of calls that may share a kernel.
 *  In:  graph, options
 *  Out: candidates (single calls, convex subgraphs, maximal groups), barrier depths, dependence */
#pragma once

#include "fusion/graph/graph.h"

typedef struct weft_fusion {
    int *calls; /* ascending */
    int n_calls;
    int index_set;
    int level;         /* barrier depth: maximum over its calls */
    bool spans_depths; /* its calls have different barrier depths */
} weft_fusion;

/** Statistics of the subgraph enumeration (fusion/plan/enumerate.c). */
typedef struct weft_fusion_counts {
    int64_t connected;  /* connected sets of two or more pairwise fusible calls */
    int64_t not_convex; /* of these: rejected because a path leaves the set and comes back */
    int64_t unfit;      /* of these: rejected by the rules for product calls */
    bool stopped;       /* the enumeration stopped early: too many sets */
} weft_fusion_counts;

typedef struct weft_dependence weft_dependence; /* fusion/plan/dependence.h */

typedef struct weft_fusions {
    /* candidates: each call alone, then all convex subgraphs of up to max_calls calls that share
     * data, then the larger maximal groups of each level */
    weft_fusion *list;
    int n;
    int *level; /* [n_calls] barrier depth: number of global barriers before each call */
    const weft_dependence *dependence;
    int max_calls; /* subgraphs of up to this many calls are listed completely */
    bool shrunk;   /* max_calls was reduced because there were too many candidates */
    weft_fusion_counts counts;
} weft_fusions;

enum {
    WEFT_FUSION_CALLS = 8,        /* default of max_calls */
    WEFT_FUSION_CANDIDATES = 3000 /* maximum number of subgraphs */
};

/** List the candidate fusions of a graph, in the arena. Errors  WEFT_ERROR_MEMORY */
weft_status weft_fusions_make(weft_arena *arena, const weft_graph *graph,
                              const weft_compile_options *options, weft_fusions **out,
                              weft_error *error);
/** The same without candidates: barrier depths and dependence alone. Errors  WEFT_ERROR_MEMORY */
weft_status weft_fusions_begin(weft_arena *arena, const weft_graph *graph, weft_fusions **out,
                               weft_error *error);
/** Is the set of calls a listed candidate? */
bool weft_fusions_have(const weft_graph *graph, const weft_fusions *fusions, const uint64_t *set);
/** Add a candidate. The set must be legal (fusion/plan/legality.h) and not listed yet.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_fusions_add(weft_arena *arena, const weft_graph *graph, weft_fusions *fusions,
                             const uint64_t *set, weft_error *error);
/** Call `found` with each connected, convex, legal set of 2 to max_calls calls
 *  (fusion/plan/enumerate.c). Stops with counts->stopped set beyond WEFT_FUSION_CANDIDATES sets.
 *  Errors  those of `found` */
weft_status weft_fusion_sets(const weft_graph *graph, const weft_dependence *dependence,
                             int max_calls, weft_fusion_counts *counts,
                             weft_status (*found)(void *user, const uint64_t *set), void *user);
/** The number of global barriers before each call (fusion/plan/barrier_depth.c).
 *  level  caller's, [n_calls] */
void weft_barrier_depths_make(const weft_graph *graph, int *level);
/** The call fused into the loads of this fusion's product call (its prologue), or -1. */
int weft_fusion_prologue(const weft_graph *graph, const weft_fusion *fusion);
/** The product call of this fusion, or -1. */
int weft_fusion_product(const weft_graph *graph, const weft_fusion *fusion);
/** Is a value of this fusion needed in memory after its kernel? (fusion/plan/traffic.c) */
bool weft_value_is_live_out(const weft_graph *graph, const weft_fusion *fusion, int value);
