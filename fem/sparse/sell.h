/** A sparse matrix in slices of 32 rows, a warp's, for GPUs (kernels/operators/sell.product.cu).
 *  Not installed. */
#pragma once

#include "fem/weft_fem.h"

enum {
    WEFT_SLICE = 32,       /* rows of a slice */
    WEFT_SELL_ROWS = 512,  /* rows of a block: a window, sorted by length */
    WEFT_SELL_SLICES = 16, /* slices of a block */
    WEFT_SELL_OFFSET = 11, /* bits of a column code that count from a base; 5 choose the base */
    WEFT_SELL_BASES = 32,  /* a block */
};

/** Where a pattern's entries stand.
 *
 *  values   [n_blocks * 512] the diagonal in order of rows, then slice after slice, each
 *           [k][32 lanes]: the entries beside the diagonal in order of columns; rows shorter than
 *           the slice's longest are filled up with zeros whose column is the row itself
 *  columns  of such an entry: a word each, [k][lane]; or, where 32 bases suffice the block, codes
 * of 16 bits, [k / 2][lane] words of two, the even k in the lower half: column = bases[block][code
 * >> 11] + (code & 2047)
 *
 *  The rows of a block stand by length, longest first, equal ones in order. */
typedef struct weft_sell {
    int64_t n_rows, n_blocks;
    int64_t n_values, n_words; /* of values and of columns */
    uint16_t *rows;            /* [n_blocks][512] row in its block, by slice and lane */
    uint16_t *slots;           /* [n_blocks][512] the inverse */
    uint32_t *start;           /* [16 * n_blocks + 1] of each slice in values */
    uint32_t *column_start;    /* [16 * n_blocks + 1] of each slice in columns */
    uint32_t *columns;
    int32_t *bases; /* [n_blocks][32]; the first is -1 where columns are no codes */
} weft_sell;

/** Lay a pattern out. Rows may be of any length, with or without a diagonal entry. On the device's
 *  threads; the result does not depend on how many.
 *  Errors WEFT_ERROR_UNSUPPORTED (more than 2^32 - 1 values), WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_sell_make(weft_device *device, const weft_pattern *pattern, weft_sell **out,
                           weft_error *error);
void weft_sell_free(weft_sell **sell);
/** Number of entries beside the diagonal that each row of a slice has room for. */
static inline int64_t weft_sell_length(const weft_sell *sell, int64_t slice) {
    return (sell->start[slice + 1] - sell->start[slice]) / WEFT_SLICE;
}
/** The column of entry k of a row, counted from 0 beside the diagonal; the row itself where there
 * is no such entry. */
int32_t weft_sell_column(const weft_sell *sell, int64_t row, int64_t k);
/** Where in values that entry is. */
int64_t weft_sell_place(const weft_sell *sell, int64_t row, int64_t k);

/** The matrix on a GPU: the layout, values that are zero at first, and the kernels that work on it
 * (fem/sparse/sell_device.c). Makes nothing of a null device's but its record. */
typedef struct weft_sell_matrix weft_sell_matrix;
/** pattern is borrowed for the call. layout (NULL allowed) gets the layout on the host, the
 * caller's. Errors as weft_sell_make's, and WEFT_ERROR_COMPILER. */
weft_status weft_sell_matrix_make(weft_device *device, const weft_pattern *pattern,
                                  weft_sell **layout, weft_sell_matrix **out, weft_error *error);
/** The text of its kernels, added to `text`. Errors WEFT_ERROR_MEMORY */
weft_status weft_sell_source(weft_text *text, weft_error *error);
void weft_sell_matrix_free(weft_sell_matrix **matrix);
/** [n_values] doubles as weft_sell has them. Borrowed. */
weft_memory *weft_sell_matrix_values(const weft_sell_matrix *matrix);
/** The product as a product kernel. Borrowed. */
const weft_product_arguments *weft_sell_matrix_product_kernel(const weft_sell_matrix *matrix);
/** On the device, borrowed: weft_sell.start and .rows. */
weft_memory *weft_sell_matrix_start(const weft_sell_matrix *matrix);
weft_memory *weft_sell_matrix_rows(const weft_sell_matrix *matrix);
/** As weft_pattern_positions, into the values of the matrix; found on the device.
 *  Errors WEFT_ERROR_SHAPE (a coupling that the pattern lacks), _MEMORY, _DEVICE */
weft_status weft_sell_positions(const weft_sell_matrix *matrix, const weft_connectivity *dofs,
                                weft_memory **positions, weft_error *error);
/** y = A v; v and y [n_rows] on the device. Deterministic. */
weft_status weft_sell_product(const weft_sell_matrix *matrix, weft_memory *v, weft_memory *y,
                              weft_error *error);
/** d [n_rows] = the diagonal; 0 where the pattern has none. */
weft_status weft_sell_diagonal(const weft_sell_matrix *matrix, weft_memory *d, weft_error *error);
/** out [pattern->n_entries] on the device: the values in the order of the pattern that the matrix
 * was made from. */
weft_status weft_sell_export(const weft_sell_matrix *matrix, const weft_pattern *pattern,
                             weft_memory *out, weft_error *error);
