/** Transfer between functions of two degrees on one mesh without a matrix: cell by cell, or where every finer node is a node of the
 *  coarser functions or halfway between two, as of degree 2 and 1 on simplices, by these two. Not installed.
 *
 *      In: two spaces of continuous elements, lists over their dofs.
 *      Out: P x and P^T r, P the values of the coarser functions at the finer nodes; what conditions leave of the coarser dofs. */
#pragma once

#include "fem/form/form.h"

/** Start from {0}; weft_degree_transfer_clear. Spaces are borrowed; the coarser one may have one component for all of those of the
 *  finer, whose lists are then still [nodes][components of the finer]. */
typedef struct weft_degree_transfer {
    weft_context *context;
    const weft_space *fine, *coarse;
    weft_connectivity
        *parents;            /* finer dofs -> coarser dofs whose mean each is; NULL: cell by cell */
    int32_t *parent_indices; /* of parents, where these are on the host */
    weft_memory *shares;     /* cell by cell: [finer nodes] one over the number of cells of each */
    /* values of the coarser functions at the finer nodes of a cell, [node][function], and transposed */
    weft_memory *table, *transposed;
    weft_memory *halves; /* [2] */
    weft_compiled restriction, prolongation;
} weft_degree_transfer;

/** out     weft_degree_transfer_clear, also after an error
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_degree_transfer_make(weft_context *context, const weft_space *fine,
                                      const weft_space *coarse, weft_degree_transfer *out,
                                      weft_error *error);
/** The dofs of the coarser space that are constrained: those of functions that are not zero at a constrained dof of the finer.
 *  d    [finer dofs] on the device: 0 at constrained ones, else positive
 *  out  [*n] ascending; caller's; free() */
weft_status weft_degree_transfer_constrained(const weft_degree_transfer *transfer, weft_memory *d,
                                             int32_t **out, int64_t *n, weft_error *error);

/** Lists on the device, borrowed: of doubles, or of floats with `single`. */
typedef struct weft_degree_lists {
    weft_memory *fine_d, *coarse_d; /* not positive at constrained dofs */
    weft_memory *r, *b;             /* restriction: b = P^T r, 0 at constrained dofs */
    weft_memory *x, *z;             /* prolongation: x += P z but at constrained dofs */
    bool single;
    bool divides;                 /* b is divided by coarse_d */
    weft_shared_buffers *buffers; /* of the programs; NULL: they have their own */
} weft_degree_lists;
/** Compile both for these lists, once; weft_compiled_run. */
weft_status weft_degree_transfer_compile(weft_degree_transfer *transfer,
                                         const weft_degree_lists *lists, weft_error *error);
void weft_degree_transfer_clear(weft_degree_transfer *transfer);
