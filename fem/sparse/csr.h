/** Loops over rows of a CSR matrix, for the instruction set of the processor. */
#pragma once

#include "fem/weft_fem.h"

/** Instruction sets that loops are written for; each includes the ones before it. */
typedef enum weft_vectors {
    WEFT_VECTORS_PLAIN,
    WEFT_VECTORS_AVX2,
    WEFT_VECTORS_AVX512
} weft_vectors;
/** The best that this processor has. */
weft_vectors weft_vectors_here(void);
/** The best of these that the device is told to use; NULL: that this processor has. */
weft_vectors weft_vectors_of(const weft_device *device);

/** Where positions are looked for, and how. */
typedef struct weft_pattern_search {
    const weft_pattern *pattern;
    /* [n_rows] entries behind the diagonal of each row, for a pattern that is symmetric and has
     * every diagonal: half of the entries are then found from their mirror image; or NULL */
    const int32_t *n_upper;
    weft_vectors vectors; /* which the processor must have */
} weft_pattern_search;
/** weft_pattern_positions in that way. */
weft_status weft_pattern_positions_by(weft_device *device, const weft_pattern_search *search,
                                      const weft_connectivity *dofs, int lanes,
                                      weft_memory **positions, weft_error *error);

/** Rows and vectors are worked on in chunks of this many, each with sums of its own, so that
 * results do not depend on the number of threads. */
#define WEFT_REDUCTION_TILE 4096

typedef struct weft_csr_rows {
    const int64_t *row_start;
    const int32_t *columns;
    const double *values, *v;
    double *y;
} weft_csr_rows;

typedef struct weft_simd_kernels {
    /* y = A v in rows [first, last); returns v.y over them */
    double (*csr_rows)(const weft_csr_rows *m, int64_t first, int64_t last);
} weft_simd_kernels;
/** For the given instruction set, which the processor must have. */
const weft_simd_kernels *weft_simd(weft_vectors vectors);

/** weft_csr_product that also gives v.y of each chunk; dots [ceil(n_rows / WEFT_REDUCTION_TILE)],
 *  or NULL. */
weft_status weft_csr_product_dots(weft_device *device, const weft_pattern *pattern,
                                  const double *values, const double *v, double *y, double *dots,
                                  weft_error *error);
