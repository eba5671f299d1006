/* Searches implementations of one fusion: variants of its calls, threads per element, blocks. */
#include "fusion/plan/variants.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/library/native.h"
#include "fusion/plan/dense.h"

#include <math.h>
#include <string.h>

/* A coarser shape must be predicted to take less than this part of the time of a finer one. */
#define COARSENING_GAIN 0.98

enum { ITERATIONS_MEASURED = 4 /* serial iterations tried where costs are measured */ };

static int threads_at(const variant_search *p, const weft_implementation *made, int position) {
    const weft_call *call = &p->graph->calls[made->order[position]];
    return call->specialisation ? call->specialisation->threads[made->variants[position]] : 1;
}

static int most_threads(const variant_search *p, const weft_implementation *made) {
    int most = 1;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const int threads = threads_at(p, made, i);
        most = threads > most ? threads : most;
    }
    return most;
}

bool weft_implementation_is_better(const weft_implementation *a, const weft_implementation *b) {
    return a->cost < b->cost;
}

/* Insert a copy of the candidate into the beam if it is good enough. */
static weft_status keep(variant_search *p, weft_error *error) {
    const size_t n = (size_t)p->candidate.fusion->n_calls, m = (size_t)p->candidate.n_onchip + 1;
    int at = p->n_beam;
    if (p->n_beam == WEFT_BEAM_WIDTH) {
        ++p->made->slower;
        if (!weft_implementation_is_better(&p->candidate, &p->beam[at - 1]))
            return WEFT_OK;
        --at;
    } else
        ++p->n_beam;
    for (; at > 0 && weft_implementation_is_better(&p->candidate, &p->beam[at - 1]); --at)
        p->beam[at] = p->beam[at - 1];
    weft_implementation *one = &p->beam[at];
    *one = p->candidate;
    one->variants = weft_arena_alloc(p->arena, n, sizeof *one->variants);
    one->placement = weft_arena_alloc(p->arena, m, sizeof *one->placement);
    one->offsets = weft_arena_alloc(p->arena, m, sizeof *one->offsets);
    one->load_position = weft_arena_alloc(p->arena, m, sizeof *one->load_position);
    one->barriers =
        one->threads_per_element > 0 ? weft_arena_alloc(p->arena, n, sizeof *one->barriers) : NULL;
    if (!one->variants || !one->placement || !one->offsets || !one->load_position ||
        (one->threads_per_element > 0 && !one->barriers))
        return weft_no_memory(error);
    memcpy(one->variants, p->candidate.variants, n * sizeof *one->variants);
    memcpy(one->placement, p->candidate.placement, m * sizeof *one->placement);
    memcpy(one->offsets, p->candidate.offsets, m * sizeof *one->offsets);
    memcpy(one->load_position, p->candidate.load_position, m * sizeof *one->load_position);
    if (one->barriers)
        memcpy(one->barriers, p->candidate.barriers, n * sizeof *one->barriers);
    return WEFT_OK;
}

/* Has each element exactly the threads of its calls whose threads wait for each other? */
static bool barriers_fit(const variant_search *p, int threads_per_element) {
    for (int i = 0; i < p->candidate.fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[p->candidate.order[i]];
        const int variant = p->candidate.variants[i];
        if (threads_per_element > 0 &&
            weft_specialisation_has_barriers(call->specialisation, variant) &&
            call->specialisation->threads[variant] != threads_per_element)
            return false;
    }
    return true;
}

/* Predict the candidate with this block shape. For several threads per element its data must be
 * arranged already. Returns false: the shape is not possible. */
static bool try_shape(variant_search *p, const weft_block_shape *shape) {
    weft_implementation *candidate = &p->candidate;
    unsigned char *const barriers = candidate->barriers;
    ++p->made->considered;
    candidate->threads_per_element = shape->threads_per_element;
    candidate->joint_threads = shape->threads_per_element > 0 ? candidate->joint_threads : 0;
    candidate->elements_per_block = shape->elements;
    candidate->serial_iterations = shape->iterations;
    candidate->stride = shape->stride;
    if (!barriers_fit(p, shape->threads_per_element)) {
        ++p->made->not_as_directed;
        return false;
    }
    if (p->is_gpu && !weft_block_elements_are_possible(&p->limits->target, shape->elements,
                                                       shape->threads_per_element > 0)) {
        ++p->made->not_as_directed;
        return false;
    }
    if (p->is_gpu &&
        (shape->threads_per_element > 0 ? shape->threads_per_element : 1) * shape->elements >
            p->limits->target.block_threads_most) {
        ++p->made->too_many_threads;
        return false;
    }
    if (shape->threads_per_element == 0)
        candidate->barriers = NULL;
    else if (!weft_arrangement_fits(p->placer, candidate)) {
        ++p->made->too_large;
        return false;
    }
    weft_predict(p->predictor, candidate);
    candidate->barriers = barriers;
    return true;
}

/* Place the values of the candidate for a number of threads per element. */
static void arrange_for(variant_search *p, int threads_per_element) {
    p->candidate.threads_per_element = threads_per_element;
    if (threads_per_element > 0) {
        weft_arrange(p->placer, &p->candidate, ARRANGE_BOUND);
        return;
    }
    p->candidate.shared_components = 0;
    for (int m = 0; m < p->candidate.n_onchip; ++m)
        p->candidate.placement[m] = PLACE_REGISTER;
}

/* The next number of serial iterations to try of a shape just predicted; 0: none. More can only be faster where starting
 * threads is the limit, or as measured. */
static int more_iterations(const variant_search *p, const weft_block_shape *shape) {
    if (p->directive.choices[FUSE_ITERATIONS] > 0)
        return 0;
    if (weft_coarsens_reductions(p->predictor, p->candidate.fusion))
        return shape->iterations < WEFT_REDUCTION_ITERATIONS &&
                       weft_start_limits(p->predictor, &p->candidate)
                   ? 2 * shape->iterations
                   : 0;
    if (p->fixed)
        return 0;
    if (shape->threads_per_element == 0) {
        const int factor = weft_coarsening_factor(p->predictor, &p->candidate);
        return shape->iterations < factor ? factor : 0;
    }
    const bool may_gain = (p->options->costs && shape->iterations < ITERATIONS_MEASURED) ||
                          weft_start_limits(p->predictor, &p->candidate);
    return may_gain && shape->iterations < WEFT_BLOCK_ITERATIONS ? 2 * shape->iterations : 0;
}

/* Is the least that a shape can cost no better than the best so far of these variants, or than the best of this fusion?
 * Each choice of variants has one shape at least, among which tuning and corrections choose. */
static bool cannot_gain(const variant_search *p, const weft_least_cost *bounds,
                        const weft_block_shape *shape, bool found, double cost) {
    const double least = weft_least_of_shape(bounds, shape->threads_per_element, shape->elements);
    return (found && (least >= cost || (p->n_beam > 0 && least >= p->beam[0].cost))) ||
           (p->n_beam == WEFT_BEAM_WIDTH && least >= p->beam[p->n_beam - 1].cost);
}

/* Only the best shape is kept. The others are dominated: they need as much on-chip memory per
 * element and are not faster. */
weft_status weft_variants_try_shapes(variant_search *p, const weft_block_shape *shapes, int n,
                                     weft_error *error) {
    const weft_least_cost bounds = weft_predict_least(p->predictor, &p->candidate);
    int arranged = -1; /* threads per element */
    bool found = false;
    weft_block_shape best = {0};
    double cost = 0;
    for (int i = 0; i < n; ++i) {
        weft_block_shape shape = shapes[i];
        if (cannot_gain(p, &bounds, &shape, found, cost)) {
            ++p->made->considered;
            ++p->made->dominated;
            continue;
        }
        if (arranged != shape.threads_per_element)
            arrange_for(p, arranged = shape.threads_per_element);
        while (shape.iterations > 0 && try_shape(p, &shape)) {
            p->made->dominated += found;
            const bool coarser = found && shape.iterations > best.iterations;
            if (!found || p->candidate.cost < (coarser ? COARSENING_GAIN : 1) * cost) {
                found = true;
                best = shape;
                cost = p->candidate.cost;
            }
            shape.iterations = more_iterations(p, &shape);
        }
    }
    if (!found)
        return WEFT_OK;
    if (arranged != best.threads_per_element)
        arrange_for(p, best.threads_per_element);
    --p->made->considered;
    try_shape(p, &best);
    return keep(p, error);
}

weft_status weft_variants_try_registers(variant_search *p, weft_error *error) {
    weft_block_shape shapes[WEFT_BLOCK_SHAPES];
    const int n = weft_blocks_of_one(&p->directive, shapes);
    return weft_variants_try_shapes(p, shapes, n, error);
}

static weft_status try_threads(variant_search *p, weft_error *error) {
    weft_block_shape shapes[WEFT_BLOCK_SHAPES];
    const int most = most_threads(p, &p->candidate);
    int fewest = most;
    for (int i = 0; i < p->candidate.fusion->n_calls; ++i) {
        const int threads = threads_at(p, &p->candidate, i);
        fewest = threads > 1 && threads < fewest ? threads : fewest;
    }
    const int n = weft_blocks_of_several(&p->directive, most, fewest, shapes);
    return weft_variants_try_shapes(p, shapes, n, error);
}

/* A native body of several threads has exactly these, in whole warps. */
static weft_status try_joint(variant_search *p, int threads, weft_error *error) {
    weft_block_shape shapes[WEFT_BLOCK_SHAPES];
    weft_block_directive directive = p->directive;
    int kept = 0;
    directive.choices[FUSE_THREADS] = threads;
    const int n = weft_blocks_of_several(&directive, threads, threads, shapes);
    for (int i = 0; i < n; ++i)
        if (threads * shapes[i].elements % p->limits->target.warp_threads == 0)
            shapes[kept++] = shapes[i];
    if (kept == 0) {
        ++p->made->considered;
        ++p->made->not_as_directed;
    }
    return weft_variants_try_shapes(p, shapes, kept, error);
}

/* Does the target offer the variant of each call that the user has not chosen? */
static bool is_offered(const variant_search *p) {
    for (int i = 0; i < p->candidate.fusion->n_calls; ++i) {
        const weft_specialisation *one = p->graph->calls[p->candidate.order[i]].specialisation;
        if (one && !p->forced[i] &&
            !weft_specialisation_offers(one, p->candidate.variants[i], weft_language_of(p->limits)))
            return false;
    }
    return true;
}

/* Use several threads per element if a call has several, unless the script requests one. */
static weft_status try_choice(variant_search *p, weft_error *error) {
    const int most = most_threads(p, &p->candidate),
              as_directed = p->directive.choices[FUSE_THREADS];
    const int joint = weft_joint_threads(p->graph, &p->candidate);
    if (as_directed > most || !is_offered(p) || weft_why_not_native(p->graph, &p->candidate) ||
        (joint > 0 && as_directed != 0 && as_directed != joint)) {
        ++p->made->considered;
        ++p->made->not_as_directed;
        return WEFT_OK;
    }
    if (joint > 0)
        return try_joint(p, joint, error);
    return as_directed == 1 || most == 1 ? weft_variants_try_registers(p, error)
                                         : try_threads(p, error);
}

weft_status weft_variants_try_dense(variant_search *p, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_implementation *one = &p->candidate;
    const int n = one->fusion->n_calls;
    weft_dense dense;
    for (int i = 0; i < n; ++i) {
        if (p->forced[i] && one->variants[i] != 0)
            goto done;
        one->variants[i] = 0;
    }
    if (p->limits->target.warp_threads != WEFT_NATIVE_WARP ||
        !weft_dense_find(p->graph, one->order, n, &dense))
        goto done;
    const int threads = WEFT_NATIVE_WARP * dense.warps, elements = WEFT_DENSE_THREADS / threads;
    const weft_block_shape shape = {threads, elements, 1, elements};
    ++p->made->considered;
    if (!weft_block_meets_directive(&p->directive, &shape)) {
        ++p->made->not_as_directed;
        goto done;
    }
    one->is_dense = true;
    one->joint_threads = 0;
    one->threads_per_element = threads;
    one->elements_per_block = one->stride = elements;
    one->serial_iterations = 1;
    one->register_components = 4 * dense.down * dense.across;
    memset(one->barriers, 0, (size_t)n * sizeof *one->barriers);
    weft_dense_stage(p->graph, p->limits, p->options->single ? 4 : 8, one);
    weft_predict(p->predictor, one);
    TRY(keep(p, error));
done:
    one->is_dense = false;
    return status;
}

static int variants_at(const variant_search *p, int position) {
    const weft_call *call = &p->graph->calls[p->candidate.order[position]];
    return call->specialisation && !p->forced[position] ? call->specialisation->n_variants : 1;
}

/* Advance to the next combination of variants, in lexicographic order; false: it was the last. */
static bool next_combination(variant_search *p) {
    for (int i = 0; i < p->candidate.fusion->n_calls; ++i) {
        if (p->forced[i])
            continue;
        if (++p->candidate.variants[i] < variants_at(p, i))
            return true;
        p->candidate.variants[i] = 0;
    }
    return false;
}

/* The k-th variant of a call that the target offers, or the last one. */
static int offered_at(const variant_search *p, int position, int k) {
    const weft_specialisation *one = p->graph->calls[p->candidate.order[position]].specialisation;
    int last = 0;
    for (int v = 0; one && v < one->n_variants && k >= 0; ++v)
        if (weft_specialisation_offers(one, v, weft_language_of(p->limits))) {
            last = v;
            --k;
        }
    return last;
}

/* Try the combinations in which every call has variant k or, if it has fewer, its last one. *n gets
 * their number. */
static weft_status try_levels(variant_search *p, int *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_calls = p->candidate.fusion->n_calls;
    int finest = 1;
    for (int i = 0; i < n_calls; ++i)
        finest = variants_at(p, i) > finest ? variants_at(p, i) : finest;
    for (*n = 0; *n < finest; ++*n) {
        for (int i = 0; i < n_calls; ++i)
            if (!p->forced[i])
                p->candidate.variants[i] = offered_at(p, i, *n);
        TRY(try_choice(p, error));
    }
done:
    return status;
}

static bool is_kept(const variant_search *p) {
    const size_t bytes = (size_t)p->candidate.fusion->n_calls * sizeof *p->candidate.variants;
    for (int k = 0; k < p->n_beam; ++k)
        if (memcmp(p->beam[k].variants, p->candidate.variants, bytes) == 0)
            return true;
    return false;
}

/* Coordinate descent from the best combination: change the variant of one call at a time while this
 * helps and fewer than *left combinations have been tried. */
static weft_status improve(variant_search *p, int *left, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_calls = p->candidate.fusion->n_calls;
    int *const variants = p->candidate.variants;
    if (p->n_beam == 0)
        goto done;
    memcpy(variants, p->beam[0].variants, (size_t)n_calls * sizeof *variants);
    for (int i = 0, unchanged = 0; unchanged<n_calls && * left> 0; i = (i + 1) % n_calls) {
        const int before = variants[i];
        int best = before;
        for (int v = 0; v < variants_at(p, i) && !p->forced[i] && *left > 0; ++v) {
            const double cost = p->beam[0].cost;
            variants[i] = v;
            if (v == before || is_kept(p))
                continue;
            TRY(try_choice(p, error));
            --*left;
            best = p->beam[0].cost < cost ? v : best;
        }
        variants[i] = best;
        unchanged = best == before ? unchanged + 1 : 1;
    }
done:
    return status;
}

weft_status weft_variants_try_all(variant_search *p, weft_error *error) {
    weft_status status = WEFT_OK;
    double combinations = 1;
    int n_levels = 0;
    for (int i = 0; i < p->candidate.fusion->n_calls; ++i)
        p->candidate.variants[i] = p->forced[i] ? p->candidate.variants[i] : 0;
    for (int i = 0; i < p->candidate.fusion->n_calls; ++i)
        combinations *= variants_at(p, i);
    if (combinations <= p->combinations_most) {
        do
            TRY(try_choice(p, error));
        while (next_combination(p));
        goto done;
    }
    TRY(try_levels(p, &n_levels, error));
    const int most = p->combinations_most > n_levels ? p->combinations_most - n_levels : 0;
    int left = most;
    if (left >= p->candidate.fusion->n_calls) /* fewer would not complete one sweep */
        TRY(improve(p, &left, error));
    p->made->untried += (int64_t)fmin(combinations - n_levels - (most - left), 1e18);
done:
    return status;
}
