/* How a fusion is done: order, variants, what is on chip, and what must move. */
#include "implementations.h"

#include <string.h>

typedef struct implementer {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_fusions *fusions;
    const weft_limits *limits;
    const weft_compile_options *options;
    weft_predictor *predictor;
    weft_order_table orders;
} implementer;

/* Does a call read or make a datum as it is on chip? */
static bool uses(const weft_call *call, const weft_operand *onchip) {
    if (call->result == onchip->datum && onchip->map < 0)
        return true;
    for (int k = 0; k < call->n_operands; ++k)
        if (call->operands[k].datum == onchip->datum && call->operands[k].map == onchip->map)
            return true;
    return false;
}

/* Of a fusion that is too large to be looked at as bits. */
static int peak_live(const weft_graph *graph, const weft_implementation *made) {
    int peak = 0;
    for (int now = 0; now < made->fusion->n_calls; ++now) {
        int live = 0;
        for (int m = 0; m < made->n_onchip; ++m) {
            int first = made->fusion->n_calls, last = -1;
            for (int i = 0; i < made->fusion->n_calls; ++i)
                if (uses(&graph->calls[made->order[i]], &made->onchip[m])) {
                    first = i < first ? i : first;
                    last = i;
                }
            if (first <= now && now <= last)
                live += weft_shape_count(&made->onchip[m].shape);
        }
        peak = live > peak ? live : peak;
    }
    return peak;
}

/* made->order, and what it needs on chip. */
static weft_status find_order(implementer *p, weft_implementation *made, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fusion *fusion = made->fusion;
    const int n = fusion->n_calls;
    weft_onchip *items = NULL;
    int *order = NULL;
    memcpy(made->order, fusion->calls, (size_t)n * sizeof *made->order);
    TRY(weft_onchip_list(p->arena, p->graph, made, error));
    if (n > WEFT_ORDER_CALLS) {
        made->onchip_peak = peak_live(p->graph, made);
        return WEFT_OK;
    }
    items = weft_arena_alloc(p->arena, (size_t)made->n_onchip, sizeof *items);
    order = weft_arena_alloc(p->arena, (size_t)n, sizeof *order);
    if (items == NULL || order == NULL)
        return weft_no_memory(error);
    for (int m = 0; m < made->n_onchip; ++m) {
        items[m].components = weft_shape_count(&made->onchip[m].shape);
        for (int i = 0; i < n; ++i)
            if (uses(&p->graph->calls[fusion->calls[i]], &made->onchip[m]))
                items[m].users |= (uint64_t)1 << i;
    }
    weft_linearise(&p->orders, p->graph, p->fusions->relations, fusion, items, made->n_onchip,
                   order, &made->order_exact);
    made->onchip_peak = weft_order_peak(items, made->n_onchip, order, n);
    for (int i = 0; i < n; ++i)
        made->order[i] = fusion->calls[order[i]];
    /* as the kernel comes to them */
    made->n_onchip = 0;
    TRY(weft_onchip_list(p->arena, p->graph, made, error));
done:
    return status;
}

static weft_status choose_variants(const weft_graph *graph, const weft_compile_options *options,
                                   weft_implementation *made, weft_error *error) {
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[made->order[i]];
        for (int k = 0; k < options->n_variants && call->instance != NULL; ++k) {
            if (strcmp(options->variants[k].function, call->label) != 0)
                continue;
            made->variants[i] = options->variants[k].variant;
            if (made->variants[i] < 0 || made->variants[i] >= call->instance->n_variants)
                return weft_error_set(error, WEFT_ERROR_USAGE, "'%s' has variants 0 to %d, not %d",
                                      call->label, call->instance->n_variants - 1,
                                      made->variants[i]);
        }
    }
    return WEFT_OK;
}

/* A variant forced for a function that the script does not call is a misspelling. */
static weft_status check_variants(weft_arena *arena, const weft_graph *graph,
                                  const weft_compile_options *options, weft_error *error) {
    const char **names = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *names);
    if (names == NULL)
        return weft_no_memory(error);
    for (int k = 0; k < options->n_variants; ++k) {
        size_t n = 0;
        bool called = false;
        for (int i = 0; i < graph->n_calls; ++i) {
            if (graph->calls[i].instance == NULL)
                continue;
            names[n++] = graph->calls[i].label;
            called |= strcmp(graph->calls[i].label, options->variants[k].function) == 0;
        }
        if (called)
            continue;
        const char *near = weft_nearest_name(options->variants[k].function, names, n);
        weft_error_set(error, WEFT_ERROR_USAGE, "a variant is chosen for '%s', which is not called",
                       options->variants[k].function);
        if (near != NULL)
            weft_error_hint(error, "did you mean '%s'?", near);
        return WEFT_ERROR_USAGE;
    }
    return WEFT_OK;
}

static weft_status implement(implementer *p, const weft_fusion *fusion, weft_implementation *one,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    *one = (weft_implementation){.fusion = fusion, .serial_iterations = 1};
    one->order = weft_arena_alloc(p->arena, (size_t)fusion->n_calls, sizeof *one->order);
    one->variants = weft_arena_alloc(p->arena, (size_t)fusion->n_calls, sizeof *one->variants);
    if (one->order == NULL || one->variants == NULL)
        return weft_no_memory(error);
    one->instances_per_block =
        p->options->single ? p->limits->lanes_float : p->limits->lanes_double;
    TRY(find_order(p, one, error));
    TRY(choose_variants(p->graph, p->options, one, error));
    TRY(weft_placement_make(p->arena, p->graph, p->limits, p->options, one, error));
    weft_traffic_count(p->graph, p->options, one);
    weft_predict(p->predictor, one);
done:
    return status;
}

weft_status weft_implementations_make(weft_arena *arena, const weft_graph *graph,
                                      const weft_fusions *fusions, const weft_limits *limits,
                                      const weft_compile_options *options,
                                      weft_implementations **out, weft_error *error) {
    weft_status status = WEFT_OK;
    implementer p = {
        .arena = arena, .graph = graph, .fusions = fusions, .limits = limits, .options = options};
    weft_implementations *made = weft_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL)
        return weft_no_memory(error);
    made->list = weft_arena_alloc(arena, (size_t)fusions->n, sizeof *made->list);
    if (made->list == NULL)
        return weft_no_memory(error);
    TRY(check_variants(arena, graph, options, error));
    TRY(weft_predictor_make(arena, graph, limits, options, &p.predictor, error));
    TRY(weft_order_table_make(arena, &p.orders, error));
    for (int i = 0; i < fusions->n; ++i)
        TRY(implement(&p, &fusions->list[i], &made->list[made->n++], error));
    *out = made;
done:
    return status;
}
