/* Writes the text of edge patches (fusion/connectivity/edge_patches.h): a warp walks its rows of 32
 * patches. Local vertices 0 and 1 are the edge; ring vertices become local vertices 2 and 3
 * alternately. */
#include "fusion/codegen/patch.h"
#include "fusion/connectivity/edge_patches.h"

#include <stdio.h>

static void write_shared(const patch_writer *s) {
    weft_text *out = s->w->out;
    weft_text_add(
        out,
        "    const int warp = threadIdx.x / LANES, lane = threadIdx.x %% LANES;\n"
        "    const uint32_t *const edge_warp =\n"
        "        edge_warps + 2 * (blockIdx.x * (ROWS_THREADS / LANES) + warp);\n"
        "    const uint32_t *words = edge_words + edge_warp[0] * (int64_t)LANES + lane;\n"
        "    uint32_t ends, pair = words[0], next0 = words[LANES], next1 = words[2 * LANES],\n"
        "        next2 = words[3 * LANES];\n"
        "    words += 4 * LANES;\n"
        "    scalar *const given = sums + warp * (ROWS_NODES * %d); /* by this warp */\n"
        "    for (int i = lane; i < ROWS_NODES * %d; i += LANES)\n"
        "        given[i] = 0;\n",
        s->n_results, s->n_results);
}

/* Words are read WEFT_EDGE_PATCH_READ_AHEAD pairs before their use. */
static const char next_pair[] =
    "pair = next0, next0 = next1, next1 = next2, next2 = words[0], words += LANES;\n";

/* Add the contributions of two vertices to the warp's sums. The schedule of the patch ensures that
 * no other lane adds to these vertices now. */
static void write_give(const patch_writer *s, const char *word_a, const char *sum_a,
                       const char *word_b, const char *sum_b, const char *indent) {
    const char *const words[] = {word_a, word_b}, *const sums[] = {sum_a, sum_b};
    weft_text *out = s->w->out;
    weft_text_add(out, "%s{\n", indent);
    for (int i = 0; i < 2; ++i)
        weft_text_add(out,
                      "%s    const bool gives%d = (%s & %d) < ROWS_NODES;\n"
                      "%s    scalar *const to%d = given + (%s & %d) * %d;\n"
                      "%s    real sum%d[%d];\n",
                      indent, i, words[i], EDGE_SKIP | EDGE_LOCAL, indent, i, words[i], EDGE_LOCAL,
                      s->n_results, indent, i, s->n_results);
    for (int i = 0; i < 2; ++i)
        weft_text_add(out,
                      "%s    UNROLL for (int c = 0; c < %d; ++c)\n"
                      "%s        sum%d[c] = gives%d ? to%d[c] : 0;\n",
                      indent, s->n_results, indent, i, i, i);
    for (int i = 0; i < 2; ++i)
        weft_text_add(out,
                      "%s    UNROLL for (int c = 0; c < %d; ++c)\n"
                      "%s        if (gives%d)\n"
                      "%s            to%d[c] = sum%d[c] + %s[c];\n",
                      indent, s->n_results, indent, i, indent, i, i, sums[i]);
    weft_text_add(out, "%s    __syncwarp();\n%s}\n", indent, indent);
}

/* Prefetch the staged values of a later vertex from shared memory. */
static void write_read(const patch_writer *s, const char *local, const char *indent) {
    weft_text_add(s->w->out, "%s{ const int e = (%s) & %d;\n", indent, local, EDGE_LOCAL);
    for (int i = 0; 2 * i < s->n_parts; ++i)
        weft_text_add(s->w->out, "%s    next_s%d = s%d[e];\n", indent, i, i);
    weft_text_add(s->w->out, "%s}\n", indent);
}

/* A ring vertex becomes local vertex v and completes a cell. After the end of the lane's ring the
 * computed values are undefined and are discarded. */
static weft_status write_step(const patch_writer *s, int v, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = s->w->out;
    const char *source = weft_source_variable(s->w, s->patch->accumulation->source, -1);
    char next[64];
    snprintf(next, sizeof next, "word%d & %d ? word0 : %s", v, EDGE_LAST,
             v == 3 ? "next0" : "pair >> 16");
    weft_patch_write_vertex(s, v, NULL, "            ");
    write_read(s, next, "            ");
    weft_text_add(out, "            {\n");
    weft_patch_write_cell_loads(
        s->w, s->patch,
        v == 3 ? "(2 * ((words - edge_words) / LANES - 4) + 1) * LANES + threadIdx.x % LANES"
               : "(2 * ((words - edge_words) / LANES - 4)) * LANES + threadIdx.x % LANES");
    for (int i = 0; i < s->patch->n_calls; ++i)
        TRY(weft_source_call(s->w, &s->w->graph->calls[s->patch->calls[i]], s->patch->variants[i],
                             error));
    weft_text_add(out, "            UNROLL for (int c = 0; c < %d; ++c) {\n", s->n_results);
    for (int k = 0; k < 4; ++k)
        weft_text_add(out, "                given%d[c] += word%d & %d ? 0 : %s[%d + c];\n", k, v,
                      EDGE_SKIP, source, k * s->n_results);
    weft_text_add(out, "            }\n            }\n");
done:
    return status;
}

/* Read the edge and the first ring vertex, and prefetch the second. */
static void write_row_start(const patch_writer *s) {
    weft_text *out = s->w->out;
    weft_text_add(out, "        ends = pair;\n        %s", next_pair);
    for (int v = 0; v < 4; ++v)
        weft_text_add(out, "        real given%d[%d] = {0};\n", v, s->n_results);
    weft_patch_write_arrays(s, "        ");
    for (int i = 0; 2 * i < s->n_parts; ++i)
        weft_text_add(out, "        %s next_s%d;\n",
                      2 * i + 1 < s->n_parts ? "patch_pair" : "scalar", i);
    weft_text_add(out,
                  "        const uint32_t word0 = ends & 65535, word1 = ends >> 16;\n"
                  "        uint32_t word2 = pair & 65535, word3 = pair >> 16;\n"
                  "        const int first = word0 & %d;\n",
                  EDGE_LOCAL);
    weft_patch_write_vertex(s, 0, "first", "        ");
    for (int v = 1; v < 3; ++v) {
        weft_text_add(out, "        { const int e = word%d & %d;\n", v, EDGE_LOCAL);
        weft_patch_write_vertex(s, v, "e", "            ");
        weft_text_add(out, "        }\n");
    }
    write_read(s, "word3", "        ");
}

/* Ring vertices add their sums in pairs (0 and 1, 2 and 3, ...). The even one is complete a step
 * before the odd one, and is held until then. */
static weft_status write_row(const patch_writer *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = s->w->out;
    weft_text_add(out, "    _Pragma(\"unroll 1\") for (uint32_t k = edge_warp[1]; k > 0; --k) {\n");
    write_row_start(s);
    weft_text_add(out, "        _Pragma(\"unroll 1\") for (;;) {\n");
    TRY(write_step(s, 3, error));
    weft_text_add(out,
                  "            if (word3 & %d)\n                break;\n"
                  "            const uint32_t held_word = word2;\n"
                  "            real held[%d];\n"
                  "            UNROLL for (int c = 0; c < %d; ++c) {\n"
                  "                held[c] = given2[c];\n"
                  "                given2[c] = 0;\n"
                  "            }\n"
                  "            %s"
                  "            word2 = pair & 65535;\n",
                  EDGE_LAST, s->n_results, s->n_results, next_pair);
    TRY(write_step(s, 2, error));
    write_give(s, "held_word", "held", "word3", "given3", "            ");
    weft_text_add(out,
                  "            word3 = word2 & %d ? %d : pair >> 16;\n"
                  "            if (word2 & %d)\n                break;\n"
                  "            UNROLL for (int c = 0; c < %d; ++c)\n"
                  "                given3[c] = 0;\n"
                  "        }\n",
                  EDGE_LAST, EDGE_SKIP, EDGE_LAST, s->n_results);
    write_give(s, "word2", "given2", "word3", "given3", "        ");
    write_give(s, "word0", "given0", "word1", "given1", "        ");
    weft_text_add(out, "        %s    }\n", next_pair);
done:
    return status;
}

weft_status weft_source_edge_patches(const patch_writer *s, weft_error *error) {
    weft_status status = WEFT_OK;
    write_shared(s);
    weft_patch_write_staging(s);
    TRY(write_row(s, error));
    weft_text_add(s->w->out,
                  "    __syncthreads();\n"
                  "    UNROLL for (int k = 0; k < ROWS_PER_THREAD%s; ++k)\n"
                  "        UNROLL for (int c = 0; c < %d; ++c) {\n"
                  "            const int at = (k * ROWS_THREADS + threadIdx.x) * %d + c;\n"
                  "            scalar sum = sums[at];\n"
                  "            UNROLL for (int copy = 1; copy < ROWS_THREADS / LANES; ++copy)\n"
                  "                sum += sums[copy * (ROWS_NODES * %d) + at];\n"
                  "            y[k * %d + c] = sum;\n"
                  "        }\n",
                  weft_patch_spares_threads(s->patch) ? " && threadIdx.x < ROWS_NODES" : "",
                  s->n_results, s->n_results, s->n_results, s->n_results);
done:
    return status;
}
