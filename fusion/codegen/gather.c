/* Writes gather kernels: each target sums the contributions that an earlier kernel has stored. */
#include "fusion/codegen/private.h"

/* The sum runs in ascending order of cell, so it is deterministic. */
weft_status weft_source_gather(const source_writer *w, const weft_plan_kernel *kernel,
                               weft_error *error) {
    (void)error;
    const weft_accumulation *a = &w->graph->accumulations[kernel->gather];
    const int count = weft_shape_count(&w->graph->values[a->target].shape);
    const char *source = weft_source_variable(w, weft_value_storage(w->graph, a->source), -1) + 2;
    const weft_graph_connectivity *connectivity = &w->graph->connectivities[a->connectivity];
    const bool plain = w->graph->index_sets[connectivity->from].plain;
    const char *target = weft_source_variable(w, a->target, -1) + 2;
    weft_text_add(w->out, "/* ");
    weft_source_place(w, &a->place);
    weft_text_add(w->out, "  %s[%s] += ..., by the owner */\n", w->graph->values[a->target].name,
                  w->graph->connectivities[a->connectivity].name);
    weft_source_head(w, kernel);
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
                      "* LANES) + position[k] "
                      "%% LANES;\n"
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
