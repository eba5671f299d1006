/** Owner-computes assembly: what each row of a SELL matrix adds up itself, instead of cells adding
 *  to rows. Not installed. */
#pragma once

#include "fem/sparse/sell.h"

enum {
    WEFT_ADDTO_WIDTH = 4,       /* vertices of a cell, at most */
    WEFT_ADDTO_LOCAL_BITS = 13, /* of a local number */
    WEFT_ADDTO_SLOT_BITS = 8    /* of an entry's number in its row */
};
/** The word of no cell. */
#define WEFT_ADDTO_NONE ((uint64_t)1 << 63)

/** The cells round each row, in ascending order, for the blocks and slices of a SELL matrix.
 *
 *  A cell stands at each of its vertices, renumbered evenly so that the vertex is its first (a cell
 *  of two vertices: swapped). Its word tells the others, vertex v = 1, 2, 3 in bits 21 (v - 1) and
 *  up: 13 bits of its local number, 8 bits of its entry k in the row. Local numbers: rows of the
 *  block from 0, from 512 on the block's halo, the rows outside that it couples with, ascending. */
typedef struct weft_addto {
    int64_t n_blocks, n_words, n_halo;
    uint32_t *word_start; /* [16 * n_blocks + 1] of each slice in words */
    uint64_t *words;      /* [slice][k][lane] */
    int32_t *cells;       /* their numbers, in the same shape; NULL: not wanted */
    int64_t *halo_start;  /* [n_blocks + 1] */
    int32_t *halo;
    int most_local;      /* local numbers of a block, at most */
    int64_t most_values; /* entries beside the diagonal in a block's slices, at most */
} weft_addto;

/** dofs     width 2 to 4
 *  pattern  that of SELL, with all couplings of dofs
 *  Errors   WEFT_ERROR_UNSUPPORTED: what words cannot say (the width, more than 2^13 local numbers
 *           or 2^8 entries in a row, a cell with a node twice, more than 2^32 - 1 words);
 *           WEFT_ERROR_SHAPE (a coupling that the pattern lacks), WEFT_ERROR_MEMORY; *out untouched
 */
weft_status weft_addto_make(weft_device *device, const weft_connectivity *dofs,
                            const weft_pattern *pattern, const weft_sell *sell, bool with_cells,
                            weft_addto **out, weft_error *error);
void weft_addto_free(weft_addto **addto);

/** What a program needs to make rows by their owners, in the device's memory, for one connectivity.
 *  layout is the matrix's, pattern what it was made from. start and rows are left to the caller:
 *  they are the matrix's own.
 *  Errors as weft_addto_make's; on error *out is empty. Free with weft_addto_rows_free. */
weft_status weft_addto_rows_make(weft_device *device, const weft_sell *layout,
                                 const weft_pattern *pattern, const weft_connectivity *dofs,
                                 bool with_cells, weft_matrix_rows *out, weft_error *error);
/** Start from {0}; leaves that. */
void weft_addto_rows_free(weft_matrix_rows *rows);
