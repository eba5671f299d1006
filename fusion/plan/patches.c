/* Describes what a patch kernel computes and decides whether it can be generated in that form. */
#include "fusion/plan/patches.h"
#include "fusion/base/target.h"
#include "fusion/connectivity/vertex_patches.h"

int weft_patch_load_count(const weft_graph *graph, const weft_operand *load) {
    return weft_shape_count(&graph->values[load->value].shape);
}

bool weft_patch_is_nodal(const weft_patch_computation *patch, const weft_operand *load) {
    return load->connectivity == patch->accumulation->connectivity;
}

int weft_patch_staged_count(const weft_graph *graph, const weft_patch_computation *patch) {
    int n = 0;
    for (int i = 0; i < patch->n_loads; ++i)
        if (weft_patch_is_nodal(patch, &patch->loads[i]))
            n += weft_patch_load_count(graph, &patch->loads[i]);
    return n;
}

int weft_patch_result_count(const weft_graph *graph, const weft_patch_computation *patch) {
    return weft_shape_count(&graph->values[patch->accumulation->target].shape);
}

bool weft_patch_fits(const weft_graph *graph, const weft_cell_sum *sum) {
    const weft_accumulation *a = sum->accumulation;
    const weft_graph_connectivity *connectivity = &graph->connectivities[a->connectivity];
    if (connectivity->width > 4 || connectivity->width < (a->matrix ? 2 : 3))
        return false;
    for (int i = 0; i < sum->n_calls; ++i) {
        const weft_call *call = &graph->calls[sum->calls[i]];
        if (call->reduction || call->product_kernel)
            return false;
        for (int k = 0; k < call->n_operands; ++k) {
            const weft_operand *operand = &call->operands[k];
            const int index_set = graph->values[operand->value].index_set;
            if (operand->connectivity != a->connectivity && index_set >= 0 &&
                (operand->connectivity >= 0 || index_set != connectivity->from))
                return false;
        }
    }
    return true;
}

bool weft_patch_computation_reads_cells(const weft_graph *graph,
                                        const weft_patch_computation *patch) {
    for (int i = 0; i < patch->n_loads; ++i)
        if (patch->loads[i].connectivity < 0 && graph->values[patch->loads[i].value].index_set >= 0)
            return true;
    return false;
}

size_t weft_patch_computation_shared(const weft_graph *graph, const weft_patch_computation *patch,
                                     int most_local, size_t real_bytes) {
    const size_t values = (size_t)most_local * (size_t)weft_patch_staged_count(graph, patch);
    const size_t copies = patch->edges ? (size_t)(patch->threads / WEFT_PATCH_LANES) : 1;
    const size_t sums =
        (size_t)patch->nodes * (size_t)weft_patch_result_count(graph, patch) * copies;
    return (values + sums) * real_bytes;
}

weft_patch_computation weft_patch_computation_of(const weft_graph *graph,
                                                 const weft_plan_kernel *kernel) {
    const bool edges = kernel->kind == KERNEL_EDGE_PATCH;
    weft_patch_computation patch = {.accumulation = &graph->accumulations[kernel->scatters[0]],
                                    .calls = kernel->implementation->order,
                                    .variants = kernel->implementation->variants,
                                    .n_calls = kernel->implementation->fusion->n_calls,
                                    .loads = kernel->loads,
                                    .n_loads = kernel->n_loads,
                                    .vector = -1,
                                    .nodes = kernel->patch_nodes,
                                    .threads = edges ? WEFT_EDGE_PATCH_THREADS : WEFT_PATCH_THREADS,
                                    .edges = edges};
    for (int i = 0; i < kernel->n_loads && patch.vector < 0; ++i)
        if (kernel->loads[i].connectivity == patch.accumulation->connectivity &&
            weft_shape_count(&graph->values[kernel->loads[i].value].shape) == 1)
            patch.vector = kernel->loads[i].value;
    return patch;
}
