/* A BLAS library with the C interface (OpenBLAS by default), on the host. The functions are
 * declared here and loaded at run time. */
#include "bench_blas.h"
#include "bench_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112, LOWER = 122, NOT_UNIT = 131 };

/* clang-format off */
#define CBLAS_FUNCTIONS(X, real, s)                                                                \
    X(void, cblas_##s##copy, (int n, const real *x, int incx, real *y, int incy))                  \
    X(void, cblas_##s##axpy, (int n, real alpha, const real *x, int incx, real *y, int incy))      \
    X(void, cblas_##s##scal, (int n, real alpha, real *x, int incx))                               \
    X(real, cblas_##s##dot, (int n, const real *x, int incx, const real *y, int incy))             \
    X(void, cblas_##s##gemv,                                                                       \
      (int order, int transposed, int m, int n, real alpha, const real *A, int lda, const real *x, \
       int incx, real beta, real *y, int incy))                                                    \
    X(void, cblas_##s##symv,                                                                       \
      (int order, int triangle, int n, real alpha, const real *A, int lda, const real *x,          \
       int incx, real beta, real *y, int incy))                                                    \
    X(void, cblas_##s##spmv,                                                                       \
      (int order, int triangle, int n, real alpha, const real *A, const real *x, int incx,         \
       real beta, real *y, int incy))                                                              \
    X(void, cblas_##s##trmv,                                                                       \
      (int order, int triangle, int transposed, int unit, int n, const real *A, int lda, real *x,  \
       int incx))                                                                                  \
    X(void, cblas_##s##tpmv,                                                                       \
      (int order, int triangle, int transposed, int unit, int n, const real *A, real *x,           \
       int incx))                                                                                  \
    X(void, cblas_##s##ger,                                                                        \
      (int order, int m, int n, real alpha, const real *x, int incx, const real *y, int incy,      \
       real *A, int lda))
/* clang-format on */
#define MEMBER(result, name, parameters) result(*name) parameters;

typedef struct cblas_state {
    CBLAS_FUNCTIONS(MEMBER, float, s)
    CBLAS_FUNCTIONS(MEMBER, double, d)
} cblas_state;

static void *address(const weft_memory *memory) {
    return weft_memory_host(memory);
}

static void copy(blas_rival *b, int64_t n, const void *x, void *y) {
    const cblas_state *f = b->state;
    if (b->single)
        f->cblas_scopy((int)n, x, 1, y, 1);
    else
        f->cblas_dcopy((int)n, x, 1, y, 1);
}

static void copy_matrix(blas_rival *b, int64_t n, const void *A, void *B) {
    copy(b, n * n, A, B);
}

static void axpy(blas_rival *b, int64_t n, double alpha, const void *x, void *y) {
    const cblas_state *f = b->state;
    if (b->single)
        f->cblas_saxpy((int)n, (float)alpha, x, 1, y, 1);
    else
        f->cblas_daxpy((int)n, alpha, x, 1, y, 1);
}

static void scal(blas_rival *b, int64_t n, double alpha, void *x) {
    const cblas_state *f = b->state;
    if (b->single)
        f->cblas_sscal((int)n, (float)alpha, x, 1);
    else
        f->cblas_dscal((int)n, alpha, x, 1);
}

static void dot(blas_rival *b, int64_t n, const void *x, const void *y, void *result) {
    const cblas_state *f = b->state;
    if (b->single)
        *(float *)result = f->cblas_sdot((int)n, x, 1, y, 1);
    else
        *(double *)result = f->cblas_ddot((int)n, x, 1, y, 1);
}

static void gemv(blas_rival *b, bool transposed, const blas_gemv *c) {
    const cblas_state *f = b->state;
    const int how = transposed ? TRANSPOSED : PLAIN, n = (int)c->n;
    if (b->single)
        f->cblas_sgemv(ROW_MAJOR, how, n, n, (float)c->alpha, c->A, n, c->x, 1, (float)c->beta,
                       c->y, 1);
    else
        f->cblas_dgemv(ROW_MAJOR, how, n, n, c->alpha, c->A, n, c->x, 1, c->beta, c->y, 1);
}

static void ger(blas_rival *b, int64_t n, const void *x, const void *y, void *A) {
    const cblas_state *f = b->state;
    if (b->single)
        f->cblas_sger(ROW_MAJOR, (int)n, (int)n, 1, x, 1, y, 1, A, (int)n);
    else
        f->cblas_dger(ROW_MAJOR, (int)n, (int)n, 1, x, 1, y, 1, A, (int)n);
}

static void triangle_single(const cblas_state *f, int n, bool symmetric, bool packed, const void *A,
                            const void *x, void *y) {
    if (symmetric && packed)
        f->cblas_sspmv(ROW_MAJOR, LOWER, n, 1, A, x, 1, 0, y, 1);
    else if (symmetric)
        f->cblas_ssymv(ROW_MAJOR, LOWER, n, 1, A, n, x, 1, 0, y, 1);
    else if (packed)
        f->cblas_stpmv(ROW_MAJOR, LOWER, PLAIN, NOT_UNIT, n, A, y, 1);
    else
        f->cblas_strmv(ROW_MAJOR, LOWER, PLAIN, NOT_UNIT, n, A, n, y, 1);
}

static void triangle_double(const cblas_state *f, int n, bool symmetric, bool packed, const void *A,
                            const void *x, void *y) {
    if (symmetric && packed)
        f->cblas_dspmv(ROW_MAJOR, LOWER, n, 1, A, x, 1, 0, y, 1);
    else if (symmetric)
        f->cblas_dsymv(ROW_MAJOR, LOWER, n, 1, A, n, x, 1, 0, y, 1);
    else if (packed)
        f->cblas_dtpmv(ROW_MAJOR, LOWER, PLAIN, NOT_UNIT, n, A, y, 1);
    else
        f->cblas_dtrmv(ROW_MAJOR, LOWER, PLAIN, NOT_UNIT, n, A, n, y, 1);
}

static void triangle(blas_rival *b, int64_t n, bool symmetric, bool packed, const void *A,
                     const void *x, void *y) {
    if (!symmetric)
        copy(b, n, x, y);
    (b->single ? triangle_single : triangle_double)(b->state, (int)n, symmetric, packed, A, x, y);
}

static void madd(blas_rival *b, int64_t n, const void *A, const void *B, void *C) {
    copy(b, n * n, A, C);
    axpy(b, n * n, 1, B, C);
}

static void close_library(blas_rival *b) {
    free(b->state);
}

weft_status blas_cblas_open(weft_device *device, const blas_options *options, blas_rival *out,
                            weft_error *error) {
    const char *const names[] = {options->blas ? options->blas : "libopenblas.so.0",
                                 options->blas ? NULL : "libopenblas.so", NULL};
    *out = (blas_rival){.name = options->blas ? options->blas : "OpenBLAS",
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
    cblas_state *state = out->state = calloc(1, sizeof *state);
    if (!state)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a BLAS library");
    void *library = bench_library_open(names, out->missing, sizeof out->missing);
    const char *file = out->name;
    void *symbol;
    if (!library)
        return WEFT_OK;
#define FIND(result, name, parameters)                                                             \
    symbol = dlsym(library, #name);                                                                \
    if (!symbol)                                                                                   \
        snprintf(out->missing, sizeof out->missing, "there is no %s in %s", #name, file);          \
    memcpy(&state->name, &symbol, sizeof symbol);
    CBLAS_FUNCTIONS(FIND, float, s)
    CBLAS_FUNCTIONS(FIND, double, d)
#undef FIND
    void (*set_threads)(int) = NULL;
    symbol = dlsym(library, "openblas_set_num_threads");
    memcpy(&set_threads, &symbol, sizeof symbol);
    if (set_threads)
        set_threads(weft_device_limits(device)->threads);
    return WEFT_OK;
}
