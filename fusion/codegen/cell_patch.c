/* Writes kernels that accumulate over patches of cells (fusion/connectivity/cell_patches.h): the data of a
 * patch's nodes is staged in shared memory, each thread computes cells, whose contributions are
 * stored in shared memory and summed by node; and the kernels that add up the border nodes.
 *
 * Decision  docs/decisions/0022-cell-patches.md */
#include "fusion/codegen/private.h"
#include "fusion/connectivity/cell_patches.h"
#include "fusion/plan/cell_patches.h"

#include <string.h>

typedef struct cell_writer {
    const source_writer *w;
    const weft_plan_kernel *kernel;
    const weft_accumulation *accumulation;
    const char *dofs, *target; /* names of the accumulation's connectivity and target */
    int width, components;     /* of the accumulation */
} cell_writer;

static const char *connectivity_name(const source_writer *w, int connectivity) {
    return w->graph->connectivities[connectivity].name;
}

/* Is load i the first through its connectivity? */
static bool is_first_load(const weft_plan_kernel *kernel, int i) {
    const int connectivity = kernel->loads[i].connectivity;
    bool first = connectivity >= 0;
    for (int k = 0; k < i; ++k)
        first = first && kernel->loads[k].connectivity != connectivity;
    return first;
}

void weft_source_cell_patch_argument(const source_writer *w, const weft_argument *argument) {
    static const struct {
        const char *type, *name;
        bool is_shared; /* by all connectivities of a kernel: only that of the store has it */
    } parts[CELL_PATCH_PARTS] = {[CELL_PATCH_START] = {"int64_t", "start", false},
                                 [CELL_PATCH_NODES] = {"int32_t", "nodes", false},
                                 [CELL_PATCH_PLACES] = {"uint32_t", "places", false},
                                 [CELL_PATCH_ROW_START] = {"uint32_t", "row_start", true},
                                 [CELL_PATCH_ORDER] = {"unsigned short", "row_nodes", true},
                                 [CELL_PATCH_PAIRS] = {"uint32_t", "row_pairs", true},
                                 [CELL_PATCH_BORDER] = {"int32_t", "border", true},
                                 [CELL_PATCH_BORDER_START] = {"uint32_t", "border_start", true},
                                 [CELL_PATCH_BORDER_SLOTS] = {"uint32_t", "border_slots", true}};
    const int part = weft_cell_patch_part_of(argument);
    weft_text_add(w->out, "const %s *restrict %s", parts[part].type, parts[part].name);
    if (!parts[part].is_shared)
        weft_text_add(w->out, "_%s", connectivity_name(w, argument->index));
}

/* ---- staging ---- */

/* "n_m_dofs", the nodes of the patch, and "first_m_dofs", the first of them in nodes_dofs. */
static void write_counts(const cell_writer *c, int connectivity) {
    const char *name = connectivity_name(c->w, connectivity);
    weft_text_add(c->w->out,
                  "    const int64_t first_m_%s = start_%s[3 * patch];\n"
                  "    const int n_m_%s = (int)(start_%s[3 * patch + 3] - first_m_%s);\n",
                  name, name, name, name, name);
}

/* Where the data of a load is staged: "s3", component c of local node i at s3[c * n_m_dofs + i]. */
static void write_regions(const cell_writer *c) {
    const weft_plan_kernel *kernel = c->kernel;
    weft_text *out = c->w->out;
    bool counted = false;
    for (int i = 0; i < kernel->n_loads; ++i)
        if (is_first_load(kernel, i)) {
            write_counts(c, kernel->loads[i].connectivity);
            counted |= kernel->loads[i].connectivity == c->accumulation->connectivity;
        }
    if (!counted)
        write_counts(c, c->accumulation->connectivity);
    weft_text_add(out, "    scalar *const results = (scalar *)shared, *staged = results;\n");
    for (int i = 0; i < kernel->n_loads; ++i)
        if (kernel->loads[i].connectivity >= 0)
            weft_text_add(out,
                          "    scalar *const s%d = staged;\n"
                          "    staged += %d * n_m_%s;\n",
                          i, weft_patch_load_count(c->w->graph, &kernel->loads[i]),
                          connectivity_name(c->w, kernel->loads[i].connectivity));
    /* results overwrite staged values that no cell reads any more */
    weft_text_add(out,
                  "    if (staged < results + %d * n_m_%s)\n"
                  "        staged = results + %d * n_m_%s;\n"
                  "    scalar *const sums = staged;\n",
                  c->components, c->dofs, c->components, c->dofs);
}

static void write_staging(const cell_writer *c) {
    const weft_plan_kernel *kernel = c->kernel;
    weft_text *out = c->w->out;
    for (int i = 0; i < kernel->n_loads; ++i) {
        if (!is_first_load(kernel, i))
            continue;
        const int connectivity = kernel->loads[i].connectivity;
        const char *name = connectivity_name(c->w, connectivity);
        weft_text_add(out,
                      "    _Pragma(\"unroll 4\") for (int i = threadIdx.x; i < n_m_%s; i += "
                      "PATCH_THREADS) {\n"
                      "        const int64_t j = nodes_%s[first_m_%s + i];\n",
                      name, name, name);
        for (int k = 0; k < kernel->n_loads; ++k) {
            const weft_operand *load = &kernel->loads[k];
            const int count = weft_patch_load_count(c->w->graph, load);
            const char *list =
                weft_source_variable(c->w, weft_value_storage(c->w->graph, load->value), -1) + 2;
            for (int l = 0; l < count && load->connectivity == connectivity; ++l)
                weft_text_add(out, "        s%d[%d * n_m_%s + i] = p_%s[j * %d + %d];\n", k, l,
                              name, list, count, l);
        }
        weft_text_add(out, "    }\n");
    }
    weft_text_add(out,
                  "    if (threadIdx.x < %d)\n"
                  "        sums[threadIdx.x * PATCH_PLANE + PATCH_PLANE - 1] = 0;\n"
                  "    __syncthreads();\n\n",
                  c->components);
}

/* ---- cells ---- */

/* Fill the register arrays of all loads through a connectivity. */
static void write_gather(const cell_writer *c, int connectivity) {
    const weft_plan_kernel *kernel = c->kernel;
    const weft_graph_connectivity *one = &c->w->graph->connectivities[connectivity];
    const int pairs = (one->width + 1) / 2;
    weft_text *out = c->w->out;
    for (int k = 0; k < kernel->n_loads; ++k)
        if (kernel->loads[k].connectivity == connectivity)
            weft_text_add(out, "        real %s[%d];\n",
                          weft_source_variable(c->w, kernel->loads[k].value, connectivity),
                          one->width * weft_patch_load_count(c->w->graph, &kernel->loads[k]));
    weft_text_add(out,
                  "        {\n"
                  "            const uint32_t *place = places_%s + patch * %d + k;\n"
                  "            UNROLL for (int i = 0; i < %d; ++i) {\n"
                  "                const uint32_t pair = place[i / 2 * PATCH_CELLS];\n"
                  "                const int at = (int)(i %% 2 ? pair >> 16 : pair & 65535);\n",
                  one->name, pairs * kernel->patch_cells, one->width);
    for (int k = 0; k < kernel->n_loads; ++k) {
        const weft_operand *load = &kernel->loads[k];
        const int count = weft_patch_load_count(c->w->graph, load);
        if (load->connectivity == connectivity)
            weft_text_add(out,
                          "                UNROLL for (int l = 0; l < %d; ++l)\n"
                          "                    %s[i * %d + l] = s%d[l * n_m_%s + at];\n",
                          count, weft_source_variable(c->w, load->value, connectivity), count, k,
                          one->name);
    }
    weft_text_add(out, "            }\n        }\n");
}

static weft_status write_cells(const cell_writer *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const source_writer *w = c->w;
    const weft_plan_kernel *kernel = c->kernel;
    const weft_implementation *one = kernel->implementation;
    weft_text_add(
        w->out,
        "    _Pragma(\"unroll 1\") for (int k = threadIdx.x; k < n_cells; k += PATCH_THREADS) {\n");
    weft_source_thread(w, "        ", "first_cell + k");
    weft_text_add(w->out, "        (void)block, (void)lane;\n");
    for (int i = 0; i < kernel->n_loads; ++i)
        if (is_first_load(kernel, i))
            write_gather(c, kernel->loads[i].connectivity);
        else if (kernel->loads[i].connectivity < 0 &&
                 w->graph->values[kernel->loads[i].value].index_set >= 0)
            weft_source_load(w, &kernel->loads[i]);
    for (int i = 0; i < one->fusion->n_calls; ++i)
        TRY(weft_source_call(w, &w->graph->calls[one->order[i]], one->variants[i], error));
    weft_text_add(w->out,
                  "        UNROLL for (int i = 0; i < %d; ++i)\n"
                  "            UNROLL for (int l = 0; l < %d; ++l)\n"
                  "                sums[l * PATCH_PLANE + i * PATCH_CELLS + k] = %s[i * %d + l];\n"
                  "    }\n"
                  "    __syncthreads();\n\n",
                  c->width, c->components, weft_source_variable(w, c->accumulation->source, -1),
                  c->components);
done:
    return status;
}

/* ---- sums ---- */

static void write_sums(const cell_writer *c) {
    weft_text_add(
        c->w->out,
        "    const int64_t first_row = start_%s[3 * patch + 2];\n"
        "    const int n_rows = (n_m_%s + %d) / %d;\n"
        "    for (int row = threadIdx.x / %d; row < n_rows; row += PATCH_THREADS / %d) {\n"
        "        const int64_t first = row_start[first_row + row];\n"
        "        const int n = (int)(row_start[first_row + row + 1] - first);\n"
        "        const int node = row_nodes[(first_row + row) * %d + threadIdx.x %% %d];\n"
        "        const uint32_t *pairs = row_pairs + first * %d + threadIdx.x %% %d;\n"
        "        scalar sum[%d] = {0};\n"
        "        _Pragma(\"unroll 4\") for (int i = 0; i < n; ++i) {\n"
        "            const uint32_t pair = pairs[i * %d];\n"
        "            UNROLL for (int l = 0; l < %d; ++l) {\n"
        "                sum[l] += sums[l * PATCH_PLANE + (int)(pair & 65535)];\n"
        "                sum[l] += sums[l * PATCH_PLANE + (int)(pair >> 16)];\n"
        "            }\n"
        "        }\n"
        "        UNROLL for (int l = 0; l < %d; ++l)\n"
        "            if (node != %d)\n"
        "                results[l * n_m_%s + node] = sum[l];\n"
        "    }\n"
        "    __syncthreads();\n\n",
        c->dofs, c->dofs, WEFT_CELL_PATCH_LANES - 1, WEFT_CELL_PATCH_LANES, WEFT_CELL_PATCH_LANES,
        WEFT_CELL_PATCH_LANES, WEFT_CELL_PATCH_LANES, WEFT_CELL_PATCH_LANES, WEFT_CELL_PATCH_LANES,
        WEFT_CELL_PATCH_LANES, c->components, WEFT_CELL_PATCH_LANES, c->components, c->components,
        WEFT_CELL_PATCH_NONE, c->dofs);
}

static void write_results(const cell_writer *c) {
    weft_text_add(
        c->w->out,
        "    const int64_t first_slot = start_%s[3 * patch + 1];\n"
        "    const int n_inner = n_m_%s - (int)(start_%s[3 * patch + 4] - first_slot);\n"
        "    for (int i = threadIdx.x; i < n_m_%s; i += PATCH_THREADS) {\n"
        "        const int64_t j = nodes_%s[first_m_%s + i];\n"
        "        UNROLL for (int l = 0; l < %d; ++l)\n"
        "            if (i < n_inner)\n"
        "                p_%s[j * %d + l] %s results[l * n_m_%s + i];\n"
        "            else\n"
        "                partials_%s[(first_slot + i - n_inner) * %d + l] = results[l * n_m_%s + "
        "i];\n"
        "    }\n}\n"
        "#undef PATCH_PLANE\n#undef PATCH_THREADS\n#undef PATCH_CELLS\n\n",
        c->dofs, c->dofs, c->dofs, c->dofs, c->dofs, c->dofs, c->components, c->target,
        c->components, c->kernel->accumulates ? "+=" : "=", c->dofs, c->target, c->components,
        c->dofs);
}

static cell_writer writer_of(const source_writer *w, const weft_plan_kernel *kernel,
                             int accumulation) {
    const weft_accumulation *a = &w->graph->accumulations[accumulation];
    return (cell_writer){.w = w,
                         .kernel = kernel,
                         .accumulation = a,
                         .dofs = connectivity_name(w, a->connectivity),
                         .target = weft_source_variable(w, a->target, -1) + 2,
                         .width = w->graph->connectivities[a->connectivity].width,
                         .components = weft_shape_count(&w->graph->values[a->target].shape)};
}

static void write_place(const cell_writer *c, const char *how) {
    weft_text_add(c->w->out, "/* ");
    weft_source_place(c->w, &c->accumulation->place);
    weft_text_add(c->w->out, "  %s[%s] += ..., %s */\n",
                  c->w->graph->values[c->accumulation->target].name, c->dofs, how);
}

weft_status weft_source_cell_patch(const source_writer *w, const weft_plan_kernel *kernel,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const cell_writer c = writer_of(w, kernel, kernel->scatters[0]);
    weft_text_add(
        w->out,
        "#define PATCH_CELLS %d\n#define PATCH_THREADS %d\n"
        "#define PATCH_PLANE %d /* contributions to a component of the target, and 0 */\n",
        kernel->patch_cells, weft_cell_patch_threads(kernel->patch_cells),
        kernel->patch_cells * c.width + 1);
    write_place(&c, "by patches of cells");
    weft_text_add(
        w->out,
        "extern \"C\" __global__ void __launch_bounds__(PATCH_THREADS, %d) %s(int64_t n_elements",
        weft_cell_patch_resident(w->graph, w->plan, kernel, w->single), kernel->name);
    weft_source_arguments(w, kernel);
    weft_text_add(w->out,
                  "%s)\n{\n%s"
                  "    extern __shared__ __align__(16) unsigned char shared[];\n"
                  "    const int64_t patch = blockIdx.x, first_cell = patch * PATCH_CELLS;\n"
                  "    const int n_cells = n_elements - first_cell < PATCH_CELLS\n"
                  "                            ? (int)(n_elements - first_cell) : PATCH_CELLS;\n",
                  w->plan->predicated ? WEFT_PREDICATE_ARGUMENT : "",
                  w->plan->predicated ? WEFT_PREDICATE : "");
    weft_source_load_uniforms(w, kernel->loads, kernel->n_loads);
    write_regions(&c);
    write_staging(&c);
    TRY(write_cells(&c, error));
    write_sums(&c);
    write_results(&c);
done:
    return status;
}

weft_status weft_source_cell_border(const source_writer *w, const weft_plan_kernel *kernel,
                                    weft_error *error) {
    const cell_writer c = writer_of(w, kernel, kernel->gather);
    (void)error;
    write_place(&c, "at the borders of patches");
    weft_source_head(w, kernel);
    weft_text_add(w->out,
                  "    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;\n"
                  "    if (i < n_elements) {\n"
                  "        scalar sum[%d] = {0};\n"
                  "        for (uint32_t k = border_start[i]; k < border_start[i + 1]; ++k)\n"
                  "            UNROLL for (int l = 0; l < %d; ++l)\n"
                  "                sum[l] += partials_%s[(int64_t)border_slots[k] * %d + l];\n"
                  "        UNROLL for (int l = 0; l < %d; ++l)\n"
                  "            p_%s[(int64_t)border[i] * %d + l] %s sum[l];\n"
                  "    }\n}\n\n",
                  c.components, c.components, c.target, c.components, c.components, c.target,
                  c.components, kernel->accumulates ? "+=" : "=");
    return WEFT_OK;
}
