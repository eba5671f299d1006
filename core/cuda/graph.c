/* Runs device graphs, tracks what they use, and frees them. */
#include "core/cuda/cuda.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

weft_status weft_cuda_record_use(weft_cuda_state *state, const void *used, weft_error *error) {
    weft_cuda_recorder *recorder = state->recorder;
    if (!recorder)
        return WEFT_OK;
    for (size_t i = 0; i < recorder->n_uses; ++i)
        if (recorder->uses[i] == used)
            return WEFT_OK;
    if (recorder->n_uses == recorder->capacity) {
        size_t capacity = 2 * recorder->capacity + 32;
        const void **uses = realloc(recorder->uses, capacity * sizeof *uses);
        if (!uses)
            return weft_out_of_memory(error, "a device graph");
        recorder->uses = uses;
        recorder->capacity = capacity;
    }
    recorder->uses[recorder->n_uses++] = used;
    return WEFT_OK;
}

weft_status weft_cuda_record_uses(weft_cuda_state *state, const weft_launch *launch,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_cuda_record_use(state, launch->module->state, error));
    for (int i = 0; i < launch->n_arguments; ++i)
        TRY(weft_cuda_record_use(state, launch->arguments[i]->state, error));
done:
    return status;
}

static bool uses(const void *const *list, size_t n, const void *what) {
    for (size_t i = 0; i < n; ++i)
        if (list[i] == what)
            return true;
    return false;
}

bool weft_cuda_record_freed(weft_cuda_state *state, weft_cuda_array *array,
                            weft_cuda_module *module) {
    const void *what = array ? (const void *)array : (const void *)module;
    weft_cuda_recorder *recorder = state->recorder;
    pthread_mutex_lock(&state->mutex);
    for (weft_cuda_graph *r = state->recordings; r; r = r->next)
        r->stale = r->stale || uses(r->uses, r->n_uses, what);
    pthread_mutex_unlock(&state->mutex);
    if (!recorder)
        return false;
    if (array) {
        array->next = recorder->arrays;
        recorder->arrays = array;
    } else {
        module->next = recorder->modules;
        recorder->modules = module;
    }
    if (recorder->trouble.status == WEFT_OK && uses(recorder->uses, recorder->n_uses, what))
        weft_error_set(&recorder->trouble, WEFT_ERROR_USAGE,
                       "cuda:%d: %s that the device graph uses was freed before its end",
                       state->ordinal, array ? "an array" : "a module");
    return true;
}

weft_status weft_cuda_device_graph_run(weft_device *device, void *graph, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    const weft_cuda_graph *made = graph;
    if (made->stale)
        TRY(weft_error_refuse(
            error, WEFT_ERROR_USAGE,
            "an array or module that a device graph uses was freed: it cannot be run",
            "free the device graph before what it uses, and capture again"));
    TRY(weft_cuda_enter(state, error));
    pthread_mutex_lock(&state->mutex);
    snprintf(state->last_kernel, sizeof state->last_kernel, "a device graph");
    pthread_mutex_unlock(&state->mutex);
    status = weft_cuda_check(state, state->driver.cuGraphLaunch(made->executable, state->stream),
                             "running a device graph", error);
    weft_cuda_leave(state);
done:
    return status;
}

void weft_cuda_device_graph_free(weft_device *device, void *graph) {
    weft_cuda_state *state = device->state;
    weft_cuda_graph *made = graph, **at = &state->recordings;
    pthread_mutex_lock(&state->mutex);
    while (*at && *at != made)
        at = &(*at)->next;
    if (*at)
        *at = made->next;
    pthread_mutex_unlock(&state->mutex);
    if (!state->recorder) {
        weft_cuda_device_graph_end(state, made);
        return;
    }
    made->next = state->recorder->recordings;
    state->recorder->recordings = made;
}

void weft_cuda_device_graph_end(weft_cuda_state *state, weft_cuda_graph *made) {
    weft_error ignored;
    if (weft_cuda_enter(state, &ignored) == WEFT_OK) {
        (void)weft_cuda_check(state, state->driver.cuStreamSynchronize(state->stream),
                              "ending a device graph's runs", &ignored);
        if (!atomic_load(&state->broken)) {
            (void)state->driver.cuGraphExecDestroy(made->executable);
            (void)state->driver.cuGraphDestroy(made->graph);
        }
        weft_cuda_leave(state);
    }
    free(made->uses);
    free(made);
}
