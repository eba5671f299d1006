/* Forced covers: one of the best that the planner knows, or calls joined at random, as long as each
 * set may be a kernel and the kernels can be put in an order. */
#include "core/weft_core.h"
#include "cross_check.h"
#include "fusion/base/array.h"
#include "fusion/codegen/codegen.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/cover.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "random_script.h"

#include <string.h>

enum { COVERS = 4 /* the best that are chosen from */ };

typedef struct partition {
    const weft_graph *graph;
    const weft_dependence *dependence;
    int group[WEFT_CALLS_MAX]; /* its lowest call */
} partition;

/* Must any call of group a come before one of group b? */
static bool group_before(const partition *p, int a, int b) {
    for (int i = 0; i < p->graph->n_calls; ++i)
        for (int k = 0; p->group[i] == a && k < p->graph->n_calls; ++k)
            if (p->group[k] == b && weft_set_has(weft_dependence_reachable(p->dependence, i), k))
                return true;
    return false;
}

/* Groups in an order of execution, any of those that may come next; -1: they are in each other's
 * way. */
static int order_groups(const partition *p, uint64_t state, int *order) {
    bool done[WEFT_CALLS_MAX] = {false};
    int n = 0, n_groups = 0;
    for (int i = 0; i < p->graph->n_calls; ++i)
        n_groups += p->group[i] == i;
    while (n < n_groups) {
        int ready[WEFT_CALLS_MAX], n_ready = 0;
        for (int i = 0; i < p->graph->n_calls; ++i) {
            bool free = p->group[i] == i && !done[i];
            for (int k = 0; free && k < p->graph->n_calls; ++k)
                free = k == i || p->group[k] != k || done[k] || !group_before(p, k, i);
            if (free)
                ready[n_ready++] = i;
        }
        if (n_ready == 0)
            return -1;
        order[n] = ready[random_below(&state, n_ready)];
        done[order[n++]] = true;
    }
    return n;
}

/* Are two of the set apart? */
static bool is_barred(const weft_dependence *r, const uint64_t *set) {
    bool barred = false;
    for (int u = weft_set_next(set, r->words, 0); u >= 0; u = weft_set_next(set, r->words, u + 1))
        barred |= weft_set_meets(weft_dependence_unfusible(r, u), set, r->words);
    return barred;
}

static bool may_be_kernel(const partition *p, int group) {
    uint64_t set[WEFT_CALLS_MAX / 64] = {0};
    for (int i = 0; i < p->graph->n_calls; ++i)
        if (p->group[i] == group)
            weft_set_add(set, i);
    return !is_barred(p->dependence, set) && weft_dependence_convex(p->dependence, set) &&
           weft_fusion_misfit(p->graph, set) == FUSIBLE;
}

static void join(partition *p, uint64_t state) {
    const int n = p->graph->n_calls;
    int order[WEFT_CALLS_MAX];
    for (int i = 0; i < n; ++i)
        p->group[i] = i;
    const int joins = random_below(&state, 4 * n + 1);
    for (int i = 0; i < joins; ++i) {
        const int a = p->group[random_below(&state, n)], b = p->group[random_below(&state, n)];
        int before[WEFT_CALLS_MAX];
        memcpy(before, p->group, sizeof before);
        const int low = a < b ? a : b, high = a < b ? b : a;
        for (int k = 0; k < n; ++k)
            if (p->group[k] == high)
                p->group[k] = low;
        if (!may_be_kernel(p, low) || order_groups(p, state, order) < 0)
            memcpy(p->group, before, sizeof before);
    }
}

/* The groups as fusions, in their order. */
static weft_status fusions_of(const weft_segment *c, const partition *p, uint64_t state,
                              weft_fusions *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int order[WEFT_CALLS_MAX];
    const int n = order_groups(p, state, order);
    *out = *c->fusions;
    out->n = 0;
    out->list = NULL;
    for (int i = 0; i < n; ++i) {
        uint64_t set[WEFT_CALLS_MAX / 64] = {0};
        for (int k = 0; k < p->graph->n_calls; ++k)
            if (p->group[k] == order[i])
                weft_set_add(set, k);
        TRY(weft_fusions_add(c->arena, p->graph, out, set, error));
    }
done:
    return status;
}

/* Any implementation of a fusion that was not pruned. */
static const weft_implementation *choose(const weft_implementations *all, const weft_fusion *fusion,
                                         uint64_t *state) {
    const weft_implementation *chosen = NULL;
    int n = 0;
    for (int i = 0; i < all->n; ++i)
        if (all->list[i].fusion == fusion && all->list[i].reason == NULL &&
            random_below(state, ++n) == 0)
            chosen = &all->list[i];
    return chosen;
}

static weft_status cover_at_random(weft_segment *c, uint64_t state, weft_error *error) {
    weft_status status = WEFT_OK;
    partition p = {.graph = c->graph, .dependence = c->fusions->dependence};
    weft_fusions *fusions = weft_arena_alloc(c->arena, 1, sizeof *fusions);
    weft_cover *cover = weft_arena_alloc(c->arena, 1, sizeof *cover);
    if (fusions == NULL || cover == NULL)
        return weft_no_memory(error);
    join(&p, state);
    TRY(fusions_of(c, &p, state, fusions, error));
    cover->list = weft_arena_alloc(c->arena, (size_t)fusions->n + 1, sizeof(weft_implementation *));
    if (cover->list == NULL)
        return weft_no_memory(error);
    TRY(weft_implementations_make(c->arena, c->graph, fusions, &c->limits, &c->options,
                                  &c->implementations, error));
    for (int i = 0; i < fusions->n; ++i) {
        cover->list[i] = choose(c->implementations, &fusions->list[i], &state);
        if (cover->list[i] == NULL)
            return weft_error_set(error, WEFT_ERROR_INTERNAL, "a fusion has no implementation");
        ++cover->n;
    }
    c->cover = cover;
done:
    return status;
}

static weft_status cover_of_the_best(weft_segment *c, uint64_t state, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cover **list = NULL;
    int n = 0;
    const weft_cover_problem problem = {c->arena,           c->graph,        c->fusions,
                                        c->implementations, WEFT_PLAN_FUSED, false};
    TRY(weft_covers_make(&problem, COVERS, &list, &n, error));
    if (n > 0)
        c->cover = list[state % (uint64_t)n];
done:
    return status;
}

static weft_status plan_segment(weft_segment *c, uint64_t state, bool best, weft_error *error) {
    weft_status status = WEFT_OK;
    if (best)
        TRY(cover_of_the_best(c, state, error));
    else
        TRY(cover_at_random(c, state, error));
    TRY(weft_segment_plan_cover(c, error));
done:
    return status;
}

weft_status partition_make(weft_compilation *c, uint64_t state, bool best, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < c->control->n_segments; ++i)
        TRY(plan_segment(c->control->segments[i], state + (uint64_t)i, best, error));
    TRY(weft_source_make(c, error));
done:
    return status;
}
