/* Binds a segment to data on a device: its tables, and the bindings that a program forwards. */
#include "fusion/base/array.h"
#include "fusion/runtime/private.h"

#include <stdlib.h>
#include <string.h>

weft_status weft_program_no_memory(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while preparing a program");
}

/* Sizes of the tables, for either of the two plans. */
static size_t most_kernels(const weft_program_segment *p) {
    const weft_segment *other = p->first->otherwise;
    const int n = p->first->plan->n_kernels, m = other ? other->plan->n_kernels : 0;
    return (size_t)(n > m ? n : m);
}

static size_t most_buffers(const weft_program_segment *p) {
    const weft_segment *other = p->first->otherwise;
    const int n = p->first->plan->n_buffers, m = other ? other->plan->n_buffers : 0;
    return (size_t)(n > m ? n : m);
}

static weft_status allocate_tables(weft_program_segment *p, weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const size_t n_values = (size_t)graph->n_values + 1;
    p->sizes = calloc((size_t)graph->n_index_sets + 1, sizeof *p->sizes);
    p->shares = calloc((size_t)graph->n_index_sets + 1, sizeof *p->shares);
    p->data = calloc(n_values, sizeof *p->data);
    p->own = calloc(n_values, sizeof *p->own);
    const size_t n_positions = n_values * ((size_t)graph->n_connectivities + 1);
    p->positions = calloc(n_positions, sizeof *p->positions);
    p->matrix_rows = calloc(n_values, sizeof *p->matrix_rows);
    p->connectivities = calloc((size_t)graph->n_connectivities + 1, sizeof *p->connectivities);
    p->buffers = calloc(most_buffers(p) + 1, sizeof *p->buffers);
    p->partials = calloc(n_values, sizeof *p->partials);
    p->nested = calloc(most_kernels(p) + 1, sizeof *p->nested);
    p->members = calloc(most_kernels(p) + 1, sizeof *p->members);
    p->chunks = calloc(most_kernels(p) + 1, sizeof *p->chunks);
    p->arguments =
        calloc(6 * n_values + 4 * (size_t)graph->n_connectivities + WEFT_PRODUCT_ARGUMENTS_MAX + 1,
               sizeof *p->arguments);
    if (!p->sizes || !p->data || !p->own || !p->positions || !p->matrix_rows ||
        !p->connectivities || !p->buffers || !p->partials || !p->nested || !p->members ||
        !p->chunks || !p->arguments || !p->shares)
        return weft_program_no_memory(error);
    for (int i = 0; i < graph->n_index_sets; ++i)
        p->sizes[i] = -1;
    return weft_program_product_allocate(p, error);
}

weft_status weft_program_segment_make(weft_device *device, const weft_segment *segment,
                                      weft_module *module, weft_program_segment **out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program_segment *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_program_no_memory(error));
    made->device = device;
    made->segment = made->first = segment;
    made->module = module;
    TRY(allocate_tables(made, error));
    *out = made;
    made = NULL;
done:
    weft_program_segment_free(&made);
    return status;
}

static void free_tables(weft_program_segment *p) {
    for (int i = 0; p->data && p->own && i < p->segment->graph->n_values; ++i)
        if (p->own[i])
            weft_memory_free(&p->data[i]);
    for (int i = 0; p->buffers && !p->shared && i < (int)most_buffers(p); ++i)
        weft_memory_free(&p->buffers[i]);
    for (int i = 0; p->partials && i < p->segment->graph->n_values; ++i)
        weft_memory_free(&p->partials[i]);
    for (int i = 0; p->nested && i < (int)most_kernels(p); ++i) {
        weft_memory_free(&p->nested[i].sizes);
        weft_module_free(&p->nested[i].module);
    }
    for (int i = 0; p->members && i < (int)most_kernels(p); ++i)
        weft_memory_free(&p->members[i]);
    for (int i = 0; p->chunks && i < (int)most_kernels(p); ++i)
        weft_schedule_free(&p->chunks[i]);
    weft_program_product_free(p);
}

void weft_program_segment_free(weft_program_segment **segment) {
    if (!segment || !*segment)
        return;
    weft_program_segment *p = *segment;
    free_tables(p);
    weft_memory_free(&p->always);
    free(p->sizes);
    free(p->shares);
    free(p->data);
    free(p->own);
    free(p->positions);
    free(p->matrix_rows);
    free(p->connectivities);
    free(p->buffers);
    free(p->partials);
    free(p->nested);
    free(p->members);
    free(p->chunks);
    free(p->arguments);
    free(p);
    *segment = NULL;
}

/* ---- binding ---- */

/* The caller knows inputs and returned lists by name. */
int weft_program_value(const weft_graph *graph, const char *name) {
    for (int i = 0; i < graph->n_values; ++i)
        if ((graph->values[i].is_input || graph->values[i].returned) &&
            strcmp(graph->values[i].name, name) == 0)
            return i;
    return -1;
}

static void set_size(weft_program_segment *p, int index_set, int64_t n) {
    const weft_graph *graph = p->segment->graph;
    if (p->sizes[index_set] != n)
        p->ready = false;
    p->sizes[index_set] = n;
    for (int i = 0; i < graph->n_index_sets; ++i) {
        const weft_index_set *set = &graph->index_sets[i];
        if (set->first >= 0 && p->sizes[set->first] >= 0 && p->sizes[set->second] >= 0)
            p->sizes[i] = weft_pairs_count(set->pairs, p->sizes[set->first], p->sizes[set->second]);
    }
}

void weft_program_segment_size(weft_program_segment *p, const char *index_set, int64_t n) {
    const weft_graph *graph = p->segment->graph;
    const int found = WEFT_FIND_NAME(graph->index_sets, graph->n_index_sets, index_set);
    if (found >= 0)
        set_size(p, found, n);
}

void weft_program_segment_share(weft_program_segment *p, const char *index_set,
                                const weft_share *share) {
    const weft_graph *graph = p->segment->graph;
    const int found = WEFT_FIND_NAME(graph->index_sets, graph->n_index_sets, index_set);
    if (found >= 0)
        p->shares[found] = share;
}

void weft_program_segment_bind(weft_program_segment *p, const char *name, weft_memory *memory) {
    const int found = weft_program_value(p->segment->graph, name);
    if (found < 0)
        return;
    if (p->own[found])
        weft_memory_free(&p->data[found]);
    p->own[found] = false;
    p->data[found] = memory;
    p->ready = false;
}

weft_status weft_program_segment_connectivity(weft_program_segment *p, const char *name,
                                              weft_connectivity *connectivity, weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const int found = WEFT_FIND_NAME(graph->connectivities, graph->n_connectivities, name);
    if (found < 0)
        return WEFT_OK;
    const weft_graph_connectivity *declared = &graph->connectivities[found];
    if (weft_connectivity_width(connectivity) != declared->width)
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "connectivity '%s' has %d targets a member, the script says %d", name,
                              weft_connectivity_width(connectivity), declared->width);
    if (p->connectivities[found] != connectivity)
        p->patches_tried = p->patches_refused = false;
    p->connectivities[found] = connectivity;
    set_size(p, declared->from, weft_connectivity_from(connectivity));
    set_size(p, declared->to, weft_connectivity_to(connectivity));
    p->ready = false;
    return WEFT_OK;
}

size_t weft_program_positions_place(const weft_program_segment *p, int matrix, int connectivity) {
    return (size_t)matrix * (size_t)p->segment->graph->n_connectivities + (size_t)connectivity;
}

void weft_program_segment_positions(weft_program_segment *p, int matrix, int connectivity,
                                    weft_memory *positions) {
    p->positions[weft_program_positions_place(p, matrix, connectivity)] =
        (weft_bound_positions){.memory = positions};
    p->ready = false;
}

bool weft_program_segment_matrix(weft_program_segment *p, const char *name, weft_memory *positions,
                                 const weft_matrix_rows *rows) {
    const weft_graph *graph = p->segment->graph;
    const int found = weft_program_value(graph, name);
    if (found < 0 || graph->values[found].kind != VALUE_MATRIX)
        return false;
    weft_program_segment_positions(p, found, graph->values[found].connectivity, positions);
    if (rows)
        p->matrix_rows[found] = *rows;
    p->ready = false;
    return true;
}
