/* The space of a fusion's implementations: choices of variants, threads of an instance, blocks. */
#include "fusion/base/array.h"
#include "fusion/plan/variants.h"

#include <math.h>
#include <string.h>

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

bool implementer_is_better(const weft_implementation *a, const weft_implementation *b) {
    return a->cost < b->cost;
}

/* Keep the trial among the best; its arrays are copied. */
static weft_status keep(implementer *p, weft_error *error) {
    const size_t n = (size_t)p->trial.fusion->n_calls, m = (size_t)p->trial.n_onchip + 1;
    int at = p->n_kept;
    if (p->n_kept == WEFT_IMPLEMENTATIONS_KEPT) {
        ++p->made->slower;
        if (!implementer_is_better(&p->trial, &p->kept[at - 1]))
            return WEFT_OK;
        --at;
    } else
        ++p->n_kept;
    for (; at > 0 && implementer_is_better(&p->trial, &p->kept[at - 1]); --at)
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

/* Predict the trial in this shape; its data are arranged for shapes of several warps already.
 * false: it cannot be. */
static bool try_shape(implementer *p, const weft_block_shape *shape) {
    weft_implementation *trial = &p->trial;
    bool *const barriers = trial->barriers;
    ++p->made->considered;
    trial->warps = shape->warps;
    trial->instances_per_block = shape->instances;
    trial->serial_iterations = shape->iterations;
    if ((shape->warps > 0 ? shape->warps : 1) * shape->instances > WEFT_BLOCK_THREADS) {
        ++p->made->too_many_threads;
        return false;
    }
    if (shape->warps == 0)
        trial->barriers = NULL;
    else if (!weft_arrangement_fits(p->placer, trial)) {
        ++p->made->too_large;
        return false;
    }
    weft_predict(p->predictor, trial);
    trial->barriers = barriers;
    return true;
}

/* The best of these shapes, all of one thread an instance or all of several, for the trial's
 * variants; the others are dominated: they need no less on chip an instance and take no less time.
 */
weft_status implementer_try_shapes(implementer *p, const weft_block_shape *shapes, int n,
                                   weft_error *error) {
    int best = -1;
    double cost = 0;
    if (shapes[0].warps > 0)
        weft_arrange(p->placer, &p->trial, ARRANGE_BOUND);
    else {
        p->trial.shared_components = 0;
        for (int m = 0; m < p->trial.n_onchip; ++m)
            p->trial.placement[m] = PLACE_REGISTER;
    }
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

weft_status implementer_try_registers(implementer *p, weft_error *error) {
    weft_block_shape shapes[WEFT_BLOCK_SHAPES];
    const int n = weft_blocks_of_one(&p->wish, p->options->costs != NULL, shapes);
    return implementer_try_shapes(p, shapes, n, error);
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
    return implementer_try_shapes(p, shapes, n, error);
}

/* Several threads an instance where a call has so many, unless the script wants one. */
static weft_status try_choice(implementer *p, weft_error *error) {
    const int most = most_threads(p, &p->trial), wished = p->wish.choices[FUSE_THREADS];
    if (wished > most) {
        ++p->made->considered;
        ++p->made->not_wished;
        return WEFT_OK;
    }
    return wished == 1 || most == 1 ? implementer_try_registers(p, error) : try_warps(p, error);
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

/* Those that are as fine everywhere as they can be; how many. */
static weft_status try_levels(implementer *p, int *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_calls = p->trial.fusion->n_calls;
    int finest = 1;
    for (int i = 0; i < n_calls; ++i)
        finest = variants_at(p, i) > finest ? variants_at(p, i) : finest;
    for (*n = 0; *n < finest; ++*n) {
        for (int i = 0; i < n_calls; ++i)
            if (!p->forced[i])
                p->trial.variants[i] = *n < variants_at(p, i) ? *n : variants_at(p, i) - 1;
        TRY(try_choice(p, error));
    }
done:
    return status;
}

static bool is_kept(const implementer *p) {
    const size_t bytes = (size_t)p->trial.fusion->n_calls * sizeof *p->trial.variants;
    for (int k = 0; k < p->n_kept; ++k)
        if (memcmp(p->kept[k].variants, p->trial.variants, bytes) == 0)
            return true;
    return false;
}

/* From the best so far, another variant of one call after the other, as long as that helps and
 * `left` choices are not used up. */
static weft_status improve(implementer *p, int *left, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_calls = p->trial.fusion->n_calls;
    int *const variants = p->trial.variants;
    if (p->n_kept == 0)
        return WEFT_OK;
    memcpy(variants, p->kept[0].variants, (size_t)n_calls * sizeof *variants);
    for (int i = 0, unchanged = 0; unchanged<n_calls && * left> 0; i = (i + 1) % n_calls) {
        const int before = variants[i];
        int best = before;
        for (int v = 0; v < variants_at(p, i) && !p->forced[i] && *left > 0; ++v) {
            const double cost = p->kept[0].cost;
            variants[i] = v;
            if (v == before || is_kept(p))
                continue;
            TRY(try_choice(p, error));
            --*left;
            best = p->kept[0].cost < cost ? v : best;
        }
        variants[i] = best;
        unchanged = best == before ? unchanged + 1 : 1;
    }
done:
    return status;
}

/* Every combination; where they are too many, those of a level and what is found from the best. */
weft_status implementer_try_variants(implementer *p, weft_error *error) {
    weft_status status = WEFT_OK;
    double combinations = 1;
    int n_levels = 0;
    for (int i = 0; i < p->trial.fusion->n_calls; ++i)
        combinations *= variants_at(p, i);
    if (combinations <= p->combinations_most) {
        do
            TRY(try_choice(p, error));
        while (next_combination(p));
        return WEFT_OK;
    }
    TRY(try_levels(p, &n_levels, error));
    const int most = p->combinations_most > n_levels ? p->combinations_most - n_levels : 0;
    int left = most;
    if (left >= p->trial.fusion->n_calls) /* less changes little */
        TRY(improve(p, &left, error));
    p->made->untried += (int64_t)fmin(combinations - n_levels - (most - left), 1e18);
done:
    return status;
}
