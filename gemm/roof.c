/* Measures rooflines of a GPU. */
#include "gemm/roof.h"
#include "gemm/tune.h"

#include <stdlib.h>

enum {
    COPY_BLOCK = 4 * 256 * 16, /* bytes of a block of "copy" */
    COPY_BYTES = 1 << 28,      /* some times the L2 cache of today's GPUs */
    THREADS = 128,             /* of "multiply" */
    CHAINS = 32,
    TILES = 4, /* with tensor cores */
    ITERATIONS = 2048,
    WAVES = 120, /* blocks of "multiply" per multiprocessor: more than are resident */
    ROUNDS = 5
};
static const double LEAST = 4e-3;

typedef struct roof_work {
    weft_device *device;
    weft_launch launch;
} roof_work;

static weft_status run(void *user, weft_error *error) {
    const roof_work *work = user;
    return weft_device_launch(work->device, &work->launch, error);
}

static weft_status compile(weft_gemm_kernels *kernels, bool single, weft_module **module,
                           weft_error *error) {
    static const char *const files[] = {"device.cu", "units.cu", "roof.cu"};
    weft_status status = WEFT_OK;
    weft_text source = {0};
    weft_text_add(&source, "#define SINGLE %d\n#define MATRIX_DEPTH %d\n", single,
                  single ? 0 : kernels->limits.matrix_depth);
    weft_text_add(&source, "#define CHAINS %d\n#define ITERATIONS %d\n", CHAINS, ITERATIONS);
    for (int i = 0; i < 3; ++i)
        TRY(weft_gemm_source_file(files[i], &source, error));
    TRY(weft_gemm_compile(kernels, &source, module, error));
done:
    weft_text_free(&source);
    return status;
}

/* Operations of a thread of "multiply". */
static double flops_of_thread(int matrix_depth) {
    const double k = matrix_depth >= 16 ? 16 : 4;
    return ITERATIONS * (matrix_depth > 0 ? TILES * 2 * 16 * 8 * k / 32 : 2.0 * CHAINS);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

weft_status weft_gemm_roof_measure(weft_gemm_kernels *kernels, weft_gemm_type type,
                                   weft_gemm_roof *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_module *module = NULL;
    weft_memory *from = NULL, *to = NULL;
    double seconds[2][ROUNDS];
    const weft_limits *limits = weft_device_limits(kernels->device);
    const bool single = type == WEFT_GEMM_SINGLE || type == WEFT_GEMM_SINGLE_COMPLEX;
    const int64_t threads = (int64_t)limits->multiprocessors * WAVES * THREADS;
    if (limits->execution == WEFT_EXECUTION_SIMD)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "rooflines are measured on GPUs only"));
    TRY(compile(kernels, single, &module, error));
    if (limits->records_only)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%s computes nothing, so nothing can be measured on it", limits->name));
    TRY(weft_memory_make(kernels->device, COPY_BYTES, &from, error));
    TRY(weft_memory_make(kernels->device, COPY_BYTES, &to, error));
    weft_memory *const copied[] = {from, to};
    roof_work users[] = {{kernels->device,
                          {.module = module,
                           .kernel = "copy",
                           .arguments = copied,
                           .n_arguments = 2,
                           .n_elements = COPY_BYTES / 16,
                           .lanes = 1,
                           .block_threads = 256,
                           .n_blocks = COPY_BYTES / COPY_BLOCK}},
                         {kernels->device,
                          {.module = module,
                           .kernel = "multiply",
                           .arguments = &to,
                           .n_arguments = 1,
                           .n_elements = threads,
                           .lanes = 1,
                           .block_threads = THREADS,
                           .n_blocks = threads / THREADS}}};
    const weft_gemm_work works[] = {{run, &users[0]}, {run, &users[1]}};
    TRY(weft_gemm_time(kernels->device, works, 2, ROUNDS, LEAST, seconds[0], error));
    for (int i = 0; i < 2; ++i)
        qsort(seconds[i], ROUNDS, sizeof(double), compare);
    *out = (weft_gemm_roof){.bandwidth = 2.0 * COPY_BYTES / seconds[0][ROUNDS / 2],
                            .flops = flops_of_thread(single ? 0 : kernels->limits.matrix_depth) *
                                     (double)threads / seconds[1][ROUNDS / 2]};
done:
    weft_memory_free(&from);
    weft_memory_free(&to);
    return status;
}

double weft_gemm_roof_seconds(const weft_gemm_roof *roof, double flops, double bytes,
                              bool *arithmetic) {
    const double compute = flops / roof->flops, move = bytes / roof->bandwidth;
    if (arithmetic)
        *arithmetic = compute > move;
    return compute > move ? compute : move;
}
