/* Measures cost primitives on a device, in modules of a few kernels that are compiled in parallel.
 *
 * All kernels share the same data; launches are timed in rounds by the device's timer. */
#include "core/base/options.h"
#include "fusion/base/target.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/tune/benchmark.h"
#include "fusion/tune/calibrate.h"
#include "fusion/tune/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 12 /* primitives per module */, WIDTHS = 32, ROUNDS = 3 };
/* Seconds per round; a GPU's timer has a finer resolution and is disturbed less often. */
static const double LONG_ENOUGH = 2e-3, LONG_ENOUGH_GPU = 3e-4, SLOW = 0.2;

typedef struct batch {
    int first, n;
    weft_benchmark probes[BATCH];
    weft_module *module;       /* of all primitives */
    weft_module *alone[BATCH]; /* one per primitive, if the compiler rejects the common module */
    weft_status status[BATCH];
    weft_error error;
    bool tried;
} batch;

typedef struct bench {
    weft_device *device;
    const weft_limits *limits;
    const weft_library *library;
    const weft_cost_primitive_set *primitives;
    batch *batches;
    int n_batches;
    weft_timer *timer;
    weft_memory *data, *seed, *sink, *none;
    weft_connectivity *connectivities[WIDTHS]; /* by width */
    weft_memory *positions[WIDTHS];            /* for lanes of doubles */
    weft_memory *positions_float[WIDTHS];
    int32_t *indices[WIDTHS]; /* of the connectivities */
    double launch_seconds;
    bool is_gpu;
} bench;

/* ---- modules ---- */

/* Make a module of primitives [from, from + n) of a batch. */
static weft_status make_module(bench *b, batch *one, int from, int n, weft_module **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    char name[32];
    weft_benchmark_prelude(b->limits, b->primitives->list[one->first].real_bytes == 4, &text);
    for (int i = from; i < from + n; ++i) {
        const weft_cost_primitive *primitive = &b->primitives->list[one->first + i];
        const size_t before = text.length;
        one->status[i] = weft_benchmark_print(b->library, b->limits, primitive, one->first + i,
                                              &text, &one->probes[i], error);
        if (one->status[i] == WEFT_ERROR_MEMORY)
            TRY(one->status[i]);
        if (one->status[i] != WEFT_OK && !text.failed) { /* remove the incomplete kernel */
            text.length = before;
            text.data[before] = '\0';
        }
    }
    snprintf(name, sizeof name, "calibrate-%d", one->first + from);
    status = text.failed ? weft_out_of_memory(error, "a calibration")
                         : weft_module_make(b->device, name, text.data, out, error);
done:
    weft_text_free(&text);
    return status;
}

typedef struct compile_job {
    bench *bench;
    int first;
} compile_job;

static void compile_batch(void *user, int64_t at) {
    const compile_job *job = user;
    batch *one = &job->bench->batches[job->first + at];
    if (one->tried)
        return;
    one->tried = true;
    weft_status status = make_module(job->bench, one, 0, one->n, &one->module, &one->error);
    for (int i = 0; i < one->n && status != WEFT_OK; ++i) {
        weft_status alone = status;
        if (status == WEFT_ERROR_COMPILER && one->status[i] == WEFT_OK)
            alone = make_module(job->bench, one, i, 1, &one->alone[i], &one->error);
        if (one->status[i] == WEFT_OK)
            one->status[i] = alone;
    }
}

/* Compile this batch and the following ones, one per thread. */
static weft_status make_batches(bench *b, int at, weft_error *error) {
    int n = b->limits->threads > 1 ? b->limits->threads : 1;
    compile_job job = {b, at};
    if (n > b->n_batches - at)
        n = b->n_batches - at;
    return weft_device_for(b->device, n, compile_batch, &job, error);
}

/* Group the primitives in batches of one real type each. */
static weft_status cut_batches(bench *b, weft_error *error) {
    b->batches = calloc((size_t)b->primitives->n + 1, sizeof *b->batches);
    if (!b->batches)
        return weft_out_of_memory(error, "a calibration");
    for (int i = 0; i < b->primitives->n; ++i) {
        batch *last = b->n_batches > 0 ? &b->batches[b->n_batches - 1] : NULL;
        if (!last || last->n == BATCH ||
            b->primitives->list[last->first].real_bytes != b->primitives->list[i].real_bytes)
            b->batches[b->n_batches++] = (batch){.first = i, .n = 1};
        else
            ++last->n;
    }
    return WEFT_OK;
}

/* ---- data ---- */

static weft_status make_map(bench *b, int width, int64_t n, weft_error *error) {
    const int64_t n_nodes = weft_benchmark_nodes(n, width);
    if (b->connectivities[width] && weft_connectivity_from(b->connectivities[width]) == n)
        return WEFT_OK;
    weft_connectivity_free(&b->connectivities[width]);
    weft_memory_free(&b->positions[width]);
    weft_memory_free(&b->positions_float[width]);
    free(b->indices[width]);
    return weft_benchmark_connectivity(b->device, n, width, n_nodes, &b->indices[width],
                                       &b->connectivities[width], error);
}

static weft_status seed_values(bench *b, bool single, double extra, weft_error *error) {
    const double values[4] = {1.25e30, 0, 0.125, extra};
    const float narrow[4] = {1.25e30f, 0, 0.125f, (float)extra};
    return single ? weft_memory_write(b->seed, 0, narrow, sizeof narrow, error)
                  : weft_memory_write(b->seed, 0, values, sizeof values, error);
}

static weft_status make_data(bench *b, const weft_benchmark *benchmark, weft_memory **connectivity,
                             const weft_schedule **schedule, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cost_primitive *r = benchmark->primitive;
    const int lanes = weft_target_lanes(b->limits, r->real_bytes == 4);
    const size_t bytes = (size_t)benchmark->reals * (size_t)r->real_bytes;
    *connectivity = b->none;
    *schedule = NULL;
    if (!b->data || weft_memory_bytes(b->data) < bytes) {
        weft_memory_free(&b->data);
        TRY(weft_memory_make(b->device, bytes, &b->data, error));
    }
    if (benchmark->width == 0)
        goto done;
    if (benchmark->width >= WIDTHS)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: %d nodes are too many", r->name,
                           benchmark->width));
    TRY(make_map(b, benchmark->width, benchmark->n, error));
    if (!b->is_gpu && r->kind == WEFT_COST_STORE)
        TRY(weft_connectivity_schedule(b->connectivities[benchmark->width], lanes, schedule,
                                       error));
    weft_memory **positions = r->real_bytes == 4 ? &b->positions_float[benchmark->width]
                                                 : &b->positions[benchmark->width];
    if (benchmark->positions) {
        if (!*positions)
            TRY(weft_benchmark_positions(b->device, b->indices[benchmark->width], benchmark->n,
                                         benchmark->width, lanes, positions, error));
        *connectivity = *positions;
    } else
        TRY(weft_connectivity_interleaved(b->connectivities[benchmark->width], lanes, connectivity,
                                          error));
done:
    return status;
}

/* ---- time ---- */

typedef struct one_launch {
    weft_device *device;
    const weft_launch *launch;
} one_launch;

static weft_status do_launch(void *user, weft_error *error) {
    const one_launch *one = user;
    return weft_device_launch(one->device, one->launch, error);
}

static weft_status time_launch(bench *b, const weft_launch *launch, double *seconds,
                               weft_error *error) {
    one_launch one = {b->device, launch};
    const weft_timing_loop watch = {.device = b->device,
                                    .timer = b->timer,
                                    .work = do_launch,
                                    .user = &one,
                                    .rounds = ROUNDS,
                                    .round = b->is_gpu ? LONG_ENOUGH_GPU : LONG_ENOUGH,
                                    .slow = SLOW};
    return weft_timing_loop_run(&watch, seconds, error);
}

static weft_status measure(void *user, const weft_cost_primitive *primitive,
                           const weft_tuning_point *at, double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    bench *b = user;
    const int number = (int)(primitive - b->primitives->list);
    weft_memory *connectivity = NULL;
    const weft_schedule *schedule = NULL;
    char kernel[48];
    int which = 0;
    while (b->batches[which].first + b->batches[which].n <= number)
        ++which;
    batch *one = &b->batches[which];
    if (!one->tried)
        TRY(make_batches(b, which, error));
    status = one->status[number - one->first];
    if (status != WEFT_OK) {
        if (error && status != WEFT_ERROR_UNSUPPORTED)
            *error = one->error;
        else
            weft_error_set(error, status, "%s: it cannot be measured alone", primitive->name);
        goto done;
    }
    const weft_benchmark *benchmark = &one->probes[number - one->first];
    TRY(make_data(b, benchmark, &connectivity, &schedule, error));
    TRY(seed_values(b, primitive->real_bytes == 4,
                    b->is_gpu ? 0 : (double)(at->extra / primitive->real_bytes), error));
    weft_memory *arguments[BENCHMARK_ARGUMENTS] = {[BENCHMARK_DATA] = b->data,
                                                   [BENCHMARK_CONNECTIVITY] = connectivity,
                                                   [BENCHMARK_SEED] = b->seed,
                                                   [BENCHMARK_SINK] = b->sink};
    weft_module *module = one->module ? one->module : one->alone[number - one->first];
    weft_launch launch = {.module = module,
                          .kernel = kernel,
                          .arguments = arguments,
                          .n_arguments = BENCHMARK_ARGUMENTS,
                          .n_elements = benchmark->n,
                          .lanes = weft_target_lanes(b->limits, primitive->real_bytes == 4),
                          .schedule = schedule};
    snprintf(kernel, sizeof kernel, "probe_%d", number);
    if (b->is_gpu) {
        const int64_t iterations = at->iterations > 0 ? at->iterations : 16;
        const int64_t each = at->elements * iterations;
        launch.block_threads = (int)(at->threads > 0 ? at->threads : at->elements);
        launch.n_blocks = (benchmark->n + each - 1) / each;
        launch.shared_bytes =
            (int)(benchmark->shared > (size_t)at->extra ? benchmark->shared : (size_t)at->extra);
        if (primitive->shared)
            snprintf(kernel, sizeof kernel, "probe_%d_%d", number,
                     launch.block_threads / b->limits->target.warp_threads);
        if ((size_t)launch.shared_bytes > b->limits->onchip_bytes)
            TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                               "%s: it does not fit into shared memory", primitive->name));
    }
    TRY(time_launch(b, &launch, seconds, error));
    *seconds -= *seconds > 2 * b->launch_seconds ? b->launch_seconds : 0;
    *seconds *= benchmark->share / (double)benchmark->n;
done:
    return status;
}

static const char empty_cuda[] =
    "extern \"C\" __global__ void empty(long long n, double *a) { if (n < 0) *a = 0; }\n";
static const char empty_host[] =
    "#include <stdint.h>\n"
    "void empty(void *const *a, int64_t n, int64_t first, int64_t last)\n"
    "{ if (n < first - last) *(double *)a[0] = 0; }\n";

static weft_status measure_launch(bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_module *module = NULL;
    const weft_launch launch = {.kernel = "empty",
                                .arguments = &b->sink,
                                .n_arguments = 1,
                                .n_elements = 65536,
                                .lanes = b->limits->lanes_double};
    weft_launch with = launch;
    TRY(weft_module_make(b->device, "calibrate-empty", b->is_gpu ? empty_cuda : empty_host, &module,
                         error));
    with.module = module;
    TRY(time_launch(b, &with, &b->launch_seconds, error));
done:
    weft_module_free(&module);
    return status;
}

static void bench_clear(bench *b) {
    for (int i = 0; i < b->n_batches; ++i) {
        weft_module_free(&b->batches[i].module);
        for (int k = 0; k < BATCH; ++k)
            weft_module_free(&b->batches[i].alone[k]);
    }
    for (int w = 0; w < WIDTHS; ++w) {
        weft_connectivity_free(&b->connectivities[w]);
        weft_memory_free(&b->positions[w]);
        weft_memory_free(&b->positions_float[w]);
        free(b->indices[w]);
    }
    weft_memory_free(&b->data);
    weft_memory_free(&b->seed);
    weft_memory_free(&b->sink);
    weft_memory_free(&b->none);
    weft_timer_free(&b->timer);
    free(b->batches);
}

weft_status weft_calibrate(weft_device *device, const weft_library *library,
                           const weft_cost_primitive_set *primitives, weft_tuning *tuning,
                           const weft_calibration_options *options, weft_calibration_result *out,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(device);
    weft_calibration_options with;
    char identity[33];
    bench b = {.device = device,
               .limits = limits,
               .library = library,
               .primitives = primitives,
               .is_gpu = weft_target_is_simt(limits)};
    weft_device_identity(device, identity);
    TRY(weft_options_check("weft_calibration_options", options->size, sizeof *options, error));
    with = *options;
    if (!with.measure && limits->records_only)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "the device %s: there is nothing to measure", limits->name));
    TRY(weft_tuning_describe(tuning, identity, limits->name, error));
    if (!with.measure) {
        with.measure = measure;
        with.user = &b;
        with.clock = NULL;
        TRY(cut_batches(&b, error));
        TRY(weft_timer_make(device, &b.timer, error));
        TRY(weft_memory_make(device, 4 * sizeof(double), &b.seed, error));
        TRY(weft_memory_make(device, sizeof(double), &b.sink, error));
        TRY(weft_memory_make(device, sizeof(double), &b.none, error));
        TRY(measure_launch(&b, error));
        TRY(weft_tuning_set(tuning, identity, "launch seconds", b.launch_seconds, error));
    }
    if (!with.monitor)
        with.monitor = weft_device_monitor(device);
    TRY(weft_calibrate_run(limits, identity, primitives, tuning, &with, out, error));
done:
    bench_clear(&b);
    return status;
}
