/* A matrix of the rivals, and cuSPARSE's product. */
#include "bench_cuda_rival_internal.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <stdlib.h>

static const int algorithms[BENCH_ALGORITHMS] = {BENCH_SPMV_DEFAULT, BENCH_SPMV_CSR_ALG2};
static const char *const algorithm_names[BENCH_ALGORITHMS] = {"SpMV", "SpMV CSR_ALG2"};

static const void *scalar(bool single, int value) {
    static const double doubles[2] = {0, 1};
    static const float floats[2] = {0, 1};
    return single ? (const void *)&floats[value] : (const void *)&doubles[value];
}

static weft_status upload_pattern(bench_rival_matrix *matrix, const weft_pattern *pattern,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival *rival = matrix->rival;
    int32_t *start = malloc(((size_t)matrix->n + 1) * sizeof *start);
    if (!start)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    for (int64_t i = 0; i <= matrix->n; ++i)
        start[i] = (int32_t)pattern->row_start[i];
    TRY(bench_rival_check(rival,
                          rival->driver.cuMemcpyHtoDAsync(matrix->row_start, start,
                                                          ((size_t)matrix->n + 1) * sizeof *start,
                                                          rival->stream),
                          "copying to the GPU", error));
    TRY(bench_rival_check(
        rival,
        rival->driver.cuMemcpyHtoDAsync(matrix->columns, pattern->columns,
                                        (size_t)matrix->n_entries * sizeof(int32_t), rival->stream),
        "copying to the GPU", error));
    TRY(bench_rival_check(rival, rival->driver.cuStreamSynchronize(rival->stream),
                          "copying to the GPU", error));
done:
    free(start);
    return status;
}

static weft_status make_memories(bench_rival_matrix *matrix, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival *rival = matrix->rival;
    const size_t real = matrix->single ? 4 : 8, n = (size_t)matrix->n;
    const size_t entries = (size_t)matrix->n_entries;
    TRY(bench_rival_memory(rival, (n + 1) * 4, &matrix->row_start, error));
    TRY(bench_rival_memory(rival, entries * 4, &matrix->columns, error));
    TRY(bench_rival_memory(rival, entries * real, &matrix->values, error));
    for (int i = 0; i < BENCH_VECTORS; ++i)
        TRY(bench_rival_memory(rival, n * real, &matrix->vectors[i], error));
    TRY(bench_rival_memory(rival, 256, &matrix->scalars, error));
    TRY(bench_rival_memory(rival, (size_t)rival->multiprocessors * 8 * real, &matrix->partial,
                           error));
    TRY(bench_rival_check(rival,
                          rival->driver.cuMemsetD8Async(matrix->scalars, 0, 256, rival->stream),
                          "clearing memory", error));
done:
    return status;
}

/* What cuSPARSE wants to know before; not counted in the product's time. */
static weft_status describe(bench_rival_matrix *matrix, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival *rival = matrix->rival;
    const bool single = matrix->single;
    const int type = single ? BENCH_REAL_32 : BENCH_REAL_64;
    TRY(bench_library_check(
        rival->sparse.cusparseCreateCsr(&matrix->matrix, matrix->n, matrix->n, matrix->n_entries,
                                        matrix->row_start, matrix->columns, matrix->values,
                                        BENCH_INDEX_32, BENCH_INDEX_32, 0, type),
        "cusparseCreateCsr", error));
    for (int i = 0; i < BENCH_VECTORS; ++i)
        TRY(bench_library_check(rival->sparse.cusparseCreateDnVec(
                                    &matrix->descriptions[i], matrix->n, matrix->vectors[i], type),
                                "cusparseCreateDnVec", error));
    for (int i = 0; i < BENCH_ALGORITHMS; ++i) {
        size_t bytes = 0;
        TRY(bench_library_check(rival->sparse.cusparseSpMV_bufferSize(
                                    rival->sparse_handle, 0, scalar(single, 1), matrix->matrix,
                                    matrix->descriptions[BENCH_V], scalar(single, 0),
                                    matrix->descriptions[BENCH_Y], type, algorithms[i], &bytes),
                                "cusparseSpMV_bufferSize", error));
        TRY(bench_rival_memory(rival, bytes, &matrix->buffers[i], error));
        TRY(bench_library_check(
            rival->sparse.cusparseSpMV_preprocess(rival->sparse_handle, 0, scalar(single, 1),
                                                  matrix->matrix, matrix->descriptions[BENCH_V],
                                                  scalar(single, 0), matrix->descriptions[BENCH_Y],
                                                  type, algorithms[i], matrix->buffers[i]),
            "cusparseSpMV_preprocess", error));
    }
done:
    return status;
}

weft_status bench_rival_matrix_make(bench_rival *rival, const weft_pattern *pattern,
                                    const double *values, bool single, bench_rival_matrix **out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival_matrix *matrix = NULL;
    if (pattern->n_entries > INT32_MAX)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "cuSPARSE with 32-bit rows takes no "
                              "2^31 entries");
    matrix = calloc(1, sizeof *matrix);
    if (!matrix)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    matrix->rival = rival;
    matrix->single = single;
    matrix->n = pattern->n_rows;
    matrix->n_entries = pattern->n_entries;
    TRY(make_memories(matrix, error));
    TRY(upload_pattern(matrix, pattern, error));
    TRY(bench_rival_upload(rival, matrix->values, values, matrix->n_entries, single, error));
    TRY(describe(matrix, error));
    *out = matrix;
    matrix = NULL;
done:
    bench_rival_matrix_free(&matrix);
    return status;
}

weft_status bench_rival_matrix_values(bench_rival_matrix *matrix, const double *values,
                                      weft_error *error) {
    return bench_rival_upload(matrix->rival, matrix->values, values, matrix->n_entries,
                              matrix->single, error);
}

void bench_rival_matrix_free(bench_rival_matrix **out) {
    bench_rival_matrix *matrix = *out;
    if (!matrix)
        return;
    bench_rival *rival = matrix->rival;
    (void)rival->driver.cuStreamSynchronize(rival->stream);
    for (int i = 0; i < BENCH_VECTORS; ++i) {
        if (matrix->descriptions[i])
            (void)rival->sparse.cusparseDestroyDnVec(matrix->descriptions[i]);
        bench_rival_release(rival, &matrix->vectors[i]);
    }
    if (matrix->matrix)
        (void)rival->sparse.cusparseDestroySpMat(matrix->matrix);
    for (int i = 0; i < BENCH_ALGORITHMS; ++i)
        bench_rival_release(rival, &matrix->buffers[i]);
    bench_rival_release(rival, &matrix->row_start);
    bench_rival_release(rival, &matrix->columns);
    bench_rival_release(rival, &matrix->values);
    bench_rival_release(rival, &matrix->scalars);
    bench_rival_release(rival, &matrix->partial);
    free(matrix);
    *out = NULL;
}

weft_status bench_rival_multiply(bench_rival_matrix *matrix, int which, int from, int to,
                                 weft_error *error) {
    bench_rival *rival = matrix->rival;
    const bool single = matrix->single;
    return bench_library_check(
        rival->sparse.cusparseSpMV(rival->sparse_handle, 0, scalar(single, 1), matrix->matrix,
                                   matrix->descriptions[from], scalar(single, 0),
                                   matrix->descriptions[to], single ? BENCH_REAL_32 : BENCH_REAL_64,
                                   algorithms[which], matrix->buffers[which]),
        "cusparseSpMV", error);
}

typedef struct product_run {
    bench_rival_matrix *matrix;
    int which;
} product_run;

static weft_status run_product(void *user, weft_error *error) {
    product_run *r = user;
    return bench_rival_multiply(r->matrix, r->which, BENCH_V, BENCH_Y, error);
}

weft_status bench_rival_product(bench_rival_matrix *matrix, const double *v, int repeats,
                                double *seconds, const char **algorithm, weft_error *error) {
    weft_status status = WEFT_OK;
    *seconds = 0;
    TRY(bench_rival_upload(matrix->rival, matrix->vectors[BENCH_V], v, matrix->n, matrix->single,
                           error));
    for (int i = 0; i < BENCH_ALGORITHMS; ++i) {
        product_run r = {matrix, i};
        double taken = 0;
        TRY(bench_measure(bench_rival_timing_loop(matrix->rival), run_product, &r, repeats, &taken,
                          error));
        if (*seconds > 0 && taken >= *seconds)
            continue;
        *seconds = taken;
        *algorithm = algorithm_names[i];
        matrix->best = i;
    }
done:
    return status;
}

weft_status bench_rival_apply(bench_rival_matrix *matrix, const double *v, double *y,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(bench_rival_upload(matrix->rival, matrix->vectors[BENCH_V], v, matrix->n, matrix->single,
                           error));
    TRY(bench_rival_multiply(matrix, matrix->best, BENCH_V, BENCH_Y, error));
    TRY(bench_rival_download(matrix->rival, y, matrix->vectors[BENCH_Y], matrix->n, matrix->single,
                             error));
done:
    return status;
}
