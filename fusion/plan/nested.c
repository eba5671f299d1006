/* Finds the slices and phases of kernels over a product of two index sets. */
#include "fusion/plan/nested.h"
#include "core/base/fault.h"
#include "fusion/plan/dependence.h"

/* The slice that completes the result of a reduction over one of two index sets. A triangle is walked by
 * rows; in a symmetric one, other rows contribute to every result. */
static weft_slice slice_of(const weft_call *call) {
    if (weft_reduction_is_open(call))
        return SLICE_ANY;
    switch (call->reduction ? call->reduction->over : REDUCE_ALL) {
    case REDUCE_SECOND:
        return SLICE_ROWS;
    case REDUCE_FIRST:
        return SLICE_COLUMNS;
    default:
        return SLICE_ANY;
    }
}

bool weft_reduction_is_open(const weft_call *call) {
    return call->reduction &&
           (call->reduction->over == REDUCE_ALL || weft_call_is_mirrored(call) ||
            call->is_divided ||
            (call->reduction->over == REDUCE_FIRST && call->pairs.triangle != TRIANGLE_NONE));
}

bool weft_call_is_mirrored(const weft_call *call) {
    return call->reduction && call->pairs.symmetric;
}

bool weft_index_sets_nest(const weft_graph *graph, int a, int b) {
    return a == b || weft_index_set_is_factor(graph, a, b) || weft_index_set_is_factor(graph, b, a);
}

bool weft_fusion_is_nested(const weft_graph *graph, const weft_fusion *fusion) {
    if (!weft_index_set_is_product(graph, fusion->index_set))
        return false;
    if (graph->index_sets[fusion->index_set].pairs.triangle != TRIANGLE_NONE)
        return true;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[fusion->calls[i]];
        if (call->reduction && call->reduction->over != REDUCE_ALL)
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

bool weft_product_holds_columns(const weft_graph *graph, int index_set) {
    return graph->few_rows && weft_index_set_has_few_rows(graph, index_set);
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
            if (slice != SLICE_ANY && slice != needed && !weft_fault("slices_mixed"))
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
    if (slice == SLICE_ANY && weft_product_holds_columns(graph, fusion->index_set))
        return SLICE_COLUMNS;
    return slice == SLICE_ANY ? SLICE_ROWS : slice;
}

static bool reads(const weft_call *call, int value) {
    for (int k = 0; k < call->n_operands; ++k)
        if (call->operands[k].value == value)
            return true;
    return false;
}

/* The last phase that loads the value which a call overwrites. A map that reads it is computed again
 * in the later phases that use its result. */
static int last_load(const weft_graph *graph, const weft_fusion *fusion, const int *phase,
                     int member) {
    const int storage = graph->values[graph->calls[fusion->calls[member]].result].storage;
    bool loads[WEFT_CALLS_MAX] = {false};
    int last = 0;
    for (int i = 0; storage >= 0 && i < fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[fusion->calls[i]];
        loads[i] = i != member && reads(call, storage);
        for (int m = 0; m < i && i != member; ++m) {
            const weft_call *producer = &graph->calls[fusion->calls[m]];
            loads[i] |= loads[m] && !producer->reduction && reads(call, producer->result) &&
                        weft_index_set_is_product(graph, call->index_set);
        }
        if (loads[i] && phase[i] > last && !weft_fault("overwritten_early"))
            last = phase[i];
    }
    return last;
}

/* One pass over the calls in ascending, topological order; does a phase change? */
static bool raise_phases(const weft_graph *graph, const weft_fusion *fusion, int *phase) {
    const weft_slice slice = weft_fusion_slice(graph, fusion);
    bool changes = false;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[fusion->calls[i]];
        int first = last_load(graph, fusion, phase, i);
        for (int m = 0; m < i; ++m) {
            const weft_call *producer = &graph->calls[fusion->calls[m]];
            const int ready = phase[m] + weft_reduction_is_closed(producer, slice);
            if (reads(call, producer->result) && ready > first)
                first = ready;
        }
        changes |= first > phase[i];
        phase[i] = first > phase[i] ? first : phase[i];
    }
    return changes;
}

int weft_nested_phases(const weft_graph *graph, const weft_fusion *fusion, int *phase) {
    int n_phases = 0;
    for (int i = 0; i < fusion->n_calls; ++i)
        phase[i] = 0;
    while (raise_phases(graph, fusion, phase))
        for (int i = 0; i < fusion->n_calls; ++i)
            if (phase[i] > fusion->n_calls)
                return 0;
    for (int i = 0; i < fusion->n_calls; ++i)
        if (weft_index_set_is_product(graph, graph->calls[fusion->calls[i]].index_set) &&
            phase[i] >= n_phases)
            n_phases = phase[i] + 1;
    return n_phases;
}
