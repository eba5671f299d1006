#include "bench_cuda_rival_internal.h"
#include "bench_library.h"
#include "core/cuda/cuda.h"
#include "core/weft_core.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

weft_status bench_rival_check(bench_rival *rival, int code, const char *what, weft_error *error) {
    return code == 0 ? WEFT_OK : weft_cuda_failed(&rival->driver, code, what, error);
}

weft_status bench_library_check(int code, const char *what, weft_error *error) {
    if (code == 0)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_DEVICE, "%s failed with code %d", what, code);
}

static void find_libraries(bench_rival *rival) {
    static const char *const sparse[] = {"libcusparse.so.12", "libcusparse.so", NULL};
    static const char *const blas[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
    char *missing = rival->missing;
    const size_t size = sizeof rival->missing;
    rival->sparse_library = bench_library_open(sparse, missing, size);
    if (!missing[0])
        rival->blas_library = bench_library_open(blas, missing, size);
    if (missing[0])
        return;
    void *symbol;
#define FIND(library, table, name)                                                                 \
    symbol = dlsym(rival->library, #name);                                                         \
    if (!symbol)                                                                                   \
        snprintf(missing, size, "there is no %s in its library", #name);                           \
    memcpy(&rival->table.name, &symbol, sizeof symbol);
#define FIND_SPARSE(name, parameters) FIND(sparse_library, sparse, name)
#define FIND_BLAS(name, parameters) FIND(blas_library, blas, name)
    BENCH_CUSPARSE_FUNCTIONS(FIND_SPARSE)
    BENCH_CUBLAS_FUNCTIONS(FIND_BLAS)
#undef FIND_SPARSE
#undef FIND_BLAS
#undef FIND
}

static weft_status find_driver(bench_rival *rival, weft_error *error) {
    int (*find)(const char *, void **, int, uint64_t, int *) = NULL;
    void *symbol = dlsym(rival->driver.library, "cuGetProcAddress_v2");
    if (symbol)
        memcpy(&find, &symbol, sizeof symbol);
#define FIND(name, parameters)                                                                     \
    symbol = NULL;                                                                                 \
    if (!find || find(#name, &symbol, 12000, 0, NULL) != 0 || !symbol)                             \
        return weft_error_set(error, WEFT_ERROR_DEVICE, "this CUDA driver has no %s", #name);      \
    memcpy(&rival->more.name, &symbol, sizeof symbol);
    BENCH_CU_FUNCTIONS(FIND)
#undef FIND
    return WEFT_OK;
}

static weft_status start_libraries(bench_rival *rival, weft_error *error) {
    weft_status status = WEFT_OK;
    if (rival->missing[0])
        return WEFT_OK;
    TRY(bench_library_check(rival->sparse.cusparseCreate(&rival->sparse_handle), "cusparseCreate",
                            error));
    TRY(bench_library_check(rival->blas.cublasCreate_v2(&rival->blas_handle), "cublasCreate",
                            error));
    TRY(bench_library_check(rival->sparse.cusparseSetStream(rival->sparse_handle, rival->stream),
                            "cusparseSetStream", error));
    TRY(bench_library_check(rival->blas.cublasSetStream_v2(rival->blas_handle, rival->stream),
                            "cublasSetStream", error));
done:
    return status;
}

weft_status bench_rival_open(bench_rival **out, weft_error *error) {
    enum { STREAM_ALONE = 1 };
    weft_status status = WEFT_OK;
    weft_cuda_driver *driver = NULL;
    bench_rival *rival = calloc(1, sizeof *rival);
    if (!rival)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    driver = &rival->driver;
    TRY(weft_cuda_driver_open(NULL, driver, error));
    TRY(find_driver(rival, error));
    TRY(bench_rival_check(rival, driver->cuDeviceGet(&rival->device, 0), "opening the GPU", error));
    TRY(bench_rival_check(rival, driver->cuDevicePrimaryCtxRetain(&rival->context, rival->device),
                          "starting the GPU", error));
    TRY(bench_rival_check(rival, driver->cuCtxPushCurrent(rival->context), "taking up the GPU",
                          error));
    rival->current = true;
    TRY(bench_rival_check(rival, driver->cuStreamCreate(&rival->stream, STREAM_ALONE),
                          "making a stream", error));
    for (int i = 0; i < 2; ++i)
        TRY(bench_rival_check(rival, driver->cuEventCreate(&rival->events[i], 0), "making an event",
                              error));
    TRY(bench_rival_check(rival,
                          driver->cuDeviceGetAttribute(&rival->multiprocessors,
                                                       WEFT_CU_MULTIPROCESSORS, rival->device),
                          "asking for the GPU's size", error));
    TRY(bench_kernels_make(rival, error));
    find_libraries(rival);
    TRY(start_libraries(rival, error));
    *out = rival;
    rival = NULL;
done:
    bench_rival_free(&rival);
    return status;
}

void bench_rival_free(bench_rival **out) {
    bench_rival *rival = *out;
    weft_cu_context ignored;
    if (!rival)
        return;
    const weft_cuda_driver *driver = &rival->driver;
    if (rival->sparse_handle)
        (void)rival->sparse.cusparseDestroy(rival->sparse_handle);
    if (rival->blas_handle)
        (void)rival->blas.cublasDestroy_v2(rival->blas_handle);
    for (int i = 0; i < 2; ++i) {
        if (rival->modules[i])
            (void)driver->cuModuleUnload(rival->modules[i]);
        if (rival->events[i])
            (void)driver->cuEventDestroy(rival->events[i]);
    }
    if (rival->stream)
        (void)driver->cuStreamDestroy(rival->stream);
    if (rival->current)
        (void)driver->cuCtxPopCurrent(&ignored);
    if (rival->context)
        (void)driver->cuDevicePrimaryCtxRelease(rival->device);
    weft_cuda_driver_close(&rival->driver);
    free(rival);
    *out = NULL;
}

const char *bench_rival_missing(const bench_rival *rival) {
    return rival->missing[0] ? rival->missing : NULL;
}

/* ---- memory -------------------------------------------------------------------------------- */

weft_status bench_rival_memory(bench_rival *rival, size_t bytes, weft_cu_pointer *out,
                               weft_error *error) {
    return bench_rival_check(rival, rival->driver.cuMemAlloc(out, bytes ? bytes : 8),
                             "memory for a rival", error);
}

void bench_rival_release(bench_rival *rival, weft_cu_pointer *memory) {
    if (*memory)
        (void)rival->driver.cuMemFree(*memory);
    *memory = 0;
}

weft_status bench_rival_upload(bench_rival *rival, weft_cu_pointer to, const double *values,
                               int64_t n, bool single, weft_error *error) {
    weft_status status = WEFT_OK;
    float *narrow = NULL;
    const void *from = values;
    if (single) {
        narrow = malloc((size_t)n * sizeof *narrow + 1);
        if (!narrow)
            return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        for (int64_t i = 0; i < n; ++i)
            narrow[i] = (float)values[i];
        from = narrow;
    }
    TRY(bench_rival_check(
        rival,
        rival->driver.cuMemcpyHtoDAsync(to, from, (size_t)n * (single ? 4 : 8), rival->stream),
        "copying to the GPU", error));
    TRY(bench_rival_check(rival, rival->driver.cuStreamSynchronize(rival->stream),
                          "copying to the GPU", error));
done:
    free(narrow);
    return status;
}

weft_status bench_rival_download(bench_rival *rival, double *values, weft_cu_pointer from,
                                 int64_t n, bool single, weft_error *error) {
    weft_status status = WEFT_OK;
    float *narrow = (float *)values;
    TRY(bench_rival_check(
        rival,
        rival->driver.cuMemcpyDtoHAsync(values, from, (size_t)n * (single ? 4 : 8), rival->stream),
        "copying from the GPU", error));
    TRY(bench_rival_check(rival, rival->driver.cuStreamSynchronize(rival->stream),
                          "copying from the GPU", error));
    for (int64_t i = n - 1; single && i >= 0; --i) { /* from the end: each is read before */
        float value;
        memcpy(&value, narrow + i, sizeof value);
        memcpy(values + i, &(double){(double)value}, sizeof(double));
    }
done:
    return status;
}

/* ---- time ---------------------------------------------------------------------------------- */

static weft_status watch_start(void *user, weft_error *error) {
    bench_rival *rival = user;
    return bench_rival_check(rival, rival->driver.cuEventRecord(rival->events[0], rival->stream),
                             "starting a timer", error);
}

static weft_status watch_stop(void *user, double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_rival *rival = user;
    float milliseconds = 0;
    TRY(bench_rival_check(rival, rival->driver.cuEventRecord(rival->events[1], rival->stream),
                          "stopping a timer", error));
    TRY(bench_rival_check(rival, rival->driver.cuEventSynchronize(rival->events[1]),
                          "waiting for the GPU", error));
    TRY(bench_rival_check(
        rival, rival->more.cuEventElapsedTime(&milliseconds, rival->events[0], rival->events[1]),
        "reading a timer", error));
    *seconds = 1e-3 * (double)milliseconds;
done:
    return status;
}

bench_timing_loop bench_rival_timing_loop(bench_rival *rival) {
    return (bench_timing_loop){watch_start, watch_stop, rival};
}

typedef struct copy_run {
    bench_rival *rival;
    weft_cu_pointer from, to;
    long long n;
} copy_run;

static weft_status run_copy(void *user, weft_error *error) {
    enum { THREADS = 256, A_THREAD = 4 };
    copy_run *r = user;
    void *parameters[] = {&r->n, &r->from, &r->to};
    const long long blocks = (r->n + THREADS * A_THREAD - 1) / (THREADS * A_THREAD);
    return bench_kernel_launch(r->rival, false, BENCH_KERNEL_COPY, (int)blocks, parameters, error);
}

weft_status bench_rival_copy(bench_rival *rival, int repeats, double *bandwidth,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)2 << 30;
    copy_run r = {.rival = rival, .n = (long long)(bytes / 16)};
    double seconds = 0;
    TRY(bench_rival_memory(rival, bytes, &r.from, error));
    TRY(bench_rival_memory(rival, bytes, &r.to, error));
    /* no zeros: all-alike bytes can be faster than real ones */
    TRY(bench_rival_check(rival, rival->driver.cuMemsetD8Async(r.from, 0x5a, bytes, rival->stream),
                          "filling memory", error));
    TRY(bench_measure(bench_rival_timing_loop(rival), run_copy, &r, repeats, &seconds, error));
    *bandwidth = 2.0 * (double)bytes / seconds;
done:
    bench_rival_release(rival, &r.from);
    bench_rival_release(rival, &r.to);
    return status;
}
