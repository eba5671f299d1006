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
 * padded to a multiple of 4; after the last patch the dump, which no product reads: of an edge
 * inside a_ij with i < j counts, what is added to a_ji goes to the dump Columns        a patch
 * after the other: [rounds][512] local columns Lists          a patch after the other: halo nodes,
 * ascending; local columns of the overflow, or ~node where it is not staged; rows of the overflow;
 * padded to a multiple of 4
 *
 *  Source  orientation: Frank and Gyarfas 1978, by reversing paths; colouring of a bipartite graph
 *          with as many colours as its largest degree: Koenig 1916, by alternating paths */
#pragma once

#include "fem/sparse/csr.h"

enum {
    WEFT_EDGE_NODES = 512,
    WEFT_EDGE_NONE = 512,
    WEFT_EDGE_HALO = 513,
    WEFT_EDGE_MOST_HALO = 1280, /* staged; further columns go to the overflow list */
    WEFT_EDGE_MOST_ROUNDS = 24,
    WEFT_EDGE_BANKS = 16 /* of 8 bytes; 16 threads are served at a time */
};
/** In weft_edge.offsets: what is added there does not count. */
#define WEFT_EDGE_DUMP UINT32_MAX

/** As kernels read it, 32 bytes. */
typedef struct weft_edge_patch {
    int64_t first_value, first_column, first_list;
    uint16_t n_rounds, n_halo;
    uint32_t n_overflow;
} weft_edge_patch;

typedef struct weft_edge_options {
    bool few_dumps; /* 65536 at most, for atomic additions; else one a row, so that cells that share
                       no row share no dump */
    int most_rounds; /* what needs more goes to the overflow; 0: WEFT_EDGE_MOST_ROUNDS */
} weft_edge_options;

typedef struct weft_edge {
    int64_t n_rows, n_patches, n_values, n_columns, n_lists;
    int64_t first_dump, n_dump; /* a power of two below n_rows, or n_rows: that of row r is r modulo
                                   n_dump */
    weft_edge_patch *patches;
    uint16_t *columns;
    int32_t *lists;
    uint32_t *offsets; /* [pattern's entries], into the patch's values, or WEFT_EDGE_DUMP */
    int most_rounds, most_halo;
    int64_t n_overflow; /* directed entries */
    double slots_per_row;
} weft_edge;

/** Place the entries of a symmetric pattern. On the device's host threads; the same for any number.
 *  Memory     about 70 bytes a row of tetrahedra, and while it runs 22 more
 *  Errors     WEFT_ERROR_INPUT (the pattern is not symmetric within a patch), _UNSUPPORTED (more
 * than 2^32 - 1 values), _MEMORY; *out untouched. Free with weft_edge_free */
weft_status weft_edge_make(weft_device *device, const weft_pattern *pattern,
                           const weft_edge_options *options, weft_edge **out, weft_error *error);
void weft_edge_free(weft_edge **edge);

typedef struct weft_edge_placing {
    int lanes;
    bool transposed; /* of an edge inside, a_ji with i < j counts, and a_ij goes to the dump */
} weft_edge_placing;
/** Where each entry of the cells' local matrices is added in the values: [block][i * width +
 *  j][lane], uint32_t, as weft_pattern_positions. pattern is the one edge was made of.
 *  Errors  WEFT_ERROR_SHAPE (a coupling that the pattern lacks), WEFT_ERROR_MEMORY */
weft_status weft_edge_positions(weft_device *device, const weft_edge *edge,
                                const weft_pattern *pattern, const weft_connectivity *dofs,
                                weft_edge_placing placing, weft_memory **positions,
                                weft_error *error);

/** y = A v on the device's host threads; the same bits for any number. values [n_values] doubles,
 *  or floats when `single`, whose products are summed in double. v, y [n_rows]. */
weft_status weft_edge_product(weft_device *device, const weft_edge *edge, const void *values,
                              bool single, const double *v, double *y, weft_error *error);
/** The same with the given instruction set, which the processor must have. */
typedef struct weft_edge_values {
    const weft_edge *edge;
    const void *values;
    bool single;
} weft_edge_values;
weft_status weft_edge_product_by(weft_device *device, const weft_edge_values *matrix,
                                 weft_vectors vectors, const double *v, double *y,
                                 weft_error *error);

/* ---- on a GPU (fem/sparse/symmetric_device.c) ------------------------------------------------------------- */

/** Structure and kernels there; the values are a memory of the caller's. */
typedef struct weft_edge_matrix weft_edge_matrix;
/** A bit of n_rounds that tells the kernel of values that are floats. */
#define WEFT_EDGE_SINGLE 0x8000
/** The rounds whose patches fit into so much shared memory of a block. */
int weft_edge_rounds_within(size_t onchip_bytes);
/** Copies what it needs of edge. */
weft_status weft_edge_matrix_make(weft_device *device, const weft_edge *edge, bool single,
                                  weft_edge_matrix **out, weft_error *error);
void weft_edge_matrix_free(weft_edge_matrix **matrix);
/** y = A v, the same bits every time; values as weft_edge lays them, doubles or (single) floats. */
weft_status weft_edge_matrix_product(const weft_edge_matrix *matrix, weft_memory *values,
                                     weft_memory *v, weft_memory *y, weft_error *error);
/** d = diag(A), of doubles. */
weft_status weft_edge_matrix_diagonal(const weft_edge_matrix *matrix, weft_memory *values,
                                      weft_memory *d, weft_error *error);
/** The product for the compiler: borrowed, good while matrix and values are. */
const weft_rows *weft_edge_matrix_rows(weft_edge_matrix *matrix, weft_memory *values);
/** The CUDA text of these kernels. */
weft_status weft_edge_source(weft_text *text, weft_error *error);

/* ---- one patch (fem/sparse/symmetric_patch.c, fem/sparse/symmetric_orientation.c, fem/sparse/symmetric_colouring.c) ------------------------------ */

/** A coupling with a row outside. */
typedef struct weft_edge_outside {
    uint32_t entry; /* of the pattern, from the patch's first */
    int32_t halo;   /* number in the halo; WEFT_EDGE_MOST_HALO or more: not staged */
    uint16_t row;
} weft_edge_outside;

/** An edge inside. */
typedef struct weft_edge_inside {
    uint32_t upper, lower; /* entries of the pattern a_ij and a_ji, i < j, from the patch's first */
    uint16_t source, target;
    int8_t round; /* -1: overflow */
} weft_edge_inside;

/** The work on one patch after the other; arrays grow. Start from {0}, free with
 *  weft_edge_work_free. */
typedef struct weft_edge_work {
    int n, n_rounds, most_rounds; /* rows; rounds tried; at most */
    size_t n_entries, n_inside, n_outside, n_halo, n_overflow, capacity;
    void *block; /* holds the arrays of `capacity` */
    weft_edge_inside *inside;
    weft_edge_outside *outside;
    uint64_t *keys, *keys_other;
    int32_t *incident; /* edges inside, row after row */
    size_t incident_start[WEFT_EDGE_NODES + 1];
    int n_staged[WEFT_EDGE_NODES]; /* couplings of a row with staged halo */
    int dropped[WEFT_EDGE_NODES];  /* of these in the overflow: the last ones */
    int degree[WEFT_EDGE_NODES];   /* edges inside that are not in the overflow */
    int out[WEFT_EDGE_NODES];      /* of these with this row as source */
    uint32_t free_source[WEFT_EDGE_NODES], free_target[WEFT_EDGE_NODES]; /* rounds, as bits */
    int32_t at_source[WEFT_EDGE_NODES][WEFT_EDGE_MOST_ROUNDS];           /* edges, or -1 */
    int32_t at_target[WEFT_EDGE_NODES][WEFT_EDGE_MOST_ROUNDS];
    /* how often sixteen neighbouring rows meet a bank of shared memory in a round */
    uint8_t met[WEFT_EDGE_MOST_ROUNDS][WEFT_EDGE_NODES / WEFT_EDGE_BANKS][WEFT_EDGE_BANKS];
    int32_t came_by[WEFT_EDGE_NODES]; /* searches: edge, -1 start, -2 not seen */
    uint16_t queue[WEFT_EDGE_NODES];
    int32_t path[2 * WEFT_EDGE_NODES];
} weft_edge_work;

typedef enum weft_edge_outcome {
    WEFT_EDGE_PLACED,
    WEFT_EDGE_NOT_SYMMETRIC,
    WEFT_EDGE_NO_MEMORY
} weft_edge_outcome;

void weft_edge_work_free(weft_edge_work *work);
/** Place the entries of patch p. counts gets n_rounds, n_halo, n_overflow; offsets its part of
 *  weft_edge.offsets; *out columns and then lists, malloc'd. */
weft_edge_outcome weft_symmetric_patch_make(weft_edge_work *work, const weft_pattern *pattern,
                                            int64_t p, uint32_t *offsets, weft_edge_patch *counts,
                                            void **out);
/** Entries of a patch's lists, padded. */
size_t weft_edge_lists(const weft_edge_patch *patch);
/** Choose sources so that no row has more than n_rounds slots, nor is target more often than that;
 *  what cannot be is put into the overflow. Returns the overflow's entries. */
size_t weft_edge_orient(weft_edge_work *work);
/** Give each edge inside a round. What orientation promises is enough for it. Leaves the free
 *  rounds of each row in free_source. */
void weft_edge_colour(weft_edge_work *work);
/** Of the rounds in the set, that in which the row and its neighbours meet the local column's bank
 *  least; it is counted there. */
int weft_edge_meet(weft_edge_work *work, uint32_t rounds, int row, int column);
