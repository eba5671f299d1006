/* Captures launches and loops into a CUDA graph with conditional nodes. */
#include "core/cuda/cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Work on the stream is captured piece by piece. At a loop, the capture of the enclosing graph
 * ends, a conditional node is added after its last node, and capture continues in the node's body.
 * At the loop's end, capture continues in the enclosing graph after the conditional node. */

enum {
    RELAXED = 2,           /* CU_STREAM_CAPTURE_MODE_RELAXED: allows loading modules */
    NODE_CONDITIONAL = 13, /* CU_GRAPH_NODE_TYPE_CONDITIONAL */
    CONDITION_WHILE = 1    /* CU_GRAPH_COND_TYPE_WHILE */
};

/* ---- availability -------------------------------------------------------------------------- */

static bool available(weft_device *device) {
    weft_cuda_state *state = device->state;
    weft_error error = {0};
    if (state->records == 0 && !state->driver.graphs) {
        state->records = -1;
        weft_log(device->monitor, WEFT_LOG_INFO,
                 "%s: loops are not captured: the driver is for CUDA %d.%d, graphs with loops need "
                 "12.3 (NVIDIA driver 545 or later)",
                 device->limits.name, state->driver_version / 1000,
                 state->driver_version % 1000 / 10);
    }
    if (state->records == 0 && weft_cuda_enter(state, &error) == WEFT_OK) {
        state->records = weft_cuda_condition_load(device, &error) == WEFT_OK ? 1 : -1;
        weft_cuda_leave(state);
        if (state->records < 0)
            weft_log(device->monitor, WEFT_LOG_INFO, "%s: loops are not captured: %s",
                     device->limits.name, error.message);
    }
    return state->records > 0;
}

/* ---- capture ------------------------------------------------------------------------------- */

/* Record a driver error as the capture's `trouble`, so that weft_device_graph_end returns it
 * too. */
static weft_status check(weft_cuda_state *state, weft_cu_result code, const char *what,
                         weft_error *error) {
    weft_error local = {0};
    weft_status status = weft_cuda_check(state, code, what, &local);
    if (status == WEFT_OK)
        return status;
    if (state->recorder && state->recorder->trouble.status == WEFT_OK)
        state->recorder->trouble = local;
    if (error)
        *error = local;
    return status;
}

static weft_cu_graph current_graph(const weft_cuda_recorder *recorder) {
    return recorder->n_loops > 0 ? recorder->loops[recorder->n_loops - 1].graph : recorder->graph;
}

/* Capture into the innermost graph, after node `after` (NULL: at its start). */
static weft_status capture(weft_cuda_state *state, const weft_cu_node *after, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check(state,
              state->driver.cuStreamBeginCaptureToGraph(state->stream,
                                                        current_graph(state->recorder), after, NULL,
                                                        after ? 1 : 0, RELAXED),
              "a device graph", error));
    state->recorder->capturing = true;
done:
    return status;
}

static weft_status end_capture(weft_cuda_state *state, weft_error *error) {
    weft_cu_graph ignored = NULL;
    const weft_cu_result code = state->driver.cuStreamEndCapture(state->stream, &ignored);
    state->recorder->capturing = false;
    state->recorder->broken |= code != 0;
    return check(state, code, "ending a piece of a device graph", error);
}

static weft_status begin(weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    weft_cuda_recorder *recorder = calloc(1, sizeof *recorder);
    bool entered = false;
    state->recorder = recorder;
    if (!recorder)
        TRY(weft_out_of_memory(error, "a device graph"));
    TRY(weft_cuda_enter(state, error));
    entered = true;
    TRY(check(state, state->driver.cuGraphCreate(&recorder->graph, 0), "making a graph", error));
    TRY(capture(state, NULL, error));
done:
    if (status != WEFT_OK)
        weft_cuda_recorder_close(state);
    if (entered)
        weft_cuda_leave(state);
    return status;
}

/* Capture a launch of set_condition: the flag's value at that point decides on the next
 * iteration. */
static weft_status record_condition(weft_cuda_state *state, weft_cuda_loop *loop,
                                    weft_error *error) {
    void *parameters[] = {&loop->handle, &loop->flag};
    weft_cu_configuration configuration = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = state->stream};
    return check(
        state,
        state->driver.cuLaunchKernelEx(&configuration, state->set_condition, parameters, NULL),
        "capturing a loop's condition", error);
}

/* Add the conditional node after the last captured node. */
static weft_status add_loop(weft_cuda_state *state, weft_cuda_loop *loop, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cuda_driver *driver = &state->driver;
    weft_cuda_recorder *recorder = state->recorder;
    weft_cu_graph graph = NULL;
    const weft_cu_node *after = NULL;
    const weft_cu_edge *edges = NULL;
    weft_cu_node last = NULL;
    uint64_t number = 0;
    size_t n_after = 0;
    int capturing = 0;
    weft_cu_node_parameters parameters = {.type = NODE_CONDITIONAL,
                                          .handle = loop->handle,
                                          .condition = CONDITION_WHILE,
                                          .size = 1,
                                          .context = state->context};
    TRY(check(state,
              driver->cuStreamGetCaptureInfo(state->stream, &capturing, &number, &graph, &after,
                                             &edges, &n_after),
              "capturing a loop", error));
    /* with one stream there is one last node, the launch that sets the condition */
    if (n_after == 1)
        last = after[0];
    TRY(end_capture(state, error));
    TRY(check(state,
              driver->cuGraphAddNode(&loop->node, current_graph(recorder), &last, NULL,
                                     last ? 1 : 0, &parameters),
              "adding a loop to a device graph", error));
    loop->graph = parameters.bodies[0];
    recorder->n_loops += 1;
    TRY(capture(state, NULL, error));
done:
    return status;
}

static weft_status begin_loop(weft_device *device, weft_memory *flag, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    weft_cuda_recorder *recorder = state->recorder;
    const weft_cuda_array *array = flag->state;
    if (recorder->n_loops == WEFT_CUDA_LOOPS)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "weft_device_graph_while: loops are nested at most %d deep",
                           WEFT_CUDA_LOOPS));
    TRY(weft_cuda_record_use(state, array, error));
    TRY(weft_cuda_enter(state, error));
    weft_cuda_loop *loop = &recorder->loops[recorder->n_loops];
    *loop = (weft_cuda_loop){.flag = array->address};
    status = check(state,
                   state->driver.cuGraphConditionalHandleCreate(
                       &loop->handle, current_graph(recorder), state->context, 0, 0),
                   "making a loop's condition", error);
    if (status == WEFT_OK)
        status = record_condition(state, loop, error);
    if (status == WEFT_OK)
        status = add_loop(state, loop, error);
    weft_cuda_leave(state);
done:
    return status;
}

static weft_status end_loop(weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    weft_cuda_recorder *recorder = state->recorder;
    if (recorder->n_loops == 0)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "weft_device_graph_end_while without weft_device_graph_while"));
    weft_cuda_loop *loop = &recorder->loops[recorder->n_loops - 1];
    TRY(weft_cuda_enter(state, error));
    status = record_condition(state, loop, error);
    if (status == WEFT_OK)
        status = end_capture(state, error);
    recorder->n_loops -= 1;
    if (status == WEFT_OK)
        status = capture(state, &loop->node, error);
    weft_cuda_leave(state);
done:
    return status;
}

/* ---- end of the capture -------------------------------------------------------------------- */

void weft_cuda_recorder_close(weft_cuda_state *state) {
    weft_cuda_recorder *recorder = state->recorder;
    weft_cu_graph ignored = NULL;
    if (!recorder)
        return;
    if (recorder->capturing)
        recorder->broken |= state->driver.cuStreamEndCapture(state->stream, &ignored) != 0;
    /* Drivers (580) crash when destroying a graph after a failed capture into one of its loops, so
     * it is leaked: a few kB per error. */
    if (recorder->graph && !recorder->broken)
        (void)state->driver.cuGraphDestroy(recorder->graph);
    state->recorder = NULL;
    for (weft_cuda_array *a = recorder->arrays, *next; a; a = next) {
        next = a->next;
        weft_cuda_array_end(state, a);
    }
    for (weft_cuda_module *m = recorder->modules, *next; m; m = next) {
        next = m->next;
        weft_cuda_module_end(state, m);
    }
    for (weft_cuda_graph *r = recorder->recordings, *next; r; r = next) {
        next = r->next;
        weft_cuda_device_graph_end(state, r);
    }
    free(recorder->uses);
    free(recorder);
}

static weft_status instantiate(weft_cuda_state *state, weft_cuda_graph *made, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cuda_driver *driver = &state->driver;
    weft_cuda_recorder *recorder = state->recorder;
    TRY(end_capture(state, error));
    TRY(check(state, driver->cuGraphInstantiateWithFlags(&made->executable, recorder->graph, 0),
              "making a device graph runnable", error));
    TRY(check(state, driver->cuGraphUpload(made->executable, state->stream),
              "bringing a device graph to the GPU", error));
    made->graph = recorder->graph;
    recorder->graph = NULL;
    made->uses = recorder->uses;
    made->n_uses = recorder->n_uses;
    recorder->uses = NULL;
done:
    return status;
}

static weft_status finish(weft_cuda_state *state, weft_cuda_graph *made, weft_error *error) {
    const weft_cuda_recorder *recorder = state->recorder;
    if (recorder->trouble.status != WEFT_OK) {
        if (error)
            *error = recorder->trouble;
        return recorder->trouble.status;
    }
    if (recorder->n_loops > 0)
        return weft_error_set(
            error, WEFT_ERROR_USAGE,
            "weft_device_graph_end: %d loop%s without weft_device_graph_end_while",
            recorder->n_loops, recorder->n_loops == 1 ? " is" : "s are");
    return instantiate(state, made, error);
}

static weft_status end(weft_device *device, void **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    weft_error ignored;
    weft_cuda_graph *made = calloc(1, sizeof *made);
    if (!made)
        status = weft_out_of_memory(error, "a device graph");
    bool entered = weft_cuda_enter(state, status == WEFT_OK ? error : &ignored) == WEFT_OK;
    if (status == WEFT_OK)
        status = entered ? finish(state, made, error) : WEFT_ERROR_DEVICE;
    weft_cuda_recorder_close(state);
    if (made && status != WEFT_OK && made->executable)
        (void)state->driver.cuGraphExecDestroy(made->executable);
    if (entered)
        weft_cuda_leave(state);
    if (status != WEFT_OK)
        goto done;
    pthread_mutex_lock(&state->mutex);
    made->next = state->recordings;
    state->recordings = made;
    pthread_mutex_unlock(&state->mutex);
    *out = made;
    made = NULL;
done:
    free(made);
    return status;
}

const weft_device_graph_table weft_cuda_device_graph_table = {.available = available,
                                                              .begin = begin,
                                                              .loop = begin_loop,
                                                              .end_loop = end_loop,
                                                              .end = end,
                                                              .run = weft_cuda_device_graph_run,
                                                              .free = weft_cuda_device_graph_free};
