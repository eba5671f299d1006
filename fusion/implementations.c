/* How a fusion is done: order, variants, what is on chip, and what must move. */
#include "implementations.h"
#include "block_shapes.h"

#include <math.h>
#include <string.h>

enum { TRIALS_MOST = 200000 /* choices of variants in all */ };

typedef struct implementer {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_fusions *fusions;
    const weft_limits *limits;
    const weft_compile_options *options;
    weft_predictor *predictor;
    weft_placer *placer;
    weft_order_table orders;
    weft_implementations *made;
    bool is_gpu;
    int combinations_most; /* of variants, a fusion */
    /* of the fusion being looked at */
    weft_implementation trial;
    weft_implementation kept[WEFT_IMPLEMENTATIONS_KEPT + 1];
    int n_kept;
    bool *forced;         /* [n_calls] by position: its variant is the user's */
    weft_block_wish wish; /* the script's */
} implementer;

/* The variants that are forced, by option or by the script; the first for the others. */
static weft_status choose_variants(implementer *p, weft_implementation *made, weft_error *error) {
    const weft_compile_options *options = p->options;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        p->forced[i] = call->variant >= 0;
        made->variants[i] = p->forced[i] ? call->variant : 0;
        for (int k = 0; k < options->n_variants && call->instance != NULL; ++k) {
            if (strcmp(options->variants[k].function, call->label) != 0)
                continue;
            p->forced[i] = true;
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

/* ---- the space of a fusion's implementations ---- */

static int threads_at(const implementer *p, const weft_implementation *made, int position) {
    const weft_call *call = &p->graph->calls[made->order[position]];
    return call->instance != NULL ? call->instance->threads[made->variants[position]] : 1;
}

static int most_threads(const implementer *p, const weft_implementation *made) {
    int most = 1;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const int threads = threads_at(p, made, i);
        most = threads > most ? threads : most;
    }
    return most;
}

static bool is_better(const weft_implementation *a, const weft_implementation *b) {
    return a->cost < b->cost;
}

/* Keep the trial among the best; its arrays are copied. */
static weft_status keep(implementer *p, weft_error *error) {
    const size_t n = (size_t)p->trial.fusion->n_calls, m = (size_t)p->trial.n_onchip + 1;
    int at = p->n_kept;
    if (p->n_kept == WEFT_IMPLEMENTATIONS_KEPT) {
        ++p->made->slower;
        if (!is_better(&p->trial, &p->kept[at - 1]))
            return WEFT_OK;
        --at;
    } else
        ++p->n_kept;
    for (; at > 0 && is_better(&p->trial, &p->kept[at - 1]); --at)
        p->kept[at] = p->kept[at - 1];
    weft_implementation *one = &p->kept[at];
    *one = p->trial;
    one->variants = weft_arena_alloc(p->arena, n, sizeof *one->variants);
    one->placement = weft_arena_alloc(p->arena, m, sizeof *one->placement);
    one->offsets = weft_arena_alloc(p->arena, m, sizeof *one->offsets);
    one->barriers =
        one->warps > 0 ? weft_arena_alloc(p->arena, n + 1, sizeof *one->barriers) : NULL;
    if (one->variants == NULL || one->placement == NULL || one->offsets == NULL ||
        (one->warps > 0 && one->barriers == NULL))
        return weft_no_memory(error);
    memcpy(one->variants, p->trial.variants, n * sizeof *one->variants);
    memcpy(one->placement, p->trial.placement, m * sizeof *one->placement);
    memcpy(one->offsets, p->trial.offsets, m * sizeof *one->offsets);
    if (one->barriers != NULL)
        memcpy(one->barriers, p->trial.barriers, (n + 1) * sizeof *one->barriers);
    return WEFT_OK;
}

/* Predict the trial in this shape. false: it cannot be. */
static bool try_shape(implementer *p, const weft_block_shape *shape) {
    weft_implementation *trial = &p->trial;
    bool *const barriers = trial->barriers;
    ++p->made->considered;
    trial->warps = shape->warps;
    trial->instances_per_block = shape->instances;
    trial->serial_iterations = shape->iterations;
    trial->shared_components = 0;
    if ((shape->warps > 0 ? shape->warps : 1) * shape->instances > WEFT_BLOCK_THREADS) {
        ++p->made->too_many_threads;
        return false;
    }
    if (shape->warps == 0) {
        for (int m = 0; m < trial->n_onchip; ++m)
            trial->placement[m] = PLACE_REGISTER;
        trial->barriers = NULL;
    } else if (!weft_arrange(p->placer, trial, ARRANGE_BOUND)) {
        ++p->made->too_large;
        return false;
    }
    weft_predict(p->predictor, trial);
    trial->barriers = barriers;
    return true;
}

/* The best of these shapes for the trial's variants; the others are dominated: they need no less on
 * chip an instance and take no less time. */
static weft_status keep_best_shape(implementer *p, const weft_block_shape *shapes, int n,
                                   weft_error *error) {
    int best = -1;
    double cost = 0;
    for (int i = 0; i < n; ++i) {
        if (!try_shape(p, &shapes[i]))
            continue;
        p->made->dominated += best >= 0;
        if (best < 0 || p->trial.cost < cost) {
            best = i;
            cost = p->trial.cost;
        }
    }
    if (best < 0)
        return WEFT_OK;
    --p->made->considered;
    try_shape(p, &shapes[best]);
    return keep(p, error);
}

/* Reductions and rows calls work by chunks of their own, with a thread an instance; so do stars and
 * colours of cells. */
static bool has_fixed_shape(const implementer *p, const weft_fusion *fusion) {
    if (weft_fusion_rows(p->graph, fusion) >= 0)
        return true;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const int call = fusion->calls[i];
        if (p->graph->calls[call].reduction != NULL)
            return true;
        if ((p->options->scatter == WEFT_SCATTER_STARS ||
             p->options->scatter == WEFT_SCATTER_CELL_COLOURS) &&
            weft_call_accumulates(p->graph, call))
            return true;
    }
    return false;
}

static weft_status try_registers(implementer *p, weft_error *error) {
    weft_block_shape shapes[WEFT_BLOCK_SHAPES];
    const int n = weft_blocks_of_one(&p->wish, p->options->costs != NULL, shapes);
    return keep_best_shape(p, shapes, n, error);
}

static weft_status try_warps(implementer *p, weft_error *error) {
    weft_block_shape shapes[WEFT_BLOCK_SHAPES];
    const int most = most_threads(p, &p->trial);
    int fewest = most;
    for (int i = 0; i < p->trial.fusion->n_calls; ++i) {
        const int threads = threads_at(p, &p->trial, i);
        fewest = threads > 1 && threads < fewest ? threads : fewest;
    }
    const int n = weft_blocks_of_several(&p->wish, most, fewest, p->options->costs != NULL, shapes);
    return keep_best_shape(p, shapes, n, error);
}

/* Several threads an instance where a call has so many, unless the script wants one. */
static weft_status try_variants(implementer *p, weft_error *error) {
    const int most = most_threads(p, &p->trial), wished = p->wish.choices[FUSE_THREADS];
    if (wished > most) {
        ++p->made->considered;
        ++p->made->not_wished;
        return WEFT_OK;
    }
    return wished == 1 || most == 1 ? try_registers(p, error) : try_warps(p, error);
}

/* The one shape that there is. */
static weft_status try_fixed(implementer *p, int instances, weft_error *error) {
    const weft_block_shape shape = {0, instances, 1};
    if (weft_block_wished(&p->wish, &shape))
        return keep_best_shape(p, &shape, 1, error);
    ++p->made->considered;
    ++p->made->not_wished;
    return WEFT_OK;
}

static int variants_at(const implementer *p, int position) {
    const weft_call *call = &p->graph->calls[p->trial.order[position]];
    return call->instance != NULL && !p->forced[position] ? call->instance->n_variants : 1;
}

/* The next combination of variants, as a number counts up; false: that was the last. */
static bool next_combination(implementer *p) {
    for (int i = 0; i < p->trial.fusion->n_calls; ++i) {
        if (p->forced[i])
            continue;
        if (++p->trial.variants[i] < variants_at(p, i))
            return true;
        p->trial.variants[i] = 0;
    }
    return false;
}

/* Every combination; where they are too many, those that are as fine everywhere as they can be. */
static weft_status try_combinations(implementer *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = p->trial.fusion->n_calls;
    double combinations = 1;
    int finest = 1;
    for (int i = 0; i < n; ++i) {
        combinations *= variants_at(p, i);
        finest = variants_at(p, i) > finest ? variants_at(p, i) : finest;
    }
    if (combinations <= p->combinations_most) {
        do
            TRY(try_variants(p, error));
        while (next_combination(p));
        return WEFT_OK;
    }
    p->made->untried += (int64_t)fmin(combinations - finest, 1e18);
    for (int level = 0; level < finest; ++level) {
        for (int i = 0; i < n; ++i)
            if (!p->forced[i])
                p->trial.variants[i] = level < variants_at(p, i) ? level : variants_at(p, i) - 1;
        TRY(try_variants(p, error));
    }
done:
    return status;
}

/* With offsets: over others where that pays for its barriers. */
static void arrange_kept(implementer *p, weft_implementation *one) {
    const bool fits = weft_arrange(p->placer, one, ARRANGE_OVER);
    weft_predict(p->predictor, one);
    const double cost = one->cost;
    const bool apart_fits = weft_arrange(p->placer, one, ARRANGE_APART);
    weft_predict(p->predictor, one);
    if (apart_fits && one->cost <= cost)
        return;
    weft_arrange(p->placer, one, ARRANGE_OVER);
    weft_predict(p->predictor, one);
    if (!fits)
        one->reason = "its elements do not fit in shared memory without gaps";
}

/* The best first; they were compared before it was known how they lie in shared memory. */
static void finish_kept(implementer *p) {
    for (int i = 0; i < p->n_kept; ++i) {
        int at = i;
        if (p->kept[i].warps > 0)
            arrange_kept(p, &p->kept[i]);
        const weft_implementation moved = p->kept[i];
        for (; at > 0 && is_better(&moved, &p->kept[at - 1]); --at)
            p->kept[at] = p->kept[at - 1];
        p->kept[at] = moved;
    }
}

static weft_status trial_make(implementer *p, const weft_fusion *fusion, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_implementation *one = &p->trial;
    const size_t n = (size_t)fusion->n_calls;
    *one = (weft_implementation){.fusion = fusion, .serial_iterations = 1};
    one->order = weft_arena_alloc(p->arena, n, sizeof *one->order);
    one->variants = weft_arena_alloc(p->arena, n, sizeof *one->variants);
    one->barriers = weft_arena_alloc(p->arena, n + 1, sizeof *one->barriers);
    if (one->order == NULL || one->variants == NULL || one->barriers == NULL)
        return weft_no_memory(error);
    TRY(weft_order_find(p->arena, p->graph, p->fusions->relations, &p->orders, one, error));
    one->offsets = weft_arena_alloc(p->arena, (size_t)one->n_onchip + 1, sizeof *one->offsets);
    if (one->offsets == NULL)
        return weft_no_memory(error);
    TRY(choose_variants(p, one, error));
    weft_traffic_count(p->graph, p->options, one);
done:
    return status;
}

static weft_status implement(implementer *p, const weft_fusion *fusion, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool fixed = !p->is_gpu || has_fixed_shape(p, fusion);
    p->n_kept = 0;
    p->wish = weft_block_wish_of(p->graph, p->options, fusion);
    if (!p->wish.possible) {
        ++p->made->considered;
        ++p->made->not_wished;
        return WEFT_OK;
    }
    TRY(trial_make(p, fusion, error));
    if (fixed)
        TRY(try_fixed(p,
                      p->is_gpu            ? WEFT_CUDA_THREADS
                      : p->options->single ? p->limits->lanes_float
                                           : p->limits->lanes_double,
                      error));
    else
        TRY(try_combinations(p, error));
    if (p->n_kept == 0 && !fixed && p->wish.choices[FUSE_THREADS] <= 1) {
        /* nothing fits: one thread does the work of all */
        TRY(choose_variants(p, &p->trial, error));
        TRY(try_registers(p, error));
    }
    finish_kept(p);
    for (int i = 0; i < p->n_kept; ++i) {
        weft_implementations *made = p->made;
        weft_implementation *grown =
            weft_array_grow(p->arena, made->list, made->n, &made->capacity, sizeof *grown);
        if (grown == NULL)
            return weft_no_memory(error);
        made->list = grown;
        made->list[made->n++] = p->kept[i];
    }
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
    TRY(check_variants(arena, graph, options, error));
    TRY(weft_predictor_make(arena, graph, limits, options, &p.predictor, error));
    TRY(weft_order_table_make(arena, &p.orders, error));
    TRY(weft_placer_make(arena, graph, limits, options, &p.placer, error));
    p.made = made;
    p.is_gpu = (options->single ? limits->lanes_float : limits->lanes_double) == WEFT_CUDA_LANES;
    p.combinations_most = TRIALS_MOST / (fusions->n > 0 ? fusions->n : 1);
    p.combinations_most = p.combinations_most < 8 ? 8 : p.combinations_most;
    p.forced = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *p.forced);
    if (p.forced == NULL)
        return weft_no_memory(error);
    for (int i = 0; i < fusions->n; ++i)
        TRY(implement(&p, &fusions->list[i], error));
    *out = made;
done:
    return status;
}
