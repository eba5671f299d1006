/* cuBLAS, on the device's own stream, so that one timer measures both. The functions are declared
 * here and loaded at run time. cuBLAS stores matrices column by column, so a matrix stored row by
 * row is its transpose. */
#include "bench_blas.h"
#include "bench_library.h"
#include "core/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN = 0, TRANSPOSED = 1, POINTERS_HOST = 0, POINTERS_DEVICE = 1, UPPER = 1, NOT_UNIT = 0 };

/* clang-format off */
#define CUBLAS_FUNCTIONS(X, S)                                                                     \
    X(cublas##S##copy_v2, (void *handle, int n, const void *x, int incx, void *y, int incy))       \
    X(cublas##S##axpy_v2,                                                                          \
      (void *handle, int n, const void *alpha, const void *x, int incx, void *y, int incy))        \
    X(cublas##S##scal_v2, (void *handle, int n, const void *alpha, void *x, int incx))             \
    X(cublas##S##dot_v2,                                                                           \
      (void *handle, int n, const void *x, int incx, const void *y, int incy, void *result))       \
    X(cublas##S##gemv_v2,                                                                          \
      (void *handle, int transposed, int m, int n, const void *alpha, const void *A, int lda,      \
       const void *x, int incx, const void *beta, void *y, int incy))                              \
    X(cublas##S##ger_v2,                                                                           \
      (void *handle, int m, int n, const void *alpha, const void *x, int incx, const void *y,      \
       int incy, void *A, int lda))                                                                \
    X(cublas##S##symv_v2,                                                                          \
      (void *handle, int triangle, int n, const void *alpha, const void *A, int lda,               \
       const void *x, int incx, const void *beta, void *y, int incy))                              \
    X(cublas##S##spmv_v2,                                                                          \
      (void *handle, int triangle, int n, const void *alpha, const void *A, const void *x,         \
       int incx, const void *beta, void *y, int incy))                                             \
    X(cublas##S##trmv_v2,                                                                          \
      (void *handle, int triangle, int transposed, int unit, int n, const void *A, int lda,        \
       void *x, int incx))                                                                         \
    X(cublas##S##tpmv_v2,                                                                          \
      (void *handle, int triangle, int transposed, int unit, int n, const void *A, void *x,        \
       int incx))                                                                                  \
    X(cublas##S##geam,                                                                             \
      (void *handle, int transposed_a, int transposed_b, int m, int n, const void *alpha,          \
       const void *A, int lda, const void *beta, const void *B, int ldb, void *C, int ldc))
#define CUBLAS_COMMON(X)                                                                           \
    X(cublasCreate_v2, (void **handle))                                                            \
    X(cublasDestroy_v2, (void *handle))                                                            \
    X(cublasSetStream_v2, (void *handle, weft_cu_stream stream))                                   \
    X(cublasSetPointerMode_v2, (void *handle, int mode))
/* clang-format on */
#define MEMBER(name, parameters) int(*name) parameters;

typedef struct cublas_state {
    CUBLAS_COMMON(MEMBER)
    CUBLAS_FUNCTIONS(MEMBER, S)
    CUBLAS_FUNCTIONS(MEMBER, D)
    weft_cuda_state *cuda; /* the device's */
    void *handle;
    bool entered;
} cublas_state;

/* A scalar on the host in the precision of the calls. */
typedef union scalar {
    double wide;
    float narrow;
} scalar;

static scalar scalar_of(const blas_rival *b, double value) {
    scalar s = {.wide = value};
    if (b->single)
        s.narrow = (float)value;
    return s;
}

static void check(blas_rival *b, int code, const char *what) {
    if (code != 0 && b->code == 0) {
        b->code = code;
        b->failed = what;
    }
}

/* The function of the precision. */
#define CALL(name, ...)                                                                            \
    check(b,                                                                                       \
          b->single ? f->cublasS##name(f->handle, __VA_ARGS__)                                     \
                    : f->cublasD##name(f->handle, __VA_ARGS__),                                    \
          "cublas" #name)

static void *address(const weft_memory *memory) {
    return (void *)(uintptr_t)((const weft_cuda_array *)memory->state)->address;
}

static void copy(blas_rival *b, int64_t n, const void *x, void *y) {
    const cublas_state *f = b->state;
    CALL(copy_v2, (int)n, x, 1, y, 1);
}

static void copy_matrix(blas_rival *b, int64_t n, const void *A, void *B) {
    const cublas_state *f = b->state;
    const size_t bytes = (size_t)n * (size_t)n * (b->single ? sizeof(float) : sizeof(double));
    check(b,
          f->cuda->driver.cuMemcpyDtoDAsync((weft_cu_pointer)(uintptr_t)B,
                                            (weft_cu_pointer)(uintptr_t)A, bytes, f->cuda->stream),
          "cuMemcpyDtoDAsync");
}

static void axpy(blas_rival *b, int64_t n, double alpha, const void *x, void *y) {
    const cublas_state *f = b->state;
    const scalar a = scalar_of(b, alpha);
    CALL(axpy_v2, (int)n, &a, x, 1, y, 1);
}

static void scal(blas_rival *b, int64_t n, double alpha, void *x) {
    const cublas_state *f = b->state;
    const scalar a = scalar_of(b, alpha);
    CALL(scal_v2, (int)n, &a, x, 1);
}

/* The result stays on the GPU, as Weft's does. */
static void dot(blas_rival *b, int64_t n, const void *x, const void *y, void *result) {
    const cublas_state *f = b->state;
    check(b, f->cublasSetPointerMode_v2(f->handle, POINTERS_DEVICE), "cublasSetPointerMode");
    CALL(dot_v2, (int)n, x, 1, y, 1, result);
    check(b, f->cublasSetPointerMode_v2(f->handle, POINTERS_HOST), "cublasSetPointerMode");
}

static void gemv(blas_rival *b, bool transposed, const blas_gemv *c) {
    const cublas_state *f = b->state;
    const scalar alpha = scalar_of(b, c->alpha), beta = scalar_of(b, c->beta);
    const int n = (int)c->n;
    CALL(gemv_v2, transposed ? PLAIN : TRANSPOSED, n, n, &alpha, c->A, n, c->x, 1, &beta, c->y, 1);
}

static void ger(blas_rival *b, int64_t n, const void *x, const void *y, void *A) {
    const cublas_state *f = b->state;
    const scalar one = scalar_of(b, 1);
    CALL(ger_v2, (int)n, (int)n, &one, y, 1, x, 1, A, (int)n);
}

/* A lower triangle by rows is an upper one by columns, transposed. */
static void triangle(blas_rival *b, int64_t n, bool symmetric, bool packed, const void *A,
                     const void *x, void *y) {
    const cublas_state *f = b->state;
    const scalar one = scalar_of(b, 1), zero = scalar_of(b, 0);
    const int m = (int)n;
    if (symmetric && packed)
        CALL(spmv_v2, UPPER, m, &one, A, x, 1, &zero, y, 1);
    else if (symmetric)
        CALL(symv_v2, UPPER, m, &one, A, m, x, 1, &zero, y, 1);
    else {
        CALL(copy_v2, m, x, 1, y, 1);
        if (packed)
            CALL(tpmv_v2, UPPER, TRANSPOSED, NOT_UNIT, m, A, y, 1);
        else
            CALL(trmv_v2, UPPER, TRANSPOSED, NOT_UNIT, m, A, m, y, 1);
    }
}

static void madd(blas_rival *b, int64_t n, const void *A, const void *B, void *C) {
    const cublas_state *f = b->state;
    const scalar one = scalar_of(b, 1);
    CALL(geam, PLAIN, PLAIN, (int)n, (int)n, &one, A, (int)n, &one, B, (int)n, C, (int)n);
}

static void close_library(blas_rival *b) {
    cublas_state *f = b->state;
    if (f->handle)
        (void)f->cublasDestroy_v2(f->handle);
    if (f->entered)
        weft_cuda_leave(f->cuda);
    free(f);
}

static void find(blas_rival *out, cublas_state *state) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
    void *library = bench_library_open(names, out->missing, sizeof out->missing);
    void *symbol;
    if (!library)
        return;
#define FIND(name, parameters)                                                                     \
    symbol = dlsym(library, #name);                                                                \
    if (!symbol)                                                                                   \
        snprintf(out->missing, sizeof out->missing, "there is no %s in cuBLAS", #name);            \
    memcpy(&state->name, &symbol, sizeof symbol);
    CUBLAS_COMMON(FIND)
    CUBLAS_FUNCTIONS(FIND, S)
    CUBLAS_FUNCTIONS(FIND, D)
#undef FIND
}

weft_status blas_cublas_open(weft_device *device, const blas_options *options, blas_rival *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (blas_rival){.name = "cuBLAS",
                        .single = options->single,
                        .address = address,
                        .copy = copy,
                        .copy_matrix = copy_matrix,
                        .axpy = axpy,
                        .scal = scal,
                        .dot = dot,
                        .gemv = gemv,
                        .ger = ger,
                        .triangle = triangle,
                        .madd = madd,
                        .close = close_library};
    cublas_state *state = out->state = calloc(1, sizeof *state);
    if (!state)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for cuBLAS");
    state->cuda = device->state;
    find(out, state);
    if (out->missing[0])
        return WEFT_OK;
    TRY(weft_cuda_enter(state->cuda, error)); /* until the end: cuBLAS uses the current context */
    state->entered = true;
    check(out, state->cublasCreate_v2(&state->handle), "cublasCreate");
    if (out->code == 0)
        check(out, state->cublasSetStream_v2(state->handle, state->cuda->stream),
              "cublasSetStream");
    if (out->code != 0)
        snprintf(out->missing, sizeof out->missing, "%s failed with code %d", out->failed,
                 out->code);
done:
    return status;
}
