/* cuBLAS for weft gemm, loaded at run time, on the device's own stream, so that one timer measures
 * both. */
#include "apps/weft/gemm.h"
#include "core/cuda/cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define GEMM_FUNCTIONS(X, S)                                                                       \
    X(cublas##S##gemm_v2,                                                                          \
      (void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *A,    \
       int lda, const void *B, int ldb, const void *beta, void *C, int ldc))                       \
    X(cublas##S##gemmStridedBatched,                                                               \
      (void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *A,    \
       int lda, long long stride_a, const void *B, int ldb, long long stride_b, const void *beta,  \
       void *C, int ldc, long long stride_c, int count))                                           \
    X(cublas##S##gemmBatched,                                                                      \
      (void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha,                   \
       const void *const *A, int lda, const void *const *B, int ldb, const void *beta,             \
       void *const *C, int ldc, int count))
#define THREE_FUNCTION(X, S)                                                                       \
    X(cublas##S##gemm3m,                                                                           \
      (void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *A,    \
       int lda, const void *B, int ldb, const void *beta, void *C, int ldc))
#define COMMON_FUNCTIONS(X)                                                                        \
    X(cublasCreate_v2, (void **handle))                                                            \
    X(cublasDestroy_v2, (void *handle))                                                            \
    X(cublasSetStream_v2, (void *handle, weft_cu_stream stream))
#define ALL_FUNCTIONS(X)                                                                           \
    COMMON_FUNCTIONS(X)                                                                            \
    GEMM_FUNCTIONS(X, S)                                                                           \
    GEMM_FUNCTIONS(X, D)                                                                           \
    GEMM_FUNCTIONS(X, C)                                                                           \
    GEMM_FUNCTIONS(X, Z)                                                                           \
    THREE_FUNCTION(X, C)                                                                           \
    THREE_FUNCTION(X, Z)
/* clang-format on */
#define MEMBER(name, parameters) int(*name) parameters;

typedef struct cublas_state {
    ALL_FUNCTIONS(MEMBER)
    weft_cuda_state *cuda;
    void *handle;
    weft_memory *pointers; /* of a batch: [3][n]; NULL: none */
} cublas_state;

static void close_cublas(void *state) {
    cublas_state *f = state;
    weft_error ignored;
    weft_memory_free(&f->pointers);
    if (f->handle && weft_cuda_enter(f->cuda, &ignored) == WEFT_OK) {
        (void)f->cublasDestroy_v2(f->handle);
        weft_cuda_leave(f->cuda);
    }
    free(f);
}

static unsigned char *address(const weft_memory *memory) {
    return (unsigned char *)(uintptr_t)((const weft_cuda_array *)memory->state)->address;
}

/* Scalars in every type: 1 and 0, real or complex. */
typedef union scalar {
    float narrow[2];
    double wide[2];
} scalar;

static scalar scalar_of(weft_gemm_type type, double value) {
    scalar s = {.wide = {value, 0}};
    if (type == WEFT_GEMM_SINGLE || type == WEFT_GEMM_SINGLE_COMPLEX)
        s = (scalar){.narrow = {(float)value, 0}};
    return s;
}

#define BY_TYPE(suffix, ...)                                                                       \
    (p->type == WEFT_GEMM_SINGLE           ? f->cublasS##suffix(__VA_ARGS__)                       \
     : p->type == WEFT_GEMM_DOUBLE         ? f->cublasD##suffix(__VA_ARGS__)                       \
     : p->type == WEFT_GEMM_SINGLE_COMPLEX ? f->cublasC##suffix(__VA_ARGS__)                       \
                                           : f->cublasZ##suffix(__VA_ARGS__))

enum { ONE, STRIDED, POINTERS };

static int call(cublas_state *f, int form, const gemm_case *one) {
    const weft_gemm_product *p = &one->product;
    const scalar alpha = scalar_of(p->type, 1), beta = scalar_of(p->type, 0);
    const int a = (int)p->op_a, b = (int)p->op_b; /* cuBLAS has the same numbers */
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k, count = (int)one->n;
    const int lda = (int)p->a.ld, ldb = (int)p->b.ld, ldc = (int)p->c.ld;
    void *A = address(p->a.memory), *B = address(p->b.memory), *C = address(p->c.memory);
    if (one->three)
        return (p->type == WEFT_GEMM_SINGLE_COMPLEX ? f->cublasCgemm3m : f->cublasZgemm3m)(
            f->handle, a, b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
    if (form == ONE)
        return BY_TYPE(gemm_v2, f->handle, a, b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
    if (form == STRIDED)
        return BY_TYPE(gemmStridedBatched, f->handle, a, b, m, n, k, &alpha, A, lda, p->a.stride, B,
                       ldb, p->b.stride, &beta, C, ldc, p->c.stride, count);
    void **at = (void **)(void *)address(f->pointers);
    return BY_TYPE(gemmBatched, f->handle, a, b, m, n, k, &alpha, (const void *const *)at, lda,
                   (const void *const *)(at + count), ldb, &beta, at + 2 * (size_t)count, ldc,
                   count);
}

static weft_status run_cublas(void *state, int form, const gemm_case *one, weft_error *error) {
    weft_status status = WEFT_OK;
    cublas_state *f = state;
    TRY(weft_cuda_enter(f->cuda, error));
    const int code = call(f, one->n > 1 ? STRIDED + form : ONE, one);
    weft_cuda_leave(f->cuda);
    if (code != 0)
        status = weft_error_set(error, WEFT_ERROR_DEVICE, "cuBLAS failed with code %d", code);
done:
    return status;
}

static weft_status make_pointers(cublas_state *f, const gemm_case *one, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_matrix *matrices[] = {&one->product.a, &one->product.b, &one->product.c};
    const int64_t strides[] = {one->product.m * one->product.k, one->product.k * one->product.n,
                               one->product.m * one->product.n};
    const int64_t bytes = weft_gemm_element_bytes(one->product.type);
    const size_t size = 3 * (size_t)one->n * sizeof(void *);
    void **pointers = malloc(size);
    if (!pointers)
        TRY(weft_out_of_memory(error, "the pointers of a batch"));
    for (int i = 0; i < 3; ++i)
        for (int64_t x = 0; x < one->n; ++x)
            pointers[i * one->n + x] = address(matrices[i]->memory) + x * strides[i] * bytes;
    TRY(weft_memory_make_unset(one->device, size, &f->pointers, error));
    TRY(weft_memory_write(f->pointers, 0, pointers, size, error));
done:
    free(pointers);
    return status;
}

weft_status gemm_cublas_open(const gemm_case *one, gemm_rival *out, weft_error *error) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
    weft_status status = WEFT_OK;
    void *library = NULL, *symbol;
    cublas_state *f = NULL;
    if (weft_device_limits(one->device)->kind != WEFT_DEVICE_CUDA)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "cuBLAS runs on GPUs only"));
    TRY(gemm_library_open(names, &library, error));
    f = calloc(1, sizeof *f);
    if (!f)
        TRY(weft_out_of_memory(error, "cuBLAS"));
    f->cuda = one->device->state;
#define FIND(name, parameters)                                                                     \
    symbol = dlsym(library, #name);                                                                \
    if (!symbol)                                                                                   \
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "there is no %s in cuBLAS", #name));     \
    memcpy(&f->name, &symbol, sizeof symbol);
    ALL_FUNCTIONS(FIND)
#undef FIND
    TRY(weft_cuda_enter(f->cuda, error));
    int code = f->cublasCreate_v2(&f->handle);
    if (code == 0)
        code = f->cublasSetStream_v2(f->handle, f->cuda->stream);
    weft_cuda_leave(f->cuda);
    if (code != 0)
        TRY(weft_error_set(error, WEFT_ERROR_DEVICE, "cublasCreate failed with code %d", code));
    if (one->n > 1)
        TRY(make_pointers(f, one, error));
    *out = (gemm_rival){one->three ? "cublas gemm3m" : "cublas", one->n > 1 ? 2 : 1, run_cublas,
                        close_cublas, f};
    f = NULL;
done:
    if (f)
        close_cublas(f);
    return status;
}
