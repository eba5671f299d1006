/* The text of edge stars (edge_star_internal.h): a warp walks its rows of 32 stars. Local vertices
 * 0 and 1 are the edge; ring vertices come to be local vertices 2 and 3 in turn. */
#include "source_star_internal.h"

static void write_shared(const star_writer *s) {
    weft_text *out = s->w->out;
    weft_text_add(
        out,
        "    const int warp = threadIdx.x / LANES, lane = threadIdx.x %% LANES;\n"
        "    const uint32_t *const edge_warp =\n"
        "        edge_warps + 2 * (blockIdx.x * (ROWS_THREADS / LANES) + warp);\n"
        "    const uint32_t *words = edge_words + edge_warp[0] * (int64_t)LANES + lane;\n"
        "    uint32_t ends, pair = words[0], next0 = words[LANES], next1 = words[2 * LANES];\n"
        "    words += 3 * LANES;\n"
        "    scalar *const given = sums + warp * (ROWS_NODES * %d); /* by this warp */\n"
        "    for (int i = lane; i < ROWS_NODES * %d; i += LANES)\n"
        "        given[i] = 0;\n",
        s->n_results, s->n_results);
}

/* Words are read three pairs ahead. */
static const char next_pair[] = "pair = next0, next0 = next1, next1 = words[0], words += LANES;\n";

/* What vertex v has been given so far goes to its owner's sum: no two lanes have the same. */
static void write_give(const star_writer *s, int v, const char *word, const char *indent) {
    weft_text_add(s->w->out,
                  "%sif ((%s & %d) < ROWS_NODES)\n"
                  "%s    UNROLL for (int c = 0; c < %d; ++c)\n"
                  "%s        given[(%s & %d) * %d + c] += sum%d[c];\n"
                  "%s__syncwarp();\n",
                  indent, word, EDGE_SKIP | EDGE_LOCAL, indent, s->n_results, indent, word,
                  EDGE_LOCAL, s->n_results, v, indent);
}

/* A ring vertex comes to be local vertex v and completes a cell. */
static weft_status write_step(const star_writer *s, int v, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = s->w->out;
    const char *source = weft_source_variable(s->w, s->star->accumulation->source, -1);
    weft_text_add(out, "            { const int e = word%d & %d;\n", v, EDGE_LOCAL);
    weft_star_write_vertex(s, v, "e", "                ");
    weft_text_add(out, "            }\n            if (!(word%d & %d)) {\n", v, EDGE_SKIP);
    weft_star_write_cell_loads(s, v == 3 ? "2 * ((words - edge_words) / LANES - 3) + 1"
                                         : "2 * ((words - edge_words) / LANES - 3)");
    for (int i = 0; i < s->star->n_calls; ++i)
        TRY(weft_source_call(s->w, &s->w->graph->calls[s->star->calls[i]], s->star->variants[i],
                             error));
    weft_text_add(out, "            UNROLL for (int c = 0; c < %d; ++c) {\n", s->n_results);
    for (int k = 0; k < 4; ++k)
        weft_text_add(out, "                sum%d[c] += %s[%d + c];\n", k, source,
                      k * s->n_results);
    weft_text_add(out,
                  "            }\n            }\n            if (word%d & %d)\n"
                  "                break;\n",
                  v, EDGE_LAST);
done:
    return status;
}

static weft_status write_row(const star_writer *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = s->w->out;
    weft_text_add(out,
                  "    _Pragma(\"unroll 1\") for (uint32_t k = edge_warp[1]; k > 0; --k) {\n"
                  "        ends = pair;\n        %s",
                  next_pair);
    for (int v = 0; v < 4; ++v)
        weft_text_add(out, "        real sum%d[%d] = {0};\n", v, s->n_results);
    weft_star_write_arrays(s, "        ");
    weft_text_add(out, "        uint32_t word0 = ends & 65535, word1 = ends >> 16;\n"
                       "        uint32_t word2 = pair & 65535, word3 = pair >> 16;\n");
    weft_text_add(out, "        const int first = word0 & %d;\n", EDGE_LOCAL);
    weft_star_write_vertex(s, 0, "first", "        ");
    for (int v = 1; v < 3; ++v) {
        weft_text_add(out, "        { const int e = word%d & %d;\n", v, EDGE_LOCAL);
        weft_star_write_vertex(s, v, "e", "            ");
        weft_text_add(out, "        }\n");
    }
    weft_text_add(out, "        _Pragma(\"unroll 1\") for (;;) {\n");
    TRY(write_step(s, 3, error));
    write_give(s, 2, "word2", "            ");
    weft_text_add(out,
                  "            UNROLL for (int c = 0; c < %d; ++c)\n"
                  "                sum2[c] = 0;\n"
                  "            %s"
                  "            word2 = pair & 65535;\n",
                  s->n_results, next_pair);
    TRY(write_step(s, 2, error));
    write_give(s, 3, "word3", "            ");
    weft_text_add(out,
                  "            UNROLL for (int c = 0; c < %d; ++c)\n"
                  "                sum3[c] = 0;\n"
                  "            word3 = pair >> 16;\n"
                  "        }\n",
                  s->n_results);
    write_give(s, 2, "word2", "        ");
    write_give(s, 3, "word3", "        ");
    write_give(s, 0, "word0", "        ");
    write_give(s, 1, "word1", "        ");
    weft_text_add(out, "        %s    }\n", next_pair);
done:
    return status;
}

weft_status weft_source_edge_stars(const star_writer *s, weft_error *error) {
    weft_status status = WEFT_OK;
    write_shared(s);
    weft_star_write_staging(s);
    TRY(write_row(s, error));
    weft_text_add(s->w->out,
                  "    __syncthreads();\n"
                  "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k)\n"
                  "        UNROLL for (int c = 0; c < %d; ++c) {\n"
                  "            const int at = (k * ROWS_THREADS + threadIdx.x) * %d + c;\n"
                  "            scalar sum = sums[at];\n"
                  "            UNROLL for (int copy = 1; copy < ROWS_THREADS / LANES; ++copy)\n"
                  "                sum += sums[copy * (ROWS_NODES * %d) + at];\n"
                  "            y[k * %d + c] = sum;\n"
                  "        }\n",
                  s->n_results, s->n_results, s->n_results, s->n_results);
done:
    return status;
}
