/* A compilation bound to data on a device. */
#include "core/weft_core.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/plan/compilation.h"
#include "fusion/runtime/private.h"
#include "fusion/runtime/runtime.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <stdlib.h>
#include <string.h>

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
    p->matrix_rows = calloc(n_data, sizeof *p->matrix_rows);
    p->maps = calloc((size_t)graph->n_maps + 1, sizeof *p->maps);
    p->buffers = calloc((size_t)p->compilation->plan->n_buffers + 1, sizeof *p->buffers);
    p->partials = calloc(n_data, sizeof *p->partials);
    p->chunks = calloc((size_t)p->compilation->plan->n_kernels + 1, sizeof *p->chunks);
    p->arguments = calloc(6 * n_data + 4 * (size_t)graph->n_maps + WEFT_ROUTINE_ARGUMENTS_MAX + 1,
                          sizeof *p->arguments);
    if (p->sizes == NULL || p->data == NULL || p->own == NULL || p->positions == NULL ||
        p->matrix_rows == NULL || p->maps == NULL || p->buffers == NULL || p->partials == NULL ||
        p->chunks == NULL || p->arguments == NULL)
        return out_of_memory(error);
    for (int i = 0; i < graph->n_index_sets; ++i)
        p->sizes[i] = -1;
    return weft_program_rows_allocate(p, error);
}

weft_status weft_program_make_with(weft_device *device, const weft_compilation *compilation,
                                   weft_module *module, weft_program **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program *made = calloc(1, sizeof *made);
    if (made == NULL)
        return out_of_memory(error);
    made->device = device;
    made->compilation = compilation;
    made->module = module;
    made->own_module = module == NULL;
    if (compilation->flow != NULL) {
        TRY(weft_program_flow_make(made, error));
    } else {
        TRY(allocate_tables(made, error));
        if (module == NULL)
            TRY(weft_module_make(device, compilation->plan->kernels[0].name, compilation->source,
                                 &made->module, error));
    }
    *out = made;
    made = NULL;
done:
    weft_program_free(&made);
    return status;
}

weft_status weft_program_make(weft_device *device, const weft_compilation *compilation,
                              weft_program **out, weft_error *error) {
    return weft_program_make_with(device, compilation, NULL, out, error);
}

static void free_tables(weft_program *p) {
    for (int i = 0; p->data != NULL && p->own != NULL && i < p->compilation->graph->n_data; ++i)
        if (p->own[i])
            weft_memory_free(&p->data[i]);
    for (int i = 0; p->buffers != NULL && i < p->compilation->plan->n_buffers; ++i)
        weft_memory_free(&p->buffers[i]);
    for (int i = 0; p->partials != NULL && i < p->compilation->graph->n_data; ++i)
        weft_memory_free(&p->partials[i]);
    for (int i = 0; p->chunks != NULL && i < p->compilation->plan->n_kernels; ++i)
        weft_schedule_free(&p->chunks[i]);
    weft_program_rows_free(p);
}

void weft_program_free(weft_program **program) {
    if (program == NULL || *program == NULL)
        return;
    weft_program *p = *program;
    if (p->compilation->flow != NULL)
        weft_program_flow_free(p);
    else
        free_tables(p);
    if (p->own_module)
        weft_module_free(&p->module);
    weft_memory_free(&p->always);
    free(p->sizes);
    free(p->data);
    free(p->own);
    free(p->positions);
    free(p->matrix_rows);
    free(p->maps);
    free(p->buffers);
    free(p->partials);
    free(p->chunks);
    free(p->arguments);
    free(p);
    *program = NULL;
}

/* ---- binding ---- */

/* "there is no list 'u' in this script: it has x, y" */
weft_status weft_program_no_such(weft_error *error, const char *what, const char *name,
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
int weft_program_datum(const weft_graph *graph, const char *name) {
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
    return weft_program_no_such(error, "input or result", name, names, n);
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
    if (program->flow != NULL)
        return weft_program_flow_size(program, index_set, n, error);
    const weft_graph *graph = program->compilation->graph;
    const int found = find_index_set(graph, index_set);
    if (found >= 0)
        return set_size(program, found, n, error);
    const char *names[64];
    size_t count = 0;
    for (int i = 0; i < graph->n_index_sets && count < 64; ++i)
        names[count++] = graph->index_sets[i].name;
    return weft_program_no_such(error, "index set", index_set, names, count);
}

weft_status weft_program_bind(weft_program *program, const char *name, weft_memory *memory,
                              weft_error *error) {
    if (program->flow != NULL)
        return weft_program_flow_bind(program, name, memory, error);
    const weft_graph *graph = program->compilation->graph;
    const int found = weft_program_datum(graph, name);
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
    if (program->flow != NULL)
        return weft_program_flow_bind_connectivity(program, name, connectivity, error);
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
    status = weft_program_no_such(error, "connectivity", name, names, n);
done:
    return status;
}

weft_status weft_program_bind_matrix(weft_program *program, const char *name, weft_memory *values,
                                     weft_memory *positions, weft_error *error) {
    weft_status status = WEFT_OK;
    if (program->flow != NULL)
        return weft_program_flow_bind_matrix(program, name, values, positions, error);
    const weft_graph *graph = program->compilation->graph;
    const int found = weft_program_datum(graph, name);
    if (found < 0 || graph->data[found].kind != DATUM_MATRIX)
        return no_such_datum(graph, name, error);
    TRY(weft_program_bind(program, name, values, error));
    program->positions[found] = positions;
done:
    return status;
}

int weft_program_lanes(const weft_program *program) {
    const weft_compilation *c = program->compilation;
    return c->options.single ? c->limits.lanes_float : c->limits.lanes_double;
}

weft_memory *weft_program_result(const weft_program *program, const char *name) {
    if (program->flow != NULL)
        return weft_program_flow_result(program, name);
    const int found = weft_program_datum(program->compilation->graph, name);
    return found >= 0 ? program->data[found] : NULL;
}
