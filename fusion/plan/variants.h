/** The state of the search for implementations, shared by fusion/plan/implementations.c (all
 *  fusions) and fusion/plan/variants.c (variants and block shapes of one fusion). */
#pragma once

#include "fusion/plan/block_shapes.h"
#include "fusion/plan/implementations.h"

typedef struct variant_search {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_fusions *fusions;
    const weft_limits *limits;
    const weft_compile_options *options;
    weft_predictor *predictor;
    weft_placer *placer;
    weft_order_table orders;
    weft_implementations *made;
    bool is_gpu;
    int combinations_most; /* maximum number of variant choices tried per fusion */
    /* of the current fusion */
    weft_implementation candidate;
    weft_implementation beam[WEFT_BEAM_WIDTH + 1]; /* the best so far, best first */
    bool fixed;                                    /* the current fusion has one block shape */
    int n_beam;
    bool *forced;                   /* [n_calls] by position: the user chose its variant */
    weft_block_directive directive; /* the script's */
} variant_search;

/** Try block shapes with the candidate's variants; the best enters the beam if it is good enough.
 *  shapes  [n], all of one thread per element or all of several */
weft_status weft_variants_try_shapes(variant_search *p, const weft_block_shape *shapes, int n,
                                     weft_error *error);
/** Try the candidate's variants with one thread per element. */
weft_status weft_variants_try_registers(variant_search *p, weft_error *error);
/** Try every choice of the variants that are not forced, or a subset if there are more than
 *  combinations_most. The candidate starts with variant 0 of each free call. */
weft_status weft_variants_try_all(variant_search *p, weft_error *error);
/** Try products by warps (fusion/plan/dense.h), unless the script asks for other variants. */
weft_status weft_variants_try_dense(variant_search *p, weft_error *error);
/** Does a cost less than b? */
bool weft_implementation_is_better(const weft_implementation *a, const weft_implementation *b);
