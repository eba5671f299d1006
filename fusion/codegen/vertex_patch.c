/* Writes the text of patches (fusion/connectivity/vertex_patches.h). Nodal values of a patch and
 * its halo are staged in pairs, so that a vertex is read by few wide loads from shared memory. The
 * register arrays of the calls are filled from there in the renumbered order, so that the text of
 * the calls is unchanged and the compiler removes computations that only other rows need. */
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/codegen/patch.h"
#include "fusion/connectivity/vertex_patches.h"

#include <string.h>

/* ---- staging ---- */

/* Do all calls that read this load depend on its differences only (`//@ shift`)? */
static bool takes_differences(const patch_writer *s, const weft_operand *load) {
    for (int i = 0; i < s->patch->n_calls; ++i) {
        const weft_call *call = &s->w->graph->calls[s->patch->calls[i]];
        for (int k = 0; k < call->n_operands; ++k) {
            const weft_operand *operand = &call->operands[k];
            if (operand->value != load->value || operand->connectivity != load->connectivity)
                continue;
            if (!call->specialisation ||
                weft_shape_count(&operand->shape) !=
                    s->width * weft_patch_load_count(s->w->graph, load) ||
                !weft_function_shifts(call->specialisation->function, k))
                return false;
        }
    }
    return true;
}

static weft_status list_staged(patch_writer *s, weft_error *error) {
    const weft_graph *graph = s->w->graph;
    s->parts = weft_arena_alloc(s->w->arena, (size_t)weft_patch_staged_count(graph, s->patch) + 1,
                                sizeof *s->parts);
    if (!s->parts)
        return weft_no_memory(error);
    for (int pass = 0; pass < 2; ++pass) /* the vector first, because LOAD may compute it */
        for (int i = 0; i < s->patch->n_loads; ++i) {
            const weft_operand *load = &s->patch->loads[i];
            if (weft_patch_is_nodal(s->patch, load) &&
                (load->value == s->patch->vector) == (pass == 0))
                for (int c = 0; c < weft_patch_load_count(graph, load); ++c)
                    s->parts[s->n_parts++] = (staged){load, c, takes_differences(s, load)};
        }
    return WEFT_OK;
}

/* "s1[local].b"; "s2[local]" for the last of an odd number of parts; "next_s1.b" for local NULL */
static void write_staged(const patch_writer *s, int part, const char *local) {
    const char *member = part == s->n_parts - 1 && part % 2 == 0 ? "" : part % 2 ? ".b" : ".a";
    if (!local)
        weft_text_add(s->w->out, "next_s%d%s", part / 2, member);
    else
        weft_text_add(s->w->out, "s%d[%s]%s", part / 2, local, member);
}

/* The nodes of a thread are packed as 16-bit numbers in `order`, the lengths of their patches in
 * the two words after row[0]. */
static void write_shared(const patch_writer *s) {
    weft_text *out = s->w->out;
    const int iterations = s->patch->nodes / s->patch->threads;
    weft_text_add(
        out, "    const uint32_t *row =\n"
             "        patch_rows + 4 * ((blockIdx.x * ROWS_THREADS + threadIdx.x) / LANES);\n");
    if (iterations == 4)
        weft_text_add(
            out, "    unsigned long long lengths = (unsigned long long)row[2] << 32 | row[1];\n"
                 "    unsigned long long order = ((const unsigned long long *)\n"
                 "        patch_order)[blockIdx.x * ROWS_THREADS + threadIdx.x];\n");
    else
        weft_text_add(
            out,
            "    uint32_t lengths = row[1];\n"
            "    uint32_t order = %spatch_order%s[blockIdx.x * ROWS_THREADS + threadIdx.x];\n",
            iterations == 2 ? "((const uint32_t *)" : "", iterations == 2 ? ")" : "");
    weft_text_add(out, "    const unsigned long long *words =\n"
                       "        patch_words + row[0] * (int64_t)LANES + threadIdx.x %% LANES;\n"
                       "    unsigned long long bits = words[0];\n");
}

static void write_staged_shared(const patch_writer *s) {
    weft_text *out = s->w->out;
    weft_text_add(out,
                  "    struct __align__(2 * sizeof(scalar)) patch_pair { scalar a, b; };\n"
                  "    const int64_t halo_first = patch_halo_start[blockIdx.x];\n"
                  "    const int n_halo = (int)(patch_halo_start[blockIdx.x + 1] - halo_first);\n"
                  "    unsigned char *staged = shared;\n");
    for (int i = 0; 2 * i < s->n_parts; ++i) {
        const char *type = 2 * i + 1 < s->n_parts ? "patch_pair" : "scalar";
        weft_text_add(out,
                      "    %s *const s%d = (%s *)staged;\n"
                      "    staged += (ROWS_NODES + n_halo) * sizeof(%s);\n",
                      type, i, type, type);
    }
    weft_text_add(out, "    scalar *const sums = (scalar *)staged;\n");
}

/* Copy the values of node j in memory to index `local` in shared memory. */
static void write_stage_node(const patch_writer *s, bool own) {
    weft_text *out = s->w->out;
    for (int i = 0; i < s->n_parts; ++i) {
        const weft_operand *load = s->parts[i].load;
        weft_text_add(out, "            ");
        write_staged(s, i, "local");
        if (load->value == s->patch->vector)
            weft_text_add(out, own ? " = own[k] = LOAD(j);\n" : " = LOAD(j);\n");
        else
            weft_text_add(
                out, " = p_%s[j * %d + %d];\n",
                weft_source_variable(s->w, weft_value_storage(s->w->graph, load->value), -1) + 2,
                weft_patch_load_count(s->w->graph, load), s->parts[i].component);
    }
}

/* When the loads of the halo's numbers return, the flag has arrived too, so that a late test costs
 * no latency. Full patches test early: other blocks hide the latency, and a branch after loads
 * needs more registers (88 instead of 72 for triangles). */
bool weft_patch_predicates_late(const weft_patch_computation *patch) {
    return patch->nodes < WEFT_PATCH_NODES;
}

bool weft_patch_spares_threads(const weft_patch_computation *patch) {
    return patch->nodes < patch->threads;
}

void weft_patch_write_staging(const patch_writer *s) {
    weft_text *out = s->w->out;
    const bool spares = weft_patch_spares_threads(s->patch);
    /* the halo's numbers first, because the loads of its values depend on them */
    weft_text_add(out, "    int32_t round[ROWS_PER_THREAD];\n"
                       "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
                       "        const int i = k * ROWS_THREADS + threadIdx.x;\n"
                       "        round[k] = i < n_halo ? patch_halo[halo_first + i] : -1;\n"
                       "    }\n");
    if (s->w->plan->predicated && weft_patch_predicates_late(s->patch))
        weft_text_add(out, WEFT_PREDICATE_LATE);
    weft_text_add(out, "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
                       "        const int local = k * ROWS_THREADS + threadIdx.x;\n"
                       "        const int64_t j = first_row + local;\n");
    if (s->patch->vector >= 0)
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
                  "        const int64_t j = patch_halo[halo_first + i];\n        {\n",
                  spares ? "ROWS_THREADS" : "ROWS_NODES");
    write_stage_node(s, false);
    weft_text_add(out, "        }\n    }\n    __syncthreads();\n\n");
}

/* ---- patches ---- */

/* Local vertex v of every staged register array, from shared memory. */
void weft_patch_write_vertex(const patch_writer *s, int v, const char *local, const char *indent) {
    for (int i = 0; i < s->n_parts; ++i) {
        const weft_operand *load = s->parts[i].load;
        const char *name = weft_source_variable(s->w, load->value, load->connectivity);
        const int at = v * weft_patch_load_count(s->w->graph, load) + s->parts[i].component;
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

/* Move vertex `from` to vertex `to`, by a format that may also read vertex `other`. */
static void write_move(const patch_writer *s, const char *format, int to, int from, int other) {
    for (int i = 0; i < s->n_parts; ++i) {
        const weft_operand *load = s->parts[i].load;
        const int count = weft_patch_load_count(s->w->graph, load), c = s->parts[i].component;
        const char *name = weft_source_variable(s->w, load->value, load->connectivity);
        weft_text_add(s->w->out, format, name, to * count + c, name, from * count + c, name,
                      other * count + c);
    }
}

/* Declare the registers, load the patch's node and the first width - 2 vertices of its ring. */
static void write_patch_start(const patch_writer *s) {
    weft_text *out = s->w->out;
    weft_text_add(
        out,
        "    _Pragma(\"unroll 1\") for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
        "        const int node = (int)(order & 65535), n_words = (int)(lengths & 65535);\n"
        "        real sum[%d] = {0};\n",
        s->n_results);
    weft_patch_write_arrays(s, "        ");
    weft_patch_write_vertex(s, 0, "node", "        ");
    for (int v = 2; v < s->width; ++v) {
        weft_text_add(out, "        { const int e = bits & %d;\n", WORD_LOCAL);
        weft_patch_write_vertex(s, v, "e", "            ");
        weft_text_add(out, "        }\n        bits >>= 16;\n");
    }
    if (s->width == 4)
        write_move(s, "        %s[%d] = %s[%d];\n", 1, 2, 0);
}

/* Load the next ring vertex, which completes the next cell. */
static void write_step_vertex(const patch_writer *s) {
    weft_text *out = s->w->out;
    if (s->width == 4) {
        weft_text_add(out, "            const bool rotated = word & %d;\n", WORD_ROTATED);
        write_move(s, "            %s[%d] = rotated ? %s[%d] : %s[%d];\n", 1, 1, 3);
        write_move(s, "            %s[%d] = rotated ? %s[%d] : %s[%d];\n", 2, 3, 2);
        weft_patch_write_vertex(s, 3, "e", "            ");
        return;
    }
    write_move(s, "            %s[%d] = %s[%d];\n", 1, 2, 0);
    weft_patch_write_vertex(s, 2, "e", "            ");
}

void weft_patch_write_cell_loads(const source_writer *w, const weft_patch_computation *patch,
                                 const char *index) {
    if (!weft_patch_computation_reads_cells(w->graph, patch))
        return;
    weft_text_add(w->out, "            const int64_t cell = patch_cells[%s];\n", index);
    for (int i = 0; i < patch->n_loads; ++i) {
        const weft_operand *load = &patch->loads[i];
        const int count = weft_patch_load_count(w->graph, load);
        if (load->connectivity >= 0 || w->graph->values[load->value].index_set < 0)
            continue;
        const char *v = weft_source_variable(w, load->value, -1);
        weft_text_add(
            w->out,
            "            real %s[%d];\n"
            "            load_block(%s, p_%s + cell / LANES * (%d * LANES) + cell %% LANES, %d);\n",
            v, count, v, weft_source_variable(w, weft_value_storage(w->graph, load->value), -1) + 2,
            count, count);
    }
}

void weft_patch_write_arrays(const patch_writer *s, const char *indent) {
    for (int i = 0; i < s->patch->n_loads; ++i) {
        const weft_operand *load = &s->patch->loads[i];
        if (weft_patch_is_nodal(s->patch, load))
            weft_text_add(s->w->out, "%sreal %s[%d];\n", indent,
                          weft_source_variable(s->w, load->value, load->connectivity),
                          s->width * weft_patch_load_count(s->w->graph, load));
    }
}

static weft_status write_patch(const patch_writer *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = s->w->out;
    const char *source = weft_source_variable(s->w, s->patch->accumulation->source, -1);
    write_patch_start(s);
    weft_text_add(out,
                  "        int i = %d, first = 0;\n"
                  "        do {\n"
                  "        const unsigned long long next_bits = words[LANES];\n"
                  "        const int n = n_words - first < %d ? n_words - first : %d;\n"
                  "        _Pragma(\"unroll 1\") for (; i < n; ++i, bits >>= 16) {\n"
                  "            const int word = (int)bits, e = word & %d;\n",
                  s->width - 2, WEFT_PATCH_GROUP, WEFT_PATCH_GROUP, WORD_LOCAL);
    write_step_vertex(s);
    weft_patch_write_cell_loads(
        s->w, s->patch, "((words - patch_words) / LANES * 4 + i) * LANES + threadIdx.x % LANES");
    for (int i = 0; i < s->patch->n_calls; ++i)
        TRY(weft_source_call(s->w, &s->w->graph->calls[s->patch->calls[i]], s->patch->variants[i],
                             error));
    weft_text_add(out,
                  "            UNROLL for (int c = 0; c < %d; ++c)\n"
                  "                if (!(word & %d))\n"
                  "                    sum[c] += %s[c];\n"
                  "        }\n"
                  "        i = 0;\n"
                  "        bits = next_bits;\n"
                  "        words += LANES;\n"
                  "        } while ((first += %d) < n_words);\n"
                  "        order >>= 16;\n"
                  "        lengths >>= 16;\n"
                  "        UNROLL for (int c = 0; c < %d; ++c)\n"
                  "            sums[node * %d + c] = sum[c];\n"
                  "    }\n",
                  s->n_results, WORD_SKIP, source, WEFT_PATCH_GROUP, s->n_results, s->n_results);
done:
    return status;
}

weft_status weft_source_patch_body(const source_writer *w, const weft_patch_computation *patch,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    patch_writer s = {.w = w,
                      .patch = patch,
                      .width = w->graph->connectivities[patch->accumulation->connectivity].width,
                      .n_results = weft_patch_result_count(w->graph, patch)};
    TRY(list_staged(&s, error));
    write_staged_shared(&s);
    if (!patch->edges)
        write_shared(&s);
    weft_source_load_uniforms(w, patch->loads, patch->n_loads);
    if (patch->edges) {
        TRY(weft_source_edge_patches(&s, error));
        goto done;
    }
    weft_patch_write_staging(&s);
    TRY(write_patch(&s, error));
    weft_text_add(w->out,
                  "    __syncthreads();\n"
                  "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k)\n"
                  "        UNROLL for (int c = 0; c < %d; ++c)\n"
                  "            y[k * %d + c] = sums[(k * ROWS_THREADS + threadIdx.x) * %d + c];\n",
                  s.n_results, s.n_results, s.n_results);
done:
    return status;
}
