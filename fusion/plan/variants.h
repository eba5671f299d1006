/** What fusion/plan/implementations.c (from fusions to what is kept) and fusion/plan/variants.c (the choices of variants
 * and blocks of one fusion) share. */
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
    int combinations_most; /* of variants, a fusion */
    /* of the fusion being looked at */
    weft_implementation candidate;
    weft_implementation beam[WEFT_BEAM_WIDTH + 1];
    int n_beam;
    bool *forced;                   /* [n_calls] by position: its variant is the user's */
    weft_block_directive directive; /* the script's */
} variant_search;

/** Try shapes, all of one thread per element or all of several, with the trial's variants; the best
 * is among the kept where it is good enough. */
weft_status weft_variants_try_shapes(variant_search *p, const weft_block_shape *shapes, int n,
                                     weft_error *error);
/** The trial's variants with one thread per element. */
weft_status weft_variants_try_registers(variant_search *p, weft_error *error);
/** From the trial's variants, where none is forced the first: every choice; where they are too
 * many, some. */
weft_status weft_variants_try_all(variant_search *p, weft_error *error);
/** The better first. */
bool weft_implementation_is_better(const weft_implementation *a, const weft_implementation *b);
