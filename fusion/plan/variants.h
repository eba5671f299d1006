/** What fusion/plan/implementations.c (from fusions to what is kept) and fusion/plan/variants.c (the choices of variants
 * and blocks of one fusion) share. */
#pragma once

#include "fusion/plan/block_shapes.h"
#include "fusion/plan/implementations.h"

typedef struct implementer {
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
    weft_implementation trial;
    weft_implementation kept[WEFT_IMPLEMENTATIONS_KEPT + 1];
    int n_kept;
    bool *forced;         /* [n_calls] by position: its variant is the user's */
    weft_block_wish wish; /* the script's */
} implementer;

/** Try shapes, all of one thread an instance or all of several, with the trial's variants; the best
 * is among the kept where it is good enough. */
weft_status implementer_try_shapes(implementer *p, const weft_block_shape *shapes, int n,
                                   weft_error *error);
/** The trial's variants with one thread an instance. */
weft_status implementer_try_registers(implementer *p, weft_error *error);
/** From the trial's variants, where none is forced the first: every choice; where they are too
 * many, some. */
weft_status implementer_try_variants(implementer *p, weft_error *error);
/** The better first. */
bool implementer_is_better(const weft_implementation *a, const weft_implementation *b);
