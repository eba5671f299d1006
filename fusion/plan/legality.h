/** Which calls may share a kernel, and which kernels may permute the entries of a cell: the only place where
 *  this is decided.
 *  In:  graph, dependence, a set of calls
 *  Out: fusible, or the reason why not */
#pragma once

#include "fusion/plan/fusions.h"
#include "fusion/plan/permutation.h"

/** Why calls may not share a kernel. */
typedef enum weft_not_fused_reason {
    FUSIBLE,
    NOT_FUSED_INDEX_SET, /* they are over different index sets */
    NOT_FUSED_BARRIER,   /* one needs the complete result of another: a global barrier */
    NOT_FUSED_PATH,      /* a path between them leaves the kernel: the set is not convex */
    NOT_FUSED_PRODUCT,   /* the rules for operator products forbid it */
    NOT_FUSED_SLICES,    /* the rules for calls over two index sets do: no slice serves all */
    NOT_FUSED_NOTHING    /* legal, but they share no data, so fusion saves no traffic */
} weft_not_fused_reason;

/** Must the operand be complete, over all elements, before this reader starts? */
bool weft_operand_needs_barrier(const weft_graph *graph, const weft_call *reader,
                                const weft_operand *operand);
bool weft_call_accumulates(const weft_graph *graph, int call);
/** Which of the rules for operator products and for calls over two index sets (fusion/plan/nested.h)
 *  forbids a convex set of pairwise fusible calls, NOT_FUSED_PRODUCT or NOT_FUSED_SLICES? FUSIBLE: none.
 *  - at most one product per kernel
 *  - no accumulating stores and no loads through connectivities in the same kernel
 *  - operands of the product's prologue are complete before the kernel starts */
weft_not_fused_reason weft_fusion_misfit(const weft_graph *graph, const uint64_t *set);
/** May a set of calls be a kernel?
 *  a, b     NOT_FUSED_INDEX_SET, NOT_FUSED_BARRIER: two calls that cannot share a kernel, *a first
 *           NOT_FUSED_PATH: the path leaves the set at *a and comes back at *b
 *           else untouched
 *  outside  NOT_FUSED_PATH: a call on that path outside the set; else untouched */
weft_not_fused_reason weft_set_split(const weft_graph *graph, const weft_dependence *dependence,
                                     const uint64_t *set, int *a, int *b, int *outside);
/** May a kernel read the entries of a cell in another order than that of the connectivity? Vertex, edge and
 *  matrix patches do: who owns a node reads each of its cells from this node on. Not through an
 *  `ordered` connectivity, and otherwise only if the sum is proved not to depend on the order.
 *  why     NULL: it may; else the reason, for messages, in the arena
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_may_permute(weft_arena *arena, const weft_graph *graph, const weft_cell_sum *sum,
                             weft_permutations permutations, const char **why, weft_error *error);
/** Why two calls share no candidate fusion; FUSIBLE: they share one (fusion/plan/why_not.c).
 *  through  NOT_FUSED_BARRIER: a value that must be complete between the calls; else -1 */
weft_not_fused_reason weft_why_not_fused(const weft_graph *graph, const weft_fusions *fusions,
                                         int a, int b, int *through);
