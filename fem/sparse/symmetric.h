/* Symmetric matrices by edges: each coupling inside a patch of 512 consecutive rows is stored once.
 * Not installed.
 *
 *  A patch owns rows [512 p, 512 p + 512). The columns outside that its rows couple with are its
 *  halo. An edge inside is one slot of one of its two rows (its source), and serves both; a
 *  coupling with the halo is a slot of the row. A row has one slot a round, and in a round no row
 *  is the target of two edges, so that a round's stores need no atomics. What finds no slot is in
 *  the patch's overflow list, which holds directed entries by row, then by column.
 *
 *  Local columns  0 .. 511 rows of the patch, 512 none (a zero), 513 + k halo node k
 *  Values         a patch after the other: [512] diagonal, [rounds][512] slots, [n] overflow,
 * padded to a multiple of 4; after the last patch the discard slots, which no product reads: of an
 * edge inside a_ij with i < j counts, what is added to a_ji goes to the discard slots
 * Columns        a patch after the other: [rounds][512] local columns Lists          a patch after
 * the other: halo nodes, ascending; local columns of the overflow, or ~node where it is not staged;
 * rows of the overflow; padded to a multiple of 4
 *
 *  Source  orientation: Frank and Gyarfas 1978, by reversing paths; colouring of a bipartite graph
 *          with as many colours as its largest degree: Koenig 1916, by alternating paths */
#pragma once

#include "fem/sparse/csr.h"

enum {
    WEFT_SYMMETRIC_NODES = 512,
    WEFT_SYMMETRIC_BLOCKS = 3, /* resident on a multiprocessor: `blocks` of symmetric.product.cu */
    WEFT_SYMMETRIC_NONE = 512,
    WEFT_SYMMETRIC_HALO = 513,
    WEFT_SYMMETRIC_MOST_HALO = 1280, /* staged; further columns go to the overflow list */
    WEFT_SYMMETRIC_MOST_ROUNDS = 24,
    WEFT_SYMMETRIC_BANKS = 16 /* of 8 bytes; 16 threads are served at a time */
};
/** In weft_symmetric.offsets: what is added there does not count. */
#define WEFT_SYMMETRIC_DISCARD UINT32_MAX

/** As kernels read it, 32 bytes. */
typedef struct weft_symmetric_patch {
    int64_t first_value, first_column, first_list;
    uint16_t n_rounds, n_halo;
    uint32_t n_overflow;
} weft_symmetric_patch;

typedef struct weft_symmetric_options {
    bool few_discards; /* 65536 at most, for atomic additions; else one a row, so that cells that
                          share no row share no discard slot */
    int most_rounds;   /* what needs more goes to the overflow; 0: WEFT_SYMMETRIC_MOST_ROUNDS */
} weft_symmetric_options;

typedef struct weft_symmetric {
    int64_t n_rows, n_patches, n_values, n_columns, n_lists;
    int64_t first_discard, n_discard; /* a power of two below n_rows, or n_rows: that of row r is r
                                         modulo n_discard */
    weft_symmetric_patch *patches;
    uint16_t *columns;
    int32_t *lists;
    uint32_t *offsets; /* [pattern's entries], into the patch's values, or WEFT_SYMMETRIC_DISCARD */
    int most_rounds, most_halo;
    int64_t n_overflow; /* directed entries */
    double slots_per_row;
} weft_symmetric;

/** Place the entries of a symmetric pattern. On the device's host threads; the same for any number.
 *  Memory     about 70 bytes a row of tetrahedra, and while it runs 22 more
 *  Errors     WEFT_ERROR_INPUT (the pattern is not symmetric within a patch), _UNSUPPORTED (more
 * than 2^32 - 1 values), _MEMORY; *out untouched. Free with weft_symmetric_free */
weft_status weft_symmetric_make(weft_device *device, const weft_pattern *pattern,
                                const weft_symmetric_options *options, weft_symmetric **out,
                                weft_error *error);
void weft_symmetric_free(weft_symmetric **symmetric);

typedef struct weft_symmetric_placing {
    int lanes;
    bool transposed; /* of an edge inside, a_ji with i < j counts, and a_ij goes to the discard
                        slots */
} weft_symmetric_placing;
/** Where each entry of the cells' local matrices is added in the values: [block][i * width +
 *  j][lane], uint32_t, as weft_pattern_positions. pattern is the one edge was made of.
 *  Errors  WEFT_ERROR_SHAPE (a coupling that the pattern lacks), WEFT_ERROR_MEMORY */
weft_status weft_symmetric_positions(weft_device *device, const weft_symmetric *symmetric,
                                     const weft_pattern *pattern, const weft_connectivity *dofs,
                                     weft_symmetric_placing placing, weft_memory **positions,
                                     weft_error *error);

/** y = A v on the device's host threads; bitwise identical for any number. values [n_values]
 *  doubles, or floats when `single`, whose products are summed in double. v, y [n_rows]. */
weft_status weft_symmetric_product(weft_device *device, const weft_symmetric *symmetric,
                                   const void *values, bool single, const double *v, double *y,
                                   weft_error *error);
/** The same with the given instruction set, which the processor must have. */
typedef struct weft_symmetric_values {
    const weft_symmetric *symmetric;
    const void *values;
    bool single;
} weft_symmetric_values;
weft_status weft_symmetric_product_by(weft_device *device, const weft_symmetric_values *matrix,
                                      weft_vectors vectors, const double *v, double *y,
                                      weft_error *error);

/* ---- on a GPU (fem/sparse/symmetric_device.c) ------------------------------------------------------------- */

/** Structure and kernels there; the values are a memory of the caller's. */
typedef struct weft_symmetric_matrix weft_symmetric_matrix;
/** A bit of n_rounds that tells the kernel of values that are floats. */
#define WEFT_SYMMETRIC_SINGLE 0x8000
/** The rounds whose patches fit into so much shared memory of a block. */
int weft_symmetric_rounds_within(size_t onchip_bytes);
/** Copies what it needs of edge. */
weft_status weft_symmetric_matrix_make(weft_device *device, const weft_symmetric *symmetric,
                                       bool single, weft_symmetric_matrix **out, weft_error *error);
void weft_symmetric_matrix_free(weft_symmetric_matrix **matrix);
/** y = A v, bitwise identical every time; values as weft_symmetric lays them, doubles or (single)
 *  floats. */
weft_status weft_symmetric_matrix_product(const weft_symmetric_matrix *matrix, weft_memory *values,
                                          weft_memory *v, weft_memory *y, weft_error *error);
/** d = diag(A), of doubles. */
weft_status weft_symmetric_matrix_diagonal(const weft_symmetric_matrix *matrix, weft_memory *values,
                                           weft_memory *d, weft_error *error);
/** The product for the compiler: borrowed, good while matrix and values are. */
const weft_product_arguments *weft_symmetric_matrix_rows(weft_symmetric_matrix *matrix,
                                                         weft_memory *values);
/** The CUDA text of these kernels, for a device of these limits. */
weft_status weft_symmetric_source(const weft_limits *limits, weft_text *text, weft_error *error);

/* ---- one patch (fem/sparse/symmetric_patch.c, fem/sparse/symmetric_orientation.c, fem/sparse/symmetric_colouring.c) ------------------------------ */

/** A coupling with a row outside. */
typedef struct weft_symmetric_outside {
    uint32_t entry; /* of the pattern, from the patch's first */
    int32_t halo;   /* number in the halo; WEFT_SYMMETRIC_MOST_HALO or more: not staged */
    uint16_t row;
} weft_symmetric_outside;

/** An edge inside. */
typedef struct weft_symmetric_inside {
    uint32_t upper, lower; /* entries of the pattern a_ij and a_ji, i < j, from the patch's first */
    uint16_t source, target;
    int8_t round; /* -1: overflow */
} weft_symmetric_inside;

/** The work on one patch after the other; arrays grow. Start from {0}, free with
 *  weft_symmetric_work_free. */
typedef struct weft_symmetric_work {
    int n, n_rounds, most_rounds; /* rows; rounds tried; at most */
    size_t n_entries, n_inside, n_outside, n_halo, n_overflow, capacity;
    void *block; /* holds the arrays of `capacity` */
    weft_symmetric_inside *inside;
    weft_symmetric_outside *outside;
    uint64_t *keys, *keys_other;
    int32_t *incident; /* edges inside, row after row */
    size_t incident_start[WEFT_SYMMETRIC_NODES + 1];
    int n_staged[WEFT_SYMMETRIC_NODES]; /* couplings of a row with staged halo */
    int dropped[WEFT_SYMMETRIC_NODES];  /* of these in the overflow: the last ones */
    int degree[WEFT_SYMMETRIC_NODES];   /* edges inside that are not in the overflow */
    int out[WEFT_SYMMETRIC_NODES];      /* of these with this row as source */
    uint32_t free_source[WEFT_SYMMETRIC_NODES],
        free_target[WEFT_SYMMETRIC_NODES];                               /* rounds, as bits */
    int32_t at_source[WEFT_SYMMETRIC_NODES][WEFT_SYMMETRIC_MOST_ROUNDS]; /* edges, or -1 */
    int32_t at_target[WEFT_SYMMETRIC_NODES][WEFT_SYMMETRIC_MOST_ROUNDS];
    /* how often sixteen neighbouring rows meet a bank of shared memory in a round */
    uint8_t conflicts[WEFT_SYMMETRIC_MOST_ROUNDS][WEFT_SYMMETRIC_NODES / WEFT_SYMMETRIC_BANKS]
                     [WEFT_SYMMETRIC_BANKS];
    int32_t predecessor[WEFT_SYMMETRIC_NODES]; /* searches: edge, -1 start, -2 not seen */
    uint16_t queue[WEFT_SYMMETRIC_NODES];
    int32_t path[2 * WEFT_SYMMETRIC_NODES];
} weft_symmetric_work;

typedef enum weft_symmetric_outcome {
    WEFT_SYMMETRIC_PLACED,
    WEFT_SYMMETRIC_NOT_SYMMETRIC,
    WEFT_SYMMETRIC_NO_MEMORY
} weft_symmetric_outcome;

void weft_symmetric_work_free(weft_symmetric_work *work);
/** Place the entries of patch p. counts gets n_rounds, n_halo, n_overflow; offsets its part of
 *  weft_symmetric.offsets; *out columns and then lists, malloc'd. */
weft_symmetric_outcome weft_symmetric_patch_make(weft_symmetric_work *work,
                                                 const weft_pattern *pattern, int64_t p,
                                                 uint32_t *offsets, weft_symmetric_patch *counts,
                                                 void **out);
/** Entries of a patch's lists, padded. */
size_t weft_symmetric_lists(const weft_symmetric_patch *patch);
/** Choose sources so that no row has more than n_rounds slots, nor is target more often than that;
 *  what cannot be is put into the overflow. Returns the overflow's entries. */
size_t weft_symmetric_orient(weft_symmetric_work *work);
/** Give each edge inside a round. What orientation promises is enough for it. Leaves the free
 *  rounds of each row in free_source. */
void weft_symmetric_colour(weft_symmetric_work *work);
/** Of the rounds in the set, that in which the row and its neighbours meet the local column's bank
 *  least; it is counted there. */
int weft_symmetric_least_conflicts(weft_symmetric_work *work, uint32_t rounds, int row, int column);
