/* Prepares and launches kernels that compute whole cells. */
#include "fem/cells/cells.h"

#include "fusion/connectivity/connectivity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GEOMETRY = 2, RESULT = 2, ARGUMENTS = GEOMETRY + RESULT + 2 * WEFT_CELL_SOURCES };

struct weft_cell_action {
    weft_device *device;
    weft_module *module, *predicated;
    char *name, *clear_name, *text; /* text: on devices that capture */
    int64_t n_cells;
    int cells, block_threads, shared_bytes;
    size_t real_bytes;
    weft_memory *owned[2 + WEFT_CELL_SOURCES]; /* connectivities */
    int n_owned;
    const weft_cell_action *like; /* while it is made */
    weft_memory *arguments[ARGUMENTS];
    int n_arguments, argument; /* the place of x; -1: none */
    weft_connectivity *nodes;  /* on the host: the schedule is its */
    const weft_schedule *schedule;
    int32_t *indices; /* of `nodes` */
};

void weft_cell_action_free(weft_cell_action **action) {
    if (!action || !*action)
        return;
    weft_module_free(&(*action)->module);
    weft_module_free(&(*action)->predicated);
    for (int i = 0; i < (*action)->n_owned; ++i)
        weft_memory_free(&(*action)->owned[i]);
    weft_connectivity_free(&(*action)->nodes);
    free((*action)->indices);
    free((*action)->name);
    free((*action)->clear_name);
    free((*action)->text);
    free(*action);
    *action = NULL;
}

static weft_status check(const weft_cell_action *action, const weft_connectivity *connectivity,
                         int width, const char *what, weft_error *error) {
    if (weft_connectivity_from(connectivity) == action->n_cells &&
        weft_connectivity_width(connectivity) == width)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_SHAPE, "%s: %s are [%lld][%d], not [%lld][%d]",
                          action->name, what, (long long)weft_connectivity_from(connectivity),
                          weft_connectivity_width(connectivity), (long long)action->n_cells, width);
}

/* The indices in the kernel's order. */
static weft_status reorder(const weft_cell_action *action, const weft_connectivity *connectivity,
                           const int *order, int32_t **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int width = weft_connectivity_width(connectivity);
    const size_t bytes = (size_t)action->n_cells * (size_t)width * sizeof **out;
    TRY(weft_connectivity_read(connectivity, error));
    const int32_t *from = weft_connectivity_indices(connectivity);
    int32_t *indices = malloc(bytes > 0 ? bytes : 1);
    if (!indices)
        TRY(weft_out_of_memory(error, "the dofs of cells"));
    for (int64_t cell = 0; cell < action->n_cells; ++cell)
        for (int i = 0; i < width; ++i)
            indices[cell * width + i] = from[cell * width + (order ? order[i] : i)];
    *out = indices;
done:
    return status;
}

/* The same list of `like`; NULL: it has none. */
static weft_memory *find_list(const weft_cell_action *action, size_t bytes) {
    const weft_cell_action *like = action->like;
    const int place = action->n_arguments;
    weft_memory *list = like && place < like->n_arguments ? like->arguments[place] : NULL;
    for (int i = 0; list && i < like->n_owned; ++i)
        if (like->owned[i] == list && weft_memory_bytes(list) == bytes)
            return list;
    return NULL;
}

/* The indices in the kernel's order, on the device; kept: NULL, or gets those of the host. */
static weft_status add_connectivity(weft_cell_action *action, weft_connectivity *connectivity,
                                    int width, const int *order, const char *what, int32_t **kept,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_index_map map = {.order = order, .components = 1, .width = width};
    weft_memory *memory = NULL;
    int32_t *indices = NULL;
    TRY(check(action, connectivity, width, what, error));
    if (action->n_cells > INT32_MAX / width)
        TRY(weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "%s: %lld cells with %d nodes are 2^31 or more entries of a connectivity", action->name,
            (long long)action->n_cells, width));
    const size_t bytes = (size_t)action->n_cells * (size_t)width * sizeof *indices;
    weft_memory *list = find_list(action, bytes);
    if (!list)
        TRY(weft_memory_make(action->device, bytes > 0 ? bytes : sizeof *indices, &memory, error));
    if (bytes > 0 && weft_setup_on_device(action->device)) {
        if (memory)
            TRY(weft_connectivity_map(connectivity, &map, memory, error));
    } else if (memory || kept) {
        TRY(reorder(action, connectivity, order, &indices, error));
        if (memory)
            TRY(weft_memory_write(memory, 0, indices, bytes, error));
    }
    action->arguments[action->n_arguments++] = list ? list : memory;
    if (memory)
        action->owned[action->n_owned++] = memory;
    memory = NULL;
    if (kept) {
        *kept = indices;
        indices = NULL;
    }
done:
    free(indices);
    weft_memory_free(&memory);
    return status;
}

static weft_status bind(weft_cell_action *action, const weft_cell_kernel *kernel,
                        const weft_cell_data *data, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity *nodes = data->nodes;
    const weft_cell_binding *sources = data->sources;
    const bool on_host = weft_device_limits(action->device)->execution == WEFT_EXECUTION_SIMD;
    TRY(add_connectivity(action, data->vertices, kernel->n_vertices, kernel->vertex_order,
                         "vertices of cells", NULL, error));
    action->arguments[action->n_arguments++] = data->coordinates;
    action->arguments[action->n_arguments++] = NULL; /* y */
    TRY(add_connectivity(action, nodes, kernel->n_nodes, kernel->order, "nodes of cells",
                         on_host ? &action->indices : NULL, error));
    for (int i = 0; i < kernel->n_sources; ++i) {
        const weft_cell_source *source = &kernel->sources[i];
        const bool same = source->kind == WEFT_CELL_NODAL && sources[i].nodes == nodes &&
                          source->n_nodes == kernel->n_nodes &&
                          memcmp(source->order, kernel->order,
                                 (size_t)kernel->n_nodes * sizeof *kernel->order) == 0;
        if (same)
            action->arguments[action->n_arguments++] = action->arguments[GEOMETRY + 1];
        else if (source->kind == WEFT_CELL_NODAL)
            TRY(add_connectivity(action, sources[i].nodes, source->n_nodes, source->order,
                                 "nodes of cells of a coefficient", NULL, error));
        if (i == kernel->argument)
            action->argument = action->n_arguments;
        action->arguments[action->n_arguments++] = sources[i].values;
    }
    if (on_host && action->n_cells > 0) {
        TRY(weft_connectivity_make(action->device, action->indices, action->n_cells,
                                   kernel->n_nodes, weft_connectivity_to(nodes), &action->nodes,
                                   error));
        TRY(weft_connectivity_schedule(action->nodes, kernel->cells, &action->schedule, error));
    }
done:
    return status;
}

weft_status weft_cell_action_make(weft_device *device, const weft_cell_kernel *kernel,
                                  const weft_cell_data *data, weft_cell_action **out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cell_action *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "the action of a form"));
    made->device = device;
    made->argument = -1;
    made->n_cells = weft_connectivity_from(data->nodes);
    made->like = data->like;
    made->cells = kernel->cells;
    made->block_threads = kernel->block_threads;
    made->shared_bytes = kernel->shared_bytes;
    made->real_bytes = kernel->single ? sizeof(float) : sizeof(double);
    const size_t length = strlen(kernel->name) + sizeof "_clear";
    made->name = strdup(kernel->name);
    made->clear_name = malloc(length);
    made->text = strdup(kernel->text);
    if (!made->name || !made->clear_name || !made->text)
        TRY(weft_out_of_memory(error, "the action of a form"));
    (void)snprintf(made->clear_name, length, "%s_clear", kernel->name);
    TRY(bind(made, kernel, data, error));
    made->like = NULL;
    TRY(weft_module_make(device, kernel->name, kernel->text, &made->module, error));
    *out = made;
    made = NULL;
done:
    weft_cell_action_free(&made);
    return status;
}

/* active: NULL, or the last argument of the predicated kernel */
static weft_status launch(const weft_cell_action *action, weft_memory *x, weft_memory *y,
                          weft_memory *active, weft_error *error) {
    weft_memory *arguments[ARGUMENTS + 1];
    memcpy(arguments, action->arguments, sizeof action->arguments);
    arguments[GEOMETRY] = y;
    arguments[action->n_arguments] = active;
    if (action->argument >= 0)
        arguments[action->argument] = x;
    if (action->n_cells == 0)
        return WEFT_OK;
    const bool on_host = action->schedule != NULL;
    const weft_launch launch = {
        .module = active ? action->predicated : action->module,
        .kernel = action->name,
        .arguments = arguments,
        .n_arguments = action->n_arguments + (active != NULL),
        .n_elements = action->n_cells,
        .lanes = on_host ? action->cells : 32,
        .schedule = action->schedule,
        .block_threads = action->block_threads,
        .shared_bytes = action->shared_bytes,
        .n_blocks = on_host ? 0 : (action->n_cells + action->cells - 1) / action->cells};
    return weft_device_launch(action->device, &launch, error);
}

weft_status weft_cell_action_add(const weft_cell_action *action, weft_memory *x, weft_memory *y,
                                 weft_error *error) {
    return launch(action, x, y, NULL, error);
}

weft_status weft_cell_action_guard(weft_cell_action *action, weft_error *error) {
    static const char define[] = "#define PREDICATED\n";
    weft_text text = {0};
    if (action->predicated)
        return WEFT_OK;
    weft_text_add(&text, "%s%s", define, action->text);
    const weft_status status =
        text.failed
            ? weft_out_of_memory(error, "a kernel")
            : weft_module_make(action->device, action->name, text.data, &action->predicated, error);
    weft_text_free(&text);
    return status;
}

weft_status weft_cell_action_add_predicated(const weft_cell_action *action, weft_memory *x,
                                            weft_memory *y, weft_memory *active, bool clears,
                                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *cleared[] = {y, active};
    const weft_launch clear = {.module = action->predicated,
                               .kernel = action->clear_name,
                               .arguments = cleared,
                               .n_arguments = 2,
                               .n_elements = (int64_t)(weft_memory_bytes(y) / action->real_bytes),
                               .lanes = 32,
                               .block_threads = 256};
    if (clears)
        TRY(weft_device_launch(action->device, &clear, error));
    TRY(launch(action, x, y, active, error));
done:
    return status;
}

weft_module *weft_cell_action_module(const weft_cell_action *action) {
    return action->module;
}
