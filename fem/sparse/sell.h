/** Sparse matrices in SELL format: slices of 32 rows, one per lane of a warp, for GPUs
 *  (kernels/operators/sell.product.cu). Not installed.
 *
 *      In: a sparsity pattern.  Out: the layout of the values, the matrix on a GPU. */
#pragma once

#include "fem/weft_fem.h"

enum {
    WEFT_SLICE = 32,       /* rows of a slice */
    WEFT_SELL_ROWS = 512,  /* rows of a block, within which rows are sorted by length */
    WEFT_SELL_SLICES = 16, /* slices of a block */
    WEFT_SELL_OFFSET = 11, /* offset bits of a 16-bit column code; the other 5 select the base */
    WEFT_SELL_BASES = 32,  /* bases per block */
};

/** Layout of a pattern's entries. The rows of a block are sorted by length, longest first, equal
 *  lengths by row number; lane l of slice s holds row 32 s + l of this order.
 *
 *  values   [n_blocks * 512] the diagonal, by row; then per slice [k][32 lanes] the off-diagonal
 *           entries, by column. Rows shorter than the longest of the slice are padded with zeros
 *           whose column is the row itself
 *  columns  of the off-diagonal entries, per slice:
 *           uint32_t [k][lane]; or, in blocks whose columns need at most 32 bases, 16-bit codes in
 *           pairs, [k / 2][lane], even k in the lower half:
 *               column = bases[block][code >> 11] + (code & 2047) */
typedef struct weft_sell {
    int64_t n_rows, n_blocks;
    int64_t n_values, n_words; /* lengths of values and of columns */
    uint16_t *rows;            /* [n_blocks][512] row within its block, by slice and lane */
    uint16_t *slots;           /* [n_blocks][512] the inverse permutation */
    uint32_t *start;           /* [16 * n_blocks + 1] start of each slice in values */
    uint32_t *column_start;    /* [16 * n_blocks + 1] start of each slice in columns */
    uint32_t *columns;
    int32_t *bases; /* [n_blocks][32]; the first is -1 if the block's columns are not coded */
} weft_sell;

/** Lay out a pattern. Rows may have any length, with or without a diagonal entry. Runs on the
 *  device's threads; the result does not depend on their number.
 *  pattern  borrowed for the call
 *  out      caller's; weft_sell_free
 *  Errors   WEFT_ERROR_UNSUPPORTED (more than 2^32 - 1 values), _MEMORY; *out untouched */
weft_status weft_sell_make(weft_device *device, const weft_pattern *pattern, weft_sell **out,
                           weft_error *error);
void weft_sell_free(weft_sell **sell);
/** Refuse more than 2^32 - 1 values.  Errors  WEFT_ERROR_UNSUPPORTED */
weft_status weft_sell_check_size(int64_t n_values, weft_error *error);
/** Off-diagonal entries per row of a slice, with padding. */
static inline int64_t weft_sell_length(const weft_sell *sell, int64_t slice) {
    return (sell->start[slice + 1] - sell->start[slice]) / WEFT_SLICE;
}
/** The column of off-diagonal entry k = 0, 1, ... of a row; for padding, the row itself. */
int32_t weft_sell_column(const weft_sell *sell, int64_t row, int64_t k);
/** The index of that entry in values. */
int64_t weft_sell_place(const weft_sell *sell, int64_t row, int64_t k);

/** A SELL matrix on a GPU: layout, values (initially zero) and kernels (fem/sparse/sell_device.c).
 *  On a null device nothing is computed; memories and launches are only recorded. */
typedef struct weft_sell_matrix weft_sell_matrix;
/** pattern  borrowed for the call
 *  single   values are float, for product kernels of scripts compiled `single`; the functions below
 *           that compute do not work with them
 *  layout   NULL, or gets the layout on the host; caller's; weft_sell_free
 *  out      caller's; weft_sell_matrix_free
 *  Errors   as weft_sell_make; WEFT_ERROR_COMPILER, _DEVICE; *layout and *out untouched */
weft_status weft_sell_matrix_make(weft_device *device, const weft_pattern *pattern, bool single,
                                  weft_sell **layout, weft_sell_matrix **out, weft_error *error);
/** Append the CUDA source of its kernels to `text`.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_sell_source(weft_text *text, weft_error *error);
void weft_sell_matrix_free(weft_sell_matrix **matrix);
/** [n_values] doubles, or floats if single, laid out as weft_sell.values. Borrowed. */
weft_memory *weft_sell_matrix_values(const weft_sell_matrix *matrix);
/** The product kernel and its arguments, for the fusion compiler. Borrowed. */
const weft_product_arguments *weft_sell_matrix_product_kernel(const weft_sell_matrix *matrix);
/** weft_sell.start and weft_sell.rows on the device. Borrowed. */
weft_memory *weft_sell_matrix_start(const weft_sell_matrix *matrix);
weft_memory *weft_sell_matrix_rows(const weft_sell_matrix *matrix);
/** weft_pattern_positions for the values of this matrix, computed on the device with 32 lanes.
 *  positions  caller's; weft_memory_free
 *  Errors     WEFT_ERROR_SHAPE (a coupling that the pattern lacks), _MEMORY, _DEVICE; *positions
 *             untouched */
weft_status weft_sell_positions(const weft_sell_matrix *matrix, weft_connectivity *dofs,
                                weft_memory **positions, weft_error *error);
/** y = A v; v and y [n_rows] on the device. Deterministic. */
weft_status weft_sell_product(const weft_sell_matrix *matrix, weft_memory *v, weft_memory *y,
                              weft_error *error);
/** d [n_rows] = diag(A); 0 in rows without a diagonal entry. */
weft_status weft_sell_diagonal(const weft_sell_matrix *matrix, weft_memory *d, weft_error *error);
/** Copy the values to out, in CSR order.
 *  row_start  of the pattern that the matrix was made from, on the device
 *  out        doubles on the device, one for each entry of the pattern */
weft_status weft_sell_export(const weft_sell_matrix *matrix, weft_memory *row_start,
                             weft_memory *out, weft_error *error);
