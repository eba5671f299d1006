/* Eliminates calls and values that no returned value depends on, so that a form may compute more
 * than one use of it needs. */
#include "fusion/base/array.h"
#include "fusion/graph/private.h"

#include <string.h>

static void mark_call(const weft_graph *graph, int call, bool *live) {
    if (call < 0 || live[call])
        return;
    live[call] = true;
    for (int i = 0; i < graph->calls[call].n_operands; ++i) {
        int value = graph->calls[call].operands[i].value;
        mark_call(graph, graph->values[value].producer, live);
    }
}

static bool target_is_live(const weft_graph *graph, int target, const bool *live) {
    if (graph->values[target].returned || graph->values[target].is_input)
        return true;
    for (int i = 0; i < graph->n_calls; ++i)
        for (int k = 0; live[i] && k < graph->calls[i].n_operands; ++k)
            if (graph->calls[i].operands[k].value == target)
                return true;
    return false;
}

static void mark(const weft_graph *graph, bool *live, bool *live_accumulation) {
    for (int i = 0; i < graph->n_values; ++i)
        if (graph->values[i].returned || graph->values[i].storage >= 0)
            mark_call(graph, graph->values[i].producer, live);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < graph->n_accumulations; ++i) {
            const weft_accumulation *a = &graph->accumulations[i];
            if (live_accumulation[i] || !target_is_live(graph, a->target, live))
                continue;
            live_accumulation[i] = changed = true;
            mark_call(graph, a->call, live);
        }
    }
}

/* Calls keep their order and are renumbered; values keep their numbers. */
static void compact(weft_graph *graph, const bool *live, const bool *live_accumulation,
                    int *moved) {
    int n = 0;
    for (int i = 0; i < graph->n_calls; ++i) {
        moved[i] = live[i] ? n : -1;
        if (!live[i])
            continue;
        graph->calls[n] = graph->calls[i];
        graph->calls[n].id = n;
        ++n;
    }
    graph->n_calls = n;
    for (int i = 0; i < graph->n_values; ++i)
        if (graph->values[i].producer >= 0)
            graph->values[i].producer = moved[graph->values[i].producer];
    n = 0;
    for (int i = 0; i < graph->n_accumulations; ++i) {
        if (!live_accumulation[i])
            continue;
        graph->accumulations[n] = graph->accumulations[i];
        graph->accumulations[n].call = moved[graph->accumulations[n].call];
        ++n;
    }
    graph->n_accumulations = n;
}

weft_status weft_graph_eliminate_dead(weft_arena *arena, weft_graph *graph, weft_error *error) {
    bool *live = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *live);
    bool *live_accumulation =
        weft_arena_alloc(arena, (size_t)graph->n_accumulations + 1, sizeof *live_accumulation);
    int *moved = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *moved);
    if (!live || !live_accumulation || !moved)
        return weft_no_memory(error);
    mark(graph, live, live_accumulation);
    compact(graph, live, live_accumulation, moved);
    if (graph->n_calls == 0)
        return weft_error_refuse(error, WEFT_ERROR_TYPE,
                                 "the script returns nothing that it computes",
                                 "end it with: return NAME;");
    return WEFT_OK;
}
