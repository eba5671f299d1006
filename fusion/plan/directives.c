/* What the script asks of the plan (fusion/script/directives.c). A fuse block is one kernel: its calls are a
 * candidate, and nothing is one that has some of them and not all. No kernel has calls from both
 * sides of a split. The unfused plan is as ever, and a forced one is as it says. */
#include "fusion/plan/directives.h"
#include "core/weft_core.h"
#include "fusion/base/array.h"
#include "fusion/graph/graph.h"
#include "fusion/graph/print.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/segment.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_compile.h"

#include <string.h>

static void set_of(const weft_graph *graph, int fuse, uint64_t *set) {
    memset(set, 0, WEFT_CALLS_MAX / 8);
    for (int i = 0; i < graph->n_calls; ++i)
        if (graph->calls[i].fuse == fuse)
            weft_set_add(set, i);
}

static int count(const weft_graph *graph, const uint64_t *set) {
    int n = 0;
    for (int i = 0; i < graph->n_calls; ++i)
        n += weft_set_has(set, i);
    return n;
}

static weft_status refuse(const weft_graph *graph, weft_place place, int a, int b, const char *why,
                          const char *what, weft_error *error) {
    weft_text first = {0}, second = {0};
    print_name(graph, graph->calls[a].result, &first);
    print_name(graph, graph->calls[b].result, &second);
    weft_error_at(error, WEFT_ERROR_TYPE, place, "'%s' and '%s' cannot share a kernel: %s%s",
                  first.failed ? "" : first.data, second.failed ? "" : second.data, why, what);
    weft_error_hint(error, "weft explain --why %s %s, without the block, says more",
                    first.failed ? "" : first.data, second.failed ? "" : second.data);
    weft_text_free(&first);
    weft_text_free(&second);
    return WEFT_ERROR_TYPE;
}

static weft_status check_block(const weft_segment *c, weft_place place, const uint64_t *set,
                               weft_error *error) {
    const weft_graph *graph = c->graph;
    int a = -1, b = -1, outside = -1;
    switch (weft_set_split(graph, c->fusions->relations, set, &a, &b, &outside)) {
    case SPLIT_INDEX_SET:
        return refuse(graph, place, a, b, "they are over different index sets", "", error);
    case SPLIT_BARRIER:
        return refuse(graph, place, a, b, "there is a global barrier between them", "", error);
    case SPLIT_PATH:
        return refuse(graph, place, a, b, "between them is, outside of the block, ",
                      graph->data[graph->calls[outside].result].name, error);
    case SPLIT_PRODUCT:
        return weft_error_at(error, WEFT_ERROR_TYPE, place,
                             "an operator's product takes not all of these into its kernel");
    default:
        return WEFT_OK;
    }
}

weft_status weft_wishes_add(weft_segment *c, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int fuse = 1; fuse <= c->graph->n_fuses; ++fuse) {
        uint64_t set[WEFT_CALLS_MAX / 64];
        set_of(c->graph, fuse, set);
        const int n = count(c->graph, set);
        if (c->options.plan == WEFT_PLAN_UNFUSED || c->options.forced_plan != NULL || n == 0)
            continue;
        TRY(weft_wishes_check_block(c, fuse, error));
        if (n < 2)
            continue;
        TRY(check_block(c, c->graph->fuses[fuse - 1].place, set, error));
        if (!weft_fusions_have(c->graph, c->fusions, set))
            TRY(weft_fusions_add(c->arena, c->graph, c->fusions, set, error));
    }
done:
    return status;
}

static bool breaks_split(const weft_graph *graph, const weft_fusion *fusion) {
    int part = -1;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const int own = graph->calls[fusion->calls[i]].part;
        if (own >= 0 && part >= 0 && own != part)
            return true;
        part = own >= 0 ? own : part;
    }
    return false;
}

static bool breaks_fuse(const weft_graph *graph, const weft_fusion *fusion) {
    for (int i = 0; i < fusion->n_calls; ++i) {
        const int fuse = graph->calls[fusion->calls[i]].fuse;
        uint64_t set[WEFT_CALLS_MAX / 64];
        int n = 0;
        if (fuse == 0)
            continue;
        set_of(graph, fuse, set);
        for (int k = 0; k < fusion->n_calls; ++k)
            n += weft_set_has(set, fusion->calls[k]);
        if (n != count(graph, set))
            return true;
    }
    return false;
}

weft_status weft_wishes_prune(weft_segment *c, weft_error *error) {
    if (c->options.plan == WEFT_PLAN_UNFUSED || c->options.forced_plan != NULL ||
        (c->script->n_fuses == 0 && c->script->n_splits == 0))
        return WEFT_OK;
    for (int i = 0; i < c->implementations->n; ++i) {
        weft_implementation *one = &c->implementations->list[i];
        if (breaks_split(c->graph, one->fusion))
            one->reason = "the script has a split between its calls";
        else if (breaks_fuse(c->graph, one->fusion))
            one->reason = "it cuts a fuse block of the script";
    }
    return weft_wishes_check_kept(c, error);
}
