/* The cover that a compilation takes: the one that is asked for by its text, which a search has
 * found best before; the n-th best, for that search; else the best. */
#include "core/weft_core.h"
#include "fusion/base/array.h"
#include "fusion/compile/compile.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/compilation.h"
#include "fusion/plan/cover.h"
#include "fusion/plan/implementation.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "2,3:0,1@32x1w4rsr": calls in order, their variants, instances, iterations, warps, places. */
static void write_implementation(const weft_implementation *one, weft_text *out) {
    const int n = one->fusion->n_calls;
    for (int i = 0; i < n; ++i)
        weft_text_add(out, "%s%d", i > 0 ? "," : "", one->order[i]);
    for (int i = 0; i < n; ++i)
        weft_text_add(out, "%s%d", i > 0 ? "," : ":", one->variants[i]);
    weft_text_add(out, "@%dx%dw%d", one->instances_per_block, one->serial_iterations, one->warps);
    for (int m = 0; m < one->n_onchip; ++m)
        weft_text_add(out, one->placement[m] == PLACE_SHARED ? "s" : "r");
}

static weft_status hash_graph(const weft_graph *graph, char out[33], weft_error *error) {
    weft_text text = {0};
    weft_graph_print_text(graph, &text);
    if (text.failed) {
        weft_text_free(&text);
        return weft_no_memory(error);
    }
    weft_hash(text.data ? text.data : "", text.length, out);
    weft_text_free(&text);
    return WEFT_OK;
}

static weft_status write_cover(const weft_graph *graph, const weft_cover *cover, weft_text *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    char hash[33];
    TRY(hash_graph(graph, hash, error));
    weft_text_add(out, "%s", hash);
    for (int i = 0; i < cover->n; ++i) {
        weft_text_add(out, " ");
        write_implementation(cover->list[i], out);
    }
    weft_text_add(out, "\n");
    if (out->failed)
        status = weft_no_memory(error);
done:
    return status;
}

weft_status weft_compilation_cover(const weft_compilation *compilation, weft_text *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const struct weft_flow *flow = compilation->flow;
    if (!flow)
        return write_cover(compilation->graph, compilation->cover, out, error);
    for (int i = 0; i < flow->n_segments; ++i)
        TRY(write_cover(flow->segments[i]->graph, flow->segments[i]->cover, out, error));
done:
    return status;
}

/* The implementation that a word tells of; NULL: it is not among them. */
static const weft_implementation *find_implementation(const weft_implementations *among,
                                                      const char *word, size_t length,
                                                      weft_text *scratch) {
    for (int i = 0; i < among->n; ++i) {
        if (among->list[i].reason)
            continue;
        scratch->length = 0;
        write_implementation(&among->list[i], scratch);
        if (!scratch->failed && scratch->length == length &&
            memcmp(scratch->data, word, length) == 0)
            return &among->list[i];
    }
    return NULL;
}

/* *out NULL: the text says nothing of this graph, or names what there is not. */
static weft_status read_cover(weft_arena *arena, const weft_graph *graph,
                              const weft_implementations *among, const char *text, weft_cover **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text scratch = {0};
    char hash[33];
    int n_calls = 0;
    weft_cover *made = weft_arena_alloc(arena, 1, sizeof *made);
    *out = NULL;
    if (!made)
        return weft_no_memory(error);
    made->list = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *made->list);
    if (!made->list)
        return weft_no_memory(error);
    TRY(hash_graph(graph, hash, error));
    const char *line = strstr(text, hash);
    if (!line)
        goto done;
    for (line += 32; *line == ' ' && made->n < graph->n_calls;) {
        const size_t length = strcspn(++line, " \n");
        const weft_implementation *one = find_implementation(among, line, length, &scratch);
        if (!one)
            goto done;
        made->list[made->n++] = one;
        made->seconds += one->cost;
        n_calls += one->fusion->n_calls;
        line += length;
    }
    if (n_calls == graph->n_calls) /* the words of one line, as they were written: no call twice */
        *out = made;
done:
    if (scratch.failed && status == WEFT_OK)
        status = weft_no_memory(error);
    weft_text_free(&scratch);
    return status;
}

weft_status weft_cover_choose(weft_compilation *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cover **list = NULL;
    const int most = c->options.alternative + 1;
    int n = 0;
    if (c->options.cover)
        TRY(read_cover(c->arena, c->graph, c->implementations, c->options.cover, &c->cover, error));
    c->cover_recalled = c->cover != NULL;
    if (c->cover)
        return WEFT_OK;
    if (most <= 1)
        return weft_cover_make(c->arena, c->graph, c->fusions, c->implementations, c->options.plan,
                               &c->cover, error);
    TRY(weft_covers_make(c->arena, c->graph, c->fusions, c->implementations, c->options.plan, most,
                         &list, &n, error));
    if (n == 0)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "no choice of kernels covers every call once");
    c->cover = list[n - 1];
done:
    return status;
}

static int count_measured(const weft_cover *cover) {
    int n = 0;
    for (int i = 0; i < cover->n; ++i)
        n += cover->list[i]->measured;
    return n;
}

int weft_compilation_measured(const weft_compilation *compilation, int *n_kernels) {
    const struct weft_flow *flow = compilation->flow;
    int n = 0;
    *n_kernels = 0;
    for (int i = 0; i < (flow ? flow->n_segments : 1); ++i) {
        const weft_cover *cover = flow ? flow->segments[i]->cover : compilation->cover;
        n += count_measured(cover);
        *n_kernels += cover->n;
    }
    return n;
}

bool weft_compilation_recalled(const weft_compilation *compilation) {
    bool all = compilation->flow || compilation->cover_recalled;
    for (int i = 0; compilation->flow && i < compilation->flow->n_segments; ++i)
        all = all && compilation->flow->segments[i]->cover_recalled;
    return all;
}

/* Everything that decides which covers there are, but the device. */
weft_status weft_script_hash(const weft_library *library, const weft_fragment *fragments,
                             int n_fragments, const weft_compile_options *options, char out[33],
                             weft_error *error) {
    weft_text all = {0};
    weft_text_add(&all, "plan %d|scatter %d|store %d %d|single %d|fusion %d|", (int)options->plan,
                  (int)options->scatter, (int)options->store, options->turns, options->single,
                  options->max_fusion);
    for (int i = 0; i < n_fragments; ++i)
        weft_text_add(&all, "%s\n", fragments[i].text);
    for (int i = 0; i < options->n_expressions; ++i)
        weft_text_add(&all, "%s=%s\n", options->expressions[i].name, options->expressions[i].text);
    for (int i = 0; i < options->n_parameters; ++i)
        weft_text_add(&all, "%s=%d\n", options->parameters[i].name, options->parameters[i].value);
    for (int i = 0; i < options->n_variants; ++i)
        weft_text_add(&all, "%s:%d\n", options->variants[i].function, options->variants[i].variant);
    for (int i = 0; i < options->n_operators; ++i) {
        const weft_operator_choice *one = &options->operators[i];
        weft_text_add(&all, "%s~%s\n", one->name, one->routine ? one->routine : "");
        for (int k = 0; k < one->n_fragments; ++k)
            weft_text_add(&all, "%s\n", one->fragments[k].text);
    }
    for (size_t i = 0; i < weft_library_size(library); ++i) {
        weft_function_info info;
        weft_library_info(library, i, &info);
        weft_text_add(&all, "%s\n", info.text);
    }
    weft_status status = all.failed ? weft_no_memory(error) : WEFT_OK;
    if (status == WEFT_OK)
        weft_hash(all.data, all.length, out);
    weft_text_free(&all);
    return status;
}
