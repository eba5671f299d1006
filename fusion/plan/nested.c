/* Finds the slices and phases of kernels over a product of two index sets. */
#include "fusion/plan/nested.h"
#include "fusion/plan/dependence.h"

/* The slice that completes the result of a reduction over one of two index sets. */
static weft_slice slice_of(const weft_call *call) {
    switch (call->reduction != NULL ? call->reduction->over : REDUCE_ALL) {
    case REDUCE_SECOND:
        return SLICE_ROWS;
    case REDUCE_FIRST:
        return SLICE_COLUMNS;
    default:
        return SLICE_ANY;
    }
}

bool weft_index_sets_nest(const weft_graph *graph, int a, int b) {
    return a == b || weft_index_set_is_factor(graph, a, b) || weft_index_set_is_factor(graph, b, a);
}

bool weft_fusion_is_nested(const weft_graph *graph, const weft_fusion *fusion) {
    if (!weft_index_set_is_product(graph, fusion->index_set))
        return false;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[fusion->calls[i]];
        if (call->reduction != NULL && call->reduction->over != REDUCE_ALL)
            return true;
        for (int k = 0; k < call->n_operands; ++k)
            if (weft_index_set_is_factor(graph, graph->values[call->operands[k].value].index_set,
                                         fusion->index_set))
                return true;
    }
    return false;
}

bool weft_reduction_is_closed(const weft_call *call, weft_slice slice) {
    return slice_of(call) != SLICE_ANY && slice_of(call) == slice;
}

weft_slice weft_set_slice(const weft_graph *graph, const uint64_t *set) {
    weft_slice slice = SLICE_ANY;
    for (int i = 0; i < graph->n_calls; ++i) {
        for (int k = 0; weft_set_has(set, i) && k < graph->calls[i].n_operands; ++k) {
            const int producer = graph->values[graph->calls[i].operands[k].value].producer;
            if (producer < 0 || !weft_set_has(set, producer))
                continue;
            const weft_slice needed = slice_of(&graph->calls[producer]);
            if (needed == SLICE_ANY)
                continue;
            if (slice != SLICE_ANY && slice != needed)
                return SLICE_NONE;
            slice = needed;
        }
    }
    return slice;
}

weft_slice weft_fusion_slice(const weft_graph *graph, const weft_fusion *fusion) {
    uint64_t set[WEFT_CALLS_MAX / 64] = {0};
    for (int i = 0; i < fusion->n_calls; ++i)
        weft_set_add(set, fusion->calls[i]);
    const weft_slice slice = weft_set_slice(graph, set);
    return slice == SLICE_ANY ? SLICE_ROWS : slice;
}

/* The first phase in which the readers of the value that a call overwrites have all run. */
static int after_readers(const weft_graph *graph, const weft_fusion *fusion, const int *phase,
                         int member) {
    const int storage = graph->values[graph->calls[fusion->calls[member]].result].storage;
    int first = 0;
    for (int m = 0; storage >= 0 && m < member; ++m) {
        const weft_call *reader = &graph->calls[fusion->calls[m]];
        for (int k = 0; k < reader->n_operands; ++k)
            if (reader->operands[k].value == storage && phase[m] > first)
                first = phase[m];
    }
    return first;
}

int weft_nested_phases(const weft_graph *graph, const weft_fusion *fusion, int *phase) {
    const weft_slice slice = weft_fusion_slice(graph, fusion);
    int n_phases = 0;
    for (int i = 0; i < fusion->n_calls; ++i) { /* in ascending, topological order */
        const weft_call *call = &graph->calls[fusion->calls[i]];
        phase[i] = after_readers(graph, fusion, phase, i);
        for (int k = 0; k < call->n_operands; ++k)
            for (int m = 0; m < i; ++m) {
                const weft_call *producer = &graph->calls[fusion->calls[m]];
                const int ready = phase[m] + weft_reduction_is_closed(producer, slice);
                if (producer->result == call->operands[k].value && ready > phase[i])
                    phase[i] = ready;
            }
        if (weft_index_set_is_product(graph, call->index_set) && phase[i] >= n_phases)
            n_phases = phase[i] + 1;
    }
    return n_phases;
}
