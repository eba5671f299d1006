/* Forced covers: calls that may share a kernel are joined at random, as long as the kernels can
 * still be put in an order. */
#include "flow_internal.h"
#include "random_script.h"
#include "trial.h"

#include <string.h>

typedef struct partition {
    const weft_compilation *c;
    const weft_graph *graph;
    int group[WEFT_CALLS_MAX], component[WEFT_CALLS_MAX];
} partition;

static bool reads(const weft_graph *graph, int call, int datum) {
    for (int i = 0; i < graph->calls[call].n_operands; ++i)
        if (graph->calls[call].operands[i].datum == datum)
            return true;
    return false;
}

/* Must call a come before call b? It makes what b reads, or reads what b overwrites. */
static bool comes_before(const weft_graph *graph, int a, int b) {
    const int storage = graph->data[graph->calls[b].result].storage;
    return a != b && (reads(graph, b, graph->calls[a].result) ||
                      (storage >= 0 && a < b && reads(graph, a, storage)));
}

static bool group_before(const partition *p, int a, int b) {
    for (int i = 0; i < p->graph->n_calls; ++i)
        for (int k = 0; p->group[i] == a && k < p->graph->n_calls; ++k)
            if (p->group[k] == b && comes_before(p->graph, i, k))
                return true;
    return false;
}

/* Groups in an order of execution, those of lower levels first; -1: they are in each other's way.
 */
static int order_groups(const partition *p, int *order) {
    bool done[WEFT_CALLS_MAX] = {false};
    int n = 0, n_groups = 0;
    for (int i = 0; i < p->graph->n_calls; ++i)
        n_groups += p->group[i] == i;
    while (n < n_groups) {
        int next = -1;
        for (int i = 0; i < p->graph->n_calls; ++i) {
            bool free = p->group[i] == i && !done[i] &&
                        (next < 0 || p->c->fusions->level[i] < p->c->fusions->level[next]);
            for (int k = 0; free && k < p->graph->n_calls; ++k)
                free = k == i || p->group[k] != k || done[k] ||
                       p->c->fusions->level[k] != p->c->fusions->level[i] || !group_before(p, k, i);
            next = free ? i : next;
        }
        if (next < 0)
            return -1;
        done[next] = true;
        order[n++] = next;
    }
    return n;
}

static void find_components(partition *p) {
    const weft_fusions *fusions = p->c->fusions;
    for (int i = 0; i < p->graph->n_calls; ++i)
        p->component[i] = -1 - i;
    for (int i = 0; i < fusions->n; ++i)
        for (int k = 0; fusions->list[i].n_calls > 1 && k < fusions->list[i].n_calls; ++k)
            p->component[fusions->list[i].calls[k]] = i;
}

static void join(partition *p, uint64_t state) {
    const int n = p->graph->n_calls;
    int order[WEFT_CALLS_MAX];
    for (int i = 0; i < n; ++i)
        p->group[i] = i;
    const int joins = random_below(&state, 2 * n + 1);
    for (int i = 0; i < joins; ++i) {
        const int a = random_below(&state, n), b = random_below(&state, n);
        int before[WEFT_CALLS_MAX];
        if (p->component[a] != p->component[b] || p->group[a] == p->group[b] ||
            p->graph->calls[a].routine != NULL || p->graph->calls[b].routine != NULL)
            continue;
        memcpy(before, p->group, sizeof before);
        const int low = p->group[a] < p->group[b] ? p->group[a] : p->group[b];
        const int high = p->group[a] < p->group[b] ? p->group[b] : p->group[a];
        for (int k = 0; k < n; ++k)
            if (p->group[k] == high)
                p->group[k] = low;
        if (order_groups(p, order) < 0)
            memcpy(p->group, before, sizeof before);
    }
}

static weft_status plan_segment(weft_compilation *c, uint64_t state, weft_error *error) {
    weft_status status = WEFT_OK;
    partition p = {.c = c, .graph = c->graph};
    const size_t n_calls = (size_t)c->graph->n_calls;
    int order[WEFT_CALLS_MAX];
    find_components(&p);
    join(&p, state);
    weft_fusions *fusions = weft_arena_alloc(c->arena, 1, sizeof *fusions);
    weft_cover *cover = weft_arena_alloc(c->arena, 1, sizeof *cover);
    if (fusions == NULL || cover == NULL)
        return weft_no_memory(error);
    *fusions = *c->fusions;
    fusions->n = order_groups(&p, order);
    fusions->list = weft_arena_alloc(c->arena, n_calls + 1, sizeof *fusions->list);
    cover->list = weft_arena_alloc(c->arena, n_calls + 1, sizeof(weft_implementation *));
    if (fusions->list == NULL || cover->list == NULL)
        return weft_no_memory(error);
    for (int i = 0; i < fusions->n; ++i) {
        weft_fusion *one = &fusions->list[i];
        one->calls = weft_arena_alloc(c->arena, n_calls, sizeof *one->calls);
        if (one->calls == NULL)
            return weft_no_memory(error);
        one->index_set = c->graph->calls[order[i]].index_set;
        one->level = c->fusions->level[order[i]];
        for (int k = 0; k < c->graph->n_calls; ++k)
            if (p.group[k] == order[i])
                one->calls[one->n_calls++] = k;
    }
    TRY(weft_implementations_make(c->arena, c->graph, fusions, &c->limits, &c->options,
                                  &c->implementations, error));
    for (int i = 0; i < fusions->n; ++i)
        cover->list[cover->n++] = &c->implementations->list[i];
    c->cover = cover;
    TRY(weft_plan_make(c->arena, c->graph, cover, &c->limits, &c->options, &c->plan, error));
done:
    return status;
}

weft_status partition_make(weft_compilation *c, uint64_t state, weft_error *error) {
    weft_status status = WEFT_OK;
    if (c->flow == NULL) {
        TRY(plan_segment(c, state, error));
        TRY(weft_source_make(c->arena, c->graph, c->plan, &c->limits, &c->options, &c->source,
                             error));
        return WEFT_OK;
    }
    for (int i = 0; i < c->flow->n_segments; ++i) {
        weft_compilation *segment = c->flow->segments[i];
        TRY(plan_segment(segment, state + (uint64_t)i, error));
        for (int k = 0; k < segment->plan->n_kernels; ++k) {
            weft_plan_kernel *kernel = &segment->plan->kernels[k];
            kernel->name = weft_arena_print(c->arena, "s%d_%s", i, kernel->name);
            if (kernel->name == NULL)
                return weft_no_memory(error);
        }
    }
    TRY(weft_flow_source(c, &c->source, error));
done:
    return status;
}
