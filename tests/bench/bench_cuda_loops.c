/* Conjugate gradients as the rivals write them, without a preconditioner. */
#include "bench_cuda_rival_internal.h"
#include "core/cuda/cuda.h"
#include "core/weft_core.h"

#include <math.h>
#include <stdlib.h>

enum { A_GRAPH = 10 /* iterations */, BLOCKS_A_MULTIPROCESSOR = 8, REPEATS_MAX = 64 };

typedef struct loop_run {
    bench_rival_matrix *matrix;
    bench_rival_loop loop;
    bench_cu_graph_exec graph;
    double rr; /* of loop A */
} loop_run;

static weft_cu_pointer place(const bench_rival_matrix *matrix, int which) {
    return matrix->scalars + (weft_cu_pointer)which * (matrix->single ? 4 : 8);
}

/* ---- cuBLAS for both precisions -------------------------------------------------------------- */

static weft_status dot(bench_rival_matrix *matrix, int x, int y, void *result, weft_error *error) {
    bench_rival *rival = matrix->rival;
    const weft_cu_pointer *v = matrix->vectors;
    const int n = (int)matrix->n;
    return bench_library_check(
        matrix->single ? rival->blas.cublasSdot_v2(rival->blas_handle, n, v[x], 1, v[y], 1, result)
                       : rival->blas.cublasDdot_v2(rival->blas_handle, n, v[x], 1, v[y], 1, result),
        "cublasDdot", error);
}

static weft_status axpy(bench_rival_matrix *matrix, const void *alpha, int x, int y,
                        weft_error *error) {
    bench_rival *rival = matrix->rival;
    const weft_cu_pointer *v = matrix->vectors;
    const int n = (int)matrix->n;
    return bench_library_check(
        matrix->single ? rival->blas.cublasSaxpy_v2(rival->blas_handle, n, alpha, v[x], 1, v[y], 1)
                       : rival->blas.cublasDaxpy_v2(rival->blas_handle, n, alpha, v[x], 1, v[y], 1),
        "cublasDaxpy", error);
}

static weft_status scale(bench_rival_matrix *matrix, const void *alpha, int x, weft_error *error) {
    bench_rival *rival = matrix->rival;
    const int n = (int)matrix->n;
    return bench_library_check(
        matrix->single
            ? rival->blas.cublasSscal_v2(rival->blas_handle, n, alpha, matrix->vectors[x], 1)
            : rival->blas.cublasDscal_v2(rival->blas_handle, n, alpha, matrix->vectors[x], 1),
        "cublasDscal", error);
}

/* A scalar on the host in the matrix's precision. */
typedef union host_scalar {
    double wide;
    float narrow;
} host_scalar;

static host_scalar host_value(bool single, double value) {
    host_scalar out;
    if (single)
        out.narrow = (float)value;
    else
        out.wide = value;
    return out;
}

static double host_number(bool single, host_scalar value) {
    return single ? (double)value.narrow : value.wide;
}

/* ---- one iteration of each ------------------------------------------------------------------- */

static weft_status iterate_a(loop_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival_matrix *matrix = run->matrix;
    const bool single = matrix->single;
    host_scalar sum, factor;
    TRY(bench_rival_multiply(matrix, matrix->best, BENCH_P, BENCH_Q, error));
    TRY(dot(matrix, BENCH_P, BENCH_Q, &sum, error));
    const double alpha = run->rr / host_number(single, sum);
    factor = host_value(single, alpha);
    TRY(axpy(matrix, &factor, BENCH_P, BENCH_X, error));
    factor = host_value(single, -alpha);
    TRY(axpy(matrix, &factor, BENCH_Q, BENCH_R, error));
    TRY(dot(matrix, BENCH_R, BENCH_R, &sum, error));
    const double rr = host_number(single, sum);
    factor = host_value(single, rr / run->rr);
    run->rr = rr;
    TRY(scale(matrix, &factor, BENCH_P, error));
    factor = host_value(single, 1);
    TRY(axpy(matrix, &factor, BENCH_R, BENCH_P, error));
done:
    return status;
}

/* The address of a scalar on the GPU, as cuBLAS takes it. */
static void *device_scalar(const bench_rival_matrix *matrix, int which) {
    return (void *)(uintptr_t)place(matrix, which);
}

static weft_status iterate_c(loop_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival_matrix *matrix = run->matrix;
    void *parameters[] = {&matrix->scalars};
    TRY(bench_rival_multiply(matrix, matrix->best, BENCH_P, BENCH_Q, error));
    TRY(dot(matrix, BENCH_P, BENCH_Q, device_scalar(matrix, BENCH_S_PQ), error));
    TRY(bench_kernel_launch(matrix->rival, matrix->single, BENCH_KERNEL_ALPHA, 1, parameters,
                            error));
    TRY(axpy(matrix, device_scalar(matrix, BENCH_S_ALPHA), BENCH_P, BENCH_X, error));
    TRY(axpy(matrix, device_scalar(matrix, BENCH_S_MINUS_ALPHA), BENCH_Q, BENCH_R, error));
    TRY(dot(matrix, BENCH_R, BENCH_R, device_scalar(matrix, BENCH_S_NEXT), error));
    TRY(bench_kernel_launch(matrix->rival, matrix->single, BENCH_KERNEL_BETA, 1, parameters,
                            error));
    TRY(scale(matrix, device_scalar(matrix, BENCH_S_BETA), BENCH_P, error));
    TRY(axpy(matrix, device_scalar(matrix, BENCH_S_ONE), BENCH_R, BENCH_P, error));
done:
    return status;
}

static weft_status iterate_d(loop_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival_matrix *matrix = run->matrix;
    bench_rival *rival = matrix->rival;
    weft_cu_pointer *v = matrix->vectors, count = matrix->scalars + 128;
    int n = (int)matrix->n, blocks = (n + 255) / 256;
    if (blocks > rival->multiprocessors * BLOCKS_A_MULTIPROCESSOR)
        blocks = rival->multiprocessors * BLOCKS_A_MULTIPROCESSOR;
    void *pq[] = {&n, &v[BENCH_P], &v[BENCH_Q], &matrix->scalars, &matrix->partial, &count};
    void *xr[] = {&n,          &v[BENCH_P],      &v[BENCH_Q],      &v[BENCH_X],
                  &v[BENCH_R], &matrix->scalars, &matrix->partial, &count};
    void *p[] = {&n, &v[BENCH_R], &v[BENCH_P], &matrix->scalars};
    TRY(bench_rival_multiply(matrix, matrix->best, BENCH_P, BENCH_Q, error));
    TRY(bench_kernel_launch(rival, matrix->single, BENCH_KERNEL_PQ, blocks, pq, error));
    TRY(bench_kernel_launch(rival, matrix->single, BENCH_KERNEL_XR, blocks, xr, error));
    TRY(bench_kernel_launch(rival, matrix->single, BENCH_KERNEL_P, blocks, p, error));
done:
    return status;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Ten iterations as a graph. One runs before, for libraries make what they need at first use. */
static weft_status capture(loop_run *run, weft_error *error) {
    enum { MODE_RELAXED = 2 };
    weft_status status = WEFT_OK;
    bench_rival *rival = run->matrix->rival;
    bench_cu_graph graph = NULL;
    weft_status (*iterate)(loop_run *, weft_error *) =
        run->loop == BENCH_LOOP_C ? iterate_c : iterate_d;
    TRY(iterate(run, error));
    TRY(bench_rival_check(rival, rival->driver.cuStreamSynchronize(rival->stream),
                          "waiting for the GPU", error));
    TRY(bench_rival_check(rival, rival->more.cuStreamBeginCapture(rival->stream, MODE_RELAXED),
                          "capturing a graph", error));
    for (int i = 0; i < A_GRAPH && status == WEFT_OK; ++i)
        status = iterate(run, error);
    const int code = rival->more.cuStreamEndCapture(rival->stream, &graph);
    TRY(status);
    TRY(bench_rival_check(rival, code, "capturing a graph", error));
    TRY(bench_rival_check(rival, rival->more.cuGraphInstantiateWithFlags(&run->graph, graph, 0),
                          "making a graph", error));
done:
    if (graph)
        (void)rival->more.cuGraphDestroy(graph);
    return status;
}

/* x = 0, r = p = b */
static weft_status reset(loop_run *run, const double *b, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival_matrix *matrix = run->matrix;
    bench_rival *rival = matrix->rival;
    const size_t real = matrix->single ? 4 : 8, bytes = (size_t)matrix->n * real;
    host_scalar scalars[8] = {{0}}, sum;
    char packed[8 * sizeof(double)];
    TRY(bench_rival_upload(rival, matrix->vectors[BENCH_R], b, matrix->n, matrix->single, error));
    TRY(bench_rival_check(rival,
                          rival->more.cuMemcpyDtoDAsync(matrix->vectors[BENCH_P],
                                                        matrix->vectors[BENCH_R], bytes,
                                                        rival->stream),
                          "copying on the GPU", error));
    TRY(bench_rival_check(
        rival, rival->driver.cuMemsetD8Async(matrix->vectors[BENCH_X], 0, bytes, rival->stream),
        "clearing memory", error));
    TRY(bench_library_check(
        rival->blas.cublasSetPointerMode_v2(rival->blas_handle, BENCH_POINTERS_HOST),
        "cublasSetPointerMode", error));
    TRY(dot(matrix, BENCH_R, BENCH_R, &sum, error));
    run->rr = host_number(matrix->single, sum);
    scalars[BENCH_S_RR] = sum;
    scalars[BENCH_S_ONE] = host_value(matrix->single, 1);
    for (int i = 0; i < 8; ++i)
        __builtin_memcpy(packed + (size_t)i * real, &scalars[i], real);
    TRY(bench_rival_check(
        rival, rival->driver.cuMemcpyHtoDAsync(matrix->scalars, packed, 8 * real, rival->stream),
        "copying to the GPU", error));
    TRY(bench_rival_check(rival, rival->driver.cuStreamSynchronize(rival->stream),
                          "waiting for the GPU", error));
    if (run->loop != BENCH_LOOP_A)
        TRY(bench_library_check(
            rival->blas.cublasSetPointerMode_v2(rival->blas_handle, BENCH_POINTERS_DEVICE),
            "cublasSetPointerMode", error));
done:
    return status;
}

static weft_status run_loop(loop_run *run, int n_iterations, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival *rival = run->matrix->rival;
    for (int i = 0; i < n_iterations; i += run->graph ? A_GRAPH : 1)
        if (run->graph)
            TRY(bench_rival_check(rival, rival->more.cuGraphLaunch(run->graph, rival->stream),
                                  "running a graph", error));
        else
            TRY(iterate_a(run, error));
done:
    return status;
}

static weft_status read_residual(loop_run *run, double *rr, weft_error *error) {
    weft_status status = WEFT_OK;
    *rr = run->rr;
    if (run->graph)
        TRY(bench_rival_download(run->matrix->rival, rr, place(run->matrix, BENCH_S_RR), 1,
                                 run->matrix->single, error));
done:
    return status;
}

weft_status bench_rival_cg(bench_rival_matrix *matrix, bench_rival_loop loop, const double *b,
                           int n_iterations, int repeats, double *seconds, double *residual,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival *rival = matrix->rival;
    loop_run run = {.matrix = matrix, .loop = loop};
    const bench_timing_loop watch = bench_rival_timing_loop(rival);
    const int rounded = (n_iterations + A_GRAPH - 1) / A_GRAPH * A_GRAPH;
    double taken[REPEATS_MAX], before = 0, after = 0;
    const int n = repeats < REPEATS_MAX ? repeats : REPEATS_MAX;
    TRY(reset(&run, b, error));
    if (loop != BENCH_LOOP_A)
        TRY(capture(&run, error));
    TRY(reset(&run, b, error));
    before = run.rr;
    TRY(run_loop(&run, A_GRAPH, error));
    TRY(read_residual(&run, &after, error));
    *residual = sqrt(after / before);
    for (int i = 0; i < n; ++i) {
        TRY(reset(&run, b, error));
        TRY(watch.start(watch.user, error));
        TRY(run_loop(&run, rounded, error));
        TRY(watch.stop(watch.user, &taken[i], error));
    }
    *seconds = bench_median(taken, n) / rounded;
done:
    if (run.graph)
        (void)rival->more.cuGraphExecDestroy(run.graph);
    return status;
}
