/* What the files of the rivals share. The types and numbers are those of the libraries' ABI. */
#ifndef BENCH_CUDA_RIVAL_INTERNAL_H
#define BENCH_CUDA_RIVAL_INTERNAL_H

#include "bench_cuda_rival.h"
#include "core/cuda/cuda.h"
#include "core/weft_core.h"

typedef struct CUgraph_st *bench_cu_graph;
typedef struct CUgraphExec_st *bench_cu_graph_exec;

enum { BENCH_INDEX_32 = 2, BENCH_REAL_32 = 0, BENCH_REAL_64 = 1 };
enum { BENCH_SPMV_DEFAULT = 0, BENCH_SPMV_CSR_ALG2 = 3, BENCH_ALGORITHMS = 2 };
enum { BENCH_POINTERS_HOST = 0, BENCH_POINTERS_DEVICE = 1 };

/* clang-format off */
/* What Weft itself does not use of the driver. */
#define BENCH_CU_FUNCTIONS(X)                                                                       \
    X(cuEventElapsedTime, (float *milliseconds, weft_cu_event start, weft_cu_event end))            \
    X(cuStreamBeginCapture, (weft_cu_stream stream, int mode))                                      \
    X(cuStreamEndCapture, (weft_cu_stream stream, bench_cu_graph *graph))                           \
    X(cuGraphInstantiateWithFlags,                                                                  \
      (bench_cu_graph_exec *exec, bench_cu_graph graph, unsigned long long flags))                  \
    X(cuGraphLaunch, (bench_cu_graph_exec exec, weft_cu_stream stream))                             \
    X(cuGraphExecDestroy, (bench_cu_graph_exec exec))                                               \
    X(cuGraphDestroy, (bench_cu_graph graph))                                                       \
    X(cuLaunchKernel,                                                                               \
      (weft_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,                 \
       weft_cu_stream stream, void **parameters, void **extra))                                     \
    X(cuMemcpyDtoDAsync,                                                                            \
      (weft_cu_pointer to, weft_cu_pointer from, size_t bytes, weft_cu_stream stream))

#define BENCH_CUSPARSE_FUNCTIONS(X)                                                                 \
    X(cusparseCreate, (void **handle))                                                              \
    X(cusparseDestroy, (void *handle))                                                              \
    X(cusparseSetStream, (void *handle, weft_cu_stream stream))                                     \
    X(cusparseCreateCsr,                                                                            \
      (void **matrix, int64_t rows, int64_t columns, int64_t entries, weft_cu_pointer row_start,    \
       weft_cu_pointer column, weft_cu_pointer values, int row_type, int column_type, int base,     \
       int value_type))                                                                             \
    X(cusparseDestroySpMat, (void *matrix))                                                         \
    X(cusparseCreateDnVec, (void **vector, int64_t n, weft_cu_pointer values, int value_type))      \
    X(cusparseDestroyDnVec, (void *vector))                                                         \
    X(cusparseSpMV_bufferSize,                                                                      \
      (void *handle, int operation, const void *alpha, void *matrix, void *x, const void *beta,     \
       void *y, int type, int algorithm, size_t *bytes))                                            \
    X(cusparseSpMV_preprocess,                                                                      \
      (void *handle, int operation, const void *alpha, void *matrix, void *x, const void *beta,     \
       void *y, int type, int algorithm, weft_cu_pointer buffer))                                   \
    X(cusparseSpMV,                                                                                 \
      (void *handle, int operation, const void *alpha, void *matrix, void *x, const void *beta,     \
       void *y, int type, int algorithm, weft_cu_pointer buffer))

/* Scalars are pointers to the host or to the device, as the pointer mode says. */
#define BENCH_CUBLAS_FUNCTIONS(X)                                                                   \
    X(cublasCreate_v2, (void **handle))                                                             \
    X(cublasDestroy_v2, (void *handle))                                                             \
    X(cublasSetStream_v2, (void *handle, weft_cu_stream stream))                                    \
    X(cublasSetPointerMode_v2, (void *handle, int mode))                                            \
    X(cublasDdot_v2, (void *handle, int n, weft_cu_pointer x, int incx, weft_cu_pointer y,          \
                      int incy, void *result))                                                      \
    X(cublasSdot_v2, (void *handle, int n, weft_cu_pointer x, int incx, weft_cu_pointer y,          \
                      int incy, void *result))                                                      \
    X(cublasDaxpy_v2, (void *handle, int n, const void *alpha, weft_cu_pointer x, int incx,         \
                       weft_cu_pointer y, int incy))                                                \
    X(cublasSaxpy_v2, (void *handle, int n, const void *alpha, weft_cu_pointer x, int incx,         \
                       weft_cu_pointer y, int incy))                                                \
    X(cublasDscal_v2, (void *handle, int n, const void *alpha, weft_cu_pointer x, int incx))        \
    X(cublasSscal_v2, (void *handle, int n, const void *alpha, weft_cu_pointer x, int incx))
/* clang-format on */

#define BENCH_MEMBER(name, parameters) int(*name) parameters;

/* Kernels, each for double and for float. */
typedef enum bench_kernel {
    BENCH_KERNEL_COPY,
    BENCH_KERNEL_ALPHA, /* scalars of loop C */
    BENCH_KERNEL_BETA,
    BENCH_KERNEL_PQ, /* the three of loop D */
    BENCH_KERNEL_XR,
    BENCH_KERNEL_P,
    BENCH_KERNELS
} bench_kernel;

struct bench_rival {
    weft_cuda_driver driver;
    struct {
        BENCH_CU_FUNCTIONS(BENCH_MEMBER)
    } more;
    struct {
        BENCH_CUSPARSE_FUNCTIONS(BENCH_MEMBER)
    } sparse;
    struct {
        BENCH_CUBLAS_FUNCTIONS(BENCH_MEMBER)
    } blas;
    void *sparse_library, *blas_library, *sparse_handle, *blas_handle;
    char missing[512];
    weft_cu_device device;
    weft_cu_context context;
    weft_cu_stream stream;
    weft_cu_event events[2];
    weft_cu_module modules[2]; /* double, float */
    weft_cu_function kernels[2][BENCH_KERNELS];
    int multiprocessors;
    bool current; /* the context is */
};

/** OK for 0; else which call of the driver's failed, with the driver's words. */
weft_status bench_rival_check(bench_rival *rival, int code, const char *what, weft_error *error);
/** The same for a call of cuSPARSE or cuBLAS. */
weft_status bench_library_check(int code, const char *what, weft_error *error);
weft_status bench_kernels_make(bench_rival *rival, weft_error *error);
/** Launch on the rival's stream. n 0: one block. */
weft_status bench_kernel_launch(bench_rival *rival, bool single, bench_kernel kernel, int blocks,
                                void **parameters, weft_error *error);
weft_status bench_rival_memory(bench_rival *rival, size_t bytes, weft_cu_pointer *out,
                               weft_error *error);
void bench_rival_release(bench_rival *rival, weft_cu_pointer *memory);
/** Host arrays of double to and from the GPU, as float where single. */
weft_status bench_rival_upload(bench_rival *rival, weft_cu_pointer to, const double *values,
                               int64_t n, bool single, weft_error *error);
weft_status bench_rival_download(bench_rival *rival, double *values, weft_cu_pointer from,
                                 int64_t n, bool single, weft_error *error);

/** a timing loop between two events on the rival's stream; user is the rival. */
bench_timing_loop bench_rival_timing_loop(bench_rival *rival);

/* The vectors of a matrix, in this order. */
enum { BENCH_V, BENCH_Y, BENCH_X, BENCH_R, BENCH_P, BENCH_Q, BENCH_VECTORS };
/* Places in `scalars`, in reals: rr, p.q, alpha, -alpha, beta, the next rr, 1. The counter of the
 * kernels that join blocks follows at 16 doubles. */
enum {
    BENCH_S_RR,
    BENCH_S_PQ,
    BENCH_S_ALPHA,
    BENCH_S_MINUS_ALPHA,
    BENCH_S_BETA,
    BENCH_S_NEXT,
    BENCH_S_ONE
};

struct bench_rival_matrix {
    bench_rival *rival;
    bool single;
    int64_t n, n_entries;
    weft_cu_pointer row_start, columns, values, vectors[BENCH_VECTORS], scalars, partial;
    weft_cu_pointer buffers[BENCH_ALGORITHMS];
    void *matrix, *descriptions[BENCH_VECTORS];
    int best; /* of the algorithms */
};

/** y = A x by algorithm `which` on the rival's stream; from and to are BENCH_V .. */
weft_status bench_rival_multiply(bench_rival_matrix *matrix, int which, int from, int to,
                                 weft_error *error);

#endif
