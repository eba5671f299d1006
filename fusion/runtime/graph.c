/* Runs loops as CUDA graphs, captured once, with a WHILE node for each loop and no synchronisation
 * with the host. An iteration of the node contains several iterations of the loop; those after the
 * last one have no effect, because their kernels test `active`. */
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/runtime/private.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ITERATIONS = 10, /* loop iterations per node iteration of an innermost loop; even, so that
                        double-buffered lists end in the memory where they started */
    LONG = 2,        /* the same with an operator of many launches, if lists are double-buffered */
    NESTED = 4, /* the same for a nested loop, which usually has few iterations and whose lists are
                   not double-buffered */
    NAME_LENGTH = 48
};

struct weft_loop_graph {
    weft_memory **active, **count;  /* [n_loops] uint32_t */
    weft_device_graph **recordings; /* [n_loops], of outermost loops */
    weft_memory *capacities, *none; /* uint32_t [WEFT_HISTORIES_MAX]: of histories; zeros */
    weft_memory *nothing;           /* argument in place of unrecorded histories */
};

static int count_loops(const weft_program *p) {
    return p->compilation->control->script->n_loops;
}

bool weft_program_threaded(const weft_program *p) {
    return weft_target_is_simt(&p->compilation->limits);
}

weft_status weft_program_graph_prepare(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)count_loops(p) + 1;
    if (count_loops(p) == 0 || !weft_program_threaded(p) || p->graph)
        goto done;
    struct weft_loop_graph *graph = calloc(1, sizeof *graph);
    p->graph = graph;
    if (!graph)
        TRY(weft_no_memory(error));
    graph->active = calloc(n, sizeof(weft_memory *));
    graph->count = calloc(n, sizeof(weft_memory *));
    graph->recordings = calloc(n, sizeof(weft_device_graph *));
    if (!graph->active || !graph->count || !graph->recordings)
        TRY(weft_no_memory(error));
    for (int i = 0; i < count_loops(p); ++i) {
        TRY(weft_memory_make(p->device, sizeof(uint32_t), &graph->active[i], error));
        TRY(weft_memory_make(p->device, sizeof(uint32_t), &graph->count[i], error));
    }
    TRY(weft_memory_make(p->device, WEFT_HISTORIES_MAX * sizeof(uint32_t), &graph->capacities,
                         error));
    TRY(weft_memory_make(p->device, WEFT_HISTORIES_MAX * sizeof(uint32_t), &graph->none, error));
    TRY(weft_memory_make(p->device, sizeof(double), &graph->nothing, error));
    for (int i = 0; i < p->compilation->control->n_segments; ++i)
        if (p->segments[i]->segment->loop >= 0)
            p->segments[i]->active = graph->active[p->segments[i]->segment->loop];
done:
    if (status != WEFT_OK)
        weft_program_graph_free(p);
    return status;
}

void weft_program_forget(weft_program *p) {
    struct weft_loop_graph *graph = p->graph;
    for (int i = 0; graph && graph->recordings && i < count_loops(p); ++i)
        weft_device_graph_free(&graph->recordings[i]);
}

void weft_program_graph_free(weft_program *p) {
    struct weft_loop_graph *graph = p->graph;
    if (!graph)
        return;
    weft_program_forget(p);
    for (int i = 0; i < count_loops(p); ++i) {
        if (graph->active)
            weft_memory_free(&graph->active[i]);
        if (graph->count)
            weft_memory_free(&graph->count[i]);
    }
    weft_memory_free(&graph->capacities);
    weft_memory_free(&graph->none);
    weft_memory_free(&graph->nothing);
    free(graph->active);
    free(graph->count);
    free(graph->recordings);
    free(graph);
    p->graph = NULL;
}

weft_memory *weft_program_graph_flag(const weft_program *p, int loop) {
    return loop < 0 ? p->active : p->graph ? p->graph->active[loop] : NULL;
}

weft_status weft_program_graph_activate(const weft_program *p, int loop, weft_error *error) {
    const uint32_t yes = 1;
    const struct weft_loop_graph *graph = p->graph;
    return graph ? weft_memory_write(graph->active[loop], 0, &yes, sizeof yes, error) : WEFT_OK;
}

/* ---- kernels of one thread ------------------------------------------------------------------- */

static int add_names(const weft_program *p, const weft_control_step *step) {
    int n = 0;
    for (int i = 0; i < p->compilation->control->n_names; ++i)
        if (weft_control_uses(step, i))
            p->arguments[n++] = p->memory[i];
    return n;
}

static weft_status launch(weft_program *p, const char *kernel, int n_arguments, weft_error *error) {
    const int warp = p->compilation->limits.target.warp_threads;
    const weft_launch one = {.module = p->module,
                             .kernel = kernel,
                             .arguments = p->arguments,
                             .n_arguments = n_arguments,
                             .n_elements = 1,
                             .lanes = warp,
                             .block_threads = warp};
    return weft_device_launch(p->device, &one, error);
}

static weft_status launch_scalars(weft_program *p, const weft_control_step *step,
                                  weft_error *error) {
    char kernel[NAME_LENGTH];
    int n = add_names(p, step);
    snprintf(kernel, sizeof kernel, "scalars_%d", step->number);
    if (step->loop >= 0)
        p->arguments[n++] = p->graph->active[step->loop];
    return launch(p, kernel, n, error);
}

/* loop_N_iteration joins the reductions of the segment before it with a whole thread block. */
static weft_status launch_iteration(weft_program *p, const weft_control_step *loop,
                                    const char *kernel, int n_arguments, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control_step *step = NULL;
    const weft_plan_kernel *joined = weft_control_joined(p->compilation->control, loop, &step);
    if (!joined) {
        status = launch(p, kernel, n_arguments, error);
        goto done;
    }
    weft_program_segment *segment = p->segments[step->number];
    TRY(weft_program_kernel_arguments(segment, joined, p->arguments + n_arguments, error));
    weft_launch whole = {.module = p->module,
                         .kernel = kernel,
                         .arguments = p->arguments,
                         .n_arguments = n_arguments + joined->n_arguments};
    TRY(weft_program_grid(segment, joined, &whole, error));
    TRY(weft_device_launch(p->device, &whole, error));
done:
    return status;
}

static weft_status launch_loop(weft_program *p, const weft_control_step *loop, bool begin,
                               weft_error *error) {
    const struct weft_loop_graph *graph = p->graph;
    const bool counted = loop->number == p->compilation->control->last_loop;
    char kernel[NAME_LENGTH];
    int n = add_names(p, loop);
    snprintf(kernel, sizeof kernel, "loop_%d_%s", loop->number, begin ? "begin" : "iteration");
    p->arguments[n++] = graph->active[loop->number];
    p->arguments[n++] = graph->count[loop->number];
    p->arguments[n++] = counted ? graph->capacities : graph->none;
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i)
        p->arguments[n++] = p->captured[i] >= 0 ? p->memory[p->captured[i]] : graph->nothing;
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i)
        p->arguments[n++] = p->captured[i] >= 0 ? p->histories[i] : graph->nothing;
    if (begin && loop->loop >= 0)
        p->arguments[n++] = graph->active[loop->loop];
    return begin ? launch(p, kernel, n, error) : launch_iteration(p, loop, kernel, n, error);
}

/* ---- CUDA graph ------------------------------------------------------------------------------ */

static weft_status record_step(weft_program *p, const weft_control_step *step, weft_error *error);

static bool has_loops(const weft_control_step *loop) {
    for (int i = 0; i < loop->body.n; ++i)
        if (loop->body.list[i].kind == CONTROL_LOOP)
            return true;
    return false;
}

static bool has_long_operator(const weft_script *script) {
    for (int i = 0; i < script->n_operators; ++i)
        if (script->operators[i].is_long)
            return true;
    return false;
}

static bool has_double_buffers(const weft_program *p, const weft_control_step *loop) {
    for (int i = 0; i < loop->body.n; ++i) {
        const weft_control_step *step = &loop->body.list[i];
        const weft_plan *plan =
            step->kind == CONTROL_SEGMENT ? p->segments[step->number]->segment->plan : NULL;
        for (int k = 0; plan && k < plan->n_kernels; ++k)
            for (int j = 0; j < plan->kernels[k].n_arguments; ++j)
                if (plan->kernels[k].arguments[j].kind == ARGUMENT_DOUBLE_BUFFER)
                    return true;
    }
    return false;
}

/* Iterations that are recorded in one of the node's: those after the end of the loop do nothing, but
 * cost launches, of kernels with many blocks as much as a fifth of an iteration. */
static int recorded_iterations(const weft_program *p, const weft_control_step *loop) {
    if (has_loops(loop))
        return 1;
    if (loop->loop >= 0)
        return NESTED;
    return !has_long_operator(p->compilation->script) ? ITERATIONS
           : has_double_buffers(p, loop)              ? LONG
                                                      : 1;
}

static weft_status record_loop(weft_program *p, const weft_control_step *loop, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control_step *last = weft_control_last_scalars(loop);
    const weft_control_step *joined = NULL;
    if (weft_control_joined(p->compilation->control, loop, &joined))
        p->segments[joined->number]->leaves_join = true;
    const int iterations = recorded_iterations(p, loop);
    TRY(launch_loop(p, loop, true, error));
    TRY(weft_device_graph_while(p->device, p->graph->active[loop->number], error));
    for (int k = 0; k < iterations; ++k) {
        for (int i = 0; i < loop->body.n; ++i)
            if (&loop->body.list[i] != last)
                TRY(record_step(p, &loop->body.list[i], error));
        TRY(launch_loop(p, loop, false, error));
    }
    TRY(weft_device_graph_end_while(p->device, error));
done:
    if (joined)
        p->segments[joined->number]->leaves_join = false;
    return status;
}

static weft_status record_step(weft_program *p, const weft_control_step *step, weft_error *error) {
    if (step->kind == CONTROL_LOOP)
        return record_loop(p, step, error);
    return step->kind == CONTROL_SCALARS ? launch_scalars(p, step, error)
                                         : weft_program_step(p, step, error);
}

/* Make everything that is otherwise made at first use, because capture forbids allocations. */
static weft_status warm_up(weft_program *p, const weft_control_step *step, weft_error *error) {
    weft_status status = WEFT_OK;
    if (step->kind == CONTROL_SEGMENT)
        TRY(weft_program_warm_up(p->segments[step->number], error));
    if (step->kind == CONTROL_APPLY)
        TRY(weft_program_step(p, step, error));
    for (int i = 0; step->kind == CONTROL_LOOP && i < step->body.n; ++i)
        TRY(warm_up(p, &step->body.list[i], error));
done:
    return status;
}

static weft_status record(weft_program *p, const weft_control_step *loop, weft_error *error) {
    weft_status status = WEFT_OK;
    struct weft_loop_graph *graph = p->graph;
    weft_device_graph *made = NULL;
    uint32_t capacities[WEFT_HISTORIES_MAX] = {0};
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i)
        if (p->captured[i] >= 0)
            capacities[i] = p->capacities[i] < UINT32_MAX ? (uint32_t)p->capacities[i] : UINT32_MAX;
    TRY(weft_memory_write(graph->capacities, 0, capacities, sizeof capacities, error));
    TRY(warm_up(p, loop, error));
    TRY(weft_device_graph_begin(p->device, error));
    status = record_loop(p, loop, error);
    const weft_status ended = weft_device_graph_end(p->device, status == WEFT_OK ? &made : NULL,
                                                    status == WEFT_OK ? error : NULL);
    status = status == WEFT_OK ? ended : status;
    if (status == WEFT_OK)
        graph->recordings[loop->number] = made;
done:
    return status;
}

weft_status weft_program_graph_run(weft_program *p, const weft_control_step *loop,
                                   int64_t *iterations, weft_error *error) {
    weft_status status = WEFT_OK;
    struct weft_loop_graph *graph = p->graph;
    uint32_t count = 0;
    if (!graph->recordings[loop->number])
        TRY(record(p, loop, error));
    TRY(weft_device_graph_run(graph->recordings[loop->number], error));
    TRY(weft_memory_read(graph->count[loop->number], 0, &count, sizeof count, error));
    *iterations = count;
    /* double-buffered lists alternate once per iteration: swap them after an odd number */
    for (int i = 0; count % 2 == 1 && i < loop->body.n; ++i) {
        if (loop->body.list[i].kind != CONTROL_SEGMENT)
            continue;
        weft_program_segment *segment = p->segments[loop->body.list[i].number];
        for (int k = 0; k < segment->segment->plan->n_kernels; ++k)
            weft_program_product_swap(segment, &segment->segment->plan->kernels[k]);
    }
done:
    return status;
}
