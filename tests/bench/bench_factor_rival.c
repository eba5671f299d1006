/* cuSOLVER's batched Cholesky factorisation and cuBLAS's batched LU factorisation, with the solutions of one right-hand side
 * each, on the device's stream. The functions are declared here and loaded at run time. */
#include "bench_factor.h"
#include "bench_library.h"
#include "core/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOWER = 0, PLAIN = 0, REPEATS = 11 };

/* clang-format off */
#define SOLVER_FUNCTIONS(X)                                                                        \
    X(cusolverDnCreate, (void **handle))                                                           \
    X(cusolverDnDestroy, (void *handle))                                                           \
    X(cusolverDnSetStream, (void *handle, weft_cu_stream stream))                                  \
    X(cusolverDnSpotrfBatched, (void *handle, int triangle, int n, void *A, int lda, int *info, int count)) \
    X(cusolverDnDpotrfBatched, (void *handle, int triangle, int n, void *A, int lda, int *info, int count)) \
    X(cusolverDnSpotrsBatched, (void *handle, int triangle, int n, int columns, void *A, int lda, void *B, int ldb, int *info, int count)) \
    X(cusolverDnDpotrsBatched, (void *handle, int triangle, int n, int columns, void *A, int lda, void *B, int ldb, int *info, int count))
#define BLAS_FUNCTIONS(X)                                                                          \
    X(cublasCreate_v2, (void **handle))                                                            \
    X(cublasDestroy_v2, (void *handle))                                                            \
    X(cublasSetStream_v2, (void *handle, weft_cu_stream stream))                                   \
    X(cublasSgetrfBatched, (void *handle, int n, void *A, int lda, int *pivots, int *info, int count)) \
    X(cublasDgetrfBatched, (void *handle, int n, void *A, int lda, int *pivots, int *info, int count)) \
    X(cublasSgetrsBatched, (void *handle, int transposed, int n, int columns, void *A, int lda, const int *pivots, void *B, int ldb, int *info, int count)) \
    X(cublasDgetrsBatched, (void *handle, int transposed, int n, int columns, void *A, int lda, const int *pivots, void *B, int ldb, int *info, int count))
/* clang-format on */
#define MEMBER(name, parameters) int(*name) parameters;

struct factor_rival {
    SOLVER_FUNCTIONS(MEMBER)
    BLAS_FUNCTIONS(MEMBER)
    weft_cuda_state *cuda; /* the device's */
    void *solver, *blas;
    bool entered;
    char missing[512];
};

/* The lists of a run on the device. */
typedef struct run_lists {
    weft_memory *original[2], *lists[2], *pointers[2], *pivots, *info;
} run_lists;

static uint64_t address(const weft_memory *memory) {
    return (uint64_t)((const weft_cuda_array *)memory->state)->address;
}

static void *pointer(const weft_memory *memory) {
    return (void *)(uintptr_t)address(memory);
}

static void find(struct factor_rival *r) {
    static const char *const blas[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
    static const char *const solver[] = {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so",
                                         NULL};
    void *library = bench_library_open(blas, r->missing, sizeof r->missing), *symbol;
    if (!library)
        return;
#define FIND(name, parameters)                                                                     \
    symbol = dlsym(library, #name);                                                                \
    if (!symbol)                                                                                   \
        snprintf(r->missing, sizeof r->missing, "there is no %s in its library", #name);           \
    memcpy(&r->name, &symbol, sizeof symbol);
    BLAS_FUNCTIONS(FIND)
    library = bench_library_open(solver, r->missing, sizeof r->missing);
    if (!library)
        return;
    SOLVER_FUNCTIONS(FIND)
#undef FIND
}

weft_status factor_rival_open(factor_bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    struct factor_rival *r = calloc(1, sizeof *r);
    if (!r)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for cuSOLVER");
    b->rival = r;
    r->cuda = b->device->state;
    if (weft_device_limits(b->device)->records_only)
        snprintf(r->missing, sizeof r->missing, "the device computes nothing");
    else
        find(r);
    if (!r->missing[0]) {
        TRY(weft_cuda_enter(r->cuda, error));
        r->entered = true;
        if (r->cusolverDnCreate(&r->solver) != 0 || r->cublasCreate_v2(&r->blas) != 0 ||
            r->cusolverDnSetStream(r->solver, r->cuda->stream) != 0 ||
            r->cublasSetStream_v2(r->blas, r->cuda->stream) != 0)
            snprintf(r->missing, sizeof r->missing, "cuSOLVER or cuBLAS cannot be started");
    }
    if (r->missing[0]) {
        printf("without cuSOLVER and cuBLAS: %s\n", r->missing);
        factor_rival_close(b);
    }
done:
    return status;
}

void factor_rival_close(factor_bench *b) {
    struct factor_rival *r = b->rival;
    if (!r)
        return;
    if (r->solver)
        (void)r->cusolverDnDestroy(r->solver);
    if (r->blas)
        (void)r->cublasDestroy_v2(r->blas);
    if (r->entered)
        weft_cuda_leave(r->cuda);
    free(r);
    b->rival = NULL;
}

static int call(const struct factor_rival *r, const factor_systems *s, const run_lists *l) {
    const int n = s->n, count = (int)s->count;
    void *A = pointer(l->pointers[0]), *B = pointer(l->pointers[1]);
    int *info = pointer(l->info), *pivots = pointer(l->pivots), on_host = 0, code = 0;
    if (s->lu) {
        code = (s->single ? r->cublasSgetrfBatched : r->cublasDgetrfBatched)(r->blas, n, A, n,
                                                                             pivots, info, count);
        return code ? code
                    : (s->single ? r->cublasSgetrsBatched : r->cublasDgetrsBatched)(
                          r->blas, PLAIN, n, 1, A, n, pivots, B, n, &on_host, count);
    }
    code = (s->single ? r->cusolverDnSpotrfBatched
                      : r->cusolverDnDpotrfBatched)(r->solver, LOWER, n, A, n, info, count);
    return code ? code
                : (s->single ? r->cusolverDnSpotrsBatched : r->cusolverDnDpotrsBatched)(
                      r->solver, LOWER, n, 1, A, n, B, n, info, count);
}

static weft_status make_lists(const factor_bench *b, const factor_systems *s, run_lists *l,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t real = s->single ? 4 : 8, count = (size_t)s->count;
    uint64_t *addresses = calloc(count, sizeof *addresses);
    if (!addresses)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for addresses"));
    for (int k = 0; k < 2; ++k) {
        const size_t each = (size_t)s->n * (k == 0 ? (size_t)s->n : 1) * real;
        TRY(weft_memory_make(b->device, count * each, &l->original[k], error));
        TRY(weft_memory_make(b->device, count * each, &l->lists[k], error));
        TRY(weft_memory_make(b->device, count * sizeof *addresses, &l->pointers[k], error));
        TRY(weft_memory_write(l->original[k], 0, k == 0 ? s->matrices : s->rights, count * each,
                              error));
        for (size_t i = 0; i < count; ++i)
            addresses[i] = address(l->lists[k]) + i * each;
        TRY(weft_memory_write(l->pointers[k], 0, addresses, count * sizeof *addresses, error));
    }
    TRY(weft_memory_make(b->device, count * (size_t)s->n * sizeof(int), &l->pivots, error));
    TRY(weft_memory_make(b->device, count * sizeof(int), &l->info, error));
done:
    free(addresses);
    return status;
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

weft_status factor_rival_run(const factor_bench *b, const factor_systems *s, double *seconds,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    run_lists l = {{NULL, NULL}, {NULL, NULL}, {NULL, NULL}, NULL, NULL};
    double taken[REPEATS];
    TRY(make_lists(b, s, &l, error));
    for (int i = -2; i < REPEATS; ++i) {
        for (int k = 0; k < 2; ++k) /* they are overwritten */
            TRY(weft_memory_copy(l.lists[k], l.original[k], weft_memory_bytes(l.original[k]),
                                 error));
        TRY(weft_timer_start(b->timer, error));
        if (call(b->rival, s, &l) != 0)
            TRY(weft_error_set(error, WEFT_ERROR_DEVICE, "cuSOLVER or cuBLAS refuses n = %d",
                               s->n));
        TRY(weft_timer_stop(b->timer, error));
        TRY(weft_timer_seconds(b->timer, &taken[i < 0 ? 0 : i], error));
    }
    qsort(taken, REPEATS, sizeof *taken, compare);
    *seconds = taken[REPEATS / 2];
    TRY(weft_memory_read(l.lists[1], 0, s->rights,
                         (size_t)s->count * (size_t)s->n * (s->single ? 4 : 8), error));
done:
    for (int k = 0; k < 2; ++k) {
        weft_memory_free(&l.original[k]);
        weft_memory_free(&l.lists[k]);
        weft_memory_free(&l.pointers[k]);
    }
    weft_memory_free(&l.pivots);
    weft_memory_free(&l.info);
    return status;
}
