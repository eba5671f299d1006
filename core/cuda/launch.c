/* Launches kernels on a GPU and computes how many thread blocks fit on it. */
#include "core/cuda/cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_THREADS = 128,
    MOST_THREADS = 1024,
    FEW_ARGUMENTS = 64,
    PLAIN_SHARED = 32 * 1024, /* the limit without the attribute is 48, static memory included */
    PORTABLE_CLUSTER = 8,     /* thread blocks of a cluster on every GPU that has clusters */
    FUNCTION_CLUSTER = 14,    /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
    FUNCTION_SHARED = 8,      /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    COOPERATIVE = 2,          /* CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
    DEPENDENT = 6,            /* CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION */
    DEPENDENT_CAPABILITY = 90
};

static weft_status set_shared(weft_cuda_state *state, weft_cu_function function, int bytes,
                              weft_error *error) {
    if (bytes <= PLAIN_SHARED)
        return WEFT_OK;
    return weft_cuda_check(state,
                           state->driver.cuFuncSetAttribute(function, FUNCTION_SHARED, bytes),
                           "giving a kernel more shared memory", error);
}

static weft_status check_launch(const weft_device *device, const weft_launch *launch,
                                int64_t n_groups, weft_error *error) {
    if (launch->schedule)
        return weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "launch of %s: a GPU runs no schedule of blocks; its kernels store by "
            "atomic addition or by the owner",
            launch->kernel);
    if (launch->block_threads < 0 || launch->block_threads > MOST_THREADS ||
        launch->shared_bytes < 0 || (size_t)launch->shared_bytes > device->limits.onchip_bytes)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "launch of %s: a block of %d threads with %d bytes of shared memory "
                              "is more than %s has (%d, %zu)",
                              launch->kernel, launch->block_threads, launch->shared_bytes,
                              device->limits.name, MOST_THREADS, device->limits.onchip_bytes);
    if (n_groups > INT32_MAX)
        return weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "launch of %s: %lld thread blocks for %lld elements are more than one launch takes",
            launch->kernel, (long long)n_groups, (long long)launch->n_elements);
    return WEFT_OK;
}

static weft_status resident(weft_cuda_state *state, const weft_device *device,
                            weft_cu_function function, int threads, int shared_bytes, int *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    int n = 0;
    TRY(weft_cuda_check(state,
                        state->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                            &n, function, threads, (size_t)shared_bytes),
                        "asking how many blocks run at once", error));
    *out = n * device->limits.multiprocessors;
done:
    return status;
}

int weft_cuda_resident_blocks(const weft_device *device, const weft_module *module,
                              const char *kernel, int block_threads, int shared_bytes) {
    weft_cuda_state *state = device->state;
    weft_cu_function function = NULL;
    weft_error ignored;
    int n = 0, threads = block_threads > 0 ? block_threads : BLOCK_THREADS;
    if (threads > MOST_THREADS || (size_t)shared_bytes > device->limits.onchip_bytes ||
        weft_cuda_enter(state, &ignored) != WEFT_OK)
        return 0;
    if (weft_cuda_module_kernel(module, kernel, &function, &ignored) != WEFT_OK ||
        set_shared(state, function, shared_bytes, &ignored) != WEFT_OK ||
        resident(state, device, function, threads, shared_bytes, &n, &ignored) != WEFT_OK)
        n = 0;
    weft_cuda_leave(state);
    return n;
}

/* Check the grid before the launch, because CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE would not tell
 * the sizes. */
static weft_status check_fits(weft_cuda_state *state, const weft_launch *launch,
                              weft_cu_function function, int threads, int64_t n_groups,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device *device = launch->module->device;
    int most = 0;
    TRY(resident(state, device, function, threads, launch->shared_bytes, &most, error));
    if (n_groups <= most)
        goto done;
    status = weft_error_set(error, WEFT_ERROR_USAGE,
                            "cooperative launch of %s: %lld blocks of %d threads with %d bytes of "
                            "shared memory do not run at once on %s, which holds %d of them",
                            launch->kernel, (long long)n_groups, threads, launch->shared_bytes,
                            device->limits.name, most);
    weft_error_hint(error,
                    "ask weft_device_resident_blocks for the grid, and give a block more to do");
done:
    return status;
}

static weft_status run_kernel(weft_cuda_state *state, const weft_launch *launch, int threads,
                              int64_t n_groups, void **parameters, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cu_function function = NULL;
    weft_cu_attribute attributes[2] = {{0}};
    unsigned n_attributes = 0;
    char what[160];
    TRY(weft_cuda_module_kernel(launch->module, launch->kernel, &function, error));
    if (n_groups == 0)
        goto done;
    TRY(set_shared(state, function, launch->shared_bytes, error));
    if (launch->cluster_blocks > PORTABLE_CLUSTER)
        TRY(weft_cuda_check(state, state->driver.cuFuncSetAttribute(function, FUNCTION_CLUSTER, 1),
                            "allowing larger clusters", error));
    if (launch->cooperative)
        TRY(check_fits(state, launch, function, threads, n_groups, error));
    if (launch->cooperative)
        attributes[n_attributes++] = (weft_cu_attribute){.id = COOPERATIVE, .value.allowed = 1};
    if (launch->waits && state->architecture >= DEPENDENT_CAPABILITY && !state->recorder)
        attributes[n_attributes++] = (weft_cu_attribute){.id = DEPENDENT, .value.allowed = 1};
    TRY(weft_cuda_record_uses(state, launch, error));
    pthread_mutex_lock(&state->mutex);
    size_t length = strlen(launch->kernel), most = sizeof state->last_kernel - 1;
    memcpy(state->last_kernel, launch->kernel, length < most ? length + 1 : most);
    pthread_mutex_unlock(&state->mutex);
    weft_cu_configuration configuration = {.grid = {(unsigned)n_groups, 1, 1},
                                           .block = {(unsigned)threads, 1, 1},
                                           .shared_bytes = (unsigned)launch->shared_bytes,
                                           .stream = state->stream,
                                           .attributes = attributes,
                                           .n_attributes = n_attributes};
    weft_cu_result code =
        state->driver.cuLaunchKernelEx(&configuration, function, parameters, NULL);
    if (code != 0) {
        snprintf(what, sizeof what, "launch of %.100s", launch->kernel);
        status = weft_cuda_check(state, code, what, error);
    }
done:
    return status;
}

/* Launch a kernel NAME(long long n_elements, T0 *argument0, ..., values). */
weft_status weft_cuda_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    void *few[FEW_ARGUMENTS + 2], **parameters = few;
    long long n = launch->n_elements;
    int threads = launch->block_threads > 0 ? launch->block_threads : BLOCK_THREADS;
    int64_t n_groups = launch->n_blocks > 0 ? launch->n_blocks : n / threads + (n % threads > 0);
    (void)n_blocks;
    TRY(check_launch(device, launch, n_groups, error));
    if (launch->n_arguments > FEW_ARGUMENTS)
        parameters = malloc(((size_t)launch->n_arguments + 2) * sizeof *parameters);
    if (!parameters)
        TRY(weft_out_of_memory(error, "a launch"));
    parameters[0] = &n;
    for (int i = 0; i < launch->n_arguments; ++i) {
        weft_cuda_array *array = launch->arguments[i]->state;
        parameters[i + 1] = &array->address;
    }
    parameters[launch->n_arguments + 1] = (void *)(uintptr_t)launch->values;
    TRY(weft_cuda_enter(state, error));
    status = run_kernel(state, launch, threads, n_groups, parameters, error);
    weft_cuda_leave(state);
done:
    if (parameters != few)
        free(parameters);
    return status;
}
