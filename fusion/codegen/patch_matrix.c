/* Writes kernels for A[map,map] += K by the owners of A's rows: a thread block assembles the rows
 * of 512 consecutive nodes completely and writes each once, so no addition is atomic and their
 * order is fixed. A thread evaluates the cells incident to its row's node, renumbered so that this
 * node is local vertex 0, and keeps only row 0 of K. Entries are summed in shared memory, in one
 * column per thread. weft_matrix_rows describes words and slices. */
#include "fusion/base/target.h"
#include "fusion/codegen/patch.h"

const char *const weft_patch_matrix_arguments[WEFT_PATCH_MATRIX_ARGUMENTS] = {
    "const uint32_t *restrict patch_start",      "const unsigned short *restrict patch_rows",
    "const uint32_t *restrict patch_word_start", "const unsigned long long *restrict patch_words",
    "const int64_t *restrict patch_halo_start",  "const int32_t *restrict patch_halo",
    "const int64_t *restrict patch_first",       "const int32_t *restrict patch_cells"};

typedef struct matrix_writer {
    const source_writer *w;
    const weft_patch_computation *patch;
    const weft_graph *graph;
    int width;
} matrix_writer;

/* "v_x_at_dofs" */
static const char *variable(const matrix_writer *m, const weft_operand *load) {
    return weft_source_variable(m->w, load->value, load->connectivity);
}

/* "x", of p_x */
static const char *storage(const matrix_writer *m, int value) {
    return weft_source_variable(m->w, weft_value_storage(m->graph, value), -1) + 2;
}

static void write_shared(const matrix_writer *m) {
    weft_text *out = m->w->out;
    weft_text_add(out, "    extern __shared__ __align__(16) unsigned char shared[];\n"
                       "    const int64_t block = patch_first[0] + blockIdx.x;\n"
                       "    const int64_t first_row = block * ROWS_NODES;\n"
                       "    const int64_t halo_first = patch_halo_start[block];\n"
                       "    const int n_halo = (int)(patch_halo_start[block + 1] - halo_first);\n"
                       "    scalar *staged = (scalar *)shared;\n");
    for (int i = 0; i < m->patch->n_loads; ++i)
        if (weft_patch_is_nodal(m->patch, &m->patch->loads[i]))
            weft_text_add(out,
                          "    scalar *const s%d = staged;\n"
                          "    staged += (ROWS_NODES + n_halo) * %d;\n",
                          i, weft_patch_load_count(m->graph, &m->patch->loads[i]));
    weft_text_add(out, "    const uint32_t first_value = patch_start[first_row / LANES];\n");
}

/* Stage the block's own nodes, which are contiguous, and its halo node by node. */
static void write_staging(const matrix_writer *m) {
    weft_text *out = m->w->out;
    weft_text_add(out, "    const int n_own =\n        (int)(n_rows - first_row < ROWS_NODES ? "
                       "n_rows - first_row : ROWS_NODES);\n");
    for (int i = 0; i < m->patch->n_loads; ++i) {
        const weft_operand *load = &m->patch->loads[i];
        const int count = weft_patch_load_count(m->graph, load);
        if (!weft_patch_is_nodal(m->patch, load))
            continue;
        weft_text_add(out,
                      "    for (int i = threadIdx.x; i < n_own * %d; i += ROWS_THREADS)\n"
                      "        s%d[i] = p_%s[first_row * %d + i];\n"
                      "    for (int i = threadIdx.x; i < n_halo; i += ROWS_THREADS) {\n"
                      "        const int64_t j = patch_halo[halo_first + i];\n"
                      "        UNROLL for (int c = 0; c < %d; ++c)\n"
                      "            s%d[(ROWS_NODES + i) * %d + c] = p_%s[j * %d + c];\n"
                      "    }\n",
                      count, i, storage(m, load->value), count, count, i, count,
                      storage(m, load->value), count);
    }
    weft_text_add(out, "    __syncthreads();\n\n");
}

/* Vertex v of every staged register array, from shared memory. */
static void write_vertex(const matrix_writer *m, int v, const char *local, const char *indent) {
    for (int i = 0; i < m->patch->n_loads; ++i) {
        const weft_operand *load = &m->patch->loads[i];
        const int count = weft_patch_load_count(m->graph, load);
        if (weft_patch_is_nodal(m->patch, load))
            weft_text_add(m->w->out,
                          "%sUNROLL for (int c = 0; c < %d; ++c)\n"
                          "%s    %s[%d + c] = s%d[%s * %d + c];\n",
                          indent, count, indent, variable(m, load), v * count, i, local, count);
    }
}

/* Start a slice of rows: the place and the initial values of its sums, the rows' own nodes. */
static void write_slice_start(const matrix_writer *m, bool accumulates) {
    weft_text *out = m->w->out;
    const char *target = storage(m, m->patch->accumulation->target);
    weft_text_add(
        out,
        "    const int lane = threadIdx.x %% LANES;\n"
        "    _Pragma(\"unroll 1\") for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
        "        const int64_t slice = (first_row + k * ROWS_THREADS + threadIdx.x) / LANES;\n"
        "        const uint32_t begin = patch_start[slice];\n"
        "        const int n = (int)((patch_start[slice + 1] - begin) / LANES);\n"
        "        const int node = patch_rows[slice * LANES + lane];\n"
        "        const unsigned long long *words = patch_words + patch_word_start[slice] + lane;\n"
        "        const int n_words =\n"
        "            (int)((patch_word_start[slice + 1] - patch_word_start[slice]) / LANES);\n"
        "        scalar *const sums = staged + (begin - first_value) + lane;\n");
    if (accumulates)
        weft_text_add(out,
                      "        if (n_words == 0) /* of every row of the slice */\n"
                      "            continue;\n"
                      "        scalar diagonal = node < n_own ? p_%s[first_row + node] : 0;\n"
                      "        for (int j = 0; j < n; ++j)\n"
                      "            sums[j * LANES] = p_%s[begin + j * LANES + lane];\n",
                      target, target);
    else
        weft_text_add(out, "        scalar diagonal = 0;\n"
                           "        for (int j = 0; j < n; ++j)\n"
                           "            sums[j * LANES] = 0;\n");
    for (int i = 0; i < m->patch->n_loads; ++i)
        if (weft_patch_is_nodal(m->patch, &m->patch->loads[i]))
            weft_text_add(out, "        real %s[%d];\n", variable(m, &m->patch->loads[i]),
                          m->width * weft_patch_load_count(m->graph, &m->patch->loads[i]));
    write_vertex(m, 0, "node", "        ");
}

static weft_status write_cells(const matrix_writer *m, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text *out = m->w->out;
    const char *source = weft_source_variable(m->w, m->patch->accumulation->source, -1);
    weft_text_add(out, "        unsigned long long next = n_words > 0 ? words[0] : 0;\n"
                       "        _Pragma(\"unroll 1\") for (int j = 0; j < n_words; ++j) {\n"
                       "            const unsigned long long word = next;\n"
                       "            if (j + 1 < n_words)\n"
                       "                next = words[(j + 1) * LANES];\n"
                       "            if (word >> 63) /* this row has fewer cells */\n"
                       "                continue;\n");
    for (int v = 1; v < m->width; ++v) {
        char local[16] = {'l', 'o', 'c', 'a', 'l', (char)('0' + v), '\0'};
        weft_text_add(out, "            const int %s = (int)(word >> %d) & 8191;\n", local,
                      21 * (v - 1));
        write_vertex(m, v, local, "            ");
    }
    weft_patch_write_cell_loads(m->w, m->patch, "patch_word_start[slice] + j * LANES + lane");
    for (int i = 0; i < m->patch->n_calls; ++i)
        TRY(weft_source_call(m->w, &m->graph->calls[m->patch->calls[i]], m->patch->variants[i],
                             error));
    weft_text_add(out, "            diagonal += %s[0];\n", source);
    for (int v = 1; v < m->width; ++v)
        weft_text_add(out, "            sums[((int)(word >> %d) & 255) * LANES] += %s[%d];\n",
                      21 * (v - 1) + 13, source, v);
    weft_text_add(out, "        }\n");
done:
    return status;
}

static void write_slice_end(const matrix_writer *m) {
    const char *target = storage(m, m->patch->accumulation->target);
    weft_text_add(m->w->out,
                  "        for (int j = 0; j < n; ++j)\n"
                  "            p_%s[begin + j * LANES + lane] = sums[j * LANES];\n"
                  "        if (node < n_own)\n"
                  "            p_%s[first_row + node] = diagonal;\n"
                  "    }\n}\n",
                  target, target);
}

weft_status weft_source_patch_matrix(const source_writer *w, const weft_plan_kernel *kernel,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_patch_computation patch = weft_patch_computation_of(w->graph, kernel);
    const matrix_writer m = {w, &patch, w->graph,
                             w->graph->connectivities[patch.accumulation->connectivity].width};
    const weft_accumulation *a = patch.accumulation;
    const char *connectivity = w->graph->connectivities[a->connectivity].name;
    weft_text_add(w->out,
                  "#define ROWS_NODES %d\n#define ROWS_THREADS %d\n"
                  "#define ROWS_PER_THREAD (ROWS_NODES / ROWS_THREADS)\n/* ",
                  WEFT_PATCH_NODES, WEFT_PATCH_MATRIX_THREADS);
    weft_source_place(w, &a->place);
    weft_text_add(
        w->out,
        "  %s[%s,%s] += ..., row by row by the owner */\n"
        "extern \"C\" __global__ void __launch_bounds__(ROWS_THREADS, %d) %s(int64_t n_rows",
        w->graph->values[a->target].name, connectivity, connectivity,
        1024 / WEFT_PATCH_MATRIX_THREADS, kernel->name);
    weft_source_arguments(w, kernel);
    weft_text_add(w->out, "%s)\n{\n%s", w->plan->predicated ? WEFT_PREDICATE_ARGUMENT : "",
                  w->plan->predicated ? WEFT_PREDICATE : "");
    write_shared(&m);
    weft_source_load_uniforms(w, patch.loads, patch.n_loads);
    write_staging(&m);
    write_slice_start(&m, kernel->accumulates);
    TRY(write_cells(&m, error));
    write_slice_end(&m);
    weft_text_add(w->out, "#undef ROWS_PER_THREAD\n#undef ROWS_THREADS\n#undef ROWS_NODES\n\n");
done:
    return status;
}
