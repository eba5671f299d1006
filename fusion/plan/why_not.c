/* Explains why two calls share no kernel. */
#include "fusion/plan/dependence.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/nested.h"

/* A value that must be complete between a and b, or -1: a value on a path from a to b or, with
 * `any`, any value that forces b to a level after a's. */
static int barrier_between(const weft_graph *graph, const weft_fusions *fusions, int a, int b,
                           bool any) {
    const int *level = fusions->level;
    for (int i = 0; i < graph->calls[b].n_operands; ++i) {
        const weft_operand *operand = &graph->calls[b].operands[i];
        const int producer = graph->values[operand->value].producer;
        if (producer >= 0 && (producer == a || (any && level[producer] >= level[a])) &&
            weft_operand_needs_barrier(graph, &graph->calls[b], operand))
            return operand->value;
        for (int k = 0; k < graph->n_accumulations; ++k)
            if (graph->accumulations[k].target == operand->value &&
                level[graph->accumulations[k].call] >= level[a])
                return operand->value;
    }
    for (int i = 0; i < graph->calls[b].n_operands; ++i) {
        int producer = graph->values[graph->calls[b].operands[i].value].producer;
        if (producer >= 0 && level[producer] > level[a]) {
            int through = barrier_between(graph, fusions, a, producer, any);
            if (through >= 0)
                return through;
        }
    }
    return -1;
}

static bool are_candidates(const weft_fusions *fusions, int a, int b) {
    for (int i = 0; i < fusions->n; ++i) {
        bool has_a = false, has_b = false;
        for (int k = 0; k < fusions->list[i].n_calls; ++k) {
            has_a |= fusions->list[i].calls[k] == a;
            has_b |= fusions->list[i].calls[k] == b;
        }
        if (has_a && has_b)
            return true;
    }
    return false;
}

weft_not_fused_reason weft_why_not_fused(const weft_graph *graph, const weft_fusions *fusions,
                                         int a, int b, int *through) {
    *through = -1;
    if (a > b) {
        int swap = a;
        a = b;
        b = swap;
    }
    if (!weft_index_sets_nest(graph, graph->calls[a].index_set, graph->calls[b].index_set))
        return NOT_FUSED_INDEX_SET;
    if (are_candidates(fusions, a, b))
        return FUSIBLE;
    if (fusions->level[a] != fusions->level[b]) {
        const bool ordered = fusions->level[a] < fusions->level[b];
        const int low = ordered ? a : b, high = ordered ? b : a;
        *through = barrier_between(graph, fusions, low, high, false);
        if (*through < 0)
            *through = barrier_between(graph, fusions, low, high, true);
        return NOT_FUSED_BARRIER;
    }
    uint64_t pair[WEFT_CALLS_MAX / 64] = {0};
    weft_set_add(pair, a);
    weft_set_add(pair, b);
    if (weft_set_has(weft_dependence_unfusible(fusions->dependence, a), b))
        return NOT_FUSED_NOTHING;
    const weft_not_fused_reason misfit = weft_fusion_misfit(graph, pair);
    if (misfit != FUSIBLE) /* then no larger set fits */
        return misfit;
    return weft_set_has(weft_dependence_reachable(fusions->dependence, a), b) ? NOT_FUSED_PATH
                                                                              : NOT_FUSED_NOTHING;
}
