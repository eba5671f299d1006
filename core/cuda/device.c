/* Opens a GPU and determines its limits. */
#include "core/cuda/compiler.h"
#include "core/cuda/cuda.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A device has one stream: allocations, copies and launches execute in the order of the calls. */

enum {
    STREAM_ALONE = 1, /* CU_STREAM_NON_BLOCKING */
    POOL_KEEP = 4,    /* CU_MEMPOOL_ATTR_RELEASE_THRESHOLD */
};

weft_status weft_cuda_enter(weft_cuda_state *state, weft_error *error) {
    if (atomic_load(&state->broken)) {
        pthread_mutex_lock(&state->mutex);
        if (error)
            *error = state->failure;
        pthread_mutex_unlock(&state->mutex);
        return WEFT_ERROR_DEVICE;
    }
    return weft_cuda_check(state, state->driver.cuCtxPushCurrent(state->context),
                           "taking up the GPU", error);
}

void weft_cuda_leave(weft_cuda_state *state) {
    weft_cu_context ignored;
    (void)state->driver.cuCtxPopCurrent(&ignored);
}

weft_status weft_cuda_check(weft_cuda_state *state, weft_cu_result code, const char *what,
                            weft_error *error) {
    char text[400];
    weft_error failure;
    if (code == 0)
        return WEFT_OK;
    if (!weft_cuda_is_sticky(code)) {
        snprintf(text, sizeof text, "cuda:%d: %s", state->ordinal, what);
        return weft_cuda_failed(&state->driver, code, text, error);
    }
    pthread_mutex_lock(&state->mutex);
    if (!atomic_load(&state->broken)) {
        snprintf(text, sizeof text, "cuda:%d failed and does no more work: %s%s%s", state->ordinal,
                 what, state->last_kernel[0] ? " after the launch of " : "", state->last_kernel);
        (void)weft_cuda_failed(&state->driver, code, text, &failure);
        state->failure = failure;
        atomic_store(&state->broken, true);
    }
    if (error)
        *error = state->failure;
    pthread_mutex_unlock(&state->mutex);
    return WEFT_ERROR_DEVICE;
}

static weft_status cuda_lend(weft_device *device, weft_foreign_work work, void *user,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    TRY(weft_cuda_enter(state, error));
    work(user, state->stream);
    weft_cuda_leave(state);
done:
    return status;
}

static weft_status cuda_wait(weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    TRY(weft_cuda_enter(state, error));
    status = weft_cuda_check(state, state->driver.cuStreamSynchronize(state->stream),
                             "waiting for the GPU", error);
    weft_cuda_leave(state);
done:
    return status;
}

static void state_free(weft_cuda_state *state) {
    const weft_cuda_driver *driver = &state->driver;
    if (state->context && driver->cuCtxPushCurrent(state->context) == 0) {
        weft_cuda_recorder_close(state);
        if (state->stream)
            (void)driver->cuStreamSynchronize(state->stream);
        weft_cuda_condition_free(state);
        weft_cuda_stages_free(state);
        if (state->pool)
            (void)driver->cuMemPoolDestroy(state->pool);
        if (state->stream)
            (void)driver->cuStreamDestroy(state->stream);
        weft_cuda_leave(state);
    }
    /* Other contexts stay until the process ends, as with CUDA's runtime: to end one takes 60 ms, which
     * the end of the process does not, and to start it again 100 ms. */
    if (state->context && atomic_load(&state->broken))
        (void)driver->cuDevicePrimaryCtxRelease(state->device);
    weft_cuda_compiler_close(state);
    if (state->cache_ready)
        weft_cache_close(&state->cache);
    weft_cuda_driver_close(&state->driver);
    pthread_mutex_destroy(&state->mutex);
    pthread_mutex_destroy(&state->transfers);
    free(state->cache_directory);
    free(state->keep_directory);
    free(state);
}

static void cuda_close(weft_device *device) {
    if (device->state)
        state_free(device->state);
    device->state = NULL;
}

static void cuda_identify(const weft_device *device, weft_text *out) {
    const weft_cuda_state *state = device->state;
    weft_text_add(out, "driver %d", state->driver_version);
}

static const weft_device_table table = {
    .memory_make = weft_cuda_memory_make,
    .memory_wrap = weft_cuda_memory_wrap,
    .memory_borrow = weft_cuda_memory_borrow,
    .memory_free = weft_cuda_memory_free,
    .memory_address = weft_cuda_memory_address,
    .memory_write = weft_cuda_memory_write,
    .memory_read = weft_cuda_memory_read,
    .memory_zero = weft_cuda_memory_zero,
    .memory_copy = weft_cuda_memory_copy,
    .memory_left = weft_cuda_memory_left,
    .memory_full = weft_cuda_memory_full,
    .module_make = weft_cuda_module_make,
    .module_store = weft_cuda_module_store,
    .module_stored = weft_cuda_module_stored,
    .module_free = weft_cuda_module_free,
    .module_resources = weft_cuda_module_resources,
    .launch = weft_cuda_launch,
    .resident_blocks = weft_cuda_resident_blocks,
    .wait = cuda_wait,
    .lend = cuda_lend,
    .identify = cuda_identify,
    .graph = &weft_cuda_device_graph_table,
    .timer = &weft_cuda_timer,
    .peer = &weft_cuda_peer,
    .close = cuda_close,
};

int weft_cuda_ordinal(const weft_device *device) {
    return device->table == &table ? ((const weft_cuda_state *)device->state)->ordinal : -1;
}

static int attribute(const weft_cuda_state *state, int which) {
    int value = 0;
    return state->driver.cuDeviceGetAttribute(&value, which, state->device) == 0 ? value : 0;
}

/* Single-precision units per multiprocessor, each with one fused multiply-add per cycle.
 * Source  CUDA C++ Programming Guide, table of arithmetic instructions */
static int single_units(int architecture) {
    return architecture == 60 || (architecture >= 70 && architecture <= 80) ? 64 : 128;
}

static weft_status fill_limits(weft_cuda_state *state, weft_limits *limits, weft_error *error) {
    weft_status status = WEFT_OK;
    char name[96] = "";
    size_t bytes = 0;
    int major = 0, minor = 0;
    TRY(weft_cuda_check(state, state->driver.cuDeviceGetName(name, sizeof name, state->device),
                        "asking for the GPU's name", error));
    TRY(weft_cuda_check(state, state->driver.cuDeviceTotalMem(&bytes, state->device),
                        "asking for the GPU's memory", error));
    TRY(weft_cuda_check(state,
                        state->driver.cuDeviceGetAttribute(&major, WEFT_CU_MAJOR, state->device),
                        "asking for the GPU's architecture", error));
    TRY(weft_cuda_check(state,
                        state->driver.cuDeviceGetAttribute(&minor, WEFT_CU_MINOR, state->device),
                        "asking for the GPU's architecture", error));
    state->architecture = 10 * major + minor;
    int ratio = attribute(state, WEFT_CU_SINGLE_TO_DOUBLE);
    double clock = 1e3 * attribute(state, WEFT_CU_CLOCK_KHZ);
    double doubles = (double)single_units(state->architecture) / (ratio > 0 ? ratio : 2) *
                     attribute(state, WEFT_CU_MULTIPROCESSORS);
    *limits = (weft_limits){
        .kind = WEFT_DEVICE_CUDA,
        .execution = WEFT_EXECUTION_SIMT,
        .language = "cuda",
        .lanes_double = 32,
        .lanes_float = 32,
        .multiprocessors = attribute(state, WEFT_CU_MULTIPROCESSORS),
        .matrix_depth = state->architecture >= 90   ? 16
                        : state->architecture >= 80 ? 4
                                                    : 0,
        .cluster_blocks = state->architecture == 90  ? 16
                          : state->architecture > 90 ? 8
                                                     : 0,
        .register_bytes = 4 * (size_t)attribute(state, WEFT_CU_REGISTERS),
        .onchip_bytes = (size_t)attribute(state, WEFT_CU_SHARED_OPTIN),
        .l2_bytes = (size_t)attribute(state, WEFT_CU_L2_BYTES),
        .memory_bytes = bytes,
        /* two words per cycle */
        .bandwidth = 2e3 * attribute(state, WEFT_CU_MEMORY_CLOCK_KHZ) *
                     (attribute(state, WEFT_CU_BUS_BITS) / 8.0),
        .flops = 2 * doubles * clock,
        .launch_seconds = 3e-6,
        .target = WEFT_TARGET_WARPS_OF_32,
    };
    snprintf(limits->name, sizeof limits->name, "cuda:%d: %s, sm_%d", state->ordinal, name,
             state->architecture);
done:
    return status;
}

/* Parse NUMBER, "traced" or NUMBER:traced. */
static weft_status read_argument(const char *argument, int *ordinal, bool *is_traced,
                                 weft_error *error) {
    char *end = NULL;
    long value = 0;
    const char *rest = argument;
    errno = 0;
    *ordinal = 0;
    *is_traced = false;
    if (!argument)
        return WEFT_OK;
    if (strcmp(argument, "traced") != 0) {
        value = argument[0] >= '0' && argument[0] <= '9' ? strtol(argument, &end, 10) : -1;
        rest = end && *end == ':' ? end + 1 : end;
    }
    *is_traced = rest && strcmp(rest, "traced") == 0;
    if (value < 0 || value > 1023 || errno != 0 || (!*is_traced && end && *end != '\0')) {
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "cuda:%s: the number of a GPU is a whole number from 0", argument);
        weft_error_hint(error, "cuda:NUMBER or cuda:NUMBER:traced");
        return WEFT_ERROR_USAGE;
    }
    *ordinal = (int)value;
    return WEFT_OK;
}

static weft_status choose(weft_cuda_state *state, weft_error *error) {
    weft_status status = WEFT_OK;
    int count = 0;
    TRY(weft_cuda_check(state, state->driver.cuDriverGetVersion(&state->driver_version),
                        "asking for the driver's version", error));
    TRY(weft_cuda_check(state, state->driver.cuDeviceGetCount(&count), "counting GPUs", error));
    if (state->ordinal >= count) {
        status =
            weft_error_set(error, WEFT_ERROR_USAGE, "cuda:%d: there %s %d GPU%s here",
                           state->ordinal, count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
        weft_error_hint(error, "weft devices lists them; they count from 0");
        goto done;
    }
    TRY(weft_cuda_check(state, state->driver.cuDeviceGet(&state->device, state->ordinal),
                        "opening the GPU", error));
done:
    return status;
}

/* Make a private pool, which keeps freed memory until the device is closed. */
static weft_status make_pool(weft_cuda_state *state, weft_error *error) {
    weft_status status = WEFT_OK;
    uint64_t keep = UINT64_MAX;
    weft_cu_pool_properties properties = {
        .allocation_type = 1, .location_type = 1, .location_id = state->ordinal};
    if (attribute(state, WEFT_CU_POOLS) == 0)
        goto done;
    TRY(weft_cuda_check(state, state->driver.cuMemPoolCreate(&state->pool, &properties),
                        "making a memory pool", error));
    TRY(weft_cuda_check(state, state->driver.cuMemPoolSetAttribute(state->pool, POOL_KEEP, &keep),
                        "making a memory pool", error));
done:
    return status;
}

static weft_status start(weft_cuda_state *state, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_cuda_check(state,
                        state->driver.cuDevicePrimaryCtxRetain(&state->context, state->device),
                        "starting the GPU", error));
    TRY(weft_cuda_enter(state, error));
    status = weft_cuda_check(state, state->driver.cuStreamCreate(&state->stream, STREAM_ALONE),
                             "making a stream", error);
    if (status == WEFT_OK)
        status = make_pool(state, error);
    weft_cuda_leave(state);
done:
    return status;
}

static weft_status copy_options(weft_cuda_state *state, const weft_device_options *options,
                                weft_error *error) {
    state->mode = options->cache;
    if (options->cache_directory)
        state->cache_directory = strdup(options->cache_directory);
    if (options->keep_directory)
        state->keep_directory = strdup(options->keep_directory);
    if ((options->cache_directory && !state->cache_directory) ||
        (options->keep_directory && !state->keep_directory))
        return weft_out_of_memory(error, "a device");
    return WEFT_OK;
}

weft_status weft_device_cuda_open(weft_device *device, const char *argument,
                                  const weft_device_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    int ordinal = 0, threads = weft_threads_available();
    bool is_traced = false;
    weft_cuda_state *state = NULL;
    TRY(read_argument(argument, &ordinal, &is_traced, error));
    state = calloc(1, sizeof *state);
    if (!state)
        TRY(weft_out_of_memory(error, "a device"));
    pthread_mutex_init(&state->mutex, NULL);
    pthread_mutex_init(&state->transfers, NULL);
    state->arrays.previous = state->arrays.next = &state->arrays;
    state->cache.folder = -1;
    state->ordinal = ordinal;
    state->records = is_traced ? -1 : 0;
    TRY(copy_options(state, options, error));
    TRY(weft_cuda_driver_open(NULL, &state->driver, error));
    TRY(choose(state, error));
    TRY(fill_limits(state, &device->limits, error));
    weft_cuda_compiler_start(state);
    TRY(start(state, error));
    if (threads > 1)
        TRY(weft_threads_make(threads, &device->threads, error));
    device->limits.threads = threads;
    device->table = &table;
    device->state = state;
    state = NULL;
done:
    if (state)
        state_free(state);
    return status;
}
