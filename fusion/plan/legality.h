/** Which calls may share a kernel: the one place where this is decided. In: graph, dependence. Out: yes, or the
 *  reason why not. */
#pragma once

#include "fusion/plan/fusions.h"

/** Why calls may not be in one kernel. */
typedef enum weft_split_reason {
    SPLIT_NONE,      /* they may */
    SPLIT_INDEX_SET, /* they range over different index sets */
    SPLIT_BARRIER,   /* one needs what another has made to be complete */
    SPLIT_PATH,      /* a path between them leaves the kernel (not convex) */
    SPLIT_PRODUCT,   /* an operator's product is among them, with what its kernel cannot take */
    SPLIT_NOTHING    /* they could, but share no data: no traffic would be spared */
} weft_split_reason;

/** Must all of what an operand's producer makes be complete before this reader starts? */
bool weft_operand_needs_barrier(const weft_graph *graph, const weft_call *reader,
                                const weft_operand *operand);
bool weft_call_accumulates(const weft_graph *graph, int call);
/** Does a set that is convex and has no two calls apart keep the rules of products: one a kernel, neither
 *  accumulating stores nor loads through maps beside it, and what it computes at every row that it reads made
 *  of what is complete before? */
bool weft_fusion_fits(const weft_graph *graph, const uint64_t *set);
/** May a set of calls be a kernel?
 *  *a, *b   SPLIT_INDEX_SET, SPLIT_BARRIER: two calls that no kernel shares, *a before *b; SPLIT_PATH: the path
 *           leaves from *a and comes back to *b; else untouched
 *  *outside SPLIT_PATH: a call on that path that is not in the set; else untouched */
weft_split_reason weft_set_split(const weft_graph *graph, const weft_relations *relations,
                                 const uint64_t *set, int *a, int *b, int *outside);
/** fusion/plan/why_not.c: SPLIT_NONE, or why two calls share no candidate; *through gets the datum in the
 *  way, or -1. */
weft_split_reason weft_fusion_split(const weft_graph *graph, const weft_fusions *fusions, int a,
                                    int b, int *through);
