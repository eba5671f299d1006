/* Choose implementations that cover every call once: one a call, or the maximal legal fusions. */
#include "graph_internal.h"

/* Before: lower level, then lower first call. */
static bool before(const weft_implementation *a, const weft_implementation *b) {
    if (a->fusion->level != b->fusion->level)
        return a->fusion->level < b->fusion->level;
    return a->fusion->calls[0] < b->fusion->calls[0];
}

static void sort_by_execution(weft_cover *cover) {
    for (int i = 1; i < cover->n; ++i) {
        const weft_implementation *one = cover->list[i];
        int k = i;
        for (; k > 0 && before(one, cover->list[k - 1]); --k)
            cover->list[k] = cover->list[k - 1];
        cover->list[k] = one;
    }
}

weft_status weft_cover_make(weft_arena *arena, const weft_graph *graph,
                            const weft_implementations *implementations, weft_plan_kind kind,
                            weft_cover **out, weft_error *error) {
    weft_cover *made = weft_arena_alloc(arena, 1, sizeof *made);
    bool *covered = weft_arena_alloc(arena, (size_t)graph->n_calls, sizeof *covered);
    if (made == NULL || covered == NULL)
        return weft_no_memory(error);
    made->list = weft_arena_alloc(arena, (size_t)graph->n_calls, sizeof *made->list);
    if (made->list == NULL)
        return weft_no_memory(error);
    /* the largest candidates stand last */
    for (int i = implementations->n - 1; i >= 0; --i) {
        const weft_implementation *one = &implementations->list[i];
        const weft_fusion *fusion = one->fusion;
        bool fits = one->reason == NULL && (kind == WEFT_PLAN_FUSED || fusion->n_calls == 1);
        for (int k = 0; k < fusion->n_calls; ++k)
            fits = fits && !covered[fusion->calls[k]];
        if (!fits)
            continue;
        for (int k = 0; k < fusion->n_calls; ++k)
            covered[fusion->calls[k]] = true;
        made->list[made->n++] = one;
        made->seconds += one->seconds;
    }
    sort_by_execution(made);
    *out = made;
    return WEFT_OK;
}
