/* The text of stars (fusion/connectivity/vertex_patches.h). Nodal data of a patch and its halo are staged in pairs, so
 * that a vertex is read by few wide loads from shared memory; the register arrays of the calls are
 * filled from there in the renumbered order, so that the calls' text is the same as elsewhere and
 * the compiler drops what only other rows need. */
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/codegen/patch.h"
#include "fusion/connectivity/vertex_patches.h"

#include <string.h>

/* ---- staging ---- */

/* Do all calls that see this load see nothing but its differences (`//@ shift`)? */
static bool takes_differences(const star_writer *s, const weft_operand *load) {
    for (int i = 0; i < s->star->n_calls; ++i) {
        const weft_call *call = &s->w->graph->calls[s->star->calls[i]];
        for (int k = 0; k < call->n_operands; ++k) {
            const weft_operand *operand = &call->operands[k];
            if (operand->datum != load->datum || operand->map != load->map)
                continue;
            if (call->instance == NULL ||
                weft_shape_count(&operand->shape) !=
                    s->width * weft_star_load_count(s->w->graph, load) ||
                !weft_function_shifts(call->instance->function, k))
                return false;
        }
    }
    return true;
}

static weft_status list_staged(star_writer *s, weft_error *error) {
    const weft_graph *graph = s->w->graph;
    s->parts =
        weft_arena_alloc(s->w->arena, (size_t)weft_star_staged_count(graph, s->star) + 1, sizeof *s->parts);
    if (s->parts == NULL)
        return weft_no_memory(error);
    for (int pass = 0; pass < 2;
         ++pass) /* the vector first: it may be computed where it is loaded */
        for (int i = 0; i < s->star->n_loads; ++i) {
            const weft_operand *load = &s->star->loads[i];
            if (weft_star_is_nodal(s->star, load) &&
                (load->datum == s->star->vector) == (pass == 0))
                for (int c = 0; c < weft_star_load_count(graph, load); ++c)
                    s->parts[s->n_parts++] = (staged){load, c, takes_differences(s, load)};
        }
    return WEFT_OK;
}

/* "s1[local].b", or "s2[local]" of the last one when their number is odd; without a local number
 * "next_s1.b" */
static void write_staged(const star_writer *s, int part, const char *local) {
    const char *member = part == s->n_parts - 1 && part % 2 == 0 ? "" : part % 2 ? ".b" : ".a";
    if (local == NULL)
        weft_text_add(s->w->out, "next_s%d%s", part / 2, member);
    else
        weft_text_add(s->w->out, "s%d[%s]%s", part / 2, local, member);
}

/* A thread's nodes are as many shorts, its lengths as many in the two words behind row[0]. */
static void write_shared(const star_writer *s) {
    weft_text *out = s->w->out;
    const int turns = s->star->nodes / s->star->threads;
    weft_text_add(out, "    const uint32_t *row =\n"
                       "        star_rows + 4 * ((blockIdx.x * ROWS_THREADS + threadIdx.x) / "
                       "LANES);\n");
    if (turns == 4)
        weft_text_add(
            out, "    unsigned long long lengths = (unsigned long long)row[2] << 32 | row[1];\n"
                 "    unsigned long long order = ((const unsigned long long *)\n"
                 "        star_order)[blockIdx.x * ROWS_THREADS + threadIdx.x];\n");
    else
        weft_text_add(out,
                      "    uint32_t lengths = row[1];\n"
                      "    uint32_t order = %sstar_order%s[blockIdx.x * ROWS_THREADS + "
                      "threadIdx.x];\n",
                      turns == 2 ? "((const uint32_t *)" : "", turns == 2 ? ")" : "");
    weft_text_add(out, "    const unsigned long long *words =\n"
                       "        star_words + row[0] * (int64_t)LANES + threadIdx.x %% LANES;\n"
                       "    unsigned long long bits = words[0];\n");
}

static void write_staged_shared(const star_writer *s) {
    weft_text *out = s->w->out;
    weft_text_add(out, "    struct __align__(2 * sizeof(scalar)) star_pair { scalar a, b; };\n"
                       "    const int64_t halo_first = star_halo_start[blockIdx.x];\n"
                       "    const int n_halo = (int)(star_halo_start[blockIdx.x + 1] - "
                       "halo_first);\n"
                       "    unsigned char *staged = shared;\n");
    for (int i = 0; 2 * i < s->n_parts; ++i) {
        const char *type = 2 * i + 1 < s->n_parts ? "star_pair" : "scalar";
        weft_text_add(out,
                      "    %s *const s%d = (%s *)staged;\n"
                      "    staged += (ROWS_NODES + n_halo) * sizeof(%s);\n",
                      type, i, type, type);
    }
    weft_text_add(out, "    scalar *const sums = (scalar *)staged;\n");
}

/* A node's numbers, from j in memory to `local` in shared memory. */
static void write_stage_node(const star_writer *s, bool own) {
    weft_text *out = s->w->out;
    for (int i = 0; i < s->n_parts; ++i) {
        const weft_operand *load = s->parts[i].load;
        weft_text_add(out, "            ");
        write_staged(s, i, "local");
        if (load->datum == s->star->vector)
            weft_text_add(out, own ? " = own[k] = LOAD(j);\n" : " = LOAD(j);\n");
        else
            weft_text_add(
                out, " = p_%s[j * %d + %d];\n",
                weft_source_variable(s->w, weft_datum_storage(s->w->graph, load->datum), -1) + 2,
                weft_star_load_count(s->w->graph, load), s->parts[i].component);
    }
}

/* By the time that a block knows where its halo's numbers are the answer has come too, so that
 * waiting for it costs nothing. Not in full patches: there other blocks work meanwhile, and a
 * branch behind loads takes registers (88 in place of 72 for triangles). */
bool weft_star_guards_late(const weft_star_source *star) {
    return star->nodes < WEFT_STAR_NODES;
}

bool weft_star_spares_threads(const weft_star_source *star) {
    return star->nodes < star->threads;
}

void weft_star_write_staging(const star_writer *s) {
    weft_text *out = s->w->out;
    const bool spares = weft_star_spares_threads(s->star);
    /* the numbers of the halo first: its loads must wait for them */
    weft_text_add(out, "    int32_t round[ROWS_PER_THREAD];\n"
                       "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
                       "        const int i = k * ROWS_THREADS + threadIdx.x;\n"
                       "        round[k] = i < n_halo ? star_halo[halo_first + i] : -1;\n"
                       "    }\n");
    if (s->w->plan->guarded && weft_star_guards_late(s->star))
        weft_text_add(out, WEFT_GUARD_LATE);
    weft_text_add(out, "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
                       "        const int local = k * ROWS_THREADS + threadIdx.x;\n"
                       "        const int64_t j = first_row + local;\n");
    if (s->star->vector >= 0)
        weft_text_add(out, "        own[k] = 0;\n");
    weft_text_add(out, spares ? "        if (j < last_row) {\n" : "        if (j < n_rows) {\n");
    write_stage_node(s, true);
    weft_text_add(out, "        }\n    }\n"
                       "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
                       "        const int local = ROWS_NODES + k * ROWS_THREADS + threadIdx.x;\n"
                       "        const int64_t j = round[k];\n"
                       "        if (j >= 0) {\n");
    write_stage_node(s, false);
    weft_text_add(out,
                  "        }\n    }\n"
                  "    for (int i = %s + threadIdx.x; i < n_halo; i += ROWS_THREADS) {\n"
                  "        const int local = ROWS_NODES + i;\n"
                  "        const int64_t j = star_halo[halo_first + i];\n        {\n",
                  spares ? "ROWS_THREADS" : "ROWS_NODES");
    write_stage_node(s, false);
    weft_text_add(out, "        }\n    }\n    __syncthreads();\n\n");
}

/* ---- stars ---- */

/* Local vertex v of every staged register array, from shared memory. */
void weft_star_write_vertex(const star_writer *s, int v, const char *local, const char *indent) {
    for (int i = 0; i < s->n_parts; ++i) {
        const weft_operand *load = s->parts[i].load;
        const char *name = weft_source_variable(s->w, load->datum, load->map);
        const int at = v * weft_star_load_count(s->w->graph, load) + s->parts[i].component;
        const bool difference = s->parts[i].difference;
        weft_text_add(s->w->out, difference && v == 0 ? "%sconst real base%d = " : "%s", indent, i);
        if (!difference || v > 0)
            weft_text_add(s->w->out, "%s[%d] = ", name, at);
        write_staged(s, i, local);
        if (difference && v == 0)
            weft_text_add(s->w->out, ";\n%s%s[%d] = 0", indent, name, at);
        else if (difference)
            weft_text_add(s->w->out, " - base%d", i);
        weft_text_add(s->w->out, ";\n");
    }
}

/* Vertex `to` becomes what `from` was; both are C text of a vertex' number. */
static void write_move(const star_writer *s, const char *format, int to, int from, int other) {
    for (int i = 0; i < s->n_parts; ++i) {
        const weft_operand *load = s->parts[i].load;
        const int count = weft_star_load_count(s->w->graph, load), c = s->parts[i].component;
        const char *name = weft_source_variable(s->w, load->datum, load->map);
        weft_text_add(s->w->out, format, name, to * count + c, name, from * count + c, name,
                      other * count + c);
    }
}

/* Registers, the star's own node, and the first width - 2 vertices. */
static void write_star_start(const star_writer *s) {
    weft_text *out = s->w->out;
    weft_text_add(
        out,
        "    _Pragma(\"unroll 1\") for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
        "        const int node = (int)(order & 65535), n_words = (int)(lengths & 65535);\n"
        "        real sum[%d] = {0};\n",
        s->n_results);
    weft_star_write_arrays(s, "        ");
    weft_star_write_vertex(s, 0, "node", "        ");
    for (int v = 2; v < s->width; ++v) {
        weft_text_add(out, "        { const int e = bits & %d;\n", WORD_LOCAL);
        weft_star_write_vertex(s, v, "e", "            ");
        weft_text_add(out, "        }\n        bits >>= 16;\n");
    }
    if (s->width == 4)
        write_move(s, "        %s[%d] = %s[%d];\n", 1, 2, 0);
}

/* The next cell's registers. */
static void write_step_vertex(const star_writer *s) {
    weft_text *out = s->w->out;
    if (s->width == 4) {
        weft_text_add(out, "            const bool turn = word & %d;\n", WORD_TURN);
        write_move(s, "            %s[%d] = turn ? %s[%d] : %s[%d];\n", 1, 1, 3);
        write_move(s, "            %s[%d] = turn ? %s[%d] : %s[%d];\n", 2, 3, 2);
        weft_star_write_vertex(s, 3, "e", "            ");
        return;
    }
    write_move(s, "            %s[%d] = %s[%d];\n", 1, 2, 0);
    weft_star_write_vertex(s, 2, "e", "            ");
}

void weft_star_write_cell_loads(const star_writer *s, const char *place) {
    weft_text *out = s->w->out;
    if (!weft_star_source_reads_cells(s->w->graph, s->star))
        return;
    weft_text_add(out,
                  "            const int64_t cell = star_cells[(%s) * LANES + "
                  "threadIdx.x %% LANES];\n",
                  place);
    for (int i = 0; i < s->star->n_loads; ++i) {
        const weft_operand *load = &s->star->loads[i];
        const int count = weft_star_load_count(s->w->graph, load);
        if (load->map >= 0 || s->w->graph->data[load->datum].index_set < 0)
            continue;
        const char *v = weft_source_variable(s->w, load->datum, -1);
        weft_text_add(out,
                      "            real %s[%d];\n"
                      "            load_block(%s, p_%s + cell / LANES * (%d * LANES) + cell %% "
                      "LANES, %d);\n",
                      v, count, v,
                      weft_source_variable(s->w, weft_datum_storage(s->w->graph, load->datum), -1) +
                          2,
                      count, count);
    }
}

void weft_star_write_arrays(const star_writer *s, const char *indent) {
    for (int i = 0; i < s->star->n_loads; ++i) {
        const weft_operand *load = &s->star->loads[i];
        if (weft_star_is_nodal(s->star, load))
            weft_text_add(s->w->out, "%sreal %s[%d];\n", indent,
                          weft_source_variable(s->w, load->datum, load->map),
                          s->width * weft_star_load_count(s->w->graph, load));
    }
}

static weft_status write_star(const star_writer *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = s->w->out;
    const char *source = weft_source_variable(s->w, s->star->accumulation->source, -1);
    write_star_start(s);
    weft_text_add(out,
                  "        int i = %d, first = 0;\n"
                  "        do {\n"
                  "        const unsigned long long ahead = words[LANES];\n"
                  "        const int n = n_words - first < %d ? n_words - first : %d;\n"
                  "        _Pragma(\"unroll 1\") for (; i < n; ++i, bits >>= 16) {\n"
                  "            const int word = (int)bits, e = word & %d;\n",
                  s->width - 2, WEFT_STAR_GROUP, WEFT_STAR_GROUP, WORD_LOCAL);
    write_step_vertex(s);
    weft_star_write_cell_loads(s, "(words - star_words) / LANES * 4 + i");
    for (int i = 0; i < s->star->n_calls; ++i)
        TRY(weft_source_call(s->w, &s->w->graph->calls[s->star->calls[i]], s->star->variants[i],
                             error));
    weft_text_add(out,
                  "            UNROLL for (int c = 0; c < %d; ++c)\n"
                  "                if (!(word & %d))\n"
                  "                    sum[c] += %s[c];\n"
                  "        }\n"
                  "        i = 0;\n"
                  "        bits = ahead;\n"
                  "        words += LANES;\n"
                  "        } while ((first += %d) < n_words);\n"
                  "        order >>= 16;\n"
                  "        lengths >>= 16;\n"
                  "        UNROLL for (int c = 0; c < %d; ++c)\n"
                  "            sums[node * %d + c] = sum[c];\n"
                  "    }\n",
                  s->n_results, WORD_SKIP, source, WEFT_STAR_GROUP, s->n_results, s->n_results);
done:
    return status;
}

weft_status weft_source_star_body(const source_writer *w, const weft_star_source *star,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    star_writer s = {.w = w,
                     .star = star,
                     .width = w->graph->maps[star->accumulation->map].width,
                     .n_results = weft_star_result_count(w->graph, star)};
    TRY(list_staged(&s, error));
    write_staged_shared(&s);
    if (!star->edges)
        write_shared(&s);
    for (int i = 0; i < star->n_loads; ++i)
        if (w->graph->data[star->loads[i].datum].index_set < 0) {
            const char *v = weft_source_variable(w, star->loads[i].datum, -1);
            const int count = weft_star_load_count(w->graph, &star->loads[i]);
            const int storage = weft_datum_storage(w->graph, star->loads[i].datum);
            weft_text_add(w->out, "    real %s[%d];\n    load_uniform(%s, p_%s, %d);\n", v, count,
                          v, weft_source_variable(w, storage, -1) + 2, count);
        }
    if (star->edges) {
        TRY(weft_source_edge_stars(&s, error));
        goto done;
    }
    weft_star_write_staging(&s);
    TRY(write_star(&s, error));
    weft_text_add(w->out,
                  "    __syncthreads();\n"
                  "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k)\n"
                  "        UNROLL for (int c = 0; c < %d; ++c)\n"
                  "            y[k * %d + c] = sums[(k * ROWS_THREADS + threadIdx.x) * %d + c];\n",
                  s.n_results, s.n_results, s.n_results);
done:
    return status;
}
