/** CSR matrices on the host: products and positions, by the instruction set of the processor. Not
 *  installed. */
#pragma once

#include "core/base/exact.h"
#include "fem/weft_fem.h"

/** Instruction sets with loops of their own; each includes the ones before it. */
typedef enum weft_vectors {
    WEFT_VECTORS_PLAIN,
    WEFT_VECTORS_AVX2,
    WEFT_VECTORS_AVX512
} weft_vectors;
/** The widest instruction set of this processor. */
weft_vectors weft_vectors_here(void);
/** The widest instruction set of this processor that the device's limits allow; NULL: any. */
weft_vectors weft_vectors_of(const weft_device *device);

/** What takes the place of the position of an entry, which is in the given row. A missing coupling
 *  has a position beyond the row, which must be accepted. */
typedef uint32_t (*weft_position_map)(const void *user, int32_t row, uint32_t position);
/** How weft_pattern_positions_by searches. */
typedef struct weft_pattern_search {
    const weft_pattern *pattern;
    /* [n_rows] number of entries right of the diagonal, for a symmetric pattern with a full
     * diagonal: half of the entries are then found as mirror images; or NULL */
    const int32_t *n_upper;
    weft_vectors vectors;  /* the processor must have them */
    weft_position_map map; /* NULL: positions in the pattern are wanted */
    const void *user;      /* of map */
} weft_pattern_search;
/** The error for a coupling that the pattern lacks: WEFT_ERROR_SHAPE. */
weft_status weft_coupling_missing(weft_error *error);
/** The pattern of several connectivities to the same rows.
 *  dofs    [n]
 *  out     caller's; weft_pattern_free
 *  Errors  as weft_pattern_make */
weft_status weft_pattern_make_of_all(weft_device *device, const weft_connectivity *const *dofs,
                                     int n, weft_pattern **out, weft_error *error);
/** weft_pattern_positions with the given search. */
weft_status weft_pattern_positions_by(weft_device *device, const weft_pattern_search *search,
                                      const weft_connectivity *dofs, int lanes,
                                      weft_memory **positions, weft_error *error);

/** Rows and vectors are processed in chunks of this size, each with its own partial sums, so that
 *  results do not depend on the number of threads. */
#define WEFT_REDUCTION_TILE 4096

typedef struct weft_csr_rows {
    const int64_t *row_start;
    const int32_t *columns;
    const double *values, *v;
    double *y;
} weft_csr_rows;
typedef struct weft_csr_rows_single {
    const int64_t *row_start;
    const int32_t *columns;
    const float *values, *v;
    float *y;
} weft_csr_rows_single;

typedef struct weft_simd_kernels {
    /* y = A v in rows [first, last); returns v.y over these rows */
    double (*csr_rows)(const weft_csr_rows *m, int64_t first, int64_t last);
    /* y = A v in rows [first, last) */
    void (*csr_rows_single)(const weft_csr_rows_single *m, int64_t first, int64_t last);
    /* add v[i] y[i] of the n owned i to a sum, n <= WEFT_EXACT_PIECE */
    void (*exact_dot)(const double *v, const double *y, const unsigned char *owned, int64_t n,
                      weft_exact_sum *sum);
} weft_simd_kernels;
enum { WEFT_EXACT_PIECE = 1024 };
/** The kernels for an instruction set, which the processor must have. */
const weft_simd_kernels *weft_simd(weft_vectors vectors);

/** weft_csr_product that also computes v.y per chunk.
 *  dots  [ceil(n_rows / WEFT_REDUCTION_TILE)], or NULL */
weft_status weft_csr_product_dots(weft_device *device, const weft_pattern *pattern,
                                  const double *values, const double *v, double *y, double *dots,
                                  weft_error *error);
/** weft_csr_product that also computes v.y of the owned rows without rounding.
 *  owned  [n_rows] 1: counts; otherwise 0
 *  sums   [ceil(n_rows / WEFT_REDUCTION_TILE)], for the call
 *  Errors WEFT_ERROR_MEMORY */
weft_status weft_csr_product_exact(weft_device *device, const weft_pattern *pattern,
                                   const double *values, const double *v, double *y,
                                   const unsigned char *owned, weft_exact_sum *sums,
                                   weft_exact_sum *out, weft_error *error);
/** weft_csr_product in single precision. */
weft_status weft_csr_product_single(weft_device *device, const weft_pattern *pattern,
                                    const float *values, const float *v, float *y,
                                    weft_error *error);
