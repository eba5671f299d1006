/* Whether a block that the script asks for can be: by the device, by the calls in it, and, where
 * nothing is kept that has it, by trying others. What can be is said. */
#include "core/weft_core.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/block_shapes.h"
#include "fusion/plan/directives.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/segment.h"
#include "fusion/script/script.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_compile.h"

#include <string.h>

static const char *const unit[FUSE_CHOICES] = {"instances a block", "threads an instance",
                                               "iterations"};

static weft_status refuse(weft_place place, int choice, int asked, weft_error *error) {
    return weft_error_at(error, WEFT_ERROR_TYPE, place, "a kernel of %d %s cannot be here", asked,
                         unit[choice]);
}

/* The most threads that a variant of a call of the block has, of those that it may have. */
static int most_threads(const weft_segment *c, int fuse) {
    int most = 1;
    for (int i = 0; i < c->graph->n_calls; ++i) {
        const weft_call *call = &c->graph->calls[i];
        for (int v = 0;
             call->fuse == fuse && call->instance != NULL && v < call->instance->n_variants; ++v)
            if ((call->variant < 0 || call->variant == v) && call->instance->threads[v] > most)
                most = call->instance->threads[v];
    }
    return most < WEFT_CUDA_WARPS_MAX ? most : WEFT_CUDA_WARPS_MAX;
}

/* On the host a block is a vector, whose lanes each compute an instance, once. */
static weft_status check_host(const weft_segment *c, const weft_fuse *fuse, weft_error *error) {
    const int lanes = weft_target_lanes(&c->limits, c->options.single);
    const int own[FUSE_CHOICES] = {lanes, 1, 1};
    for (int k = 0; k < FUSE_CHOICES; ++k)
        if (fuse->choices[k] != 0 && fuse->choices[k] != own[k]) {
            refuse(fuse->places[k], k, fuse->choices[k], error);
            weft_error_hint(error,
                            "this device has blocks of %d instances, one thread each, once; 0, "
                            "maybe a parameter's, leaves it open",
                            lanes);
            return WEFT_ERROR_TYPE;
        }
    return WEFT_OK;
}

weft_status weft_wishes_check_block(const weft_segment *c, int number, weft_error *error) {
    const weft_fuse *fuse = &c->graph->fuses[number - 1];
    const int block = fuse->choices[FUSE_BLOCK], threads = fuse->choices[FUSE_THREADS];
    const int most = most_threads(c, number);
    if (!weft_target_is_simt(&c->limits))
        return check_host(c, fuse, error);
    if (block < 0 || block > WEFT_BLOCK_THREADS || block % WEFT_CUDA_LANES != 0) {
        refuse(fuse->places[FUSE_BLOCK], FUSE_BLOCK, block, error);
        weft_error_hint(error, "a block has 32, 64, 96, ... %d instances", WEFT_BLOCK_THREADS);
        return WEFT_ERROR_TYPE;
    }
    if (threads < 0 || threads > most) {
        refuse(fuse->places[FUSE_THREADS], FUSE_THREADS, threads, error);
        weft_error_hint(error, "the calls of this block have variants of 1 to %d threads", most);
        return WEFT_ERROR_TYPE;
    }
    if (fuse->choices[FUSE_ITERATIONS] < 0 || fuse->choices[FUSE_ITERATIONS] > WEFT_BLOCK_TURNS) {
        refuse(fuse->places[FUSE_ITERATIONS], FUSE_ITERATIONS, fuse->choices[FUSE_ITERATIONS],
               error);
        weft_error_hint(error, "a block goes through 1 to %d", WEFT_BLOCK_TURNS);
        return WEFT_ERROR_TYPE;
    }
    if (block * threads > WEFT_BLOCK_THREADS) {
        refuse(fuse->places[FUSE_BLOCK], FUSE_BLOCK, block, error);
        weft_error_hint(error, "with %d threads an instance, a block has at most %d instances",
                        threads, WEFT_BLOCK_THREADS / threads / WEFT_CUDA_LANES * WEFT_CUDA_LANES);
        return WEFT_ERROR_TYPE;
    }
    return WEFT_OK;
}

/* ---- after the implementations ---- */

static bool is_kept(const weft_segment *c, int fuse) {
    for (int i = 0; i < c->implementations->n; ++i) {
        const weft_implementation *one = &c->implementations->list[i];
        for (int k = 0; one->reason == NULL && k < one->fusion->n_calls; ++k)
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
    if (one == NULL)
        return weft_no_memory(error);
    one->calls = weft_arena_alloc(scratch, (size_t)c->graph->n_calls + 1, sizeof *one->calls);
    if (one->calls == NULL)
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

/* Blocks that can be, were `choices` asked for. */
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
    if (graph.fuses == NULL) {
        status = weft_no_memory(error);
        goto done;
    }
    memcpy(graph.fuses[number - 1].choices, choices, FUSE_CHOICES * sizeof *choices);
    for (int block = WEFT_CUDA_LANES; block <= WEFT_BLOCK_THREADS; block *= 2) {
        weft_implementations *made = NULL;
        graph.fuses[number - 1].choices[FUSE_BLOCK] = block;
        TRY(weft_implementations_make(scratch, &graph, &fusions, &c->limits, &c->options, &made,
                                      error));
        bool any = false;
        for (int i = 0; i < made->n; ++i)
            any |= made->list[i].reason == NULL;
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
        weft_error_hint(error, "blocks of %s instances can be, the rest being as it is",
                        blocks.data);
    else
        weft_error_hint(error,
                        "blocks of %s instances can be, with threads and iterations left open",
                        open.length > 0 ? open.data : "no");
    status = WEFT_ERROR_TYPE;
done:
    weft_text_free(&asked);
    weft_text_free(&blocks);
    weft_text_free(&open);
    return status;
}

weft_status weft_wishes_check_kept(const weft_segment *c, weft_error *error) {
    for (int i = 0; i < c->graph->n_fuses; ++i) {
        const weft_fuse *fuse = &c->graph->fuses[i];
        bool any = false;
        for (int k = 0; k < FUSE_CHOICES; ++k)
            any |= fuse->choices[k] != 0;
        bool has_calls = false;
        for (int k = 0; k < c->graph->n_calls; ++k)
            has_calls |= c->graph->calls[k].fuse == i + 1;
        if (any && has_calls && !is_kept(c, i + 1))
            return no_such_block(c, i + 1, error);
    }
    return WEFT_OK;
}
