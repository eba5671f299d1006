/* The null device: launches that compute nothing, with the limits of a host or an H200. */
#include "core/device/device.h"
#include "core/cuda/compiler.h"
#include "core/null/null.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memories know their size but hold no data; modules keep their source. */

static weft_status null_memory_make(weft_memory *memory, weft_error *error) {
    (void)memory;
    (void)error;
    return WEFT_OK;
}

static weft_status null_memory_wrap(weft_memory *memory, void *array, weft_error *error) {
    (void)memory;
    (void)array;
    (void)error;
    return WEFT_OK;
}

static void null_memory_free(weft_memory *memory) {
    (void)memory;
}

typedef struct null_module {
    char *source;
    weft_source_resources *resources; /* NULL until requested */
} null_module;

enum { ARCHITECTURE = 90 }; /* of an H200 */

static bool is_gpu(const weft_device *device) {
    return device->limits.multiprocessors > 1;
}

static weft_status null_module_make(weft_module *module, const char *source, weft_error *error) {
    null_module *made = calloc(1, sizeof *made);
    char *copy = strdup(source);
    if (!made || !copy) {
        free(made);
        free(copy);
        return weft_out_of_memory(error, "a module");
    }
    made->source = copy;
    module->state = made;
    return WEFT_OK;
}

static void null_module_free(weft_module *module) {
    null_module *made = module->state;
    weft_source_resources_free(&made->resources);
    free(made->source);
    free(made);
}

static weft_status null_module_measure(weft_module *module, weft_error *error) {
    null_module *made = module->state;
    if (!is_gpu(module->device))
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "%s reports no resource usage of its kernels",
                              module->device->limits.name);
    return made->resources ? WEFT_OK
                           : weft_source_resources_make(module->name, made->source, ARCHITECTURE,
                                                        &made->resources, error);
}

static bool null_module_resources(const weft_module *module, const char *kernel,
                                  weft_kernel_resources *out) {
    const null_module *made = module->state;
    return made->resources && weft_source_resources_find(made->resources, kernel, out);
}

static const char *source_of(const weft_module *module) {
    const null_module *made = module->state;
    return made->source;
}

/* Limits per multiprocessor of an H200. A block takes 1 KB of shared memory more than it requests.
 * Registers are not counted.
 * Source  CUDA C++ Programming Guide, compute capability 9.0 */
enum { BLOCK_THREADS = 128, MOST_THREADS = 1024, RESIDENT_THREADS = 2048, RESIDENT_BLOCKS = 32 };
enum { SHARED_BYTES = 228 * 1024, RESERVED_SHARED = 1024 };

static int null_resident_blocks(const weft_device *device, const weft_module *module,
                                const char *kernel, int block_threads, int shared_bytes) {
    int threads = block_threads > 0 ? block_threads : BLOCK_THREADS;
    if (!is_gpu(device) || !weft_has_word(source_of(module), kernel) || threads > MOST_THREADS ||
        (size_t)shared_bytes > device->limits.onchip_bytes)
        return 0;
    int by_threads = RESIDENT_THREADS / ((threads + 31) / 32 * 32);
    int by_shared = SHARED_BYTES / (shared_bytes + RESERVED_SHARED);
    int each = by_threads < by_shared ? by_threads : by_shared;
    return (each < RESIDENT_BLOCKS ? each : RESIDENT_BLOCKS) * device->limits.multiprocessors;
}

static weft_status check_cooperative(const weft_device *device, const weft_launch *launch,
                                     weft_error *error) {
    if (!is_gpu(device))
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "launch of %s: blocks on the host do not run all at once",
                              launch->kernel);
    int threads = launch->block_threads > 0 ? launch->block_threads : BLOCK_THREADS;
    int64_t n = launch->n_elements;
    int64_t n_groups = launch->n_blocks > 0 ? launch->n_blocks : n / threads + (n % threads > 0);
    int most =
        null_resident_blocks(device, launch->module, launch->kernel, threads, launch->shared_bytes);
    if (n_groups <= most)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_USAGE,
                          "cooperative launch of %s: %lld blocks of %d threads do not run at once "
                          "on %s, which holds %d of them",
                          launch->kernel, (long long)n_groups, threads, device->limits.name, most);
}

static weft_status null_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                               weft_error *error) {
    (void)n_blocks;
    if (!weft_has_word(source_of(launch->module), launch->kernel))
        return weft_error_set(error, WEFT_ERROR_DEVICE, "module %s has no kernel %s",
                              launch->module->name, launch->kernel);
    return launch->cooperative ? check_cooperative(device, launch, error) : WEFT_OK;
}

static const weft_device_table table = {
    .memory_make = null_memory_make,
    .memory_wrap = null_memory_wrap,
    .memory_borrow = null_memory_wrap,
    .memory_free = null_memory_free,
    .module_make = null_module_make,
    .module_free = null_module_free,
    .module_resources = null_module_resources,
    .module_measure = null_module_measure,
    .launch = null_launch,
    .resident_blocks = null_resident_blocks,
};

/* A nominal host with AVX-512, the same on every machine, so that tests of plans are portable. */
static const weft_limits plain_limits = {
    .kind = WEFT_DEVICE_NULL,
    .execution = WEFT_EXECUTION_SIMD,
    .records_only = true,
    .language = "host",
    .name = "null: records, computes nothing",
    .lanes_double = 8,
    .lanes_float = 16,
    .threads = 1,
    .multiprocessors = 1,
    .register_bytes = 2048,
    .onchip_bytes = 32768,
    .l2_bytes = (size_t)1 << 20,
    .memory_bytes = (size_t)16 << 30,
    .bandwidth = 20e9,
    .flops = 80e9,
    .launch_seconds = 1e-6,
};

/* NVIDIA H200 (SXM, 132 multiprocessors): 64 K registers of 4 bytes per multiprocessor, 227 KB of
 * shared memory per block, 60 MB of L2; copy bandwidth instead of the data sheet's 4.8 TB/s; FP64
 * without tensor cores. */
static const weft_limits h200_limits = {
    .kind = WEFT_DEVICE_NULL,
    .execution = WEFT_EXECUTION_SIMT,
    .records_only = true,
    .language = "cuda",
    .name = "null: NVIDIA H200, 132 multiprocessors, records, computes nothing",
    .lanes_double = 32,
    .lanes_float = 32,
    .threads = 1,
    .multiprocessors = 132,
    .matrix_depth = 16,
    .cluster_blocks = 16,
    .register_bytes = 65536 * 4,
    .onchip_bytes = 227 * 1024,
    .l2_bytes = 60000000,
    .memory_bytes = 141000000000,
    .bandwidth = 4.3e12,
    .flops = 33.4e12,
    .launch_seconds = 3.1e-6,
    .target = WEFT_TARGET_WARPS_OF_32,
};

weft_status weft_device_null_open(weft_device *device, const char *argument, weft_error *error) {
    static const char *const names[] = {"h200"};
    device->table = &table;
    if (!argument) {
        device->limits = plain_limits;
        return WEFT_OK;
    }
    if (strcmp(argument, names[0]) == 0) {
        device->limits = h200_limits;
        return WEFT_OK;
    }
    weft_error_set(error, WEFT_ERROR_USAGE, "null:%s: no limits of that name; there is null:h200",
                   argument);
    if (weft_nearest_name(argument, names, 1))
        weft_error_hint(error, "did you mean null:h200?");
    return WEFT_ERROR_USAGE;
}
