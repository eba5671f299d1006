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
