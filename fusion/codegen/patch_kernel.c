/* Writes kernels that accumulate a vector by patches and do nothing else: head, the body by
 * fusion/codegen/vertex_patch.c, and stores. */
#include "fusion/codegen/patch.h"

const char *const weft_patch_arguments[WEFT_PATCH_ARGUMENTS + WEFT_EDGE_PATCH_ARGUMENTS] = {
    "const int64_t *restrict patch_halo_start",
    "const int32_t *restrict patch_halo",
    "const unsigned short *restrict patch_order",
    "const uint32_t *restrict patch_rows",
    "const unsigned long long *restrict patch_words",
    "const int32_t *restrict patch_cells",
    "const int64_t *restrict patch_halo_start",
    "const int32_t *restrict patch_halo",
    "const uint32_t *restrict edge_warps",
    "const uint32_t *restrict edge_words",
    "const int32_t *restrict patch_cells"};

weft_status weft_source_patch_kernel(const source_writer *w, const weft_plan_kernel *kernel,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_patch_computation patch = weft_patch_computation_of(w->graph, kernel);
    const int n_results = weft_shape_count(&w->graph->values[patch.accumulation->target].shape);
    const char *target = weft_source_variable(w, patch.accumulation->target, -1) + 2;
    const char *const define = "#define %s %d\n";
    const bool spares = weft_patch_spares_threads(&patch);
    weft_text_add(w->out, define, "ROWS_NODES", patch.nodes);
    weft_text_add(w->out, define, "ROWS_THREADS", patch.threads);
    weft_text_add(w->out, define, "ROWS_PER_THREAD", spares ? 1 : patch.nodes / patch.threads);
    if (patch.vector >= 0)
        weft_text_add(w->out, "#define LOAD(j) p_%s[j]\n",
                      weft_source_variable(w, weft_value_storage(w->graph, patch.vector), -1) + 2);
    weft_text_add(w->out, "/* ");
    weft_source_place(w, &patch.accumulation->place);
    weft_text_add(
        w->out,
        "  %s[%s] += ..., by the owner, %s by patch */\n"
        "extern \"C\" __global__ void __launch_bounds__(ROWS_THREADS, %d) %s(int64_t n_rows",
        w->graph->values[patch.accumulation->target].name,
        w->graph->connectivities[patch.accumulation->connectivity].name,
        patch.edges ? "edge patch" : "star", 512 / patch.threads, kernel->name);
    weft_source_arguments(w, kernel);
    weft_text_add(w->out,
                  "%s)\n{\n%s"
                  "    extern __shared__ __align__(16) unsigned char shared[];\n"
                  "    const int64_t first_row = blockIdx.x * (int64_t)ROWS_NODES;\n"
                  "    real own[ROWS_PER_THREAD], y[ROWS_PER_THREAD * %d];\n",
                  w->plan->predicated ? WEFT_PREDICATE_ARGUMENT : "",
                  !w->plan->predicated                 ? ""
                  : weft_patch_predicates_late(&patch) ? WEFT_PREDICATE_EARLY
                                                       : WEFT_PREDICATE,
                  n_results);
    if (spares)
        weft_text_add(w->out,
                      "    const int64_t last_row =\n        n_rows - first_row < ROWS_NODES "
                      "? n_rows : first_row + ROWS_NODES;\n");
    TRY(weft_source_patch_body(w, &patch, error));
    weft_text_add(w->out,
                  "    (void)own;\n"
                  "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
                  "        const int64_t row = first_row + k * ROWS_THREADS + threadIdx.x;\n"
                  "        UNROLL for (int c = 0; c < %d; ++c)\n"
                  "            if (row < %s)\n"
                  "                p_%s[row * %d + c] %s y[k * %d + c];\n"
                  "    }\n}\n"
                  "#undef LOAD\n#undef ROWS_PER_THREAD\n#undef ROWS_THREADS\n#undef ROWS_NODES\n\n",
                  n_results, spares ? "last_row" : "n_rows", target, n_results,
                  kernel->accumulates ? "+=" : "=", n_results);
done:
    return status;
}
