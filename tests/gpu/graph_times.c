/* Prints what launches, nodes and iterations of device graphs, and barriers of a grid cost on the
 * GPU. No test: run it by hand. */
#include "core/weft_core.h"

#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS = 20000, NODES = 1000, ROUNDS = 10000, REPEATS = 7 };

static const char source[] =
    "extern \"C\" __global__ void empty(long long n, unsigned *flag) {}\n"
    "extern \"C\" __global__ void down(long long n, unsigned *flag) { *flag -= 1; }\n"
    "extern \"C\" __global__ void barriers(long long n, unsigned *arrived)\n"
    "{\n"
    "    volatile unsigned *a = arrived;\n"
    "    for (unsigned round = 0; round < n; ++round) {\n"
    "        __syncthreads();\n"
    "        if (threadIdx.x == 0) {\n"
    "            __threadfence();\n"
    "            atomicAdd(arrived, 1);\n"
    "            while (*a < (round + 1) * gridDim.x)\n"
    "                ;\n"
    "            __threadfence();\n"
    "        }\n"
    "        __syncthreads();\n"
    "    }\n"
    "}\n";

typedef struct measure {
    weft_device *device;
    weft_module *module;
    weft_memory *flag;
    weft_timer *timer;
} measure;

static weft_launch launch_of(const measure *m, const char *kernel, int64_t n) {
    return (weft_launch){.module = m->module,
                         .kernel = kernel,
                         .arguments = &m->flag,
                         .n_arguments = 1,
                         .n_elements = n,
                         .lanes = 32};
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The median of a device graph's runs, each begun with *flag = start. */
static weft_status time_runs(const measure *m, weft_device_graph *device_graph, uint32_t start,
                             double *device_seconds, double *host_seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    double on_device[REPEATS], on_host[REPEATS];
    for (int i = -2; i < REPEATS; ++i) {
        TRY(weft_memory_write(m->flag, 0, &start, sizeof start, error));
        TRY(weft_device_wait(m->device, error));
        double begin = weft_clock();
        TRY(weft_timer_start(m->timer, error));
        TRY(weft_device_graph_run(device_graph, error));
        TRY(weft_timer_stop(m->timer, error));
        TRY(weft_device_wait(m->device, error));
        on_host[i < 0 ? 0 : i] = weft_clock() - begin;
        TRY(weft_timer_seconds(m->timer, &on_device[i < 0 ? 0 : i], error));
    }
    qsort(on_device, REPEATS, sizeof *on_device, compare);
    qsort(on_host, REPEATS, sizeof *on_host, compare);
    *device_seconds = on_device[REPEATS / 2];
    *host_seconds = on_host[REPEATS / 2];
done:
    return status;
}

static weft_status time_launches(const measure *m, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_launch empty = launch_of(m, "empty", 1);
    double seconds = 0, start = 0;
    for (int round = 0; round < 2; ++round) {
        start = weft_clock();
        TRY(weft_timer_start(m->timer, error));
        for (int i = 0; i < NODES; ++i)
            TRY(weft_device_launch(m->device, &empty, error));
        TRY(weft_timer_stop(m->timer, error));
        TRY(weft_timer_seconds(m->timer, &seconds, error));
    }
    printf("launches in a queue          %8.3f us each\n", 1e6 * seconds / NODES);
    start = weft_clock();
    for (int i = 0; i < NODES; ++i) {
        TRY(weft_device_launch(m->device, &empty, error));
        TRY(weft_device_wait(m->device, error));
    }
    printf("launch and wait              %8.3f us\n", 1e6 * (weft_clock() - start) / NODES);
done:
    return status;
}

static weft_status time_nodes(const measure *m, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_launch empty = launch_of(m, "empty", 1);
    weft_device_graph *device_graph = NULL;
    double on_device = 0, on_host = 0;
    TRY(weft_device_graph_begin(m->device, error));
    for (int i = 0; i < n; ++i)
        TRY(weft_device_launch(m->device, &empty, error));
    TRY(weft_device_graph_end(m->device, &device_graph, error));
    TRY(time_runs(m, device_graph, 1, &on_device, &on_host, error));
    printf("recording of %4d kernels     %8.3f us on the device, %8.3f us with the wait\n", n,
           1e6 * on_device, 1e6 * on_host);
done:
    weft_device_graph_free(&device_graph);
    return status;
}

static weft_status time_iterations(const measure *m, int n_empty, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_launch empty = launch_of(m, "empty", 1), down = launch_of(m, "down", 1);
    weft_device_graph *device_graph = NULL;
    double on_device = 0, on_host = 0;
    TRY(weft_device_graph_begin(m->device, error));
    TRY(weft_device_graph_while(m->device, m->flag, error));
    TRY(weft_device_launch(m->device, &down, error));
    for (int i = 0; i < n_empty; ++i)
        TRY(weft_device_launch(m->device, &empty, error));
    TRY(weft_device_graph_end_while(m->device, error));
    TRY(weft_device_graph_end(m->device, &device_graph, error));
    TRY(time_runs(m, device_graph, ITERATIONS, &on_device, &on_host, error));
    printf("an iteration of a loop, %d kernel%s  %8.3f us\n", n_empty + 1, n_empty > 0 ? "s" : " ",
           1e6 * on_device / ITERATIONS);
done:
    weft_device_graph_free(&device_graph);
    return status;
}

static weft_status time_barriers(const measure *m, int blocks_each, int threads,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_launch barriers = launch_of(m, "barriers", ROUNDS);
    double best = 1e9, seconds = 0;
    barriers.cooperative = true;
    barriers.block_threads = threads;
    barriers.n_blocks = (int64_t)blocks_each * weft_device_limits(m->device)->multiprocessors;
    for (int i = 0; i < REPEATS; ++i) {
        TRY(weft_memory_zero(m->flag, error));
        TRY(weft_timer_start(m->timer, error));
        TRY(weft_device_launch(m->device, &barriers, error));
        TRY(weft_timer_stop(m->timer, error));
        TRY(weft_timer_seconds(m->timer, &seconds, error));
        best = seconds < best ? seconds : best;
    }
    printf("barrier, %4lld blocks of %4d %8.3f us\n", (long long)barriers.n_blocks, threads,
           1e6 * best / ROUNDS);
done:
    return status;
}

int main(void) {
    weft_status status = WEFT_OK;
    weft_error problem = {0}, *error = &problem;
    measure m = {0};
    TRY(weft_device_open("cuda", NULL, &m.device, error));
    printf("%s\n", weft_device_limits(m.device)->name);
    TRY(weft_module_make(m.device, "graph_times", source, &m.module, error));
    TRY(weft_memory_make(m.device, sizeof(uint32_t), &m.flag, error));
    TRY(weft_timer_make(m.device, &m.timer, error));
    TRY(time_launches(&m, error));
    TRY(time_nodes(&m, 1, error));
    TRY(time_nodes(&m, 100, error));
    TRY(time_nodes(&m, NODES, error));
    for (int n_empty = 0; n_empty < 8; n_empty = 2 * n_empty + 1)
        TRY(time_iterations(&m, n_empty, error));
    for (int blocks = 1; blocks <= 2; ++blocks)
        for (int threads = 256; threads <= 1024; threads *= 2)
            TRY(time_barriers(&m, blocks, threads, error));
    TRY(time_barriers(&m, 8, 256, error));
done:
    if (status != WEFT_OK)
        fprintf(stderr, "%s (%s)\n", problem.message, problem.hint);
    weft_timer_free(&m.timer);
    weft_memory_free(&m.flag);
    weft_module_free(&m.module);
    weft_device_free(&m.device);
    return weft_status_exit_code(status);
}
