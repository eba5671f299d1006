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
 *           with as many colours as its largest degree, by alternating paths: Koenig 1916 */
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
    bool few_discards; /* at most 65536 discard slots, for atomic additions; otherwise one per row,
                          so that cells without a common row share no discard slot */
    int most_rounds;   /* limit of n_rounds, beyond which couplings overflow;
                          0: WEFT_SYMMETRIC_MOST_ROUNDS */
} weft_symmetric_options;

typedef struct weft_symmetric {
    int64_t n_rows, n_patches, n_values, n_columns, n_lists;
    int64_t first_discard, n_discard; /* row r uses value first_discard + r % n_discard; n_discard
                                         is n_rows or a smaller power of two */
    weft_symmetric_patch *patches;
    uint16_t *columns;
    int32_t *lists;
    uint32_t *offsets; /* [pattern->n_entries] offset of each entry in the values of its row's
                          patch, or WEFT_SYMMETRIC_DISCARD */
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

typedef struct weft_symmetric_placing {
    int lanes;
    bool transposed; /* inner edges store a_ji, i < j, and discard a_ij */
} weft_symmetric_placing;
/** The index into Values to which each entry of the cells' local matrices is added.
 *  pattern    the pattern that `symmetric` was made from
 *  positions  caller's; weft_memory_free
 *  Layout     uint32_t [block][i * width + j][lane], as weft_pattern_positions
 *  Errors     WEFT_ERROR_SHAPE (a coupling that the pattern lacks), WEFT_ERROR_MEMORY; *positions
 *             untouched */
weft_status weft_symmetric_positions(weft_device *device, const weft_symmetric *symmetric,
                                     const weft_pattern *pattern, const weft_connectivity *dofs,
                                     weft_symmetric_placing placing, weft_memory **positions,
                                     weft_error *error);

/** y = A v on the device's host threads; bitwise identical for any number of threads.
 *  values  [n_values] doubles, or floats if `single`; sums are in double precision either way
 *  v, y    [n_rows] */
weft_status weft_symmetric_product(weft_device *device, const weft_symmetric *symmetric,
                                   const void *values, bool single, const double *v, double *y,
                                   weft_error *error);
typedef struct weft_symmetric_values {
    const weft_symmetric *symmetric;
    const void *values;
    bool single;
} weft_symmetric_values;
/** weft_symmetric_product with the given instruction set, which the processor must have. */
weft_status weft_symmetric_product_by(weft_device *device, const weft_symmetric_values *matrix,
                                      weft_vectors vectors, const double *v, double *y,
                                      weft_error *error);

/* ---- on a GPU (fem/sparse/symmetric_device.c) --------------------------------------------- */

/** Layout and kernels on a GPU; the values are in a memory of the caller's. */
typedef struct weft_symmetric_matrix weft_symmetric_matrix;
/** Bit of weft_symmetric_patch.n_rounds that tells the kernel that values are floats. */
#define WEFT_SYMMETRIC_SINGLE 0x8000
/** The number of rounds up to which any patch fits into this much shared memory of a block. */
int weft_symmetric_rounds_within(size_t onchip_bytes);
/** Copy the layout to the device and compile the kernels. `symmetric` is borrowed for the call.
 *  single  values will be floats
 *  out     caller's; weft_symmetric_matrix_free
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_symmetric_matrix_make(weft_device *device, const weft_symmetric *symmetric,
                                       bool single, weft_symmetric_matrix **out, weft_error *error);
void weft_symmetric_matrix_free(weft_symmetric_matrix **matrix);
/** y = A v; repeated calls give bitwise identical results.
 *  values  [n_values] as laid out by weft_symmetric, doubles or (single) floats, on the device
 *  v, y    [n_rows] doubles, on the device */
weft_status weft_symmetric_matrix_product(const weft_symmetric_matrix *matrix, weft_memory *values,
                                          weft_memory *v, weft_memory *y, weft_error *error);
/** d = diag(A), [n_rows]; for matrices of doubles. */
weft_status weft_symmetric_matrix_diagonal(const weft_symmetric_matrix *matrix, weft_memory *values,
                                           weft_memory *d, weft_error *error);
/** The product kernel and its arguments, for the fusion compiler. Borrowed; valid as long as matrix
 *  and values exist, and until the next call. */
const weft_product_arguments *weft_symmetric_matrix_rows(weft_symmetric_matrix *matrix,
                                                         weft_memory *values);
/** Append the CUDA source of these kernels, for a device with these limits, to `text`. */
weft_status weft_symmetric_source(const weft_limits *limits, weft_text *text, weft_error *error);

/* ---- one patch (symmetric_patch.c, symmetric_orientation.c, symmetric_colouring.c) --------- */

/** A coupling with a row outside of the patch. */
typedef struct weft_symmetric_outside {
    uint32_t entry; /* of the pattern, counted from the patch's first */
    int32_t halo;   /* index into the halo; WEFT_SYMMETRIC_MOST_HALO: not staged */
    uint16_t row;
} weft_symmetric_outside;

/** An inner edge. */
typedef struct weft_symmetric_inside {
    uint32_t upper, lower; /* pattern entries of a_ij and a_ji, i < j, from the patch's first */
    uint16_t source, target;
    int8_t round; /* -1: overflow */
} weft_symmetric_inside;

/** Work space, reused from patch to patch; arrays grow as needed. Initialise with {0}, free with
 *  weft_symmetric_work_free. */
typedef struct weft_symmetric_work {
    int n, n_rounds, most_rounds; /* rows; rounds of the current attempt; limit of rounds */
    size_t n_entries, n_inside, n_outside, n_halo, n_overflow, capacity;
    void *block; /* the allocation that holds the five arrays below, of `capacity` elements */
    weft_symmetric_inside *inside;
    weft_symmetric_outside *outside;
    uint64_t *keys, *keys_other;
    int32_t *incident; /* inner edges of row i: incident[incident_start[i] .. [i + 1]) */
    size_t incident_start[WEFT_SYMMETRIC_NODES + 1];
    int n_staged[WEFT_SYMMETRIC_NODES]; /* couplings of a row with the staged halo */
    int dropped[WEFT_SYMMETRIC_NODES];  /* of these, how many overflow (the last ones) */
    int degree[WEFT_SYMMETRIC_NODES];   /* inner edges of a row that do not overflow */
    int out[WEFT_SYMMETRIC_NODES];      /* of these, those with the row as source */
    uint32_t free_source[WEFT_SYMMETRIC_NODES],
        free_target[WEFT_SYMMETRIC_NODES];                               /* bit sets of rounds */
    int32_t at_source[WEFT_SYMMETRIC_NODES][WEFT_SYMMETRIC_MOST_ROUNDS]; /* edges, or -1 */
    int32_t at_target[WEFT_SYMMETRIC_NODES][WEFT_SYMMETRIC_MOST_ROUNDS];
    /* accesses to a bank of shared memory by 16 consecutive rows in a round */
    uint8_t conflicts[WEFT_SYMMETRIC_MOST_ROUNDS][WEFT_SYMMETRIC_NODES / WEFT_SYMMETRIC_BANKS]
                     [WEFT_SYMMETRIC_BANKS];
    int32_t predecessor[WEFT_SYMMETRIC_NODES]; /* in searches: edge, -1 start, -2 not visited */
    uint16_t queue[WEFT_SYMMETRIC_NODES];
    int32_t path[2 * WEFT_SYMMETRIC_NODES];
} weft_symmetric_work;

typedef enum weft_symmetric_outcome {
    WEFT_SYMMETRIC_PLACED,
    WEFT_SYMMETRIC_NOT_SYMMETRIC,
    WEFT_SYMMETRIC_NO_MEMORY
} weft_symmetric_outcome;

void weft_symmetric_work_free(weft_symmetric_work *work);
/** Lay out the entries of patch p.
 *  offsets  weft_symmetric.offsets; the patch's part is written
 *  counts   gets n_rounds, n_halo and n_overflow
 *  out      columns followed by lists; caller's, free() */
weft_symmetric_outcome weft_symmetric_patch_make(weft_symmetric_work *work,
                                                 const weft_pattern *pattern, int64_t p,
                                                 uint32_t *offsets, weft_symmetric_patch *counts,
                                                 void **out);
/** Length of a patch's Lists, with padding. */
size_t weft_symmetric_lists(const weft_symmetric_patch *patch);
/** Choose the source of each inner edge so that every row needs at most n_rounds slots and is the
 *  target of at most n_rounds edges. Moves couplings to the overflow where this is impossible.
 *  Returns the number of overflow entries. */
size_t weft_symmetric_orient(weft_symmetric_work *work);
/** Assign a round to each inner edge that does not overflow. Always succeeds after
 *  weft_symmetric_orient. On return free_source holds the free rounds of each row. */
void weft_symmetric_colour(weft_symmetric_work *work);
/** Of a set of rounds, the one in which the row and its neighbours access the local column's bank
 *  least often. The access is added to `conflicts`. */
int weft_symmetric_least_conflicts(weft_symmetric_work *work, uint32_t rounds, int row, int column);
