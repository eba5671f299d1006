/* A compilation bound to data on a device, and its launches. */
#include "fusion_internal.h"

#include <stdlib.h>
#include <string.h>

struct weft_program {
    weft_device *device;
    const weft_compilation *compilation;
    weft_module *module;
    int64_t *sizes;           /* [n_index_sets], -1: unknown */
    weft_memory **data;       /* [n_data] bound or own */
    bool *own;                /* [n_data] */
    weft_memory **positions;  /* [n_data] of matrices, borrowed */
    weft_connectivity **maps; /* [n_maps], borrowed */
    weft_memory **buffers;    /* [n_buffers] of intermediates */
    weft_memory **arguments;  /* for one launch */
    bool ready;
};

static weft_status out_of_memory(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while preparing a program");
}

static weft_status allocate_tables(weft_program *p, weft_error *error) {
    const weft_graph *graph = p->compilation->graph;
    const size_t n_data = (size_t)graph->n_data + 1;
    p->sizes = calloc((size_t)graph->n_index_sets + 1, sizeof *p->sizes);
    p->data = calloc(n_data, sizeof *p->data);
    p->own = calloc(n_data, sizeof *p->own);
    p->positions = calloc(n_data, sizeof *p->positions);
    p->maps = calloc((size_t)graph->n_maps + 1, sizeof *p->maps);
    p->buffers = calloc((size_t)p->compilation->plan->n_buffers + 1, sizeof *p->buffers);
    p->arguments = calloc(4 * n_data + 4 * (size_t)graph->n_maps, sizeof *p->arguments);
    if (p->sizes == NULL || p->data == NULL || p->own == NULL || p->positions == NULL ||
        p->maps == NULL || p->buffers == NULL || p->arguments == NULL)
        return out_of_memory(error);
    for (int i = 0; i < graph->n_index_sets; ++i)
        p->sizes[i] = -1;
    return WEFT_OK;
}

weft_status weft_program_make(weft_device *device, const weft_compilation *compilation,
                              weft_program **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program *made = calloc(1, sizeof *made);
    const weft_plan *plan = compilation->plan;
    if (made == NULL)
        return out_of_memory(error);
    made->device = device;
    made->compilation = compilation;
    TRY(allocate_tables(made, error));
    TRY(weft_module_make(device, plan->kernels[0].name, compilation->source, &made->module, error));
    *out = made;
    made = NULL;
done:
    weft_program_free(&made);
    return status;
}

void weft_program_free(weft_program **program) {
    if (program == NULL || *program == NULL)
        return;
    weft_program *p = *program;
    for (int i = 0; p->data != NULL && p->own != NULL && i < p->compilation->graph->n_data; ++i)
        if (p->own[i])
            weft_memory_free(&p->data[i]);
    for (int i = 0; p->buffers != NULL && i < p->compilation->plan->n_buffers; ++i)
        weft_memory_free(&p->buffers[i]);
    weft_module_free(&p->module);
    free(p->sizes);
    free(p->data);
    free(p->own);
    free(p->positions);
    free(p->maps);
    free(p->buffers);
    free(p->arguments);
    free(p);
    *program = NULL;
}

/* ---- binding
 * --------------------------------------------------------------------------------------------- */

/* "there is no list 'u' in this script: it has x, y" */
static weft_status no_such(weft_error *error, const char *what, const char *name,
                           const char *const *names, size_t n) {
    weft_text text = {0};
    for (size_t i = 0; i < n; ++i)
        weft_text_add(&text, "%s%s", i > 0 ? ", " : "", names[i]);
    const char *near = weft_nearest_name(name, names, n);
    weft_error_set(error, WEFT_ERROR_USAGE, "there is no %s '%s' in this script", what, name);
    weft_error_hint(error, "%s%s%sit has: %s", near != NULL ? "did you mean '" : "",
                    near != NULL ? near : "", near != NULL ? "'? " : "",
                    text.data != NULL ? text.data : "none");
    weft_text_free(&text);
    return WEFT_ERROR_USAGE;
}

static int find_index_set(const weft_graph *graph, const char *name) {
    for (int i = 0; i < graph->n_index_sets; ++i)
        if (strcmp(graph->index_sets[i].name, name) == 0)
            return i;
    return -1;
}

/* Inputs and returned lists have names outside. */
static int find_datum(const weft_graph *graph, const char *name) {
    for (int i = 0; i < graph->n_data; ++i)
        if ((graph->data[i].is_input || graph->data[i].returned) &&
            strcmp(graph->data[i].name, name) == 0)
            return i;
    return -1;
}

static weft_status no_such_datum(const weft_graph *graph, const char *name, weft_error *error) {
    const char *names[64];
    size_t n = 0;
    for (int i = 0; i < graph->n_data && n < 64; ++i)
        if (graph->data[i].is_input || graph->data[i].returned)
            names[n++] = graph->data[i].name;
    return no_such(error, "input or result", name, names, n);
}

static weft_status set_size(weft_program *p, int index_set, int64_t n, weft_error *error) {
    const char *name = p->compilation->graph->index_sets[index_set].name;
    if (n < 0)
        return weft_error_set(error, WEFT_ERROR_SHAPE, "index set '%s' cannot have %lld members",
                              name, (long long)n);
    if (p->sizes[index_set] >= 0 && p->sizes[index_set] != n)
        p->ready = false;
    p->sizes[index_set] = n;
    return WEFT_OK;
}

weft_status weft_program_size(weft_program *program, const char *index_set, int64_t n,
                              weft_error *error) {
    const weft_graph *graph = program->compilation->graph;
    const int found = find_index_set(graph, index_set);
    if (found >= 0)
        return set_size(program, found, n, error);
    const char *names[64];
    size_t count = 0;
    for (int i = 0; i < graph->n_index_sets && count < 64; ++i)
        names[count++] = graph->index_sets[i].name;
    return no_such(error, "index set", index_set, names, count);
}

weft_status weft_program_bind(weft_program *program, const char *name, weft_memory *memory,
                              weft_error *error) {
    const weft_graph *graph = program->compilation->graph;
    const int found = find_datum(graph, name);
    if (found < 0)
        return no_such_datum(graph, name, error);
    if (program->own[found])
        weft_memory_free(&program->data[found]);
    program->own[found] = false;
    program->data[found] = memory;
    program->ready = false;
    return WEFT_OK;
}

weft_status weft_program_bind_connectivity(weft_program *program, const char *name,
                                           weft_connectivity *connectivity, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = program->compilation->graph;
    const char *names[64];
    size_t n = 0;
    for (int i = 0; i < graph->n_maps; ++i) {
        const weft_map *map = &graph->maps[i];
        if (n < 64)
            names[n++] = map->name;
        if (strcmp(map->name, name) != 0)
            continue;
        if (weft_connectivity_width(connectivity) != map->width)
            return weft_error_set(error, WEFT_ERROR_SHAPE,
                                  "connectivity '%s' has %d targets a member, the script says %d",
                                  name, weft_connectivity_width(connectivity), map->width);
        program->maps[i] = connectivity;
        TRY(set_size(program, map->from, weft_connectivity_from(connectivity), error));
        TRY(set_size(program, map->to, weft_connectivity_to(connectivity), error));
        program->ready = false;
        goto done;
    }
    status = no_such(error, "connectivity", name, names, n);
done:
    return status;
}

weft_status weft_program_bind_matrix(weft_program *program, const char *name, weft_memory *values,
                                     weft_memory *positions, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = program->compilation->graph;
    const int found = find_datum(graph, name);
    if (found < 0 || graph->data[found].kind != DATUM_MATRIX)
        return no_such_datum(graph, name, error);
    TRY(weft_program_bind(program, name, values, error));
    program->positions[found] = positions;
done:
    return status;
}

int weft_program_lanes(const weft_program *program) {
    return program->compilation->plan->lanes;
}

weft_memory *weft_program_result(const weft_program *program, const char *name) {
    const int found = find_datum(program->compilation->graph, name);
    return found >= 0 ? program->data[found] : NULL;
}

double weft_program_compile_seconds(const weft_program *program) {
    return weft_module_seconds(program->module);
}

/* ---- running
 * ------------------------------------------------------------------------------------------------
 */

static int64_t list_values(const weft_program *p, int index_set, int components) {
    const weft_graph *graph = p->compilation->graph;
    const int64_t lanes = p->compilation->plan->lanes;
    if (index_set < 0)
        return components;
    const int64_t n = p->sizes[index_set];
    return graph->index_sets[index_set].plain ? n * components
                                              : (n + lanes - 1) / lanes * lanes * components;
}

static weft_status list_bytes(const weft_program *p, int index_set, int components,
                              const char *name, size_t *bytes, weft_error *error) {
    const size_t real_bytes = p->compilation->options.single ? sizeof(float) : sizeof(double);
    if (index_set >= 0 && p->sizes[index_set] < 0)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "the size of index set '%s' is not known (needed for '%s')",
                              p->compilation->graph->index_sets[index_set].name, name);
    *bytes = (size_t)list_values(p, index_set, components) * real_bytes;
    return WEFT_OK;
}

static weft_status prepare_datum(weft_program *p, const weft_datum *datum, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t needed = 0;
    const int i = datum->id;
    if (datum->kind == DATUM_MATRIX) {
        if (p->data[i] == NULL || p->positions[i] == NULL)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "matrix '%s' has no values and positions bound", datum->name);
        return WEFT_OK;
    }
    TRY(list_bytes(p, datum->index_set, weft_shape_count(&datum->shape), datum->name, &needed,
                   error));
    if (datum->is_input && p->data[i] == NULL)
        return weft_error_set(error, WEFT_ERROR_USAGE, "input '%s' is not bound", datum->name);
    if (p->data[i] == NULL || (p->own[i] && weft_memory_bytes(p->data[i]) < needed)) {
        weft_memory_free(&p->data[i]);
        p->own[i] = true;
        TRY(weft_memory_make(p->device, needed, &p->data[i], error));
    }
    if (weft_memory_bytes(p->data[i]) < needed)
        status = weft_error_set(error, WEFT_ERROR_SHAPE, "'%s' has %zu bytes bound, but needs %zu",
                                datum->name, weft_memory_bytes(p->data[i]), needed);
done:
    return status;
}

static bool is_used(const weft_plan *plan, int datum) {
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i)
            if (plan->kernels[k].arguments[i].kind == ARGUMENT_DATUM &&
                plan->kernels[k].arguments[i].index == datum)
                return true;
    return false;
}

static weft_status prepare(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->compilation->graph;
    const weft_plan *plan = p->compilation->plan;
    for (int i = 0; i < graph->n_data; ++i)
        if (is_used(plan, i) && plan->buffer_of[i] < 0)
            TRY(prepare_datum(p, &graph->data[i], error));
    for (int i = 0; i < plan->n_buffers; ++i) {
        size_t needed = 0;
        TRY(list_bytes(p, plan->buffers[i].index_set, plan->buffers[i].components, "a buffer",
                       &needed, error));
        if (p->buffers[i] != NULL && weft_memory_bytes(p->buffers[i]) >= needed)
            continue;
        weft_memory_free(&p->buffers[i]);
        TRY(weft_memory_make(p->device, needed, &p->buffers[i], error));
    }
    p->ready = true;
done:
    return status;
}

static weft_memory *datum_memory(const weft_program *p, int datum) {
    const int buffer = p->compilation->plan->buffer_of[datum];
    return buffer >= 0 ? p->buffers[buffer] : p->data[datum];
}

static weft_status launch_argument(weft_program *p, const weft_argument *argument,
                                   weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->compilation->plan;
    weft_memory *parts[2] = {NULL, NULL};
    switch (argument->kind) {
    case ARGUMENT_DATUM:
        *out = datum_memory(p, argument->index);
        break;
    case ARGUMENT_POSITIONS:
        *out = p->positions[argument->index];
        break;
    case ARGUMENT_MAP:
    case ARGUMENT_GATHER:
        if (p->maps[argument->index] == NULL) {
            status = weft_error_set(error, WEFT_ERROR_USAGE, "connectivity '%s' is not bound",
                                    p->compilation->graph->maps[argument->index].name);
            break;
        }
        if (argument->kind == ARGUMENT_MAP) {
            status =
                weft_connectivity_interleaved(p->maps[argument->index], plan->lanes, out, error);
            break;
        }
        TRY(weft_connectivity_transposed(p->maps[argument->index], plan->lanes, &parts[0],
                                         &parts[1], error));
        *out = parts[argument->part];
        break;
    }
done:
    return status;
}

/* Every block in one range. */
typedef struct serial_schedule {
    weft_schedule schedule;
    int64_t start[2], range[1][2];
} serial_schedule;

/* The order that keeps accumulating stores apart. Stores through several maps run serially. */
static weft_status launch_schedule(weft_program *p, const weft_plan_kernel *kernel,
                                   serial_schedule *serial, const weft_schedule **out,
                                   weft_error *error) {
    const weft_graph *graph = p->compilation->graph;
    const int lanes = p->compilation->plan->lanes;
    int map = -1;
    bool several = false;
    for (int i = 0; i < kernel->n_scatters; ++i) {
        const int m = graph->accumulations[kernel->scatters[i]].map;
        several |= map >= 0 && m != map;
        map = m;
    }
    *out = NULL;
    if (map < 0)
        return WEFT_OK;
    if (!several && p->maps[map] != NULL)
        return weft_connectivity_schedule(p->maps[map], lanes, out, error);
    *serial = (serial_schedule){.start = {0, 1},
                                .range = {{0, (p->sizes[kernel->index_set] + lanes - 1) / lanes}}};
    serial->schedule =
        (weft_schedule){.n_colours = 1, .colour_start = serial->start, .ranges = serial->range};
    *out = &serial->schedule;
    return WEFT_OK;
}

static weft_status launch_kernel(weft_program *p, const weft_plan_kernel *kernel,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    serial_schedule serial;
    weft_launch launch = {.module = p->module,
                          .kernel = kernel->name,
                          .arguments = p->arguments,
                          .n_arguments = kernel->n_arguments,
                          .n_instances = p->sizes[kernel->index_set],
                          .lanes = p->compilation->plan->lanes};
    for (int i = 0; i < kernel->n_zero; ++i)
        TRY(weft_memory_zero(datum_memory(p, kernel->zero[i]), error));
    for (int i = 0; i < kernel->n_arguments; ++i)
        TRY(launch_argument(p, &kernel->arguments[i], &p->arguments[i], error));
    TRY(launch_schedule(p, kernel, &serial, &launch.schedule, error));
    if (launch.n_instances > 0)
        TRY(weft_device_launch(p->device, &launch, error));
done:
    return status;
}

weft_status weft_program_run(weft_program *program, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = program->compilation->plan;
    if (!program->ready)
        TRY(prepare(program, error));
    for (int i = 0; i < plan->n_kernels; ++i)
        TRY(launch_kernel(program, &plan->kernels[i], error));
done:
    return status;
}
