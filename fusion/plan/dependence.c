/* Computes the dependence relation between the calls of a graph.
 *
 * An edge u -> v: u must run before v, in the same kernel or an earlier one. A barrier edge: u must
 * run in an earlier kernel, because v reads results of other elements of u (through a connectivity,
 * a reduction, or an accumulated list). The ends of a path that contains a barrier edge or a call
 * over another index set can never share a kernel. */
#include "fusion/plan/dependence.h"
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/nested.h"

static uint64_t *row(uint64_t *matrix, const weft_dependence *r, int call) {
    return matrix + (size_t)call * (size_t)r->words;
}

static void edge(weft_dependence *r, int from, int to, bool barrier) {
    weft_set_add(row(r->reachable, r, from), to);
    if (barrier) {
        weft_set_add(row(r->unfusible, r, from), to);
        weft_set_add(row(r->unfusible, r, to), from);
    }
}

static void operand_edges(const weft_graph *graph, weft_dependence *r, const weft_call *call,
                          const weft_operand *operand) {
    const weft_value *value = &graph->values[operand->value];
    if (value->producer >= 0)
        edge(r, value->producer, call->id, weft_operand_needs_barrier(graph, call, operand));
    for (int k = 0; k < graph->n_accumulations; ++k)
        if (graph->accumulations[k].target == operand->value &&
            graph->accumulations[k].call != call->id && !weft_fault("target_incomplete"))
            edge(r, graph->accumulations[k].call, call->id, true);
}

/* Readers of a list precede the call that updates it. */
static void update_edges(const weft_graph *graph, weft_dependence *r, const weft_call *update) {
    const int storage = weft_fault("update_too_early") ? -1 : graph->values[update->result].storage;
    for (int i = 0; storage >= 0 && i < update->id; ++i)
        for (int k = 0; k < graph->calls[i].n_operands; ++k)
            if (graph->calls[i].operands[k].value == storage)
                edge(r, i, update->id,
                     graph->calls[i].operands[k].connectivity >= 0 ||
                         graph->calls[i].product_kernel);
}

/* Transitive closure, from the last call to the first, since edges lead to higher numbers. A path
 * u -> v -> w makes u and w unfusible if u and v, or v and w, are unfusible. */
static void close(const weft_graph *graph, weft_dependence *r) {
    for (int u = graph->n_calls - 1; u >= 0; --u) {
        uint64_t *reachable = row(r->reachable, r, u);
        for (int v = u + 1; v < graph->n_calls; ++v) {
            if (!weft_set_has(reachable, v))
                continue;
            const bool barred =
                weft_set_has(row(r->unfusible, r, u), v) ||
                !weft_index_sets_nest(graph, graph->calls[u].index_set, graph->calls[v].index_set);
            const uint64_t *on = row(r->reachable, r, v), *unfusible = row(r->unfusible, r, v);
            for (int w = v + 1; w < graph->n_calls; ++w)
                if (weft_set_has(on, w) && (barred || weft_set_has(unfusible, w))) {
                    weft_set_add(row(r->unfusible, r, u), w);
                    weft_set_add(row(r->unfusible, r, w), u);
                }
            for (int k = 0; k < r->words; ++k)
                reachable[k] |= on[k];
        }
    }
}

weft_status weft_dependence_make(weft_arena *arena, const weft_graph *graph, weft_dependence **out,
                                 weft_error *error) {
    weft_dependence *r = weft_arena_alloc(arena, 1, sizeof *r);
    if (!r)
        return weft_no_memory(error);
    const size_t n = (size_t)graph->n_calls;
    r->n = graph->n_calls;
    r->words = (graph->n_calls + 63) / 64;
    r->reachable = weft_arena_alloc(arena, n * (size_t)r->words + 1, sizeof *r->reachable);
    r->unfusible = weft_arena_alloc(arena, n * (size_t)r->words + 1, sizeof *r->unfusible);
    r->shares = weft_arena_alloc(arena, n * (size_t)r->words + 1, sizeof *r->shares);
    if (!r->reachable || !r->unfusible || !r->shares)
        return weft_no_memory(error);
    for (int i = 0; i < graph->n_calls; ++i) {
        for (int k = 0; k < graph->calls[i].n_operands; ++k)
            operand_edges(graph, r, &graph->calls[i], &graph->calls[i].operands[k]);
        update_edges(graph, r, &graph->calls[i]);
    }
    close(graph, r);
    for (int i = 0; i < graph->n_calls; ++i)
        for (int k = 0; k < i; ++k) {
            if (!weft_index_sets_nest(graph, graph->calls[i].index_set,
                                      graph->calls[k].index_set)) {
                weft_set_add(row(r->unfusible, r, i), k);
                weft_set_add(row(r->unfusible, r, k), i);
            }
            if (weft_calls_share(graph, &graph->calls[k], &graph->calls[i])) {
                weft_set_add(row(r->shares, r, i), k);
                weft_set_add(row(r->shares, r, k), i);
            }
        }
    *out = r;
    return WEFT_OK;
}

bool weft_dependence_convex(const weft_dependence *r, const uint64_t *set) {
    const int words = r->words;
    uint64_t outside[WEFT_CALLS_MAX / 64] = {0};
    for (int u = weft_set_next(set, words, 0); u >= 0; u = weft_set_next(set, words, u + 1))
        for (int k = 0; k < words; ++k)
            outside[k] |= weft_dependence_reachable(r, u)[k];
    for (int k = 0; k < words; ++k)
        outside[k] &= ~set[k];
    for (int w = weft_set_next(outside, words, 0); w >= 0; w = weft_set_next(outside, words, w + 1))
        if (weft_set_meets(weft_dependence_reachable(r, w), set, words))
            return false;
    return true;
}
