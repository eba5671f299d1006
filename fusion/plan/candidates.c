/* Lists the candidate fusions of a graph.
 *
 * A kernel contains no global barrier, so an accumulated list, the result of a reduction, or a list
 * over another index set must be complete before the kernel that reads it starts: the readers of
 * such data are one level higher. An update is not earlier than the readers of the value that it
 * replaces, and one level after those that read it through a connectivity. All calls of one level
 * and one index set form a convex set, because an edge out of it leads to a higher level and never
 * back (Fousek et al. 2011, section 4.2.1). */
#include "fusion/base/array.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/nested.h"

#include <string.h>

/* Does a call load through a connectivity, or accumulate through it into a list? */
static bool reads_connectivity(const weft_graph *graph, const weft_call *call, int connectivity) {
    for (int i = 0; i < call->n_operands; ++i)
        if (call->operands[i].connectivity == connectivity)
            return true;
    for (int i = 0; i < graph->n_accumulations; ++i)
        if (graph->accumulations[i].call == call->id && !graph->accumulations[i].matrix &&
            graph->accumulations[i].connectivity == connectivity)
            return true;
    return false;
}

bool weft_calls_share(const weft_graph *graph, const weft_call *a, const weft_call *b) {
    for (int i = 0; i < graph->n_connectivities; ++i)
        if (reads_connectivity(graph, a, i) && reads_connectivity(graph, b, i))
            return true;
    for (int i = 0; i < b->n_operands; ++i) {
        if (b->operands[i].value == a->result)
            return true;
        for (int k = 0; k < a->n_operands; ++k)
            if (a->operands[k].value == b->operands[i].value)
                return true;
    }
    for (int i = 0; i < a->n_operands; ++i)
        if (a->operands[i].value == b->result ||
            a->operands[i].value == graph->values[b->result].storage)
            return true;
    for (int i = 0; i < graph->n_accumulations; ++i)
        for (int k = 0; k < graph->n_accumulations; ++k)
            if (graph->accumulations[i].call == a->id && graph->accumulations[k].call == b->id &&
                graph->accumulations[i].connectivity == graph->accumulations[k].connectivity)
                return true;
    return false;
}

int weft_fusion_product(const weft_graph *graph, const weft_fusion *fusion) {
    for (int i = 0; i < fusion->n_calls; ++i)
        if (graph->calls[fusion->calls[i]].product_kernel)
            return fusion->calls[i];
    return -1;
}

int weft_fusion_prologue(const weft_graph *graph, const weft_fusion *fusion) {
    const int product = weft_fusion_product(graph, fusion);
    for (int i = 0; product >= 0 && i < fusion->n_calls; ++i)
        if (graph->calls[fusion->calls[i]].result == graph->calls[product].operands[0].value)
            return fusion->calls[i];
    return -1;
}

static bool may_join(const weft_graph *graph, const int *group, int a, int b) {
    uint64_t set[WEFT_CALLS_MAX / 64] = {0};
    for (int i = 0; i < graph->n_calls; ++i)
        if (group[i] == a || group[i] == b)
            weft_set_add(set, i);
    return weft_fusion_misfit(graph, set) == FUSIBLE;
}

/* Connected components of calls that share data, within one level and index set. group[i] is the
 * lowest call of i's component. */
static void group_calls(const weft_graph *graph, const int *level, int *group) {
    for (int i = 0; i < graph->n_calls; ++i)
        group[i] = i;
    for (int i = 0; i < graph->n_calls; ++i) { /* first join product calls with their prologues */
        const int producer = graph->calls[i].product_kernel
                                 ? graph->values[graph->calls[i].operands[0].value].producer
                                 : -1;
        if (producer >= 0 && level[producer] == level[i] && group[producer] == producer &&
            may_join(graph, group, i, producer))
            group[i] = producer;
    }
    for (int i = 0; i < graph->n_calls; ++i) {
        for (int k = 0; k < i; ++k) {
            if (level[i] != level[k] ||
                !weft_index_sets_nest(graph, graph->calls[i].index_set,
                                      graph->calls[k].index_set) ||
                group[i] == group[k] ||
                !weft_calls_share(graph, &graph->calls[k], &graph->calls[i]) ||
                !may_join(graph, group, group[i], group[k]))
                continue;
            int low = group[i] < group[k] ? group[i] : group[k];
            int high = group[i] < group[k] ? group[k] : group[i];
            for (int m = 0; m < graph->n_calls; ++m)
                if (group[m] == high)
                    group[m] = low;
        }
    }
}

bool weft_fusions_have(const weft_graph *graph, const weft_fusions *fusions, const uint64_t *set) {
    const int n = weft_set_count(set, graph->n_calls);
    for (int i = 0; i < fusions->n; ++i) {
        const weft_fusion *one = &fusions->list[i];
        int k = 0;
        while (k < one->n_calls && weft_set_has(set, one->calls[k]))
            ++k;
        if (k == n && one->n_calls == n)
            return true;
    }
    return false;
}

weft_status weft_fusions_add(weft_arena *arena, const weft_graph *graph, weft_fusions *fusions,
                             const uint64_t *set, weft_error *error) {
    weft_fusion one = {.n_calls = weft_set_count(set, graph->n_calls), .index_set = UNIFORM};
    one.calls = weft_arena_alloc(arena, (size_t)one.n_calls, sizeof *one.calls);
    if (!one.calls)
        return weft_no_memory(error);
    for (int i = 0, n = 0; i < graph->n_calls; ++i)
        if (weft_set_has(set, i)) {
            one.calls[n++] = i;
            if (one.n_calls > 0 &&
                !weft_index_set_is_factor(graph, graph->calls[i].index_set, one.index_set))
                one.index_set = graph->calls[i].index_set;
            if (one.level < fusions->level[i])
                one.level = fusions->level[i];
            one.spans_depths |= fusions->level[i] != fusions->level[one.calls[0]];
        }
    return WEFT_APPEND(arena, fusions->list, fusions->n, one, error);
}

/* Add the maximal groups of each level, of any size up to max_fusion (0: no limit). */
static weft_status add_groups(weft_arena *arena, const weft_graph *graph, weft_fusions *made,
                              const int *group, int max_fusion, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < graph->n_calls; ++i) {
        uint64_t set[WEFT_CALLS_MAX / 64] = {0};
        int n = 0;
        for (int k = i; k < graph->n_calls && group[i] == i; ++k)
            if (group[k] == i) {
                weft_set_add(set, k);
                ++n;
            }
        if (n > 1 && (max_fusion == 0 || n <= max_fusion) && !weft_fusions_have(graph, made, set) &&
            weft_dependence_convex(made->dependence, set))
            TRY(weft_fusions_add(arena, graph, made, set, error));
    }
done:
    return status;
}

/* Receives the subgraphs found by weft_fusion_sets. */
typedef struct collector {
    weft_arena *arena;
    const weft_graph *graph;
    weft_fusions *made;
    weft_error *error;
} collector;

static weft_status collect(void *user, const uint64_t *set) {
    const collector *c = user;
    return weft_fusions_add(c->arena, c->graph, c->made, set, c->error);
}

/* Add all subgraphs of up to max_fusion calls; if there are too many, reduce that size. */
static weft_status add_subgraphs(weft_arena *arena, const weft_graph *graph, weft_fusions *made,
                                 int max_fusion, weft_error *error) {
    weft_status status = WEFT_OK;
    const int singles = made->n;
    collector c = {arena, graph, made, error};
    made->max_calls = max_fusion > 0 ? max_fusion : WEFT_FUSION_CALLS;
    for (bool all = false; !all && made->max_calls > 1; made->max_calls -= !all) {
        made->n = singles;
        made->counts = (weft_fusion_counts){0};
        TRY(weft_fusion_sets(graph, made->dependence, made->max_calls, &made->counts, collect, &c));
        all = !made->counts.stopped;
        made->shrunk |= !all;
    }
    if (made->counts.stopped)
        made->n = singles;
done:
    return status;
}

weft_status weft_fusions_begin(weft_arena *arena, const weft_graph *graph, weft_fusions **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_fusions *made = NULL;
    weft_dependence *dependence = NULL;
    TRY(WEFT_ALLOC(arena, made, 1, error));
    TRY(WEFT_ALLOC(arena, made->level, (size_t)graph->n_calls, error));
    weft_barrier_depths_make(graph, made->level);
    TRY(weft_dependence_make(arena, graph, &dependence, error));
    made->dependence = dependence;
    *out = made;
done:
    return status;
}

weft_status weft_fusions_make(weft_arena *arena, const weft_graph *graph,
                              const weft_compile_options *options, weft_fusions **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_fusions *made = NULL;
    int *group = weft_arena_alloc(arena, (size_t)graph->n_calls, sizeof *group);
    if (!group)
        TRY(weft_no_memory(error));
    TRY(weft_fusions_begin(arena, graph, &made, error));
    group_calls(graph, made->level, group);
    for (int i = 0; i < graph->n_calls; ++i) {
        uint64_t set[WEFT_CALLS_MAX / 64] = {0};
        weft_set_add(set, i);
        TRY(weft_fusions_add(arena, graph, made, set, error));
    }
    TRY(add_subgraphs(arena, graph, made, options->max_fusion, error));
    TRY(add_groups(arena, graph, made, group, options->max_fusion, error));
    *out = made;
done:
    return status;
}
