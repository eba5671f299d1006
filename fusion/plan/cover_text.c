/* Writes the cover of a segment as text, and reads it. */
#include "fusion/base/array.h"
#include "fusion/plan/implementations.h"
#include "fusion/plan/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "2,3:0,1@64x2+32w4rsr": calls in order, their variants, elements per block, iterations, their
 * stride if it is not the block, threads per element, and the place of each on-chip value (r: register, s: shared, o: own register). */
static void write_implementation(const weft_implementation *one, weft_text *out) {
    const int n = one->fusion->n_calls;
    for (int i = 0; i < n; ++i)
        weft_text_add(out, "%s%d", i > 0 ? "," : "", one->order[i]);
    for (int i = 0; i < n; ++i)
        weft_text_add(out, "%s%d", i > 0 ? "," : ":", one->variants[i]);
    weft_text_add(out, "@%dx%d", one->elements_per_block, one->serial_iterations);
    if (one->stride != one->elements_per_block)
        weft_text_add(out, "+%d", one->stride);
    weft_text_add(out, "w%d", one->threads_per_element);
    for (int m = 0; m < one->n_onchip; ++m)
        weft_text_add(out, "%c", "rso"[one->placement[m]]);
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

weft_status weft_segment_hash_graph(const weft_segment *segment, char out[33], weft_error *error) {
    return hash_graph(segment->graph, out, error);
}

weft_status weft_segment_write_cover(const weft_segment *segment, weft_text *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cover *cover = segment->cover;
    char hash[33];
    TRY(hash_graph(segment->graph, hash, error));
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

/* The implementation that a word denotes; NULL: not found. */
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

/* Up to n numbers between commas; *text moves behind them. */
static int read_numbers(const char **text, int n, int *out) {
    int k = 0;
    while (k < n) {
        char *end = NULL;
        out[k] = (int)strtol(*text, &end, 10);
        if (end == *text)
            return k;
        ++k;
        *text = end;
        if (*end != ',')
            break;
        ++*text;
    }
    return k;
}

static bool has_calls(const weft_fusion *fusion, const int *calls, int n) {
    bool has_all = fusion->n_calls == n;
    for (int i = 0; i < n && has_all; ++i)
        has_all = weft_fusion_contains(fusion, calls[i]);
    return has_all;
}

/* The implementation that a word denotes though the search kept others: predictions decide what it keeps, and those may have been
 * other ones when the word was written. *out is NULL: the word is none of this graph. */
static weft_status make_implementation(const weft_segment *s, const char *word, size_t length,
                                       weft_text *scratch, const weft_implementation **out,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_calls = s->graph->n_calls;
    int *calls = NULL, *variants = NULL, n_read = 0;
    weft_block_shape shape = {0};
    const weft_fusion *fusion = NULL;
    weft_implementations *made = NULL;
    TRY(WEFT_ALLOC(s->arena, calls, (size_t)n_calls + 1, error));
    TRY(WEFT_ALLOC(s->arena, variants, (size_t)n_calls + 1, error));
    const char *at = word;
    const int n = read_numbers(&at, n_calls, calls);
    if (*at++ != ':' || read_numbers(&at, n, variants) != n ||
        sscanf(at, "@%dx%d%n", &shape.elements, &shape.iterations, &n_read) != 2)
        goto done;
    at += n_read;
    shape.stride = shape.elements;
    if (*at == '+' && sscanf(at, "+%d%n", &shape.stride, &n_read) == 1)
        at += n_read;
    if (sscanf(at, "w%d", &shape.threads_per_element) != 1)
        goto done;
    for (int i = 0; i < s->fusions->n && !fusion; ++i)
        fusion = has_calls(&s->fusions->list[i], calls, n) ? &s->fusions->list[i] : NULL;
    if (!fusion)
        goto done;
    TRY(weft_implementations_of_shape(s, fusion, variants, &shape, &made, error));
    *out = find_implementation(made, word, length, scratch);
done:
    return status;
}

/* Find the line of this graph, which starts with its hash, and read its cover. *out is NULL if there is no such line or a word
 * is none of this graph. */
weft_status weft_segment_read_cover(const weft_segment *s, const char *text, weft_cover **out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text scratch = {0};
    char hash[33];
    int n_calls = 0;
    weft_cover *made = weft_arena_alloc(s->arena, 1, sizeof *made);
    *out = NULL;
    if (!made)
        TRY(weft_no_memory(error));
    TRY(WEFT_ALLOC(s->arena, made->list, (size_t)s->graph->n_calls + 1, error));
    TRY(hash_graph(s->graph, hash, error));
    const char *line = strstr(text, hash);
    if (!line)
        goto done;
    for (line += 32; *line == ' ' && made->n < s->graph->n_calls;) {
        const size_t length = strcspn(++line, " \n");
        const weft_implementation *one =
            find_implementation(s->implementations, line, length, &scratch);
        if (!one)
            TRY(make_implementation(s, line, length, &scratch, &one, error));
        if (!one)
            goto done;
        made->list[made->n++] = one;
        made->seconds += one->cost;
        n_calls += one->fusion->n_calls;
        line += length;
    }
    if (n_calls ==
        s->graph->n_calls) /* a line as written has no call twice, so the count suffices */
        *out = made;
done:
    if (scratch.failed && status == WEFT_OK)
        status = weft_no_memory(error);
    weft_text_free(&scratch);
    return status;
}
