/** The rivals: cuSPARSE and cuBLAS as a competent user would call them, and hand-fused kernels for
 *  conjugate gradients. All of it is found at run time: no CUDA header is needed. */
#ifndef BENCH_CUDA_RIVAL_H
#define BENCH_CUDA_RIVAL_H

#include "bench_cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

typedef struct bench_rival bench_rival;

/** The driver, the kernels and the two libraries on the first GPU, in its primary context, which
 *  the device `cuda` shares.
 *  Errors WEFT_ERROR_DEVICE, WEFT_ERROR_COMPILER: there is no GPU to measure on */
weft_status bench_rival_open(bench_rival **out, weft_error *error);
void bench_rival_free(bench_rival **rival);
/** NULL: cuSPARSE and cuBLAS are both there; else what is missing. */
const char *bench_rival_missing(const bench_rival *rival);
/** Bytes read and written a second by a copy kernel, 2 GiB each way. */
weft_status bench_rival_copy(bench_rival *rival, int repeats, double *bandwidth, weft_error *error);

/** A matrix with vectors on the GPU. values are converted where single. */
typedef struct bench_rival_matrix bench_rival_matrix;
weft_status bench_rival_matrix_make(bench_rival *rival, const weft_pattern *pattern,
                                    const double *values, bool single, bench_rival_matrix **out,
                                    weft_error *error);
void bench_rival_matrix_free(bench_rival_matrix **matrix);
/** Other values in the same pattern. */
weft_status bench_rival_matrix_values(bench_rival_matrix *matrix, const double *values,
                                      weft_error *error);
/** y = A v by the algorithm that bench_rival_product has found to be the better. */
weft_status bench_rival_apply(bench_rival_matrix *matrix, const double *v, double *y,
                              weft_error *error);
/** Seconds of cusparseSpMV, the better of its default and of CSR_ALG2; *algorithm: its name. */
weft_status bench_rival_product(bench_rival_matrix *matrix, const double *v, int repeats,
                                double *seconds, const char **algorithm, weft_error *error);

/** Conjugate gradients without a preconditioner.
 *  A  cuSPARSE and cuBLAS, scalars on the host: what most people write
 *  C  the same with scalars on the device, ten iterations in a CUDA graph
 *  D  cuSPARSE with three hand-fused vector kernels, ten iterations in a CUDA graph */
typedef enum bench_rival_loop { BENCH_LOOP_A, BENCH_LOOP_C, BENCH_LOOP_D } bench_rival_loop;
/** Seconds an iteration, the median of `repeats` runs of n_iterations each; and the residual
 *  |r| / |b| after the first ten from x = 0, by the recurrence. */
weft_status bench_rival_cg(bench_rival_matrix *matrix, bench_rival_loop loop, const double *b,
                           int n_iterations, int repeats, double *seconds, double *residual,
                           weft_error *error);

#endif
