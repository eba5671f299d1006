/* Symmetric matrices stored by edges: each coupling inside a patch of 512 consecutive rows is
 * stored once. Not installed.
 *
 *      In: a symmetric sparsity pattern.  Out: the layout of the values, products y = A v.
 *
 *  A patch owns rows [512 p, 512 p + 512). Its halo is the set of outside columns that its rows
 *  couple with. An inner edge is a pair a_ij = a_ji with both rows in the patch. It occupies one
 *  slot of one of its two rows (its source; the other row is its target) and serves both rows. A
 *  coupling with the halo occupies a slot of its row. A row has one slot per round, and within a
 *  round no row is the target of two edges, so the stores of a round need no atomics. Couplings
 *  without a slot are in the patch's overflow list, as directed entries sorted by row, then by
 *  column.
 *
 *                      round 0        round 1              local column
 *          row 0    [ slot      ]  [ slot      ]  ...      0 .. 511   row of the patch
 *          row 1    [ slot      ]  [ slot      ]           512        empty slot (v is zero there)
 *          ...                                             513 + k    halo node k
 *          row 511  [ slot      ]  [ slot      ]
 *
 *  Values   per patch: [512] diagonal, [n_rounds][512] slots, [n_overflow] padded to a multiple
 *           of 4; after the last patch the discard slots, which no product reads. For an inner
 *           edge only a_ij with i < j is stored; additions to a_ji go to the discard slots
 *  Columns  per patch: [n_rounds][512] local columns
 *  Lists    per patch: [n_halo] halo nodes, ascending; [n_overflow] local columns, or ~node if the
 *           node is not staged in the halo; [n_overflow] rows; padded to a multiple of 4
 *  Source   orientation by reversing paths: Frank and Gyarfas 1978; colouring of a bipartite graph
 *           with as many colours as its largest degree, by alternating paths: Koenig 1916
 *
 * Decision  docs/decisions/0021-owners-compute-on-gpus.md */
#pragma once

#include "fem/sparse/csr.h"

enum {
    WEFT_SYMMETRIC_NODES = 512,
    WEFT_SYMMETRIC_BLOCKS = 3, /* resident on a multiprocessor: `blocks` of symmetric.product.cu */
    WEFT_SYMMETRIC_NONE = 512,
    WEFT_SYMMETRIC_HALO = 513,
    WEFT_SYMMETRIC_MOST_HALO = 1280, /* staged halo nodes; further columns use the overflow list */
    WEFT_SYMMETRIC_MOST_ROUNDS = 24,
    WEFT_SYMMETRIC_BANKS = 16 /* banks of 8 bytes; 16 threads are served at a time */
};
/** In weft_symmetric.offsets: additions to this entry go to a discard slot. */
#define WEFT_SYMMETRIC_DISCARD UINT32_MAX

/** Where the data of a patch start, in Values, Columns and Lists; 32 bytes, as kernels read it. */
typedef struct weft_symmetric_patch {
    int64_t first_value, first_column, first_list;
    uint16_t n_rounds, n_halo;
    uint32_t n_overflow;
} weft_symmetric_patch;

typedef struct weft_symmetric_options {
    /* at most 65536 discard slots, for atomic additions; otherwise one per row, so that cells
     * without a common row share no discard slot */
    bool few_discards;
    /* limit of n_rounds, beyond which couplings overflow; 0: WEFT_SYMMETRIC_MOST_ROUNDS */
    int most_rounds;
} weft_symmetric_options;

typedef struct weft_symmetric {
    int64_t n_rows, n_patches, n_values, n_columns, n_lists;
    /* row r uses value first_discard + r % n_discard; n_discard is n_rows or a
     * smaller power of two */
    int64_t first_discard, n_discard;
    weft_symmetric_patch *patches;
    uint16_t *columns;
    int32_t *lists;
    /* [pattern->n_entries] offset of each entry in the values of its row's patch, or
     * WEFT_SYMMETRIC_DISCARD */
    uint32_t *offsets;
    int most_rounds, most_halo;
    int64_t n_overflow; /* directed entries */
    double slots_per_row;
} weft_symmetric;

/** Lay out the entries of a symmetric pattern. Runs on the device's host threads; the result does
 *  not depend on their number.
 *  pattern  borrowed for the call
 *  out      caller's; weft_symmetric_free
 *  Memory   about 70 bytes per row for meshes of tetrahedra, plus 22 per row during the call
 *  Errors   WEFT_ERROR_INPUT (the pattern is not symmetric within a patch), _UNSUPPORTED (more than
 *           2^32 - 1 values), _MEMORY; *out untouched */
weft_status weft_symmetric_make(weft_device *device, const weft_pattern *pattern,
                                const weft_symmetric_options *options, weft_symmetric **out,
                                weft_error *error);
void weft_symmetric_free(weft_symmetric **symmetric);

/** The index into Values to which each entry of the cells' local matrices is added, on the host's
 *  threads.
 *  pattern    the pattern that `symmetric` was made from
 *  positions  caller's; weft_memory_free
 *  Layout     uint32_t [block][i * width + j][lane], as weft_pattern_positions
 *  Errors     WEFT_ERROR_SHAPE (a coupling that the pattern lacks), WEFT_ERROR_MEMORY; *positions
 *             untouched */
weft_status weft_symmetric_positions(weft_device *device, const weft_symmetric *symmetric,
                                     const weft_pattern *pattern, const weft_connectivity *dofs,
                                     int lanes, weft_memory **positions, weft_error *error);

/** y = A v on the device's host threads; bitwise identical for any number of threads.
 *  values   [n_values]
 *  vectors  the instruction set, which the processor must have
 *  v, y     [n_rows] */
weft_status weft_symmetric_product(weft_device *device, const weft_symmetric *symmetric,
                                   const double *values, weft_vectors vectors, const double *v,
                                   double *y, weft_error *error);

/* ---- on a GPU (fem/sparse/symmetric_device.c) --------------------------------------------- */

/** Layout and kernels on a GPU; the values are in a memory of the caller's. */
typedef struct weft_symmetric_matrix weft_symmetric_matrix;
/** The number of rounds up to which any patch fits into this much shared memory of a block. */
int weft_symmetric_rounds_within(size_t onchip_bytes);
/** Copy the layout to the device and compile the kernels. `symmetric` is borrowed for the call.
 *  out     caller's; weft_symmetric_matrix_free
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_symmetric_matrix_make(weft_device *device, const weft_symmetric *symmetric,
                                       weft_symmetric_matrix **out, weft_error *error);
void weft_symmetric_matrix_free(weft_symmetric_matrix **matrix);
/** y = A v; repeated calls give bitwise identical results.
 *  values  [n_values] as laid out by weft_symmetric, on the device
 *  v, y    [n_rows], on the device */
weft_status weft_symmetric_matrix_product(const weft_symmetric_matrix *matrix, weft_memory *values,
                                          weft_memory *v, weft_memory *y, weft_error *error);
/** d = diag(A), [n_rows]. */
weft_status weft_symmetric_matrix_diagonal(const weft_symmetric_matrix *matrix, weft_memory *values,
                                           weft_memory *d, weft_error *error);
/** The product kernel and its arguments, for the fusion compiler. Borrowed; valid as long as matrix
 *  and values exist, and until the next call. */
const weft_product_arguments *weft_symmetric_matrix_rows(weft_symmetric_matrix *matrix,
                                                         weft_memory *values);
/** Append the CUDA source of these kernels, for a device with these limits, to `text`. */
weft_status weft_symmetric_source(const weft_limits *limits, weft_text *text, weft_error *error);
