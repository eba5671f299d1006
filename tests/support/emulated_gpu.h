/** A stand-in for a GPU that records: memory is the host's, generated CUDA text runs thread by
 * thread (cuda_on_host.h), a device graph is kept as a list and run as one. What is launched in a
 * loop after its end must leave everything as it is, whatever its lists hold: each such launch is
 * given lists full of other numbers, which must still be there behind it. */
#ifndef EMULATED_GPU_H
#define EMULATED_GPU_H

#include "core/device/device.h"
#include "core/weft_core.h"
#include "cuda_emulation.h"

#include <stddef.h>

enum { GPU_ARGUMENTS = 96, GPU_NAME = 128, GPU_DEPTH = 8, GPU_THREADS = 128, GPU_LANES = 32 };

typedef enum gpu_kind { GPU_LAUNCH, GPU_CLEAR, GPU_COPY, GPU_ITERATIONS, GPU_END } gpu_kind;

typedef struct gpu_node {
    gpu_kind kind;
    weft_launch launch;
    char kernel[GPU_NAME];
    weft_memory *arguments[GPU_ARGUMENTS]; /* of a launch; what is cleared; to and from; the flag */
    size_t bytes, offsets[2];              /* of a copy */
    int end;                               /* of GPU_ITERATIONS: the place of its GPU_END */
} gpu_node;

typedef struct gpu_device_graph {
    gpu_node *nodes;
    int n, open[GPU_DEPTH], n_open;
} gpu_device_graph;

typedef struct gpu_module {
    void *object;
    emulate_function *emulate;
} gpu_module;

typedef struct emulated_gpu {
    weft_device_table table;
    weft_device_graph_table device_graph_table;
    const weft_device_table *host;
    gpu_device_graph *made; /* while capturing */
    size_t list_bytes;      /* of lists that get other numbers */
    const char *counted;    /* kernels with this in their name are counted, in loops: */
    int64_t n_wanted, n_idle;
    /* NULL, or parts of names, NULL at the end, of kernels that run also after a loop's end, with
     * results that are not used any more */
    const char *const *repeated;
} emulated_gpu;

static emulated_gpu *gpu_of(const weft_device *device) {
    return (emulated_gpu *)((char *)(uintptr_t)device->table - offsetof(emulated_gpu, table));
}

/* ---- kernels --------------------------------------------------------------------------------- */

static weft_status gpu_module_make(weft_module *module, const char *source, weft_error *error) {
    gpu_module *made = calloc(1, sizeof *made);
    (void)error;
    assert_non_null(made);
    emulation_compile(source, &made->object, &made->emulate);
    void *found = dlsym(made->object, "emulate_wide");
    assert_non_null(found);
    memcpy(&made->emulate, &found, sizeof found);
    module->state = made;
    return WEFT_OK;
}

static void gpu_module_free(weft_module *module) {
    gpu_module *made = module->state;
    dlclose(made->object);
    free(made);
}

static void gpu_run_kernel(const weft_launch *launch) {
    const gpu_module *module = launch->module->state;
    void *arguments[GPU_ARGUMENTS] = {NULL};
    const int threads = launch->block_threads > 0 ? launch->block_threads : GPU_THREADS;
    const int64_t n_blocks =
        launch->n_blocks > 0 ? launch->n_blocks : (launch->n_elements + threads - 1) / threads;
    void *kernel = dlsym(module->object, launch->kernel);
    if (!kernel)
        fail_msg("there is no kernel %s", launch->kernel);
    for (int i = 0; i < launch->n_arguments; ++i)
        arguments[i] = weft_memory_host(launch->arguments[i]);
    if (launch->values)
        arguments[launch->n_arguments] = (void *)(uintptr_t)launch->values;
    if (launch->cluster_blocks > 1) {
        void (*set)(unsigned) = NULL;
        void *found = dlsym(module->object, "emulate_cluster");
        assert_non_null(found);
        memcpy(&set, &found, sizeof set);
        set((unsigned)launch->cluster_blocks);
    }
    module->emulate(kernel, launch->n_elements, arguments, (unsigned)n_blocks, (unsigned)threads,
                    (unsigned)launch->shared_bytes, 0);
}

static gpu_node *gpu_add(emulated_gpu *gpu, gpu_kind kind) {
    gpu_device_graph *r = gpu->made;
    gpu_node *nodes = realloc(r->nodes, (size_t)(r->n + 1) * sizeof *nodes);
    assert_non_null(nodes);
    r->nodes = nodes;
    nodes[r->n] = (gpu_node){.kind = kind};
    return &nodes[r->n++];
}

static weft_status gpu_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                              weft_error *error) {
    emulated_gpu *gpu = gpu_of(device);
    (void)n_blocks;
    (void)error;
    assert_true(launch->n_arguments < GPU_ARGUMENTS);
    if (!gpu->made) {
        gpu_run_kernel(launch);
        return WEFT_OK;
    }
    gpu_node *node = gpu_add(gpu, GPU_LAUNCH);
    node->launch = *launch;
    snprintf(node->kernel, sizeof node->kernel, "%s", launch->kernel);
    memcpy(node->arguments, launch->arguments,
           (size_t)launch->n_arguments * sizeof *launch->arguments);
    return WEFT_OK;
}

static weft_status gpu_zero(weft_memory *memory, weft_error *error) {
    emulated_gpu *gpu = gpu_of(memory->device);
    if (!gpu->made)
        return gpu->host->memory_zero(memory, error);
    gpu_add(gpu, GPU_CLEAR)->arguments[0] = memory;
    return WEFT_OK;
}

static weft_status gpu_copy(weft_memory *to, size_t to_offset, const weft_memory *from,
                            size_t from_offset, size_t n, weft_error *error) {
    emulated_gpu *gpu = gpu_of(to->device);
    if (!gpu->made)
        return gpu->host->memory_copy(to, to_offset, from, from_offset, n, error);
    gpu_node *node = gpu_add(gpu, GPU_COPY);
    node->arguments[0] = to;
    node->arguments[1] = (weft_memory *)(uintptr_t)from;
    node->bytes = n;
    node->offsets[0] = to_offset;
    node->offsets[1] = from_offset;
    return WEFT_OK;
}

/* ---- device graphs
 * ------------------------------------------------------------------------------ */

static bool gpu_available(weft_device *device) {
    (void)device;
    return true;
}

static weft_status gpu_begin(weft_device *device, weft_error *error) {
    (void)error;
    gpu_of(device)->made = calloc(1, sizeof(gpu_device_graph));
    assert_non_null(gpu_of(device)->made);
    return WEFT_OK;
}

static weft_status gpu_loop(weft_device *device, weft_memory *flag, weft_error *error) {
    gpu_device_graph *r = gpu_of(device)->made;
    (void)error;
    assert_true(r->n_open < GPU_DEPTH);
    r->open[r->n_open++] = r->n;
    gpu_add(gpu_of(device), GPU_ITERATIONS)->arguments[0] = flag;
    return WEFT_OK;
}

static weft_status gpu_end_loop(weft_device *device, weft_error *error) {
    gpu_device_graph *r = gpu_of(device)->made;
    (void)error;
    gpu_add(gpu_of(device), GPU_END);
    r->nodes[r->open[--r->n_open]].end = r->n - 1;
    return WEFT_OK;
}

static weft_status gpu_end(weft_device *device, void **state, weft_error *error) {
    (void)error;
    *state = gpu_of(device)->made;
    gpu_of(device)->made = NULL;
    return WEFT_OK;
}

static void gpu_run_node(const gpu_node *node) {
    weft_launch launch = node->launch;
    launch.arguments = node->arguments;
    launch.kernel = node->kernel;
    if (node->kind == GPU_LAUNCH)
        gpu_run_kernel(&launch);
    else if (node->kind == GPU_CLEAR)
        memset(weft_memory_host(node->arguments[0]), 0, weft_memory_bytes(node->arguments[0]));
    else
        memcpy((char *)weft_memory_host(node->arguments[0]) + node->offsets[0],
               (char *)weft_memory_host(node->arguments[1]) + node->offsets[1], node->bytes);
}

static unsigned char *gpu_take(const weft_memory *memory) {
    unsigned char *taken = malloc(weft_memory_bytes(memory) + 1);
    assert_non_null(taken);
    memcpy(taken, weft_memory_host(memory), weft_memory_bytes(memory));
    return taken;
}

/* In a loop that has ended: nothing may change. */
static void gpu_run_idle(const emulated_gpu *gpu, const gpu_node *node) {
    const int n =
        node->kind == GPU_LAUNCH ? node->launch.n_arguments : 1 + (node->kind == GPU_COPY);
    unsigned char *kept[GPU_ARGUMENTS], *given[GPU_ARGUMENTS];
    for (int i = 0; i < n; ++i)
        kept[i] = gpu_take(node->arguments[i]);
    for (int i = 0; i < n; ++i) {
        double *list = weft_memory_host(node->arguments[i]);
        const size_t bytes = weft_memory_bytes(node->arguments[i]);
        for (size_t k = 0; bytes == gpu->list_bytes && k < bytes / sizeof *list; ++k)
            list[k] = 1 + 0.37 * (double)(k % 97) + 100 * i;
    }
    for (int i = 0; i < n; ++i)
        given[i] = gpu_take(node->arguments[i]);
    gpu_run_node(node);
    for (int i = 0; i < n; ++i)
        if (memcmp(given[i], weft_memory_host(node->arguments[i]),
                   weft_memory_bytes(node->arguments[i])) != 0)
            fail_msg("%s changes its argument %d after the loop's end",
                     node->kind == GPU_LAUNCH ? node->kernel : "zeroing or copying", i);
    for (int i = n; i-- > 0;) {
        memcpy(weft_memory_host(node->arguments[i]), kept[i],
               weft_memory_bytes(node->arguments[i]));
        free(kept[i]);
        free(given[i]);
    }
}

static bool gpu_is_repeated(const emulated_gpu *gpu, const gpu_node *node) {
    for (int i = 0; gpu->repeated && gpu->repeated[i]; ++i)
        if (strstr(node->kernel, gpu->repeated[i]))
            return true;
    return strncmp(node->kernel, "loop_", 5) == 0;
}

/* flag: of the loop, NULL outside. The kernels that begin and end iterations write flags and counts. */
static void gpu_run_list(emulated_gpu *gpu, const gpu_node *nodes, int first, int last,
                         const weft_memory *flag) {
    for (int i = first; i < last; ++i) {
        const gpu_node *node = &nodes[i];
        const bool idle = flag && *(const uint32_t *)weft_memory_host(flag) == 0;
        if (node->kind == GPU_ITERATIONS) {
            const weft_memory *own = node->arguments[0];
            while (*(const uint32_t *)weft_memory_host(own) != 0)
                gpu_run_list(gpu, nodes, i + 1, node->end, own);
            i = node->end;
            continue;
        }
        if (flag && gpu->counted && strstr(node->kernel, gpu->counted))
            ++*(idle ? &gpu->n_idle : &gpu->n_wanted);
        if (idle && !gpu_is_repeated(gpu, node))
            gpu_run_idle(gpu, node);
        else
            gpu_run_node(node);
    }
}

static weft_status gpu_run(weft_device *device, void *state, weft_error *error) {
    const gpu_device_graph *r = state;
    (void)error;
    gpu_run_list(gpu_of(device), r->nodes, 0, r->n, NULL);
    return WEFT_OK;
}

static void gpu_device_graph_free(weft_device *device, void *state) {
    gpu_device_graph *r = state;
    (void)device;
    free(r->nodes);
    free(r);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void gpu_close(weft_device *device) {
    emulated_gpu *gpu = gpu_of(device);
    gpu->host->close(device);
    free(gpu);
}

/** Takes the place of what a host device does, with an H200's limits; weft_device_free. */
static emulated_gpu *emulated_gpu_make(weft_device *device) {
    emulated_gpu *gpu = calloc(1, sizeof *gpu);
    assert_non_null(gpu);
    gpu->host = device->table;
    gpu->table = *device->table;
    gpu->table.module_make = gpu_module_make;
    gpu->table.module_free = gpu_module_free;
    gpu->table.module_resources = NULL;
    gpu->table.module_measure = NULL;
    gpu->table.launch = gpu_launch;
    gpu->table.memory_zero = gpu_zero;
    gpu->table.memory_copy = gpu_copy;
    gpu->table.close = gpu_close;
    gpu->device_graph_table = (weft_device_graph_table){.available = gpu_available,
                                                        .begin = gpu_begin,
                                                        .loop = gpu_loop,
                                                        .end_loop = gpu_end_loop,
                                                        .end = gpu_end,
                                                        .run = gpu_run,
                                                        .free = gpu_device_graph_free};
    gpu->table.graph = &gpu->device_graph_table;
    device->limits.kind = WEFT_DEVICE_CUDA;
    device->limits.execution = WEFT_EXECUTION_SIMT;
    device->limits.language = "cuda";
    device->limits.lanes_double = device->limits.lanes_float = GPU_LANES;
    device->limits.multiprocessors = 132;
    device->limits.register_bytes = 65536 * 4;
    device->limits.matrix_depth = 16;
    device->limits.onchip_bytes = 227 * 1024;
    device->limits.target = (weft_target)WEFT_TARGET_WARPS_OF_32;
    device->table = &gpu->table;
    return gpu;
}

#endif
