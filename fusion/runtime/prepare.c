/* Prepares a segment for running: memory for values that are not bound, checks of sizes, partial
 * results. */
#include "core/base/exact.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/runtime/private.h"

#include <stdlib.h>

enum { WEFT_COUNTED_MOST = 1 << 24 /* whole numbers that a float has up to here */ };

static int64_t list_values(const weft_program_segment *p, int index_set, int components) {
    const weft_graph *graph = p->segment->graph;
    const int64_t lanes = p->segment->plan->lanes;
    if (index_set < 0)
        return components;
    const int64_t n = p->sizes[index_set];
    return graph->index_sets[index_set].plain ? n * components
                                              : (n + lanes - 1) / lanes * lanes * components;
}

static weft_status list_bytes(const weft_program_segment *p, int index_set, int components,
                              const char *name, size_t *bytes, weft_error *error) {
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    if (index_set >= 0 && p->sizes[index_set] < 0)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "the size of index set '%s' is not known (needed for '%s')",
                              p->segment->graph->index_sets[index_set].name, name);
    *bytes = (size_t)list_values(p, index_set, components) * real_bytes;
    return WEFT_OK;
}

/* Does every position lead into the matrix? The positions are read again only when another number of them is in use,
 * and only where the host can read them (elsewhere they would have to be copied). */
static weft_status check_positions(const weft_program_segment *p, const weft_value *matrix,
                                   weft_bound_positions *positions, size_t needed,
                                   weft_error *error) {
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    const size_t n_values = weft_memory_bytes(p->data[matrix->id]) / real_bytes;
    const uint32_t *list = weft_memory_host(positions->memory);
    const size_t n = needed / sizeof *list;
    if (!list || n == 0)
        return WEFT_OK;
    if (positions->n_checked != n) {
        positions->greatest = 0;
        for (size_t i = 0; i < n; ++i)
            positions->greatest = list[i] > positions->greatest ? list[i] : positions->greatest;
        positions->n_checked = n;
    }
    if (positions->greatest >= n_values)
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "a position of '%s' is %u, but it has %zu values", matrix->name,
                              positions->greatest, n_values);
    return WEFT_OK;
}

static weft_status prepare_positions(const weft_program_segment *p, const weft_value *matrix,
                                     int through, weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const weft_graph_connectivity *connectivity = &graph->connectivities[through];
    const int64_t lanes = p->segment->plan->lanes, n = p->sizes[connectivity->from];
    weft_bound_positions *positions =
        &p->positions[weft_program_positions_place(p, matrix->id, through)];
    if (!positions->memory && through == matrix->connectivity)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "matrix '%s' has no values and positions bound", matrix->name);
    if (!positions->memory) {
        weft_error_set(error, WEFT_ERROR_USAGE, "matrix '%s' has no positions bound for '%s'",
                       matrix->name, connectivity->name);
        weft_error_hint(error,
                        "weft_program_bind_matrix binds those for '%s', "
                        "weft_program_bind_matrix_positions those for others",
                        graph->connectivities[matrix->connectivity].name);
        return WEFT_ERROR_USAGE;
    }
    const size_t needed = n <= 0 ? 0
                                 : (size_t)((n + lanes - 1) / lanes * lanes) *
                                       (size_t)(connectivity->width * connectivity->width) *
                                       sizeof(uint32_t);
    if (weft_memory_bytes(positions->memory) < needed)
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "the positions of '%s' have %zu bytes, but need %zu", matrix->name,
                              weft_memory_bytes(positions->memory), needed);
    return check_positions(p, matrix, positions, needed, error);
}

static weft_status prepare_matrix(const weft_program_segment *p, const weft_value *matrix,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    if (!p->data[matrix->id])
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "matrix '%s' has no values and positions bound",
                           matrix->name));
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i) {
            const weft_argument *argument = &plan->kernels[k].arguments[i];
            if (argument->kind == ARGUMENT_POSITIONS && argument->index == matrix->id)
                TRY(prepare_positions(p, matrix, argument->part, error));
        }
done:
    return status;
}

weft_status weft_program_own(weft_device *device, const char *name, size_t needed,
                             weft_memory **memory, bool *own, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!*memory || (*own && weft_memory_bytes(*memory) < needed)) {
        weft_memory_free(memory);
        *own = true;
        TRY(weft_memory_make(device, needed, memory, error));
    }
    if (weft_memory_bytes(*memory) < needed)
        status = weft_error_set(error, WEFT_ERROR_SHAPE, "'%s' has %zu bytes bound, but needs %zu",
                                name, weft_memory_bytes(*memory), needed);
done:
    return status;
}

/* The host loads blocks of interleaved lists by aligned instructions. Memory of Weft's own is aligned
 * for them, but not every borrowed array. */
enum { ALIGNMENT = 64 };
static weft_status check_alignment(const weft_program_segment *p, const weft_value *value,
                                   weft_error *error) {
    if (value->index_set < 0 || p->segment->graph->index_sets[value->index_set].plain ||
        (uintptr_t)weft_memory_host(p->data[value->id]) % ALIGNMENT == 0)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "'%s' is bound to memory at an address that is not a multiple of %d",
                   value->name, ALIGNMENT);
    weft_error_hint(
        error,
        "lists over '%s' are interleaved: use weft_memory_make or an array of weft_array_make",
        p->segment->graph->index_sets[value->index_set].name);
    return WEFT_ERROR_USAGE;
}

static weft_status prepare_value(weft_program_segment *p, const weft_value *value,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    size_t needed = 0;
    const int i = value->id;
    if (value->kind == VALUE_MATRIX) {
        status = prepare_matrix(p, value, error);
        goto done;
    }
    TRY(list_bytes(p, value->index_set, weft_shape_count(&value->shape), value->name, &needed,
                   error));
    if (weft_value_is_narrow(&p->segment->options, value))
        needed /= 2;
    if (value->is_input && !p->data[i])
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "input '%s' is not bound", value->name));
    TRY(weft_program_own(p->device, value->name, needed, &p->data[i], &p->own[i], error));
    TRY(check_alignment(p, value, error));
done:
    return status;
}

bool weft_program_uses(const weft_plan *plan, int value) {
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i)
            if (plan->kernels[k].arguments[i].kind == ARGUMENT_VALUE &&
                plan->kernels[k].arguments[i].index == value)
                return true;
    return false;
}

/* Check one end of a connectivity against the size of its index set. */
static weft_status check_size(const weft_program_segment *p,
                              const weft_graph_connectivity *connectivity, bool from, int64_t n,
                              weft_error *error) {
    const int set = from ? connectivity->from : connectivity->to;
    if (p->sizes[set] == n)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_SHAPE,
                          "connectivity '%s' leads %s %lld %s, but there are %lld",
                          connectivity->name, from ? "from" : "to", (long long)n,
                          p->segment->graph->index_sets[set].name, (long long)p->sizes[set]);
}

weft_status weft_program_check_connectivities(const weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->segment->graph;
    for (int i = 0; i < graph->n_connectivities; ++i) {
        if (!p->connectivities[i])
            continue;
        TRY(check_size(p, &graph->connectivities[i], true,
                       weft_connectivity_from(p->connectivities[i]), error));
        TRY(check_size(p, &graph->connectivities[i], false,
                       weft_connectivity_to(p->connectivities[i]), error));
    }
done:
    return status;
}

int64_t weft_program_blocks(const weft_program_segment *p, int index_set) {
    const int64_t lanes = p->segment->plan->lanes;
    return (p->sizes[index_set] + lanes - 1) / lanes;
}

int64_t weft_program_reduction_tiles(const weft_program_segment *p, int index_set) {
    const int64_t blocks = p->segment->plan->reduction_blocks;
    return (weft_program_blocks(p, index_set) + blocks - 1) / blocks;
}

/* The schedule of a kernel with reductions: ranges of whole tiles, all in parallel, or serially if
 * the kernel has accumulating stores too. */
static weft_status chunks_make(weft_program_segment *p, const weft_plan_kernel *kernel,
                               weft_schedule **out, weft_error *error) {
    const int64_t n_blocks = weft_program_blocks(p, kernel->index_set);
    const int64_t n_chunks = weft_program_reduction_tiles(p, kernel->index_set);
    const int64_t n_colours = kernel->n_scatters > 0 ? n_chunks : n_chunks > 0;
    weft_schedule *made = calloc(1, sizeof *made);
    if (!made)
        return weft_no_memory(error);
    made->n_colours = (int)n_colours;
    made->colour_start = calloc((size_t)n_colours + 1, sizeof *made->colour_start);
    made->ranges = calloc((size_t)n_chunks + 1, sizeof *made->ranges);
    if (!made->colour_start || !made->ranges) {
        weft_schedule_free(&made);
        return weft_no_memory(error);
    }
    for (int64_t i = 1; i <= n_colours; ++i)
        made->colour_start[i] = kernel->n_scatters > 0 ? i : n_chunks;
    for (int64_t i = 0; i < n_chunks; ++i) {
        const int64_t blocks = p->segment->plan->reduction_blocks, last = (i + 1) * blocks;
        made->ranges[i][0] = i * blocks;
        made->ranges[i][1] = last < n_blocks ? last : n_blocks;
    }
    *out = made;
    return WEFT_OK;
}

weft_status weft_program_partials(weft_program_segment *p, int value, size_t needed,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory **partials = &p->partials[value];
    if (*partials && weft_memory_bytes(*partials) >= needed)
        goto done;
    weft_memory_free(partials);
    TRY(weft_memory_make(p->device, needed, partials, error));
done:
    return status;
}

static weft_status prepare_reductions(weft_program_segment *p, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->segment->graph;
    const weft_plan_kernel *kernel = &p->segment->plan->kernels[number];
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    const size_t n_chunks = (size_t)weft_program_reduction_tiles(p, kernel->index_set);
    const weft_plan *plan = p->segment->plan;
    const size_t n_joined = plan->is_simt ? n_chunks / (size_t)plan->target.joined_before : 0;
    const size_t n_parts = n_chunks + n_joined + 2; /* launch_finish */
    if (p->segment->options.distributed && !p->shares[kernel->index_set])
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "what ranks own of index set '%s' is not known, over which '%s' runs",
                           weft_index_set_name(graph, kernel->index_set), kernel->name));
    for (int i = 0; i < kernel->n_reductions; ++i) {
        const weft_value *result = &graph->values[graph->calls[kernel->reductions[i]].result];
        const size_t numbers = p->segment->options.distributed ? WEFT_EXACT_NUMBERS : 1;
        const size_t needed =
            n_parts * (size_t)weft_shape_count(&result->shape) * numbers * real_bytes;
        TRY(weft_program_partials(p, result->id, needed, error));
    }
    weft_schedule_free(&p->chunks[number]);
    if (!p->segment->plan->is_simt)
        TRY(chunks_make(p, kernel, &p->chunks[number], error));
done:
    return status;
}

/* If no flag is bound, predicated kernels get one that is always 1. */
static weft_status prepare_predicate(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const uint32_t yes = 1;
    if (!p->segment->plan->predicated || p->active || p->always)
        goto done;
    TRY(weft_memory_make(p->device, sizeof yes, &p->always, error));
    status = weft_memory_write(p->always, 0, &yes, sizeof yes, error);
    if (status != WEFT_OK)
        weft_memory_free(&p->always);
done:
    return status;
}

static weft_status prepare_buffer(weft_program_segment *p, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan_buffer *buffer = &p->segment->plan->buffers[number];
    weft_memory **memory = &p->buffers[number];
    size_t needed = 0;
    TRY(list_bytes(p, buffer->index_set, buffer->components, "a buffer", &needed, error));
    if (*memory && weft_memory_bytes(*memory) >= needed)
        goto done;
    if (!p->shared)
        weft_memory_free(memory);
    *memory = NULL;
    TRY(p->shared ? weft_program_shared_buffer(p, needed, memory, error)
                  : weft_memory_make(p->device, needed, memory, error));
done:
    return status;
}

/* In single precision the numbers of many elements are not exact. */
static weft_status check_counts(const weft_program_segment *p, weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    for (int i = 0; p->segment->options.single && i < graph->n_calls; ++i) {
        const weft_call *call = &graph->calls[i];
        if (!call->reduction || !weft_function_counts(call->specialisation->function) ||
            p->sizes[call->index_set] <= WEFT_COUNTED_MOST)
            continue;
        weft_error_at(error, WEFT_ERROR_UNSUPPORTED, call->place,
                      "'%s' uses the number of each element, and single precision has those up to "
                      "%d, but '%s' has %lld elements",
                      call->label, WEFT_COUNTED_MOST, weft_index_set_name(graph, call->index_set),
                      (long long)p->sizes[call->index_set]);
        weft_error_hint(error, "compute in double precision, or split the list");
        return WEFT_ERROR_UNSUPPORTED;
    }
    return WEFT_OK;
}

weft_status weft_program_prepare(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    if (p->ready)
        goto done;
    TRY(check_counts(p, error));
    TRY(weft_program_nested_choose(p, error));
    TRY(weft_program_patches_choose(p, error));
    const weft_graph *graph = p->segment->graph;
    const weft_plan *plan = p->segment->plan;
    for (int i = 0; i < graph->n_values; ++i)
        if (weft_program_uses(plan, i) && plan->buffer_of[i] < 0)
            TRY(prepare_value(p, &graph->values[i], error));
    for (int i = 0; i < plan->n_buffers; ++i)
        TRY(prepare_buffer(p, i, error));
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_kernel_kind kind = plan->kernels[i].kind;
        if (kind == KERNEL_NESTED)
            TRY(weft_program_nested_prepare(p, i, error));
        else if (kind == KERNEL_CELL_PATCH)
            TRY(weft_program_cell_patch_prepare(p, i, error));
        else if (kind == KERNEL_GROUP)
            TRY(weft_program_group_prepare(p, i, error));
        else if (plan->kernels[i].n_reductions > 0 && kind != KERNEL_FINAL_REDUCTION &&
                 kind != KERNEL_NESTED_FINAL)
            TRY(prepare_reductions(p, i, error));
    }
    TRY(weft_program_product_prepare(p, error));
    TRY(prepare_predicate(p, error));
    p->ready = true;
done:
    return status;
}
