/* A flow on a device: one memory for each of its names, shared by the segments that have it. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/plan/compilation.h"
#include "fusion/runtime/private.h"
#include "fusion/runtime/runtime.h"
#include "fusion/script/script.h"
#include "fusion/weft_program.h"

#include <stdlib.h>
#include <string.h>

static weft_status no_memory(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while preparing a program");
}

static weft_status allocate(weft_program *p, weft_error *error) {
    const weft_flow *flow = p->compilation->flow;
    weft_program_flow *made = calloc(1, sizeof *made);
    p->flow = made;
    p->sizes = calloc((size_t)flow->script->n_indices + 1, sizeof *p->sizes);
    if (made == NULL || p->sizes == NULL)
        return no_memory(error);
    made->segments = calloc((size_t)flow->n_segments + 1, sizeof(weft_program *));
    made->memory = calloc((size_t)flow->n_names + 1, sizeof(weft_memory *));
    made->own = calloc((size_t)flow->n_names + 1, sizeof *made->own);
    made->operators = calloc((size_t)flow->script->n_operators + 1, sizeof *made->operators);
    int n_joined = 0; /* arguments of a kernel that joins a segment's reductions, at most */
    for (int i = 0; i < flow->n_segments; ++i)
        n_joined = 2 * flow->segments[i]->graph->n_calls > n_joined
                       ? 2 * flow->segments[i]->graph->n_calls
                       : n_joined;
    p->arguments = calloc((size_t)flow->n_names + (size_t)n_joined + 16, sizeof(weft_memory *));
    if (made->segments == NULL || made->memory == NULL || made->own == NULL ||
        made->operators == NULL || p->arguments == NULL)
        return no_memory(error);
    made->turns = -1;
    for (int i = 0; i < flow->script->n_indices; ++i)
        p->sizes[i] = -1;
    for (int i = 0; i < WEFT_RECORDS_MAX; ++i)
        made->recorded[i] = -1;
    return WEFT_OK;
}

weft_status weft_program_flow_make(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_flow *flow = p->compilation->flow;
    const bool threaded = weft_program_flow_threaded(p);
    TRY(allocate(p, error));
    if (flow->n_segments > 0 || threaded)
        TRY(weft_module_make(
            p->device, flow->n_segments > 0 ? flow->segments[0]->plan->kernels[0].name : "scalars",
            p->compilation->source, &p->module, error));
    for (int i = 0; i < flow->n_segments; ++i)
        TRY(weft_program_make_with(p->device, flow->segments[i], p->module, &p->flow->segments[i],
                                   error));
done:
    return status;
}

void weft_program_flow_free(weft_program *p) {
    weft_program_flow *made = p->flow;
    const weft_flow *flow = p->compilation->flow;
    if (made == NULL)
        return;
    weft_program_graph_free(p);
    for (int i = 0; made->segments != NULL && i < flow->n_segments; ++i)
        weft_program_free(&made->segments[i]);
    for (int i = 0; made->memory != NULL && made->own != NULL && i < flow->n_names; ++i)
        if (made->own[i])
            weft_memory_free(&made->memory[i]);
    free(made->segments);
    free(made->memory);
    free(made->own);
    free(made->operators);
    free(made);
    p->flow = NULL;
}

/* ---- binding --------------------------------------------------------------------------------- */

static int find_index(const weft_script *script, const char *name) {
    for (int i = 0; i < script->n_indices; ++i)
        if (strcmp(script->indices[i].name, name) == 0)
            return i;
    return -1;
}

static void size_set(weft_program *p, const char *index_set, int64_t n) {
    const int found = find_index(p->compilation->flow->script, index_set);
    if (p->sizes[found] != n) {
        p->ready = false;
        weft_program_flow_forget(p);
    }
    p->sizes[found] = n;
}

weft_status weft_program_flow_size(weft_program *p, const char *index_set, int64_t n,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script *script = p->compilation->flow->script;
    const char *names[64];
    size_t count = 0;
    for (int i = 0; i < script->n_indices && count < 64; ++i)
        names[count++] = script->indices[i].name;
    if (find_index(script, index_set) < 0)
        return weft_program_no_such(error, "index set", index_set, names, count);
    if (n < 0)
        return weft_error_set(error, WEFT_ERROR_SHAPE, "index set '%s' cannot have %lld members",
                              index_set, (long long)n);
    for (int i = 0; i < p->compilation->flow->n_segments; ++i)
        TRY(weft_program_size(p->flow->segments[i], index_set, n, error));
    size_set(p, index_set, n);
done:
    return status;
}

/* A name that the caller may bind or read: an input, returned, or kept between two steps. */
static int find_outside(const weft_flow *flow, const char *name) {
    for (int i = 0; i < flow->n_names; ++i)
        if (strcmp(flow->names[i].name, name) == 0)
            return i;
    return -1;
}

static weft_status no_such_name(const weft_flow *flow, const char *name, weft_error *error) {
    const char *names[64];
    size_t n = 0;
    for (int i = 0; i < flow->n_names && n < 64; ++i)
        if (flow->names[i].is_input || flow->names[i].returned)
            names[n++] = flow->names[i].name;
    return weft_program_no_such(error, "input or result", name, names, n);
}

weft_status weft_program_flow_bind(weft_program *p, const char *name, weft_memory *memory,
                                   weft_error *error) {
    const int found = find_outside(p->compilation->flow, name);
    if (found < 0)
        return no_such_name(p->compilation->flow, name, error);
    weft_program_flow *flow = p->flow;
    weft_program_flow_forget(p);
    if (flow->own[found])
        weft_memory_free(&flow->memory[found]);
    flow->own[found] = false;
    flow->memory[found] = memory;
    p->ready = false;
    return WEFT_OK;
}

weft_status weft_program_flow_bind_connectivity(weft_program *p, const char *name,
                                                weft_connectivity *connectivity,
                                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script *script = p->compilation->flow->script;
    const char *names[64];
    size_t n = 0;
    for (int i = 0; i < script->n_connectivities; ++i) {
        const weft_script_connectivity *declared = &script->connectivities[i];
        if (n < 64)
            names[n++] = declared->name;
        if (strcmp(declared->name, name) != 0)
            continue;
        for (int k = 0; k < p->compilation->flow->n_segments; ++k)
            TRY(weft_program_bind_connectivity(p->flow->segments[k], name, connectivity, error));
        size_set(p, declared->from, weft_connectivity_from(connectivity));
        size_set(p, declared->to, weft_connectivity_to(connectivity));
        weft_program_flow_forget(p);
        goto done;
    }
    status = weft_program_no_such(error, "connectivity", name, names, n);
done:
    return status;
}

weft_status weft_program_flow_bind_matrix(weft_program *p, const char *name, weft_memory *values,
                                          weft_memory *positions, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_flow *flow = p->compilation->flow;
    bool found = false;
    for (int i = 0; i < flow->n_segments; ++i) {
        const weft_graph *graph = flow->segments[i]->graph;
        const int datum = weft_program_datum(graph, name);
        if (datum < 0 || graph->data[datum].kind != DATUM_MATRIX)
            continue;
        TRY(weft_program_bind_matrix(p->flow->segments[i], name, values, positions, error));
        found = true;
    }
    if (!found)
        return no_such_name(flow, name, error);
    TRY(weft_program_flow_bind(p, name, values, error));
    weft_program_flow_forget(p);
done:
    return status;
}

/* Is it applied there, by a routine? A segment knows operators whose applications nobody reads. */
static bool applies(const weft_graph *graph, const char *name) {
    for (int i = 0; i < graph->n_calls; ++i)
        if (graph->calls[i].routine != NULL &&
            strcmp(graph->operators[graph->calls[i].op], name) == 0)
            return true;
    return false;
}

weft_status weft_program_flow_bind_rows(weft_program *p, const char *name, const weft_rows *rows,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_flow *flow = p->compilation->flow;
    const char *names[64];
    size_t n = 0;
    bool found = false;
    for (int i = 0; i < flow->script->n_operators && n < 64; ++i)
        if (flow->script->operators[i].routine != NULL)
            names[n++] = flow->script->operators[i].name;
    for (int i = 0; i < flow->n_segments; ++i) {
        if (!applies(flow->segments[i]->graph, name))
            continue;
        TRY(weft_program_bind_rows(p->flow->segments[i], name, rows, error));
        found = true;
    }
    p->ready = false;
    weft_program_flow_forget(p);
    if (!found)
        status = weft_program_no_such(error, "operator with a rows routine", name, names, n);
done:
    return status;
}

weft_memory *weft_program_flow_result(const weft_program *p, const char *name) {
    const int found = find_outside(p->compilation->flow, name);
    return found >= 0 ? p->flow->memory[found] : NULL;
}

weft_status weft_program_bind_operator(weft_program *p, const char *name, weft_program_apply apply,
                                       void *user, weft_error *error) {
    const weft_script *script = p->compilation->script;
    const char *names[64];
    size_t n = 0;
    for (int i = 0; i < script->n_operators; ++i) {
        if (n < 64)
            names[n++] = script->operators[i].name;
        if (p->flow == NULL || script->operators[i].routine != NULL ||
            strcmp(script->operators[i].name, name) != 0)
            continue;
        p->flow->operators[i] = (weft_program_operator){apply, user};
        weft_program_flow_forget(p);
        return WEFT_OK;
    }
    return weft_program_no_such(error, "opaque operator", name, names, n);
}

/* ---- histories ------------------------------------------------------------------------------- */

weft_status weft_program_record(weft_program *p, const char *name, weft_memory *memory,
                                int64_t capacity, weft_error *error) {
    const weft_flow *flow = p->compilation->flow;
    const size_t real_bytes = p->compilation->options.single ? sizeof(float) : sizeof(double);
    const char *names[64];
    int found = -1, slot = -1;
    size_t n = 0;
    for (int i = 0; flow != NULL && i < flow->n_names; ++i) {
        const weft_flow_name *known = &flow->names[i];
        if (known->index_set >= 0 || known->matrix || known->shape.rank > 0)
            continue;
        if (n < 64)
            names[n++] = known->name;
        if (strcmp(known->name, name) == 0)
            found = i;
    }
    if (found < 0)
        return weft_program_no_such(error, "uniform value in a loop", name, names, n);
    if (memory != NULL &&
        (capacity < 0 || (size_t)capacity > weft_memory_bytes(memory) / real_bytes))
        return weft_error_set(error, WEFT_ERROR_SHAPE, "no room for %lld values of '%s'",
                              (long long)capacity, name);
    for (int i = WEFT_RECORDS_MAX - 1; i >= 0; --i)
        if (p->flow->recorded[i] < 0)
            slot = i;
    for (int i = 0; i < WEFT_RECORDS_MAX; ++i)
        if (p->flow->recorded[i] == found)
            slot = i;
    if (slot < 0)
        return weft_error_set(error, WEFT_ERROR_USAGE, "more than %d histories", WEFT_RECORDS_MAX);
    p->flow->recorded[slot] = memory != NULL ? found : -1;
    p->flow->histories[slot] = memory;
    p->flow->capacities[slot] = capacity;
    weft_program_flow_forget(p);
    return WEFT_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static weft_status name_bytes(const weft_program *p, const weft_flow_name *name, size_t *out,
                              weft_error *error) {
    const weft_script *script = p->compilation->flow->script;
    const size_t real_bytes = p->compilation->options.single ? sizeof(float) : sizeof(double);
    const int64_t lanes = weft_program_lanes(p), components = weft_shape_count(&name->shape);
    int64_t n = 1;
    if (name->index_set >= 0) {
        n = p->sizes[name->index_set];
        if (n < 0)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "the size of index set '%s' is not known (needed for '%s')",
                                  script->indices[name->index_set].name, name->name);
        if (!script->indices[name->index_set].plain)
            n = (n + lanes - 1) / lanes * lanes;
    }
    *out = (size_t)(n * components) * real_bytes;
    return WEFT_OK;
}

static weft_status prepare_name(weft_program *p, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program_flow *flow = p->flow;
    const weft_flow_name *name = &p->compilation->flow->names[i];
    size_t needed = 0;
    if (name->matrix)
        return WEFT_OK;
    TRY(name_bytes(p, name, &needed, error));
    if (name->is_input && flow->memory[i] == NULL)
        return weft_error_set(error, WEFT_ERROR_USAGE, "input '%s' is not bound", name->name);
    if (flow->memory[i] == NULL || (flow->own[i] && weft_memory_bytes(flow->memory[i]) < needed)) {
        weft_memory_free(&flow->memory[i]);
        flow->own[i] = true;
        TRY(weft_memory_make(p->device, needed, &flow->memory[i], error));
    }
    if (weft_memory_bytes(flow->memory[i]) < needed)
        status = weft_error_set(error, WEFT_ERROR_SHAPE, "'%s' has %zu bytes bound, but needs %zu",
                                name->name, weft_memory_bytes(flow->memory[i]), needed);
done:
    return status;
}

static weft_status bind_segment(weft_program *p, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_flow *flow = p->compilation->flow;
    weft_program *segment = p->flow->segments[number];
    for (int i = 0; i < flow->n_names; ++i)
        if (!flow->names[i].matrix &&
            weft_program_datum(segment->compilation->graph, flow->names[i].name) >= 0)
            TRY(weft_program_bind(segment, flow->names[i].name, p->flow->memory[i], error));
    TRY(weft_program_prepare(segment, error));
done:
    return status;
}

weft_status weft_program_flow_prepare(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_flow *flow = p->compilation->flow;
    for (int i = 0; i < flow->script->n_operators; ++i)
        if (flow->script->operators[i].routine == NULL && p->flow->operators[i].apply == NULL)
            return weft_error_set(error, WEFT_ERROR_USAGE, "operator '%s' is not bound",
                                  flow->script->operators[i].name);
    if (p->ready)
        return WEFT_OK;
    TRY(weft_program_graph_prepare(p, error));
    for (int i = 0; i < flow->n_names; ++i)
        TRY(prepare_name(p, i, error));
    for (int i = 0; i < flow->n_segments; ++i)
        TRY(bind_segment(p, i, error));
    p->ready = true;
done:
    return status;
}
