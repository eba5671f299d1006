/* How a fusion is done: order, variants, what is on chip, and what must move. */
#include "graph_internal.h"

#include <string.h>

static bool contains(const weft_fusion *fusion, int call) {
    for (int i = 0; i < fusion->n_calls; ++i)
        if (fusion->calls[i] == call)
            return true;
    return false;
}

int weft_datum_storage(const weft_graph *graph, int datum) {
    return graph->data[datum].storage >= 0 ? graph->data[datum].storage : datum;
}

bool weft_datum_leaves(const weft_graph *graph, const weft_fusion *fusion, int datum) {
    if (graph->data[datum].returned || graph->data[datum].storage >= 0)
        return true;
    for (int i = 0; i < graph->n_calls; ++i) {
        if (contains(fusion, i))
            continue;
        for (int k = 0; k < graph->calls[i].n_operands; ++k)
            if (graph->calls[i].operands[k].datum == datum)
                return true;
    }
    return false;
}

weft_shape weft_operand_whole(const weft_graph *graph, const weft_operand *operand) {
    const weft_shape *shape = &graph->data[operand->datum].shape;
    if (operand->map < 0)
        return *shape;
    weft_shape whole = {.rank = shape->rank + 1, .sizes = {graph->maps[operand->map].width}};
    for (int i = 0; i < shape->rank; ++i)
        whole.sizes[i + 1] = shape->sizes[i];
    return whole;
}

/* The distinct data (with map) that a fusion's kernel holds: loaded ones first, then its results.
 */
static weft_status list_onchip(weft_arena *arena, const weft_graph *graph,
                               weft_implementation *made, weft_error *error) {
    size_t most = 0;
    const weft_fusion *fusion = made->fusion;
    for (int i = 0; i < fusion->n_calls; ++i)
        most += (size_t)graph->calls[fusion->calls[i]].n_operands + 1;
    made->onchip = weft_arena_alloc(arena, most, sizeof *made->onchip);
    made->placement = weft_arena_alloc(arena, most, sizeof *made->placement);
    if (made->onchip == NULL || made->placement == NULL)
        return weft_no_memory(error);
    for (int i = 0; i < fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[made->order[i]];
        for (int k = 0; k <= call->n_operands; ++k) {
            weft_operand operand = {.datum = call->result, .map = -1};
            bool known = false;
            if (k < call->n_operands) {
                operand.datum = call->operands[k].datum;
                operand.map = call->operands[k].map;
            }
            operand.shape = weft_operand_whole(graph, &operand);
            for (int m = 0; m < made->n_onchip; ++m)
                known |=
                    made->onchip[m].datum == operand.datum && made->onchip[m].map == operand.map;
            if (!known)
                made->onchip[made->n_onchip++] = operand; /* PLACE_REGISTER */
        }
    }
    return WEFT_OK;
}

/* Components live at once: a datum lives from its load or production to its last use. */
static int peak_live(const weft_graph *graph, const weft_implementation *made) {
    int peak = 0;
    for (int now = 0; now < made->fusion->n_calls; ++now) {
        int live = 0;
        for (int m = 0; m < made->n_onchip; ++m) {
            int first = made->fusion->n_calls, last = -1;
            for (int i = 0; i < made->fusion->n_calls; ++i) {
                const weft_call *call = &graph->calls[made->order[i]];
                bool uses = call->result == made->onchip[m].datum && made->onchip[m].map < 0;
                for (int k = 0; k < call->n_operands; ++k)
                    uses |= call->operands[k].datum == made->onchip[m].datum &&
                            call->operands[k].map == made->onchip[m].map;
                if (uses && i < first)
                    first = i;
                if (uses)
                    last = i;
            }
            if (first <= now && now <= last)
                live += weft_shape_count(&made->onchip[m].shape);
        }
        if (live > peak)
            peak = live;
    }
    return peak;
}

/* Bytes per instance that must move between memory and the chip. */
static void count_data(const weft_graph *graph, weft_implementation *made, double real_bytes,
                       bool gathered) {
    const weft_fusion *fusion = made->fusion;
    for (int m = 0; m < made->n_onchip; ++m) {
        const weft_operand *operand = &made->onchip[m];
        const weft_datum *datum = &graph->data[operand->datum];
        const bool inside =
            datum->producer >= 0 && operand->map < 0 && contains(fusion, datum->producer);
        const double bytes = real_bytes * weft_shape_count(&operand->shape);
        bool leaves = datum->index_set >= 0 && weft_datum_leaves(graph, fusion, operand->datum);
        for (int i = 0; gathered && i < graph->n_accumulations; ++i)
            leaves |=
                graph->accumulations[i].source == operand->datum && !graph->accumulations[i].matrix;
        if (!inside && datum->index_set >= 0)
            made->bytes_loaded += bytes;
        if (inside && leaves)
            made->bytes_stored += bytes;
    }
}

/* Connectivities once each, and for coloured accumulations their targets, read and written. */
static void count_maps(const weft_graph *graph, weft_implementation *made, double real_bytes,
                       bool gathered) {
    for (int map = 0; map < graph->n_maps; ++map) {
        bool used = false;
        for (int m = 0; m < made->n_onchip; ++m)
            used |= made->onchip[m].map == map;
        for (int i = 0; i < graph->n_accumulations; ++i) {
            const weft_accumulation *a = &graph->accumulations[i];
            if (a->map != map || !contains(made->fusion, a->call) || (gathered && !a->matrix))
                continue;
            const int count = weft_shape_count(&graph->data[a->source].shape);
            made->bytes_loaded += real_bytes * count + (a->matrix ? 4.0 * count : 0.0);
            made->bytes_stored += real_bytes * count;
            used |= !a->matrix;
        }
        if (used)
            made->bytes_loaded += 4.0 * graph->maps[map].width;
    }
}

static void count_traffic(const weft_graph *graph, weft_implementation *made,
                          const weft_compile_options *options) {
    const double real_bytes = options->single ? sizeof(float) : sizeof(double);
    const bool gathered = options->scatter == WEFT_SCATTER_GATHERED;
    count_data(graph, made, real_bytes, gathered);
    count_maps(graph, made, real_bytes, gathered);
    for (int i = 0; i < made->fusion->n_calls; ++i)
        made->flops += graph->calls[made->fusion->calls[i]].flops;
}

static weft_status choose_variants(const weft_graph *graph, const weft_compile_options *options,
                                   weft_implementation *made, weft_error *error) {
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[made->order[i]];
        for (int k = 0; k < options->n_variants && call->instance != NULL; ++k) {
            if (strcmp(options->variants[k].function, call->label) != 0)
                continue;
            made->variants[i] = options->variants[k].variant;
            if (made->variants[i] < 0 || made->variants[i] >= call->instance->n_variants)
                return weft_error_set(error, WEFT_ERROR_USAGE, "'%s' has variants 0 to %d, not %d",
                                      call->label, call->instance->n_variants - 1,
                                      made->variants[i]);
        }
    }
    return WEFT_OK;
}

/* A variant forced for a function that the script does not call is a misspelling. */
static weft_status check_variants(weft_arena *arena, const weft_graph *graph,
                                  const weft_compile_options *options, weft_error *error) {
    const char **names = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *names);
    if (names == NULL)
        return weft_no_memory(error);
    for (int k = 0; k < options->n_variants; ++k) {
        size_t n = 0;
        bool called = false;
        for (int i = 0; i < graph->n_calls; ++i) {
            if (graph->calls[i].instance == NULL)
                continue;
            names[n++] = graph->calls[i].label;
            called |= strcmp(graph->calls[i].label, options->variants[k].function) == 0;
        }
        if (called)
            continue;
        const char *near = weft_nearest_name(options->variants[k].function, names, n);
        weft_error_set(error, WEFT_ERROR_USAGE, "a variant is chosen for '%s', which is not called",
                       options->variants[k].function);
        if (near != NULL)
            weft_error_hint(error, "did you mean '%s'?", near);
        return WEFT_ERROR_USAGE;
    }
    return WEFT_OK;
}

weft_status weft_implementations_make(weft_arena *arena, const weft_graph *graph,
                                      const weft_fusions *fusions, const weft_limits *limits,
                                      const weft_compile_options *options,
                                      weft_implementations **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_implementations *made = weft_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL)
        return weft_no_memory(error);
    made->list = weft_arena_alloc(arena, (size_t)fusions->n, sizeof *made->list);
    if (made->list == NULL)
        return weft_no_memory(error);
    TRY(check_variants(arena, graph, options, error));
    for (int i = 0; i < fusions->n; ++i) {
        const weft_fusion *fusion = &fusions->list[i];
        weft_implementation *one = &made->list[made->n++];
        one->fusion = fusion;
        one->order = weft_arena_alloc(arena, (size_t)fusion->n_calls, sizeof *one->order);
        one->variants = weft_arena_alloc(arena, (size_t)fusion->n_calls, sizeof *one->variants);
        if (one->order == NULL || one->variants == NULL)
            return weft_no_memory(error);
        /* script order is a topological order */
        memcpy(one->order, fusion->calls, (size_t)fusion->n_calls * sizeof *one->order);
        one->instances_per_block = options->single ? limits->lanes_float : limits->lanes_double;
        one->serial_iterations = 1;
        TRY(choose_variants(graph, options, one, error));
        TRY(list_onchip(arena, graph, one, error));
        one->onchip_peak = peak_live(graph, one);
        TRY(weft_placement_make(arena, graph, limits, options, one, error));
        count_traffic(graph, one, options);
        double transfer = limits->bandwidth > 0
                              ? (one->bytes_loaded + one->bytes_stored) / limits->bandwidth
                              : 0.0;
        double compute = limits->flops > 0 ? one->flops / limits->flops : 0.0;
        one->seconds = transfer > compute ? transfer : compute;
    }
    *out = made;
done:
    return status;
}
