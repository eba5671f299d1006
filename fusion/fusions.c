/* Which calls may share a kernel. A kernel has no global barrier inside, so an accumulated list,
 * the result of a reduction, or a list made over another index set must be complete before the
 * kernel that reads it starts: such data put their readers one level up. An update comes no earlier
 * than the readers of the value it replaces, and a level after those that read it through a map.
 * Calls of one level and one index set are convex together: an edge out of them leads to a higher
 * level and never back (Fousek et al. 2011, section 4.2.1). */
#include "graph_internal.h"

/* Does fusing two calls spare traffic: one uses the other's result, or both read the same datum or
 * map? */
static bool shares(const weft_graph *graph, const weft_call *a, const weft_call *b) {
    for (int i = 0; i < b->n_operands; ++i) {
        if (b->operands[i].datum == a->result)
            return true;
        for (int k = 0; k < a->n_operands; ++k)
            if (a->operands[k].datum == b->operands[i].datum ||
                (a->operands[k].map >= 0 && a->operands[k].map == b->operands[i].map))
                return true;
    }
    for (int i = 0; i < a->n_operands; ++i)
        if (a->operands[i].datum == b->result ||
            a->operands[i].datum == graph->data[b->result].storage)
            return true;
    for (int i = 0; i < graph->n_accumulations; ++i)
        for (int k = 0; k < graph->n_accumulations; ++k)
            if (graph->accumulations[i].call == a->id && graph->accumulations[k].call == b->id &&
                graph->accumulations[i].map == graph->accumulations[k].map)
                return true;
    return false;
}

static bool accumulates(const weft_graph *graph, int call) {
    for (int i = 0; i < graph->n_accumulations; ++i)
        if (graph->accumulations[i].call == call)
            return true;
    return false;
}

/* One rows call a kernel, and no accumulating stores beside it. */
static bool may_join(const weft_graph *graph, const int *group, int n, int a, int b) {
    int n_rows = 0, n_accumulating = 0;
    for (int i = 0; i < n; ++i)
        if (group[i] == a || group[i] == b) {
            n_rows += graph->calls[i].routine != NULL;
            n_accumulating += accumulates(graph, i);
        }
    return n_rows == 0 || (n_rows == 1 && n_accumulating == 0);
}

int weft_fusion_rows(const weft_graph *graph, const weft_fusion *fusion) {
    for (int i = 0; i < fusion->n_calls; ++i)
        if (graph->calls[fusion->calls[i]].routine != NULL)
            return fusion->calls[i];
    return -1;
}

int weft_fusion_folded(const weft_graph *graph, const weft_fusion *fusion) {
    const int rows = weft_fusion_rows(graph, fusion);
    for (int i = 0; rows >= 0 && i < fusion->n_calls; ++i)
        if (graph->calls[fusion->calls[i]].result == graph->calls[rows].operands[0].datum)
            return fusion->calls[i];
    return -1;
}

/* Connected components by sharing, within one level and index set. group[i] is the lowest call of
 * i's. */
static void group_calls(const weft_graph *graph, const int *level, int *group) {
    for (int i = 0; i < graph->n_calls; ++i)
        group[i] = i;
    for (int i = 0; i < graph->n_calls; ++i) { /* a rows call and what it folds in, above all */
        const int producer = graph->calls[i].routine != NULL
                                 ? graph->data[graph->calls[i].operands[0].datum].producer
                                 : -1;
        if (producer >= 0 && level[producer] == level[i] && group[producer] == producer)
            group[i] = producer;
    }
    for (int i = 0; i < graph->n_calls; ++i) {
        for (int k = 0; k < i; ++k) {
            if (level[i] != level[k] || graph->calls[i].index_set != graph->calls[k].index_set ||
                group[i] == group[k] || !shares(graph, &graph->calls[k], &graph->calls[i]) ||
                !may_join(graph, group, i + 1, group[i], group[k]))
                continue;
            int low = group[i] < group[k] ? group[i] : group[k];
            int high = group[i] < group[k] ? group[k] : group[i];
            for (int m = 0; m <= i; ++m)
                if (group[m] == high)
                    group[m] = low;
        }
    }
}

static weft_status fusion_fill(weft_arena *arena, const weft_graph *graph, const int *level,
                               const int *group, int first, weft_fusion *out, weft_error *error) {
    out->calls = weft_arena_alloc(arena, (size_t)graph->n_calls, sizeof *out->calls);
    if (out->calls == NULL)
        return weft_no_memory(error);
    out->index_set = graph->calls[first].index_set;
    out->level = level[first];
    for (int i = first; i < graph->n_calls; ++i)
        if (i == first || (group != NULL && group[i] == group[first]))
            out->calls[out->n_calls++] = i;
    return WEFT_OK;
}

weft_status weft_fusions_make(weft_arena *arena, const weft_graph *graph, weft_fusions **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)graph->n_calls;
    weft_fusions *made = weft_arena_alloc(arena, 1, sizeof *made);
    int *group = weft_arena_alloc(arena, n, sizeof *group);
    if (made == NULL || group == NULL)
        return weft_no_memory(error);
    made->level = weft_arena_alloc(arena, n, sizeof *made->level);
    made->list = weft_arena_alloc(arena, 2 * n, sizeof *made->list);
    if (made->level == NULL || made->list == NULL)
        return weft_no_memory(error);
    weft_levels_make(graph, made->level);
    group_calls(graph, made->level, group);
    for (int i = 0; i < graph->n_calls; ++i)
        TRY(fusion_fill(arena, graph, made->level, NULL, i, &made->list[made->n++], error));
    for (int i = 0; i < graph->n_calls; ++i) {
        if (group[i] != i)
            continue;
        TRY(fusion_fill(arena, graph, made->level, group, i, &made->list[made->n], error));
        if (made->list[made->n].n_calls > 1)
            ++made->n;
        else
            made->list[made->n] = (weft_fusion){0};
    }
    *out = made;
done:
    return status;
}

/* The datum that has to be complete between a and b, or -1: one that leads from a to b, or with
 * `any` one that keeps b at its level whatever a has to do with it. */
static int barrier_between(const weft_graph *graph, const weft_fusions *fusions, int a, int b,
                           bool any) {
    const int *level = fusions->level;
    for (int i = 0; i < graph->calls[b].n_operands; ++i) {
        const weft_operand *operand = &graph->calls[b].operands[i];
        const int producer = graph->data[operand->datum].producer;
        if (producer >= 0 && (producer == a || (any && level[producer] >= level[a])) &&
            (operand->map >= 0 || graph->calls[producer].reduction != NULL ||
             graph->calls[b].routine != NULL))
            return operand->datum;
        for (int k = 0; k < graph->n_accumulations; ++k)
            if (graph->accumulations[k].target == operand->datum &&
                level[graph->accumulations[k].call] >= level[a])
                return operand->datum;
    }
    for (int i = 0; i < graph->calls[b].n_operands; ++i) {
        int producer = graph->data[graph->calls[b].operands[i].datum].producer;
        if (producer >= 0 && level[producer] > level[a]) {
            int through = barrier_between(graph, fusions, a, producer, any);
            if (through >= 0)
                return through;
        }
    }
    return -1;
}

weft_split_reason weft_fusion_split(const weft_graph *graph, const weft_fusions *fusions, int a,
                                    int b, int *through) {
    *through = -1;
    if (a > b) {
        int swap = a;
        a = b;
        b = swap;
    }
    if (graph->calls[a].index_set != graph->calls[b].index_set)
        return SPLIT_INDEX_SET;
    if (fusions->level[a] != fusions->level[b]) {
        const bool ordered = fusions->level[a] < fusions->level[b];
        const int low = ordered ? a : b, high = ordered ? b : a;
        *through = barrier_between(graph, fusions, low, high, false);
        if (*through < 0)
            *through = barrier_between(graph, fusions, low, high, true);
        return SPLIT_BARRIER;
    }
    for (int i = 0; i < fusions->n; ++i) {
        bool has_a = false, has_b = false;
        for (int k = 0; k < fusions->list[i].n_calls; ++k) {
            has_a |= fusions->list[i].calls[k] == a;
            has_b |= fusions->list[i].calls[k] == b;
        }
        if (has_a && has_b)
            return SPLIT_NONE;
    }
    return SPLIT_NOTHING;
}
