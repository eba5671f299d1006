/* Multiplies CSR matrices with vectors on the host, chunk by chunk. */
#include "fem/sparse/csr.h"

typedef struct weft_csr_work {
    weft_csr_rows rows;
    int64_t n_rows;
    double (*kernel)(const weft_csr_rows *m, int64_t first, int64_t last);
    double *dots;
} weft_csr_work;

static void csr_chunk(void *user, int64_t i) {
    weft_csr_work *work = user;
    int64_t first = i * WEFT_REDUCTION_TILE, last = first + WEFT_REDUCTION_TILE;
    double dot = work->kernel(&work->rows, first, last < work->n_rows ? last : work->n_rows);
    if (work->dots)
        work->dots[i] = dot;
}

weft_status weft_csr_product_dots(weft_device *device, const weft_pattern *pattern,
                                  const double *values, const double *v, double *y, double *dots,
                                  weft_error *error) {
    weft_csr_work work = {{pattern->row_start, pattern->columns, values, v, y},
                          pattern->n_rows,
                          weft_simd(weft_vectors_of(device))->csr_rows,
                          dots};
    int64_t n_chunks = (pattern->n_rows + WEFT_REDUCTION_TILE - 1) / WEFT_REDUCTION_TILE;
    return weft_device_for(device, n_chunks, csr_chunk, &work, error);
}

weft_status weft_csr_product(weft_device *device, const weft_pattern *pattern, const double *values,
                             const double *v, double *y, weft_error *error) {
    return weft_csr_product_dots(device, pattern, values, v, y, NULL, error);
}

/* ---- exact sums ---- */

typedef struct exact_work {
    weft_csr_rows rows;
    int64_t n_rows;
    const weft_simd_kernels *kernels;
    const unsigned char *owned;
    weft_exact_sum *sums;
} exact_work;

/* The products of a piece are still in the cache. */
static void exact_chunk(void *user, int64_t i) {
    const exact_work *work = user;
    const int64_t start = i * WEFT_REDUCTION_TILE, end = start + WEFT_REDUCTION_TILE;
    const int64_t last = end < work->n_rows ? end : work->n_rows;
    weft_exact_sum sum = weft_exact_zero();
    for (int64_t first = start; first < last; first += WEFT_EXACT_PIECE) {
        const int64_t n = last - first < WEFT_EXACT_PIECE ? last - first : WEFT_EXACT_PIECE;
        (void)work->kernels->csr_rows(&work->rows, first, first + n);
        work->kernels->exact_dot(work->rows.v + first, work->rows.y + first, work->owned + first, n,
                                 &sum);
    }
    work->sums[i] = sum;
}

weft_status weft_csr_product_exact(weft_device *device, const weft_pattern *pattern,
                                   const double *values, const double *v, double *y,
                                   const unsigned char *owned, weft_exact_sum *sums,
                                   weft_exact_sum *out, weft_error *error) {
    exact_work work = {{pattern->row_start, pattern->columns, values, v, y},
                       pattern->n_rows,
                       weft_simd(weft_vectors_of(device)),
                       owned,
                       sums};
    const int64_t n_chunks = (pattern->n_rows + WEFT_REDUCTION_TILE - 1) / WEFT_REDUCTION_TILE;
    const weft_status status = weft_device_for(device, n_chunks, exact_chunk, &work, error);
    *out = weft_exact_zero();
    for (int64_t i = 0; status == WEFT_OK && i < n_chunks; ++i)
        weft_exact_join(out, &sums[i]);
    return status;
}

typedef struct single_work {
    weft_csr_rows_single rows;
    int64_t n_rows;
    void (*kernel)(const weft_csr_rows_single *m, int64_t first, int64_t last);
} single_work;

static void single_chunk(void *user, int64_t i) {
    const single_work *work = user;
    const int64_t first = i * WEFT_REDUCTION_TILE, last = first + WEFT_REDUCTION_TILE;
    work->kernel(&work->rows, first, last < work->n_rows ? last : work->n_rows);
}

weft_status weft_csr_product_single(weft_device *device, const weft_pattern *pattern,
                                    const float *values, const float *v, float *y,
                                    weft_error *error) {
    single_work work = {{pattern->row_start, pattern->columns, values, v, y},
                        pattern->n_rows,
                        weft_simd(weft_vectors_of(device))->csr_rows_single};
    const int64_t n_chunks = (pattern->n_rows + WEFT_REDUCTION_TILE - 1) / WEFT_REDUCTION_TILE;
    return weft_device_for(device, n_chunks, single_chunk, &work, error);
}
