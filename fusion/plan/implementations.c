/* Searches the implementations of every fusion and keeps the best few of each. */
#include "fusion/plan/implementations.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/library/native.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/nested.h"
#include "fusion/plan/segment.h"
#include "fusion/plan/variants.h"

#include <string.h>

/* Maximum number of variant choices over all fusions; minimum per fusion. */
enum { TRIALS_MOST = 12000, LEAST = 4 };

/* A native body that the target has no compiler for, or, in a kernel of one thread per element, one of several. */
static weft_status check_forced(const variant_search *p, const weft_call *call, int variant,
                                weft_error *error) {
    const weft_language language = weft_specialisation_language(call->specialisation, variant),
                        target = weft_language_of(p->limits);
    const bool joint = language == target && p->fixed && p->candidate.fusion->n_calls == 1 &&
                       weft_specialisation_is_joint(call->specialisation, variant);
    if (language == LANGUAGE_PLAIN ||
        (language == target && !joint)) /* in larger sets it is not tried */
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   joint
                       ? "variant %d of '%s' has %d threads in %s, and this kernel one per element"
                       : "variant %d of '%s' (%d threads) is in %s, which this device does not run",
                   variant, call->label, call->specialisation->threads[variant],
                   weft_language_names[language]);
    weft_error_hint(error, "without a choice of variant, the plain body is used");
    return WEFT_ERROR_USAGE;
}

/* Set the variants forced by the options or the script; the other calls get the target's body of one thread. */
static weft_status choose_variants(variant_search *p, weft_implementation *made,
                                   weft_error *error) {
    const weft_compile_options *options = p->options;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        p->forced[i] = call->variant >= 0;
        made->variants[i] =
            p->forced[i] ? call->variant
            : call->specialisation
                ? weft_specialisation_default(call->specialisation, weft_language_of(p->limits))
                : 0;
        for (int k = 0; k < options->n_variants && call->specialisation; ++k) {
            if (strcmp(options->variants[k].function, call->label) != 0)
                continue;
            p->forced[i] = true;
            made->variants[i] = options->variants[k].variant;
            if (made->variants[i] < 0 || made->variants[i] >= call->specialisation->n_variants)
                return weft_error_set(error, WEFT_ERROR_USAGE, "'%s' has variants 0 to %d, not %d",
                                      call->label, call->specialisation->n_variants - 1,
                                      made->variants[i]);
        }
        if (p->forced[i] && call->specialisation) {
            const weft_status status = check_forced(p, call, made->variants[i], error);
            if (status != WEFT_OK)
                return status;
        }
    }
    if (made->fusion->n_calls > 1 || !p->forced[0])
        return WEFT_OK;
    const weft_call *alone = &p->graph->calls[made->order[0]];
    const char *why = weft_why_not_native(p->graph, made);
    if (why)
        return weft_error_set(error, WEFT_ERROR_USAGE, "variant %d of '%s' cannot compute %s: %s",
                              made->variants[0], alone->label, p->graph->values[alone->result].name,
                              why);
    return WEFT_OK;
}

/* Reductions, product calls, patches and cell colours have block shapes of their own, with one
 * thread per element. */
static bool has_fixed_shape(const variant_search *p, const weft_fusion *fusion) {
    if (weft_fusion_product(p->graph, fusion) >= 0 || weft_fusion_is_nested(p->graph, fusion))
        return true;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const int call = fusion->calls[i];
        if (p->graph->calls[call].reduction)
            return true;
        if ((p->options->scatter == WEFT_SCATTER_PATCHES ||
             p->options->scatter == WEFT_SCATTER_VERTEX_PATCHES ||
             p->options->scatter == WEFT_SCATTER_CELL_PATCHES ||
             p->options->scatter == WEFT_SCATTER_CELL_COLOURS) &&
            weft_call_accumulates(p->graph, call))
            return true;
    }
    return false;
}

/* Try the only possible block, once, or as often as requested. */
static weft_status try_fixed(variant_search *p, int elements, weft_error *error) {
    const int asked = p->directive.choices[FUSE_ITERATIONS];
    const bool coarse = weft_coarsens_reductions(p->predictor, p->candidate.fusion) &&
                        asked <= WEFT_REDUCTION_ITERATIONS && (asked & (asked - 1)) == 0;
    const weft_block_shape shape = {0, elements, coarse && asked > 0 ? asked : 1, elements};
    if (weft_block_meets_directive(&p->directive, &shape) &&
        weft_joint_threads(p->graph, &p->candidate) == 0)
        return weft_variants_try_shapes(p, &shape, 1, error);
    ++p->made->considered;
    ++p->made->not_as_directed;
    return WEFT_OK;
}

/* Give the values offsets in shared memory. A disjoint layout that needs no more than the lower
 * bound is optimal; otherwise values overlap if the smaller size outweighs the additional
 * barriers. */
static void arrange_kept(variant_search *p, weft_implementation *one) {
    const int least = one->shared_components;
    const bool apart_fits = weft_arrange(p->placer, one, ARRANGE_APART);
    weft_predict(p->predictor, one);
    if (one->shared_components == least)
        return;
    const double cost = one->cost;
    const bool fits = weft_arrange(p->placer, one, ARRANGE_OVER);
    weft_predict(p->predictor, one);
    if (apart_fits && cost < one->cost) {
        weft_arrange(p->placer, one, ARRANGE_APART);
        weft_predict(p->predictor, one);
    } else if (!fits)
        one->reason = "its elements do not fit in shared memory without gaps";
}

/* Fix the layouts in shared memory and sort again, since the beam was ordered by lower bounds. */
static void finish_kept(variant_search *p) {
    for (int i = 0; i < p->n_beam; ++i) {
        int at = i;
        if (p->beam[i].threads_per_element > 0 && !p->beam[i].is_dense)
            arrange_kept(p, &p->beam[i]);
        const weft_implementation moved = p->beam[i];
        for (; at > 0 && weft_implementation_is_better(&moved, &p->beam[at - 1]); --at)
            p->beam[at] = p->beam[at - 1];
        p->beam[at] = moved;
    }
}

static weft_status trial_make(variant_search *p, const weft_fusion *fusion, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_implementation *one = &p->candidate;
    const size_t n = (size_t)fusion->n_calls;
    *one = (weft_implementation){.fusion = fusion, .serial_iterations = 1};
    TRY(WEFT_ALLOC(p->arena, one->order, n, error));
    TRY(WEFT_ALLOC(p->arena, one->variants, n, error));
    TRY(WEFT_ALLOC(p->arena, one->barriers, n, error));
    TRY(weft_order_find(p->arena, p->graph, p->fusions->dependence, &p->orders, one, error));
    TRY(WEFT_ALLOC(p->arena, one->offsets, (size_t)one->n_onchip + 1, error));
    TRY(WEFT_ALLOC(p->arena, one->load_position, (size_t)one->n_onchip + 1, error));
    TRY(choose_variants(p, one, error));
    weft_traffic_count(p->graph, p->options, one);
done:
    return status;
}

/* A native body that the user chose, for a call that has nothing else: is there a block for it? */
static weft_status check_fits(const variant_search *p, weft_error *error) {
    const weft_implementation *one = &p->candidate;
    const weft_call *call = &p->graph->calls[one->order[0]];
    const int variant = one->variants[0];
    if (p->n_beam > 0 || one->fusion->n_calls > 1 || !p->forced[0] || !call->specialisation ||
        !weft_specialisation_is_joint(call->specialisation, variant))
        return WEFT_OK;
    weft_error_set(
        error, WEFT_ERROR_USAGE,
        "no thread block can have variant %d of '%s': %d threads and %zu bytes of shared "
        "memory per element",
        variant, call->label, call->specialisation->threads[variant],
        weft_specialisation_scratch(call->specialisation, variant, p->options->single ? 4 : 8));
    weft_error_hint(
        error,
        "blocks have up to %d threads, and this device %zu bytes; block shapes that the "
        "script asks for have whole warps, and the threads of the body",
        p->limits->target.block_threads_most, p->limits->onchip_bytes);
    return WEFT_ERROR_USAGE;
}

/* Try the variants that are not forced, with the shapes that the directive allows. */
static weft_status try_variants(variant_search *p, weft_error *error) {
    weft_status status = WEFT_OK;
    if (p->fixed) {
        status = try_fixed(p, weft_target_block(p->limits, p->options->single), error);
        goto done;
    }
    TRY(weft_variants_try_all(p, error));
    TRY(weft_variants_try_dense(p, error));
done:
    return status;
}

static weft_status keep_beam(variant_search *p, weft_error *error) {
    weft_status status = WEFT_OK;
    finish_kept(p);
    for (int i = 0; i < p->n_beam; ++i)
        TRY(WEFT_APPEND(p->arena, p->made->list, p->made->n, p->beam[i], error));
done:
    return status;
}

static weft_status implement(variant_search *p, const weft_fusion *fusion, weft_error *error) {
    weft_status status = WEFT_OK;
    p->fixed = !p->is_gpu || has_fixed_shape(p, fusion);
    p->n_beam = 0;
    p->directive = weft_block_directive_of(p->graph, p->limits, p->options, fusion);
    if (!p->directive.possible) {
        ++p->made->considered;
        ++p->made->not_as_directed;
        goto done;
    }
    TRY(trial_make(p, fusion, error));
    TRY(try_variants(p, error));
    if (p->n_beam == 0 && !p->fixed && p->directive.choices[FUSE_THREADS] <= 1) {
        /* nothing fits: fall back to one thread per element */
        TRY(choose_variants(p, &p->candidate, error));
        if (weft_joint_threads(p->graph, &p->candidate) == 0)
            TRY(weft_variants_try_registers(p, error));
    }
    TRY(check_fits(p, error));
    TRY(keep_beam(p, error));
done:
    return status;
}

/* What all fusions share. The inputs are set. */
static weft_status begin(variant_search *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = p->fusions->n > 0 ? p->fusions->n : 1;
    TRY(WEFT_ALLOC(p->arena, p->made, 1, error));
    TRY(weft_predictor_make(p->arena, p->graph, p->limits, p->options, &p->predictor, error));
    TRY(weft_order_table_make(p->arena, &p->orders, error));
    TRY(weft_placer_make(p->arena, p->graph, p->limits, p->options, &p->placer, error));
    p->is_gpu = weft_target_is_simt(p->limits);
    p->combinations_most = TRIALS_MOST / n < LEAST ? LEAST : TRIALS_MOST / n;
    TRY(WEFT_ALLOC(p->arena, p->forced, (size_t)p->graph->n_calls + 1, error));
done:
    return status;
}

weft_status weft_implementations_make(weft_arena *arena, const weft_graph *graph,
                                      const weft_fusions *fusions, const weft_limits *limits,
                                      const weft_compile_options *options,
                                      weft_implementations **out, weft_error *error) {
    weft_status status = WEFT_OK;
    variant_search p = {
        .arena = arena, .graph = graph, .fusions = fusions, .limits = limits, .options = options};
    TRY(begin(&p, error));
    for (int i = 0; i < fusions->n; ++i)
        TRY(implement(&p, &fusions->list[i], error));
    *out = p.made;
done:
    return status;
}

/* Take these variants for all calls of the candidate. Returns false: the script asks for others, or they do not exist. */
static bool force_variants(variant_search *p, const int *variants) {
    for (int i = 0; i < p->candidate.fusion->n_calls; ++i) {
        const weft_specialisation *one = p->graph->calls[p->candidate.order[i]].specialisation;
        if ((p->forced[i] && p->candidate.variants[i] != variants[i]) || variants[i] < 0 ||
            variants[i] >= (one ? one->n_variants : 1))
            return false;
        p->forced[i] = true;
        p->candidate.variants[i] = variants[i];
    }
    return true;
}

weft_status weft_implementations_of_shape(const weft_segment *segment, const weft_fusion *fusion,
                                          const int *variants, const weft_block_shape *shape,
                                          weft_implementations **out, weft_error *error) {
    weft_status status = WEFT_OK;
    variant_search p = {.arena = segment->arena,
                        .graph = segment->graph,
                        .fusions = segment->fusions,
                        .limits = &segment->limits,
                        .options = &segment->options};
    TRY(begin(&p, error));
    *out = p.made;
    p.fixed = !p.is_gpu || has_fixed_shape(&p, fusion);
    p.directive = weft_block_directive_of(p.graph, p.limits, p.options, fusion);
    TRY(trial_make(&p, fusion, error));
    if (!weft_block_meets_directive(&p.directive, shape) || !force_variants(&p, variants))
        goto done;
    p.directive.choices[FUSE_BLOCK] = shape->elements;
    p.directive.choices[FUSE_THREADS] =
        shape->threads_per_element > 0 ? shape->threads_per_element : 1;
    p.directive.choices[FUSE_ITERATIONS] = shape->iterations;
    p.directive.choices[FUSE_STRIDE] = shape->stride;
    TRY(try_variants(&p, error));
    TRY(keep_beam(&p, error));
done:
    return status;
}
