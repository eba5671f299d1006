/* Applies the scheduling directives of a script to its candidates and implementations.
 *
 * A fuse block is in one kernel: its calls are a candidate, and no implementation has only some of
 * them. No kernel has calls from both sides of a split. Directives do not apply to unfused plans or
 * to plans loaded from a file. They are parsed in fusion/script/directives.c.
 *
 * Decision  docs/decisions/0010-directives-are-binding.md */
#include "fusion/plan/directives.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/graph/print.h"
#include "fusion/plan/block_shapes.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/legality.h"

#include <string.h>

/* ---- requested block shapes ---- */

/* A requested shape is checked against the device and the calls of the block. If no implementation
 * with it is left, other block sizes are tried, and the error message lists those that work. */

static const char *const unit[FUSE_CHOICES] = {"elements per block", "threads per element",
                                               "iterations", "elements between those of a thread"};

static weft_status refuse_block(const weft_fuse *fuse, int choice, weft_error *error) {
    return weft_error_at(error, WEFT_ERROR_TYPE, fuse->places[choice],
                         "a kernel of %d %s cannot be here", fuse->choices[choice], unit[choice]);
}

/* The maximum number of threads over the allowed variants of the calls of a block. */
static int most_threads(const weft_segment *c, int fuse) {
    int most = 1;
    for (int i = 0; i < c->graph->n_calls; ++i) {
        const weft_call *call = &c->graph->calls[i];
        for (int v = 0;
             call->fuse == fuse && call->specialisation && v < call->specialisation->n_variants;
             ++v)
            if ((call->variant < 0 || call->variant == v) &&
                call->specialisation->threads[v] > most)
                most = call->specialisation->threads[v];
    }
    return most < c->limits.target.block_threads_most ? most : c->limits.target.block_threads_most;
}

/* On the host a block is one vector: one element per lane, one iteration. */
static weft_status check_host(const weft_segment *c, const weft_fuse *fuse, weft_error *error) {
    const int lanes = weft_target_lanes(&c->limits, c->options.single);
    const int own[FUSE_CHOICES] = {lanes, 1, 1, lanes};
    for (int k = 0; k < FUSE_CHOICES; ++k)
        if (fuse->choices[k] != 0 && fuse->choices[k] != own[k]) {
            refuse_block(fuse, k, error);
            weft_error_hint(error,
                            "this device has blocks of %d elements, one thread each, once; 0, "
                            "maybe a parameter's, leaves it open",
                            lanes);
            return WEFT_ERROR_TYPE;
        }
    return WEFT_OK;
}

static weft_status check_shape(const weft_segment *c, int number, weft_error *error) {
    const weft_fuse *fuse = &c->graph->fuses[number - 1];
    const int block = fuse->choices[FUSE_BLOCK], threads = fuse->choices[FUSE_THREADS];
    const int most = most_threads(c, number);
    const weft_target *target = &c->limits.target;
    const int warp = target->warp_threads, block_most = target->block_threads_most;
    if (!weft_target_is_simt(&c->limits))
        return check_host(c, fuse, error);
    if (block > block_most || (block != 0 && !weft_block_elements_are_possible(
                                                 target, block, most > 1 && threads != 1))) {
        refuse_block(fuse, FUSE_BLOCK, error);
        weft_error_hint(
            error,
            "a block has %d, %d, %d, ... %d elements, or 1, 2, ... %d with several threads each",
            warp, 2 * warp, 3 * warp, block_most, warp / 2);
        return WEFT_ERROR_TYPE;
    }
    if (threads < 0 || threads > most) {
        refuse_block(fuse, FUSE_THREADS, error);
        weft_error_hint(error, "the calls of this block have variants of 1 to %d threads", most);
        return WEFT_ERROR_TYPE;
    }
    if (fuse->choices[FUSE_ITERATIONS] < 0 ||
        fuse->choices[FUSE_ITERATIONS] > WEFT_BLOCK_ITERATIONS) {
        refuse_block(fuse, FUSE_ITERATIONS, error);
        weft_error_hint(error, "a block goes through 1 to %d", WEFT_BLOCK_ITERATIONS);
        return WEFT_ERROR_TYPE;
    }
    const int stride = fuse->choices[FUSE_STRIDE];
    if (stride < 0 || stride > block_most || stride % warp != 0 ||
        (stride > 0 && block % stride != 0)) {
        refuse_block(fuse, FUSE_STRIDE, error);
        weft_error_hint(error, "the stride is a multiple of %d that divides the block", warp);
        return WEFT_ERROR_TYPE;
    }
    if (block * threads > block_most) {
        refuse_block(fuse, FUSE_BLOCK, error);
        weft_error_hint(error, "with %d threads per element, a block has at most %d elements",
                        threads, weft_block_elements_most(target, threads));
        return WEFT_ERROR_TYPE;
    }
    return WEFT_OK;
}

/* ---- checks after the search for implementations ---- */

static bool is_kept(const weft_segment *c, int fuse) {
    for (int i = 0; i < c->implementations->n; ++i) {
        const weft_implementation *one = &c->implementations->list[i];
        for (int k = 0; !one->reason && k < one->fusion->n_calls; ++k)
            if (c->graph->calls[one->fusion->calls[k]].fuse == fuse)
                return true;
    }
    return false;
}

/* The calls of a block as a fusion. */
static weft_status block_alone(const weft_segment *c, weft_arena *scratch, int fuse,
                               weft_fusions *fusions, weft_error *error) {
    weft_fusion *one = weft_arena_alloc(scratch, 1, sizeof *one);
    *fusions = *c->fusions;
    if (!one)
        return weft_no_memory(error);
    one->calls = weft_arena_alloc(scratch, (size_t)c->graph->n_calls + 1, sizeof *one->calls);
    if (!one->calls)
        return weft_no_memory(error);
    for (int i = 0; i < c->graph->n_calls; ++i)
        if (c->graph->calls[i].fuse == fuse) {
            one->calls[one->n_calls++] = i;
            one->index_set = c->graph->calls[i].index_set;
        }
    fusions->list = one;
    fusions->n = 1;
    return WEFT_OK;
}

/* List the block sizes that would be possible with the other choices as given. */
static weft_status possible_blocks(const weft_segment *c, int number,
                                   const int choices[FUSE_CHOICES], weft_text *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    weft_graph graph = *c->graph;
    weft_fusions fusions;
    int n = 0;
    TRY(weft_arena_make(&scratch, error));
    TRY(block_alone(c, scratch, number, &fusions, error));
    graph.fuses = weft_arena_alloc(scratch, (size_t)graph.n_fuses, sizeof *graph.fuses);
    if (!graph.fuses) {
        status = weft_no_memory(error);
        goto done;
    }
    memcpy(graph.fuses[number - 1].choices, choices, FUSE_CHOICES * sizeof *choices);
    for (int block = 1; block <= c->limits.target.block_threads_most; block *= 2) {
        weft_implementations *made = NULL;
        graph.fuses[number - 1].choices[FUSE_BLOCK] = block;
        TRY(weft_implementations_make(scratch, &graph, &fusions, &c->limits, &c->options, &made,
                                      error));
        bool any = false;
        for (int i = 0; i < made->n; ++i)
            any |= !made->list[i].reason;
        if (any)
            weft_text_add(out, "%s%d", n++ > 0 ? ", " : "", block);
    }
    if (out->failed)
        status = weft_no_memory(error);
done:
    weft_arena_free(&scratch);
    return status;
}

static weft_status no_such_block(const weft_segment *c, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fuse *fuse = &c->graph->fuses[number - 1];
    weft_text asked = {0}, blocks = {0}, open = {0};
    static const int nothing[FUSE_CHOICES] = {0};
    for (int k = 0; k < FUSE_CHOICES; ++k)
        if (fuse->choices[k] != 0)
            weft_text_add(&asked, "%s%d %s", asked.length > 0 ? ", " : "", fuse->choices[k],
                          unit[k]);
    TRY(possible_blocks(c, number, fuse->choices, &blocks, error));
    TRY(possible_blocks(c, number, nothing, &open, error));
    if (asked.failed) {
        status = weft_no_memory(error);
        goto done;
    }
    weft_error_at(error, WEFT_ERROR_TYPE, fuse->place, "this block has no kernel of %s",
                  asked.data);
    if (blocks.length > 0)
        weft_error_hint(error, "blocks of %s elements can be, the rest being as it is",
                        blocks.data);
    else
        weft_error_hint(error,
                        "blocks of %s elements can be, with threads and iterations left open",
                        open.length > 0 ? open.data : "no");
    status = WEFT_ERROR_TYPE;
done:
    weft_text_free(&asked);
    weft_text_free(&blocks);
    weft_text_free(&open);
    return status;
}

/* The variants that the user chose are in no kernel with all calls of the block: a native body of several threads is in none with a
 * reduction, nor has it blocks of any number of elements. */
static weft_status variants_refused(const weft_segment *c, int number, weft_error *error) {
    const weft_compile_options *options = &c->options;
    for (int i = 0; i < options->n_variants; ++i)
        for (int k = 0; k < c->graph->n_calls; ++k)
            if (c->graph->calls[k].fuse == number && c->graph->calls[k].specialisation &&
                strcmp(c->graph->calls[k].label, options->variants[i].function) == 0) {
                weft_error_at(error, WEFT_ERROR_USAGE, c->graph->fuses[number - 1].place,
                              "no kernel of this block can have variant %d of '%s'",
                              options->variants[i].variant, options->variants[i].function);
                weft_error_hint(error, "without a choice of variant, the planner takes one that "
                                       "the block can have, if there is one");
                return WEFT_ERROR_USAGE;
            }
    return WEFT_OK;
}

static weft_status check_kept(const weft_segment *c, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < c->graph->n_fuses; ++i) {
        const weft_fuse *fuse = &c->graph->fuses[i];
        bool any = false;
        for (int k = 0; k < FUSE_CHOICES; ++k)
            any |= fuse->choices[k] != 0;
        bool has_calls = false;
        for (int k = 0; k < c->graph->n_calls; ++k)
            has_calls |= c->graph->calls[k].fuse == i + 1;
        if (!has_calls || is_kept(c, i + 1))
            continue;
        status = variants_refused(c, i + 1, error);
        if (status != WEFT_OK)
            return status;
        if (any)
            return no_such_block(c, i + 1, error);
    }
    return WEFT_OK;
}

static void set_of(const weft_graph *graph, int fuse, uint64_t *set) {
    memset(set, 0, WEFT_CALLS_MAX / 8);
    for (int i = 0; i < graph->n_calls; ++i)
        if (graph->calls[i].fuse == fuse)
            weft_set_add(set, i);
}

static weft_status refuse(const weft_graph *graph, weft_location place, int a, int b,
                          const char *why, const char *what, weft_error *error) {
    weft_text first = {0}, second = {0};
    weft_print_name(graph, graph->calls[a].result, &first);
    weft_print_name(graph, graph->calls[b].result, &second);
    weft_error_at(error, WEFT_ERROR_TYPE, place, "'%s' and '%s' cannot share a kernel: %s%s",
                  first.failed ? "" : first.data, second.failed ? "" : second.data, why, what);
    weft_error_hint(error, "weft explain --why %s %s, without the block, says more",
                    first.failed ? "" : first.data, second.failed ? "" : second.data);
    weft_text_free(&first);
    weft_text_free(&second);
    return WEFT_ERROR_TYPE;
}

static weft_status check_block(const weft_segment *c, weft_location place, const uint64_t *set,
                               weft_error *error) {
    const weft_graph *graph = c->graph;
    int a = -1, b = -1, outside = -1;
    switch (weft_set_split(graph, c->fusions->dependence, set, &a, &b, &outside)) {
    case NOT_FUSED_INDEX_SET:
        return refuse(graph, place, a, b, "they are over different index sets", "", error);
    case NOT_FUSED_BARRIER:
        return refuse(graph, place, a, b, "there is a global barrier between them", "", error);
    case NOT_FUSED_PATH:
        return refuse(graph, place, a, b, "between them is, outside of the block, ",
                      graph->values[graph->calls[outside].result].name, error);
    case NOT_FUSED_PRODUCT:
        return weft_error_at(error, WEFT_ERROR_TYPE, place,
                             "an operator's product takes not all of these into its kernel");
    case NOT_FUSED_SLICES:
        return weft_error_at(
            error, WEFT_ERROR_TYPE, place,
            "these share no kernel: no slice of the matrix, rows or columns, serves all of them");
    default:
        return WEFT_OK;
    }
}

weft_status weft_directives_add(weft_segment *c, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int fuse = 1; fuse <= c->graph->n_fuses; ++fuse) {
        uint64_t set[WEFT_CALLS_MAX / 64];
        set_of(c->graph, fuse, set);
        const int n = weft_set_count(set, c->graph->n_calls);
        if (c->options.plan == WEFT_PLAN_UNFUSED || c->options.forced_plan || n == 0)
            continue;
        TRY(check_shape(c, fuse, error));
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

/* Has a fusion calls of several together blocks? */
static bool joins_togethers(const weft_graph *graph, const weft_fusion *fusion) {
    int together = 0;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const int own = graph->calls[fusion->calls[i]].together;
        if (own > 0 && together > 0 && own != together)
            return true;
        together = own > 0 ? own : together;
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
        if (n != weft_set_count(set, graph->n_calls))
            return true;
    }
    return false;
}

weft_status weft_directives_prune(weft_segment *c, weft_error *error) {
    if (c->options.plan == WEFT_PLAN_UNFUSED || c->options.forced_plan ||
        (c->script->n_fuses == 0 && c->script->n_splits == 0 && c->script->n_togethers == 0))
        return WEFT_OK;
    for (int i = 0; i < c->implementations->n; ++i) {
        weft_implementation *one = &c->implementations->list[i];
        if (breaks_split(c->graph, one->fusion))
            one->reason = "the script has a split between its calls";
        else if (joins_togethers(c->graph, one->fusion))
            one->reason = "its calls are in several together blocks";
        else if (breaks_fuse(c->graph, one->fusion))
            one->reason = "it cuts a fuse block of the script";
    }
    return check_kept(c, error);
}
