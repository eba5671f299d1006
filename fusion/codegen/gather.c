/* Writes gather kernels: each target sums the contributions that an earlier kernel has stored, or that it evaluates
 * itself.
 *
 * Decision  docs/decisions/0005-reductions-are-fixed-trees.md */
#include "fusion/codegen/private.h"

/* The operand of a call that is evaluated for component `c` of `element`, or of the target i: v[...] is this number. */
static void write_operand(const source_writer *w, const weft_operand *operand) {
    const weft_value *value = &w->graph->values[operand->value];
    weft_text_add(w->out, "            const number_at %s = {",
                  weft_source_variable(w, operand->value, operand->connectivity));
    if (operand->connectivity < 0 && weft_shape_count(&value->shape) > 1)
        weft_source_component(w, operand);
    else
        weft_text_add(w->out, "p_%s[%s]",
                      weft_source_variable(w, weft_value_storage(w->graph, operand->value), -1) + 2,
                      operand->connectivity >= 0 ? "i"
                      : value->index_set < 0     ? "0"
                                                 : "element");
    weft_text_add(w->out, "};\n");
}

/* Add contribution k to the sum. */
static void write_contribution(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_accumulation *a = &w->graph->accumulations[kernel->gather];
    const int width = w->graph->connectivities[a->connectivity].width;
    if (kernel->prologue < 0 &&
        !w->graph->index_sets[w->graph->connectivities[a->connectivity].from].plain) {
        weft_text_add(w->out, "            sum += p_%s[position[k]];\n",
                      weft_source_variable(w, weft_value_storage(w->graph, a->source), -1) + 2);
        return;
    }
    weft_text_add(
        w->out,
        "            const int64_t row = position[k] / LANES, block = row / %d;\n"
        "            const int lane = (int)(position[k] %% LANES), c = (int)(row %% %d);\n"
        "            const int64_t element = block * LANES + lane;\n",
        width, width);
    if (kernel->prologue < 0) {
        weft_text_add(w->out, "            sum += p_%s[element * %d + c];\n",
                      weft_source_variable(w, weft_value_storage(w->graph, a->source), -1) + 2,
                      width);
        return;
    }
    weft_text_add(w->out, "            (void)element, (void)c;\n");
    for (int m = 0; m < kernel->n_loads; ++m)
        write_operand(w, &kernel->loads[m]);
    weft_source_assign(w, &w->graph->calls[kernel->prologue], "sum += ", "            ");
}

bool weft_source_shares_targets(const weft_graph *graph, bool is_threaded,
                                const weft_plan_kernel *kernel) {
    const int target = graph->accumulations[kernel->gather].target;
    return is_threaded && weft_shape_count(&graph->values[target].shape) == 1;
}

enum {
    GATHER_SERIAL = 32, /* contributions of a target that one thread adds up */
    GATHER_EACH = 16,   /* of each of several threads, about */
    GATHER_RANKS = 8    /* partial sums of a target with more of them, on several ranks */
};

int weft_source_gather_threads(const weft_target *target, int64_t contributions, int64_t targets,
                               bool distributed) {
    int width = 1;
    if (distributed)
        return contributions > GATHER_SERIAL * targets ? GATHER_RANKS : 1;
    while (contributions > GATHER_SERIAL * targets && width < target->warp_threads &&
           GATHER_EACH * width * targets < contributions)
        width *= 2;
    return width;
}

/* The targets on a GPU, each by `width` threads (weft_source_gather_threads), of which neighbours read neighbouring positions. */
static void write_shared(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_accumulation *a = &w->graph->accumulations[kernel->gather];
    const char *target = weft_source_variable(w, a->target, -1) + 2;
    weft_text_add(
        w->out,
        "    const int64_t contributions = start[n_elements];\n"
        "    int width = 1;\n"
        "    while (contributions > %d * n_elements && width < %d &&\n"
        "           %d * width * n_elements < contributions)\n"
        "        width *= 2;\n"
        "    const int64_t i = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / width;\n"
        "    const int part = (int)threadIdx.x %% width;\n"
        "    scalar sum = 0;\n",
        GATHER_SERIAL, w->plan->target.warp_threads, GATHER_EACH);
    if (kernel->accumulates)
        weft_text_add(w->out,
                      "    if (i < n_elements && part == 0)\n"
                      "        sum = p_%s[i];\n",
                      target);
    weft_text_add(w->out,
                  "    if (i < n_elements)\n"
                  "        for (int64_t k = start[i] + part; k < start[i + 1]; k += width) {\n");
    write_contribution(w, kernel);
    weft_text_add(w->out,
                  "        }\n"
                  "    for (int by = width / 2; by > 0; by /= 2)\n"
                  "        sum += __shfl_down_sync(0xffffffffu, sum, by);\n"
                  "    if (part == 0 && i < n_elements)\n"
                  "        p_%s[i] = sum;\n"
                  "}\n\n",
                  target);
}

/* The same on several ranks: the order of a target's sum depends on its own contributions alone, and not on the others of a
 * part. */
static void write_shared_of_ranks(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_accumulation *a = &w->graph->accumulations[kernel->gather];
    const char *target = weft_source_variable(w, a->target, -1) + 2;
    weft_text_add(
        w->out,
        "    const int width = start[n_elements] > %d * n_elements ? %d : 1;\n"
        "    const int64_t i = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / width;\n"
        "    const int part = (int)threadIdx.x %% width;\n"
        "    const int64_t first = i < n_elements ? start[i] : 0,\n"
        "                  last = i < n_elements ? start[i + 1] : 0;\n"
        "    const int chains = last - first > %d ? %d : 1;\n"
        "    scalar sums[%d] = {0}, mine = 0;\n"
        "    for (int chain = part; chain < chains; chain += width) {\n"
        "        scalar sum = 0;\n",
        GATHER_SERIAL, GATHER_RANKS, GATHER_SERIAL, GATHER_RANKS, GATHER_RANKS);
    if (kernel->accumulates)
        weft_text_add(w->out,
                      "        if (i < n_elements && chain == 0)\n"
                      "            sum = p_%s[i];\n",
                      target);
    weft_text_add(w->out, "        for (int64_t k = first + chain; k < last; k += chains) {\n");
    write_contribution(w, kernel);
    weft_text_add(w->out,
                  "        }\n"
                  "        sums[chain] = mine = sum;\n"
                  "    }\n"
                  "    for (int by = %d; by > 0; by /= 2)\n"
                  "        if (width > 1)\n"
                  "            mine += __shfl_down_sync(0xffffffffu, mine, by);\n"
                  "        else\n"
                  "            for (int chain = 0; chain < by; ++chain)\n"
                  "                sums[chain] += sums[chain + by];\n"
                  "    if (part == 0 && i < n_elements)\n"
                  "        p_%s[i] = width > 1 ? mine : sums[0];\n"
                  "}\n\n",
                  GATHER_RANKS / 2, target);
}

/* The sum runs in ascending order of cell, or in a tree that depends on the numbers of contributions alone, so it is
 * deterministic. */
weft_status weft_source_gather(const source_writer *w, const weft_plan_kernel *kernel,
                               weft_error *error) {
    (void)error;
    const weft_accumulation *a = &w->graph->accumulations[kernel->gather];
    const int count = weft_shape_count(&w->graph->values[a->target].shape);
    const char *source = weft_source_variable(w, weft_value_storage(w->graph, a->source), -1) + 2;
    const weft_graph_connectivity *connectivity = &w->graph->connectivities[a->connectivity];
    const bool plain = w->graph->index_sets[connectivity->from].plain;
    const char *target = weft_source_variable(w, a->target, -1) + 2;
    if (kernel->prologue >= 0)
        weft_source_call_comment(w, &w->graph->calls[kernel->prologue]);
    weft_text_add(w->out, "/* ");
    weft_source_place(w, &a->place);
    weft_text_add(w->out, "  %s[%s] += ..., by the owner */\n", w->graph->values[a->target].name,
                  w->graph->connectivities[a->connectivity].name);
    weft_source_head(w, kernel);
    if (weft_source_shares_targets(w->graph, w->backend->is_threaded, kernel)) {
        (w->options->distributed ? write_shared_of_ranks : write_shared)(w, kernel);
        return WEFT_OK;
    }
    weft_text_add(w->out,
                  w->backend->is_threaded
                      ? "    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;\n"
                        "    if (i < n_elements) {\n"
                      : "    const int64_t last = last_block * LANES < n_elements ? last_block * "
                        "LANES : n_elements;\n"
                        "    for (int64_t i = first_block * LANES; i < last; ++i) {\n");
    if (plain) /* position: ((cell / LANES) * width + local) * LANES + cell % LANES */
        weft_text_add(w->out,
                      "        scalar sum[%d] = {0};\n"
                      "        for (int64_t k = start[i]; k < start[i + 1]; ++k) {\n"
                      "            const int64_t row = position[k] / LANES;\n"
                      "            const int64_t cell = row / %d * LANES + position[k] %% LANES;\n"
                      "            for (int c = 0; c < %d; ++c)\n"
                      "                sum[c] += p_%s[(cell * %d + row %% %d) * %d + c];\n"
                      "        }\n"
                      "        for (int c = 0; c < %d; ++c)\n"
                      "            p_%s[i * %d + c] %s sum[c];\n",
                      count, connectivity->width, count, source, connectivity->width,
                      connectivity->width, count, count, target, count,
                      kernel->accumulates ? "+=" : "=");
    else if (count == 1)
        weft_text_add(w->out,
                      "        scalar sum = %s%s%s;\n"
                      "        for (int64_t k = start[i]; k < start[i + 1]; ++k)\n"
                      "            sum += p_%s[position[k]];\n"
                      "        p_%s[i] = sum;\n",
                      kernel->accumulates ? "p_" : "0", kernel->accumulates ? target : "",
                      kernel->accumulates ? "[i]" : "", source, target);
    else {
        weft_text_add(w->out, "        scalar sum[%d] = {0};\n", count);
        weft_text_add(w->out,
                      "        for (int64_t k = start[i]; k < start[i + 1]; ++k) {\n"
                      "            const scalar *one = p_%s + (int64_t)(position[k] / LANES) * (%d "
                      "* LANES) + position[k] %% LANES;\n"
                      "            for (int c = 0; c < %d; ++c)\n"
                      "                sum[c] += one[c * LANES];\n"
                      "        }\n"
                      "        for (int c = 0; c < %d; ++c)\n"
                      "            p_%s[i * %d + c] %s sum[c];\n",
                      source, count, count, count, target, count, kernel->accumulates ? "+=" : "=");
    }
    weft_text_add(w->out, "    }\n}\n\n");
    return WEFT_OK;
}
