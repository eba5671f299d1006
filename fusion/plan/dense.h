/** Kernels of products of small matrices, computed by warps (kernels/gemm/tile.cu).
 *  In:  the calls of a fusion
 *  Out: what each does in such a kernel, or that the fusion cannot be one
 *
 *  Decision  docs/decisions/0025-dense-products-are-generated.md */
#pragma once

#include "fusion/plan/implementation.h"

enum {
    WEFT_DENSE_CALLS = 32,   /* most calls of such a kernel */
    WEFT_DENSE_LEAST = 8,    /* rows and columns from which on products are computed by warps */
    WEFT_DENSE_TERMS = 16,   /* most terms of an entry that is computed where it is read */
    WEFT_DENSE_THREADS = 128 /* per thread block */
};

typedef enum weft_dense_role {
    DENSE_SCALAR, /* one number, which every thread computes */
    DENSE_ENTRY,  /* computed entry by entry, where an entry is read */
    DENSE_TILE,   /* a product, of which warps compute tiles */
    DENSE_FOLLOWS /* each entry is computed from the same entry of tiles */
} weft_dense_role;

typedef struct weft_dense {
    weft_dense_role roles[WEFT_DENSE_CALLS]; /* by position in the order */
    int variants[WEFT_DENSE_CALLS]; /* the body of a call, whose thread t computes entry t */
    weft_shape shape;               /* of all tiled products */
    int down, across;               /* a tile has 8 across rows and 16 down columns */
    int warps;                      /* per element */
} weft_dense;

/** Can these calls be such a kernel?
 *  order  [n] calls of one fusion in order of execution */
bool weft_dense_find(const weft_graph *graph, const int *order, int n, weft_dense *out);
/** Does an entry of the on-chip list move between memory and chip component by component, with those of other
 *  elements between them? */
bool weft_dense_is_interleaved(const weft_graph *graph, const weft_implementation *made, int m);
/** Place interleaved lists in shared memory, where a block copies them in the order of the addresses, if at least
 *  three blocks fit: set made's placement, offsets and shared_components.
 *  made  its elements_per_block is set */
void weft_dense_stage(const weft_graph *graph, const weft_limits *limits, int real_bytes,
                      weft_implementation *made);
