/* Layout of one patch of a symmetric matrix (fem/sparse/symmetric.h): symmetric_patch.c,
 * symmetric_orientation.c, symmetric_colouring.c. Not installed.
 *
 *      In: the rows of a pattern.  Out: the patch's columns and lists, and the offsets of its entries. */
#pragma once

#include "fem/sparse/symmetric.h"

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
    /* bit sets of rounds */
    uint32_t free_source[WEFT_SYMMETRIC_NODES], free_target[WEFT_SYMMETRIC_NODES];
    int32_t at_source[WEFT_SYMMETRIC_NODES][WEFT_SYMMETRIC_MOST_ROUNDS]; /* edges, or -1 */
    int32_t at_target[WEFT_SYMMETRIC_NODES][WEFT_SYMMETRIC_MOST_ROUNDS];
    /* accesses to a bank of shared memory by 16 consecutive rows in a round */
    uint8_t conflicts[WEFT_SYMMETRIC_MOST_ROUNDS][WEFT_SYMMETRIC_NODES / WEFT_SYMMETRIC_BANKS]
                     [WEFT_SYMMETRIC_BANKS];
    bool is_stuck[WEFT_SYMMETRIC_NODES];       /* rows from which no path was found (orientation) */
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
/** Sum the sizes of the patches: their places, and the sizes and the discard slots of the layout.
 *  Errors  WEFT_ERROR_UNSUPPORTED: more than 2^32 - 1 values */
weft_status weft_symmetric_sum(weft_symmetric *symmetric, bool few_discards, weft_error *error);
/** The greatest number of rounds that the options allow. */
int weft_symmetric_rounds_most(const weft_symmetric_options *options);
