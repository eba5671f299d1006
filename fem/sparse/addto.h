/** Owner-computes assembly: each row of a SELL matrix sums the contributions of its cells, instead
 *  of cells adding to rows. Not installed.
 *
 *      In: cells -> dofs, the pattern, the SELL layout.  Out: the list of cells of each row.
 *
 *  Decision  docs/decisions/0021-owners-compute-on-gpus.md */
#pragma once

#include "fem/sparse/sell.h"

enum {
    WEFT_ADDTO_WIDTH = 4,       /* maximum number of vertices per cell */
    WEFT_ADDTO_LOCAL_BITS = 13, /* of a local node number */
    WEFT_ADDTO_SLOT_BITS = 8    /* of an entry's index in its row */
};
/** The word of a padding entry, without a cell. */
#define WEFT_ADDTO_NONE ((uint64_t)1 << 63)

/** The cells of each row, in ascending order, for the blocks and slices of a SELL matrix.
 *
 *  Every cell is listed in the rows of all its vertices. In the row of a vertex, the cell's
 *  vertices are renumbered by an even permutation (for two vertices, a swap) that makes this vertex
 *  number 0. The other vertices are packed into a word of 64 bits:
 *
 *      bits  21 (v - 1) .. +12   local number of vertex v = 1, 2, 3
 *            +13 .. +20          its entry k in the row, not counting the diagonal
 *
 *  Local numbers: 0 .. 511 rows of the block, 512 + h entry h of the block's halo, which lists the
 *  outside rows that the block couples with in ascending order. */
typedef struct weft_addto {
    int64_t n_blocks, n_words, n_halo;
    uint32_t *word_start; /* [16 * n_blocks + 1] start of each slice in words */
    uint64_t *words;      /* [slice][k][lane] */
    int32_t *cells;       /* cell numbers, shaped as words; NULL: not requested */
    int64_t *halo_start;  /* [n_blocks + 1] */
    int32_t *halo;
    int most_local;      /* largest count of local numbers in a block */
    int64_t most_values; /* largest count of off-diagonal values in a block, with padding */
} weft_addto;

/** Why rows cannot be listed. */
typedef enum weft_addto_fault {
    WEFT_ADDTO_FAULT_NONE,
    WEFT_ADDTO_FAULT_MEMORY,
    WEFT_ADDTO_FAULT_LOCAL,
    WEFT_ADDTO_FAULT_SLOT,
    WEFT_ADDTO_FAULT_TWICE,
    WEFT_ADDTO_FAULT_MISSING
} weft_addto_fault;
/** Its error; WEFT_OK for WEFT_ADDTO_FAULT_NONE. */
weft_status weft_addto_fault_status(int fault, weft_error *error);
/** Refuse a connectivity of the wrong width or size, or to another number of rows. */
weft_status weft_addto_check(const weft_connectivity *dofs, int64_t n_rows, weft_error *error);

/** List the cells of each row.
 *  dofs        cells -> rows, width 2 to 4; borrowed for the call, as are pattern and sell
 *  pattern     the pattern that sell was made from; contains all couplings of dofs
 *  with_cells  also make weft_addto.cells
 *  out         caller's; weft_addto_free
 *  Errors      WEFT_ERROR_UNSUPPORTED: not representable (another width, more than 2^13 local
 *              numbers in a block, more than 2^8 entries in a row, a cell with a repeated node,
 *              more than 2^32 - 1 words); WEFT_ERROR_SHAPE (a coupling that the pattern lacks),
 *              WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_addto_make(weft_device *device, const weft_connectivity *dofs,
                            const weft_pattern *pattern, const weft_sell *sell, bool with_cells,
                            weft_addto **out, weft_error *error);
void weft_addto_free(weft_addto **addto);

/** weft_addto_make into the device's memory: the arguments that a program needs for owner-computes
 *  assembly over one connectivity.
 *  layout   the matrix's
 *  pattern  the pattern that layout was made from
 *  out      caller's; weft_addto_rows_free. Members start and rows, which the matrix owns, remain
 *           for the caller to set
 *  Errors   as weft_addto_make; *out untouched */
weft_status weft_addto_rows_make(weft_device *device, const weft_sell *layout,
                                 const weft_pattern *pattern, const weft_connectivity *dofs,
                                 bool with_cells, weft_matrix_rows *out, weft_error *error);
/** Accepts {0}; leaves {0}. */
void weft_addto_rows_free(weft_matrix_rows *rows);
