/** Which calls may share a kernel: the one place where this is decided. In: graph, dependence. Out: yes, or the
 *  reason why not. */
#pragma once

#include "fusion/plan/fusions.h"

/** Why calls may not be in one kernel. */
typedef enum weft_not_fused_reason {
    FUSIBLE,             /* they may */
    NOT_FUSED_INDEX_SET, /* they range over different index sets */
    NOT_FUSED_BARRIER,   /* one needs what another has made to be complete */
    NOT_FUSED_PATH,      /* a path between them leaves the kernel (not convex) */
    SPLIT_PRODUCT,       /* an operator's product is among them, with what its kernel cannot take */
    NOT_FUSED_NOTHING    /* they could, but share no data: no traffic would be spared */
} weft_not_fused_reason;

/** Must all of what an operand's producer makes be complete before this reader starts? */
bool weft_operand_needs_barrier(const weft_graph *graph, const weft_call *reader,
                                const weft_operand *operand);
bool weft_call_accumulates(const weft_graph *graph, int call);
/** Does a set that is convex and has no two calls apart keep the rules of products: one a kernel, neither
 *  accumulating stores nor loads through connectivities beside it, and what it computes at every
 *  row that it reads made of what is complete before? */
bool weft_fusion_fits(const weft_graph *graph, const uint64_t *set);
/** May a set of calls be a kernel?
 *  *a, *b   NOT_FUSED_INDEX_SET, NOT_FUSED_BARRIER: two calls that no kernel shares, *a before *b; NOT_FUSED_PATH: the path
 *           leaves from *a and comes back to *b; else untouched
 *  *outside NOT_FUSED_PATH: a call on that path that is not in the set; else untouched */
weft_not_fused_reason weft_set_split(const weft_graph *graph, const weft_dependence *dependence,
                                     const uint64_t *set, int *a, int *b, int *outside);
/** fusion/plan/why_not.c: FUSIBLE, or why two calls share no candidate; *through gets the value in
 *  the way, or -1. */
weft_not_fused_reason weft_why_not_fused(const weft_graph *graph, const weft_fusions *fusions,
                                         int a, int b, int *through);
