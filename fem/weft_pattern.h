/** Sparsity patterns, products with sparse matrices, and sums of lists, on the host.
 *
 *      In: connectivities, lists.  Out: patterns, positions of local matrices, lists, numbers. */
#ifndef WEFT_PATTERN_H
#define WEFT_PATTERN_H

#include "fem/weft_form.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sparsity pattern of the matrix of a connectivity; columns ascend within a row. */
typedef struct weft_pattern {
    int64_t n_rows, n_entries;
    int64_t *row_start; /* [n_rows + 1] */
    int32_t *columns;   /* [n_entries] */
} weft_pattern;
/** Make the pattern of a connectivity and the positions of the cells' local matrices in its values.
 *  dofs       cells -> rows; borrowed for the call
 *  lanes      cells per block of positions
 *  out        caller's; weft_pattern_free
 *  positions  caller's; weft_memory_free; NULL: not wanted
 *  Layout     positions: uint32_t [block][i * width + j][lane], indices of entries; spare lanes
 *             repeat the last cell
 *  Errors     WEFT_ERROR_UNSUPPORTED (more than 2^32 - 1 entries), WEFT_ERROR_MEMORY; *out and
 *             *positions untouched */
weft_status weft_pattern_make(weft_device *device, const weft_connectivity *dofs, int lanes,
                              weft_pattern **out, weft_memory **positions, weft_error *error);
/** Positions, as above, in an existing pattern for another connectivity whose couplings it
 *  contains, e.g. facets of its cells.
 *  Errors  WEFT_ERROR_SHAPE (a coupling that the pattern lacks), WEFT_ERROR_MEMORY; *positions
 *          untouched */
weft_status weft_pattern_positions(weft_device *device, const weft_pattern *pattern,
                                   const weft_connectivity *dofs, int lanes,
                                   weft_memory **positions, weft_error *error);
void weft_pattern_free(weft_pattern **pattern);
/** y = A v on the device's threads; the result does not depend on their number.
 *  values  [n_entries] on the host
 *  v, y    [n_rows] on the host */
weft_status weft_csr_product(weft_device *device, const weft_pattern *pattern, const double *values,
                             const double *v, double *y, weft_error *error);
/** Sum of n doubles by a summation tree that depends on n only. */
double weft_sum(const double *values, int64_t n);
/** The Euclidean norm of n doubles, or of those whose entry of is_free is not 0; without overflow or underflow of squares.
 *  is_free  NULL: all */
double weft_norm(const double *values, const double *is_free, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
