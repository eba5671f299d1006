/* Checks the state of graph capture and passes capture calls to the kind of device. */
#include "core/device/device.h"

#include <stdatomic.h>
#include <stdlib.h>

struct weft_device_graph {
    weft_device *device;
    void *state; /* the device's */
};

weft_status weft_device_graph_refuses(const weft_device *device, const char *what,
                                      weft_error *error) {
    if (!atomic_load(&device->graph))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s cannot be captured, and %s is capturing", what,
                   device->limits.name);
    weft_error_hint(error, "do it before weft_device_graph_begin or after weft_device_graph_end");
    return WEFT_ERROR_USAGE;
}

bool weft_device_captures(const weft_device *device) {
    const weft_device_graph_table *table = device->table->graph;
    return table && table->available((weft_device *)device);
}

static weft_status must_record(const weft_device *device, const char *call, weft_error *error) {
    if (!device->table->graph)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: %s does not record launches",
                              call, device->limits.name);
    if (!atomic_load(&device->graph))
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "%s without weft_device_graph_begin: nothing is being captured",
                              call);
    return WEFT_OK;
}

weft_status weft_device_graph_begin(weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!weft_device_captures(device))
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "weft_device_graph_begin: %s does not record launches",
                              device->limits.name);
    if (atomic_exchange(&device->graph, true))
        return weft_error_set(
            error, WEFT_ERROR_USAGE,
            "weft_device_graph_begin: %s is capturing already; a device makes one "
            "device graph at a time",
            device->limits.name);
    status = device->table->graph->begin(device, error);
    if (status != WEFT_OK)
        atomic_store(&device->graph, false);
    return status;
}

weft_status weft_device_graph_while(weft_device *device, weft_memory *flag, weft_error *error) {
    weft_status status = must_record(device, "weft_device_graph_while", error);
    if (status != WEFT_OK)
        return status;
    if (!flag || flag->device != device || flag->bytes < sizeof(uint32_t))
        return weft_error_set(
            error, WEFT_ERROR_USAGE,
            "weft_device_graph_while: its flag is not memory of this device with at least 4 bytes");
    return device->table->graph->loop(device, flag, error);
}

weft_status weft_device_graph_end_while(weft_device *device, weft_error *error) {
    weft_status status = must_record(device, "weft_device_graph_end_while", error);
    return status == WEFT_OK ? device->table->graph->end_loop(device, error) : status;
}

weft_status weft_device_graph_end(weft_device *device, weft_device_graph **out, weft_error *error) {
    weft_status status = WEFT_OK;
    void *state = NULL;
    weft_device_graph *graph = NULL;
    TRY(must_record(device, "weft_device_graph_end", error));
    status = device->table->graph->end(device, &state, error);
    atomic_store(&device->graph, false);
    if (status != WEFT_OK || !out)
        goto done;
    graph = malloc(sizeof *graph);
    if (!graph)
        TRY(weft_out_of_memory(error, "a device graph"));
    *graph = (weft_device_graph){device, state};
    state = NULL;
    *out = graph;
done:
    if (state)
        device->table->graph->free(device, state);
    return status;
}

weft_status weft_device_graph_run(weft_device_graph *graph, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = graph->device;
    TRY(weft_device_graph_refuses(device, "running a device graph", error));
    TRY(device->table->graph->run(device, graph->state, error));
    atomic_fetch_add(&device->launches, 1);
done:
    return status;
}

void weft_device_graph_free(weft_device_graph **graph) {
    if (!graph || !*graph)
        return;
    weft_device *device = (*graph)->device;
    device->table->graph->free(device, (*graph)->state);
    free(*graph);
    *graph = NULL;
}
