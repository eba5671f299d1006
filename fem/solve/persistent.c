/* Compiles the persistent CG kernel for a system and runs it, in launches of a limited number of
 * iterations, so that progress can be reported in between. */
#include "fem/solve/persistent.h"
#include "core/embedded.h"
#include "core/weft_core.h"
#include "fem/embedded_solvers.h"
#include "fem/operator/operator.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLICE = 1024,    /* iterations per launch: at most 0.04 s */
    FIRST_EPOCH = 2, /* its words differ from zeroed ones */
    PLAIN_THREADS = 128,
};

/* Must agree with `control` of the kernel. */
typedef struct weft_persistent_control {
    double limit, gamma, alpha;
    int64_t epoch, iteration, last, end;
} weft_persistent_control;

typedef enum weft_persistent_name {
    CONTROL,
    VALUES,
    COLUMNS,
    SOURCE,
    NODES,
    HALO,
    SENT,
    WEIGHTS,
    X,
    R,
    P,
    S,
    PUBLISHED,
    SLOTS,
    HISTORY,
    NAMES
} weft_persistent_name;

struct weft_persistent {
    weft_device *device;
    weft_module *module;
    weft_memory *memory[NAMES];
    weft_persistent_shape shape;
    weft_persistent_control control;
    int shared_bytes;
    int64_t n, n_entries, positions, pairs;
    bool jacobi;
};

/* ---- making ---------------------------------------------------------------------------------- */

static const char *source_text(void) {
    for (const weft_embedded_file *file = weft_embedded_solvers; file->name; ++file)
        if (strcmp(file->name, "cg_persistent.cu") == 0)
            return file->text;
    return "";
}

static weft_status compile(weft_persistent *p, weft_context *context,
                           const weft_persistent_layout *layout,
                           const weft_persistent_placement *placement, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_persistent_macros(layout, placement, &text);
    const char *source = source_text();
    weft_text_add_bytes(&text, source, strlen(source));
    if (text.failed) {
        status = weft_out_of_memory(error, "a kernel's source");
        goto done;
    }
    TRY(weft_module_make(p->device, "cg_persistent", text.data, &p->module, error));
    context->compile_seconds += weft_module_seconds(p->module);
    context->n_kernels += 1;
done:
    weft_text_free(&text);
    return status;
}

static weft_status filled(weft_persistent *p, weft_persistent_name name, const void *bytes,
                          size_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_make(p->device, n, &p->memory[name], error));
    if (bytes)
        TRY(weft_memory_write(p->memory[name], 0, bytes, n, error));
done:
    return status;
}

static weft_status memories_make(weft_persistent *p, const weft_persistent_layout *layout,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    size_t blocks = (size_t)p->shape.n_blocks, threads = (size_t)p->shape.threads;
    size_t pairs = (size_t)p->pairs, positions = (size_t)p->positions;
    TRY(filled(p, CONTROL, NULL, sizeof p->control, error));
    TRY(filled(p, VALUES, NULL, 2 * pairs * sizeof(double), error));
    TRY(filled(p, COLUMNS, layout->columns, 2 * pairs * sizeof *layout->columns, error));
    TRY(filled(p, SOURCE, layout->source, 2 * pairs * sizeof *layout->source, error));
    TRY(filled(p, NODES, layout->node, positions * sizeof *layout->node, error));
    TRY(filled(p, HALO, layout->halo_at,
               blocks * (size_t)layout->halo * threads * sizeof *layout->halo_at, error));
    TRY(filled(p, SENT, layout->n_sent, blocks * sizeof *layout->n_sent, error));
    for (int name = WEIGHTS; name <= S; ++name)
        TRY(filled(p, (weft_persistent_name)name, NULL, positions * sizeof(double), error));
    TRY(filled(p, PUBLISHED, NULL, 2 * blocks * (size_t)layout->published * sizeof(uint64_t),
               error));
    TRY(filled(p, SLOTS, NULL, weft_persistent_slot_words(layout) * sizeof(uint64_t), error));
    TRY(filled(p, HISTORY, NULL, (SLICE + 1) * sizeof(double), error));
done:
    return status;
}

/* Whether all blocks can be resident at the same time; if not, writes the reason. A null device is
 * assumed to be as its limits state. */
static bool is_resident(const weft_persistent *p, char *reason, size_t size) {
    if (weft_device_limits(p->device)->records_only)
        return true;
    int resident = weft_device_resident_blocks(p->device, p->module, "cg_persistent",
                                               p->shape.threads, p->shared_bytes);
    if (resident >= p->shape.n_blocks)
        return true;
    snprintf(reason, size, "%d blocks of %d threads do not run at once here, but %d",
             p->shape.n_blocks, p->shape.threads, resident);
    return false;
}

static void report_made(const weft_persistent *p, const weft_monitor *monitor,
                        const weft_persistent_layout *layout,
                        const weft_persistent_placement *placement) {
    weft_log(monitor, WEFT_LOG_INFO,
             "cg: %lld nodes stay on the chip in one kernel: %d blocks of %d threads, %d nodes a "
             "thread; of %d pairs of entries a thread %d in registers, %d in shared memory; %.3g "
             "MB read in an iteration",
             (long long)p->n, p->shape.n_blocks, p->shape.threads, p->shape.nodes, layout->pairs,
             placement->register_pairs, placement->shared_pairs, placement->read_bytes * 1e-6);
}

static weft_status build(weft_persistent *p, weft_context *context, const weft_pattern *pattern,
                         bool *fits, char *reason, size_t size, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_persistent_layout *layout = NULL;
    weft_persistent_placement placement = {0};
    weft_device *device = context->device;
    const weft_limits *limits = weft_device_limits(device);
    *fits = weft_persistent_fits(limits, p->n, p->n_entries, &p->shape, reason, size);
    if (!*fits)
        goto done;
    TRY(weft_persistent_layout_make(device, pattern, &p->shape, !p->jacobi, &layout, error));
    *fits = weft_persistent_place(limits, layout, p->jacobi, &placement, reason, size);
    if (!*fits)
        goto done;
    p->shared_bytes = placement.shared_bytes;
    p->positions = (int64_t)p->shape.n_blocks * p->shape.nodes * p->shape.threads;
    p->pairs = (int64_t)p->shape.n_blocks * layout->pairs * p->shape.threads;
    TRY(compile(p, context, layout, &placement, error));
    *fits = is_resident(p, reason, size);
    if (!*fits)
        goto done;
    TRY(memories_make(p, layout, error));
    report_made(p, context->monitor, layout, &placement);
done:
    weft_persistent_layout_free(&layout);
    return status;
}

weft_status weft_persistent_make(weft_context *context, const weft_pattern *pattern, bool jacobi,
                                 weft_persistent **out, char *reason, size_t size,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    bool fits = false;
    weft_persistent *p = calloc(1, sizeof *p);
    if (!p)
        TRY(weft_out_of_memory(error, "conjugate gradients"));
    *p = (weft_persistent){.device = context->device,
                           .n = pattern->n_rows,
                           .n_entries = pattern->n_entries,
                           .jacobi = jacobi};
    TRY(build(p, context, pattern, &fits, reason, size, error));
    if (fits) {
        *out = p;
        p = NULL;
    } else {
        *out = NULL;
    }
done:
    weft_persistent_free(&p);
    return status;
}

void weft_persistent_free(weft_persistent **persistent) {
    if (!persistent || !*persistent)
        return;
    for (int i = 0; i < NAMES; ++i)
        weft_memory_free(&(*persistent)->memory[i]);
    weft_module_free(&(*persistent)->module);
    free(*persistent);
    *persistent = NULL;
}

bool weft_persistent_suits(const weft_persistent *persistent, const weft_context *context,
                           int64_t n, int64_t n_entries, bool jacobi) {
    return persistent && persistent->device == context->device && persistent->n == n &&
           persistent->n_entries == n_entries && persistent->jacobi == jacobi;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Launch a kernel with one thread per element. */
static weft_status launch_plain(weft_persistent *p, const char *kernel,
                                weft_memory *const *arguments, int n_arguments, int64_t n,
                                weft_error *error) {
    const weft_launch launch = {.module = p->module,
                                .kernel = kernel,
                                .arguments = arguments,
                                .n_arguments = n_arguments,
                                .n_elements = n,
                                .lanes = 1,
                                .block_threads = PLAIN_THREADS};
    return weft_device_launch(p->device, &launch, error);
}

weft_status weft_persistent_load(weft_persistent *p, weft_memory *entries, weft_memory *inverse,
                                 weft_error *error) {
    weft_memory *const arguments[] = {p->memory[VALUES],
                                      p->memory[SOURCE],
                                      p->memory[COLUMNS],
                                      p->memory[NODES],
                                      p->memory[HALO],
                                      entries,
                                      inverse};
    if (weft_memory_bytes(entries) < (size_t)p->n_entries * sizeof(double) ||
        weft_memory_bytes(inverse) < (size_t)p->n * sizeof(double))
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "a matrix of %lld entries and %lld rows needs as many doubles",
                              (long long)p->n_entries, (long long)p->n);
    return launch_plain(p, "cg_scale", arguments, 7, p->pairs, error);
}

static weft_status start(weft_persistent *p, weft_memory *residual, weft_memory *inverse,
                         const weft_persistent_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_persistent_control *control = &p->control;
    weft_memory *const arguments[] = {p->memory[NODES], inverse,           residual,
                                      p->memory[X],     p->memory[R],      p->memory[P],
                                      p->memory[S],     p->memory[WEIGHTS]};
    *control = (weft_persistent_control){
        .limit = run->limit, .gamma = INFINITY, .alpha = 1, .epoch = FIRST_EPOCH};
    TRY(weft_memory_zero(p->memory[PUBLISHED], error));
    TRY(weft_memory_zero(p->memory[SLOTS], error));
    TRY(launch_plain(p, "cg_start", arguments, 8, p->positions, error));
done:
    return status;
}

/* Iterate up to control->last, or until the kernel ends. */
static weft_status launch_slice(weft_persistent *p, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *const *m = p->memory;
    weft_memory *const arguments[] = {m[CONTROL],   m[VALUES], m[COLUMNS], m[WEIGHTS], m[HALO],
                                      m[SENT],      m[X],      m[R],       m[P],       m[S],
                                      m[PUBLISHED], m[SLOTS],  m[HISTORY]};
    const weft_launch launch = {.module = p->module,
                                .kernel = "cg_persistent",
                                .arguments = arguments,
                                .n_arguments = sizeof arguments / sizeof arguments[0],
                                .n_elements = (int64_t)p->shape.n_blocks * p->shape.threads,
                                .lanes = p->shape.threads,
                                .block_threads = p->shape.threads,
                                .shared_bytes = p->shared_bytes,
                                .n_blocks = p->shape.n_blocks,
                                .cooperative = true};
    TRY(weft_memory_write(m[CONTROL], 0, &p->control, sizeof p->control, error));
    TRY(weft_device_launch(p->device, &launch, error));
    TRY(weft_memory_read(m[CONTROL], 0, &p->control, sizeof p->control, error));
done:
    return status;
}

static weft_status history_read(weft_persistent *p, int64_t begin, weft_persistent_run *run,
                                int *capacity, weft_error *error) {
    int n = (int)p->control.iteration + 1;
    if (n > *capacity) {
        int wanted = n > *capacity + *capacity / 2 ? n : *capacity + *capacity / 2;
        double *grown = realloc(run->history, (size_t)wanted * sizeof *grown);
        if (!grown)
            return weft_out_of_memory(error, "the history of CG");
        run->history = grown;
        *capacity = wanted;
    }
    run->done = n - 1;
    return weft_memory_read(p->memory[HISTORY], 0, run->history + begin,
                            (size_t)(n - begin) * sizeof(double), error);
}

static weft_status check_progress(const weft_persistent *p, int64_t begin, int64_t last,
                                  weft_error *error) {
    const weft_persistent_control *c = &p->control;
    if (c->end == WEFT_PERSISTENT_STUCK)
        return weft_error_set(error, WEFT_ERROR_DEVICE,
                              "conjugate gradients in one kernel: a block of the GPU waited for "
                              "another in vain at iteration %lld",
                              (long long)c->iteration);
    if (c->iteration < begin || c->iteration > last || c->end < WEFT_PERSISTENT_RUNNING ||
        c->end > WEFT_PERSISTENT_STUCK ||
        (c->end == WEFT_PERSISTENT_RUNNING && c->iteration < last))
        return weft_error_set(
            error, WEFT_ERROR_INTERNAL,
            "conjugate gradients in one kernel stopped at iteration %lld of %lld with code %lld",
            (long long)c->iteration, (long long)last, (long long)c->end);
    return WEFT_OK;
}

weft_status weft_persistent_iterate(weft_persistent *p, weft_memory *residual, weft_memory *inverse,
                                    weft_memory *x, weft_persistent_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_persistent_control *control = &p->control;
    weft_memory *const arguments[] = {p->memory[NODES], inverse, p->memory[X], x};
    int capacity = 0;
    run->history = NULL;
    run->done = 0;
    TRY(start(p, residual, inverse, run, error));
    do {
        int64_t begin = control->iteration;
        int64_t left = run->iterations - begin;
        int64_t last = begin + (left < SLICE ? left : SLICE);
        control->last = last;
        TRY(launch_slice(p, error));
        TRY(check_progress(p, begin, last, error));
        TRY(history_read(p, begin, run, &capacity, error));
        if (run->report)
            run->report(run->user, run->history, run->done);
    } while (control->end == WEFT_PERSISTENT_RUNNING && run->done < run->iterations);
    run->end = (weft_persistent_end)control->end;
    TRY(launch_plain(p, "cg_finish", arguments, 4, p->positions, error));
done:
    if (status != WEFT_OK) {
        free(run->history);
        run->history = NULL;
    }
    return status;
}
