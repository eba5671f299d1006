/* Where data live while a kernel of several threads an instance works, on a GPU. Lane l of a warp
 * is instance l of the block, warp t its thread t. What calls of one thread make and use among
 * themselves stays in the registers of the first warp; the rest is in shared memory as
 * [component][lane], so that neighbouring lanes use neighbouring banks and no padding is needed. A
 * barrier stands only where a thread reads what another one has written since the last (Filipovic
 * et al. 2015, section 3.2.3). */
#include "graph_internal.h"

enum { CLEAN = -1, LOADED = -2 };

static int threads_of(const weft_graph *graph, const weft_implementation *made, int position) {
    const weft_call *call = &graph->calls[made->order[position]];
    return call->instance != NULL ? call->instance->threads[made->variants[position]] : 1;
}

static int find(const weft_implementation *made, int datum, int map) {
    for (int m = 0; m < made->n_onchip; ++m)
        if (made->onchip[m].datum == datum && made->onchip[m].map == map)
            return m;
    return -1;
}

/* Does each thread of the reader use only what it wrote itself as the same thread of the writer? */
static bool mappings_agree(const weft_graph *graph, const weft_implementation *made, int writer,
                           int reader, int operand) {
    const weft_call *from = &graph->calls[made->order[writer]];
    const weft_call *to = &graph->calls[made->order[reader]];
    const int threads = threads_of(graph, made, reader);
    if (threads_of(graph, made, writer) != threads)
        return false;
    if (threads == 1 || weft_planted("mapping_ignored"))
        return true;
    const int n = weft_shape_count(&to->operands[operand].shape);
    for (int t = 0; t < threads; ++t)
        for (int c = 0; c < n; ++c) {
            const int reads =
                weft_instance_touches(to->instance, made->variants[reader], operand, t, c);
            const int writes = weft_instance_touches(from->instance, made->variants[writer], -1, t,
                                                     to->operands[operand].offset + c);
            if (reads != 0 && (reads < 0 || writes != 1))
                return false;
        }
    return true;
}

static void place(const weft_graph *graph, weft_implementation *made) {
    for (int m = 0; m < made->n_onchip; ++m)
        made->placement[m] = PLACE_REGISTER;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[made->order[i]];
        if (threads_of(graph, made, i) == 1)
            continue;
        for (int k = 0; k <= call->n_operands; ++k) {
            const int m = k < call->n_operands
                              ? find(made, call->operands[k].datum, call->operands[k].map)
                              : find(made, call->result, -1);
            if (graph->data[made->onchip[m].datum].index_set != UNIFORM)
                made->placement[m] = PLACE_SHARED;
        }
    }
    for (int m = 0; m < made->n_onchip; ++m)
        if (made->placement[m] == PLACE_SHARED)
            made->shared_components += weft_shape_count(&made->onchip[m].shape);
}

static bool needs_barrier(const weft_graph *graph, const weft_implementation *made, int position,
                          const int *written) {
    const weft_call *call = &graph->calls[made->order[position]];
    if (weft_planted("missing_barrier"))
        return false;
    for (int k = 0; k < call->n_operands; ++k) {
        const int m = find(made, call->operands[k].datum, call->operands[k].map);
        if (made->placement[m] == PLACE_SHARED && written[m] != CLEAN &&
            (written[m] == LOADED || !mappings_agree(graph, made, written[m], position, k)))
            return true;
    }
    return false;
}

static void clean(const weft_implementation *made, int *written) {
    for (int m = 0; m < made->n_onchip; ++m)
        written[m] = CLEAN;
}

/* Results that leave are stored by whichever threads are free. */
static bool stores_written(const weft_graph *graph, const weft_implementation *made,
                           const int *written) {
    for (int m = 0; m < made->n_onchip; ++m) {
        const int datum = made->onchip[m].datum;
        bool leaves = weft_datum_leaves(graph, made->fusion, datum);
        for (int i = 0; i < graph->n_accumulations; ++i)
            leaves |= graph->accumulations[i].source == datum;
        if (made->placement[m] == PLACE_SHARED && written[m] >= 0 && leaves &&
            !weft_planted("missing_store_barrier"))
            return true;
    }
    return false;
}

weft_status weft_placement_make(weft_arena *arena, const weft_graph *graph,
                                const weft_limits *limits, const weft_compile_options *options,
                                weft_implementation *made, weft_error *error) {
    const int n = made->fusion->n_calls;
    const int lanes = options->single ? limits->lanes_float : limits->lanes_double;
    int most = 1;
    bool reduces = weft_fusion_rows(graph, made->fusion) >= 0;
    for (int i = 0; i < n; ++i) {
        const int threads = threads_of(graph, made, i);
        most = threads > most ? threads : most;
        reduces |= graph->calls[made->order[i]].reduction != NULL;
    }
    /* reductions are made by chunks, with a thread an instance */
    if (lanes != WEFT_CUDA_LANES || most == 1 || reduces)
        return WEFT_OK;
    int *written = weft_arena_alloc(arena, (size_t)made->n_onchip + 1, sizeof *written);
    made->barriers = weft_arena_alloc(arena, (size_t)n + 1, sizeof *made->barriers);
    if (written == NULL || made->barriers == NULL)
        return weft_no_memory(error);
    place(graph, made);
    const size_t real_bytes = options->single ? sizeof(float) : sizeof(double);
    if ((size_t)made->shared_components * WEFT_CUDA_LANES * real_bytes > limits->onchip_bytes) {
        for (int m = 0; m < made->n_onchip; ++m)
            made->placement[m] = PLACE_REGISTER;
        made->shared_components = 0; /* does not fit: one thread does the work of all */
        return WEFT_OK;
    }
    made->warps = most < WEFT_CUDA_WARPS_MAX ? most : WEFT_CUDA_WARPS_MAX;
    for (int m = 0; m < made->n_onchip; ++m)
        written[m] = made->placement[m] == PLACE_SHARED ? LOADED : CLEAN;
    for (int i = 0; i < n; ++i) {
        made->barriers[i] = needs_barrier(graph, made, i, written);
        if (made->barriers[i])
            clean(made, written);
        const int m = find(made, graph->calls[made->order[i]].result, -1);
        written[m] = made->placement[m] == PLACE_SHARED ? i : CLEAN;
    }
    made->barriers[n] = stores_written(graph, made, written);
    return WEFT_OK;
}
