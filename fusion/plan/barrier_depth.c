/* Computes the barrier depth of each call: the number of global barriers before it.
 *
 * Each call first gets the lowest depth that its data allow. Then, from the last call to the first,
 * a call whose result is used only after a barrier moves past that barrier if this saves traffic:
 * otherwise the result would be stored before the barrier and loaded after it. */
#include "fusion/plan/legality.h"

/* Does this call update a list that is an operand of `reader`? */
static bool updates_operand_of(const weft_graph *graph, const weft_call *update,
                               const weft_call *reader) {
    const int storage = graph->values[update->result].storage;
    for (int k = 0; storage >= 0 && k < reader->n_operands; ++k)
        if (reader->operands[k].value == storage)
            return true;
    return false;
}

/* Are all operands of a product's prologue complete before the product starts? An update that
 * precedes the product in the script got its level earlier, so it counts as incomplete. */
static bool is_complete_before(const weft_graph *graph, const int *level, int call, int product) {
    const weft_call *made = &graph->calls[call];
    for (int k = 0; k < made->n_operands; ++k) {
        const int producer = graph->values[made->operands[k].value].producer;
        if (producer >= 0 && level[producer] >= level[call])
            return false;
    }
    for (int i = 0; i < product; ++i)
        if (i != call && updates_operand_of(graph, &graph->calls[i], made))
            return false;
    return true;
}

/* Does a call read this operand at elements other than its own, directly or as the prologue of a
 * product call? */
static bool reads_around(const weft_graph *graph, const int *level, const weft_call *reader,
                         const weft_operand *operand) {
    if (operand->connectivity >= 0 || reader->product_kernel)
        return true;
    for (int i = reader->id + 1; i < graph->n_calls; ++i)
        if (graph->calls[i].product_kernel && level[i] == level[reader->id] &&
            graph->calls[i].operands[0].value == reader->result)
            return true;
    return false;
}

/* Does a reader of this operand need a barrier after its producer, given the current levels? */
static bool needs_barrier(const weft_graph *graph, const int *level, const weft_call *reader,
                          const weft_operand *operand) {
    const int producer = graph->values[operand->value].producer;
    if (weft_operand_needs_barrier(graph, reader, operand))
        return true;
    if (producer < 0 || graph->values[operand->value].index_set == UNIFORM)
        return false;
    if (reader->product_kernel)
        return !is_complete_before(graph, level, producer, reader->id);
    return reads_around(graph, level, reader, operand);
}

static int earliest(const weft_graph *graph, const int *level, const weft_call *call) {
    int highest = 0;
    for (int i = 0; i < call->n_operands; ++i) {
        const weft_operand *operand = &call->operands[i];
        const weft_value *value = &graph->values[operand->value];
        int needed = 0;
        if (value->producer >= 0)
            needed = level[value->producer] + needs_barrier(graph, level, call, operand);
        for (int k = 0; k < graph->n_accumulations; ++k) {
            const weft_accumulation *a = &graph->accumulations[k];
            if (a->target == operand->value && level[a->call] + 1 > needed)
                needed = level[a->call] + 1;
        }
        if (needed > highest)
            highest = needed;
    }
    /* an update may not precede the readers of the value that it replaces */
    const int storage = graph->values[call->result].storage;
    for (int i = 0; storage >= 0 && i < call->id; ++i)
        for (int k = 0; k < graph->calls[i].n_operands; ++k) {
            const weft_operand *operand = &graph->calls[i].operands[k];
            const int needed = level[i] + reads_around(graph, level, &graph->calls[i], operand);
            if (operand->value == storage && needed > highest)
                highest = needed;
        }
    return highest;
}

/* The latest level, at most `last`, at which a call reads its operands before their updates. */
static int before_updates(const weft_graph *graph, const int *level, const weft_call *call,
                          int last) {
    for (int k = 0; k < call->n_operands; ++k)
        for (int i = call->id + 1; i < graph->n_calls; ++i) {
            const int limit = level[i] - reads_around(graph, level, call, &call->operands[k]);
            if (graph->values[graph->calls[i].result].storage == call->operands[k].value &&
                limit < last)
                last = limit;
        }
    return last;
}

/* The latest level at which a call produces its result in time for its readers. Calls that
 * accumulate, and calls without readers, keep their level. */
static int latest(const weft_graph *graph, const int *level, const weft_call *call) {
    int last = -1;
    for (int i = 0; i < graph->n_accumulations; ++i)
        if (graph->accumulations[i].call == call->id)
            return level[call->id];
    for (int i = call->id + 1; i < graph->n_calls; ++i)
        for (int k = 0; k < graph->calls[i].n_operands; ++k) {
            const weft_operand *operand = &graph->calls[i].operands[k];
            const int limit = level[i] - needs_barrier(graph, level, &graph->calls[i], operand);
            if (operand->value == call->result && (last < 0 || limit < last))
                last = limit;
        }
    return last < 0 ? level[call->id] : before_updates(graph, level, call, last);
}

static int components(const weft_graph *graph, const weft_operand *operand) {
    const weft_shape whole = weft_operand_whole(graph, operand);
    return graph->values[operand->value].index_set == UNIFORM ? 0 : weft_shape_count(&whole);
}

/* Does another call of this level load the same operand? */
static bool is_loaded(const weft_graph *graph, const int *level, const weft_call *besides,
                      const weft_operand *operand, int at) {
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_call *call = &graph->calls[i];
        if (i == besides->id || level[i] != at || call->index_set != besides->index_set)
            continue;
        for (int k = 0; k < call->n_operands; ++k)
            if (call->operands[k].value == operand->value &&
                call->operands[k].connectivity == operand->connectivity)
                return true;
    }
    return false;
}

/* Components of the result that need not be stored and loaded if a call moves to level `to`, where
 * readers of it are. */
static int result_spared(const weft_graph *graph, const int *level, const weft_call *call, int to) {
    const weft_operand result = {.value = call->result, .connectivity = -1};
    bool beside = false, elsewhere = graph->values[call->result].returned ||
                                     graph->values[call->result].storage >= 0;
    for (int i = call->id + 1; i < graph->n_calls; ++i)
        for (int k = 0; k < graph->calls[i].n_operands; ++k) {
            const weft_operand *operand = &graph->calls[i].operands[k];
            if (operand->value != call->result)
                continue;
            if (operand->connectivity < 0 && level[i] == to)
                beside = true;
            else
                elsewhere = true;
        }
    return beside ? (elsewhere ? 1 : 2) * components(graph, &result) : 0;
}

/* Components of the operands that must additionally be loaded or stored if a call moves to level
 * `to`, less those that are loaded there anyway. */
static int operands_cost(const weft_graph *graph, const int *level, const weft_call *call, int to) {
    int cost = 0;
    for (int k = 0; k < call->n_operands; ++k) {
        const weft_operand *operand = &call->operands[k];
        const int producer = graph->values[operand->value].producer;
        const int count = components(graph, operand);
        bool repeated = false;
        for (int i = 0; i < k; ++i)
            repeated |= call->operands[i].value == operand->value &&
                        call->operands[i].connectivity == operand->connectivity;
        if (repeated)
            continue;
        const bool made_here =
            producer >= 0 && operand->connectivity < 0 && level[producer] == level[call->id];
        const bool there = is_loaded(graph, level, call, operand, to);
        if (made_here)
            cost += there ? 0 : 2 * count;
        else if (is_loaded(graph, level, call, operand, level[call->id]))
            cost += there ? 0 : count;
        else
            cost -= there ? count : 0;
    }
    return cost;
}

void weft_barrier_depths_make(const weft_graph *graph, int *level) {
    for (int i = 0; i < graph->n_calls; ++i)
        level[i] = earliest(graph, level, &graph->calls[i]);
    for (int i = graph->n_calls - 1; i >= 0; --i) {
        const weft_call *call = &graph->calls[i];
        const int to = latest(graph, level, call);
        if (to > level[i] &&
            result_spared(graph, level, call, to) > operands_cost(graph, level, call, to))
            level[i] = to;
    }
}
