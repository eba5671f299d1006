/* Arguments, memory and launches of kernels over patches of cells. */
#include "fusion/connectivity/cell_patches.h"
#include "fusion/plan/cell_patches.h"
#include "fusion/runtime/private.h"

static weft_status patches_of(const weft_program_segment *p, int connectivity, int cells, bool sums,
                              const weft_cell_patches **out, weft_error *error) {
    if (!p->connectivities[connectivity])
        return weft_error_set(error, WEFT_ERROR_USAGE, "connectivity '%s' is not bound",
                              p->segment->graph->connectivities[connectivity].name);
    return weft_connectivity_cell_patches(p->connectivities[connectivity], cells, sums, out, error);
}

weft_status weft_program_cell_patch_argument(const weft_program_segment *p,
                                             const weft_argument *argument, weft_memory **out,
                                             weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell_patches *made = NULL;
    const int part = weft_cell_patch_part_of(argument);
    TRY(patches_of(p, argument->index, weft_cell_patch_cells_of(argument),
                   part >= CELL_PATCH_ROW_START, &made, error));
    weft_memory *const memories[CELL_PATCH_PARTS] = {[CELL_PATCH_START] = made->start,
                                                     [CELL_PATCH_NODES] = made->nodes,
                                                     [CELL_PATCH_PLACES] = made->places,
                                                     [CELL_PATCH_ROW_START] = made->row_start,
                                                     [CELL_PATCH_ORDER] = made->order,
                                                     [CELL_PATCH_PAIRS] = made->pairs,
                                                     [CELL_PATCH_BORDER] = made->border,
                                                     [CELL_PATCH_BORDER_START] = made->border_start,
                                                     [CELL_PATCH_BORDER_SLOTS] =
                                                         made->border_slots};
    *out = memories[part];
done:
    return status;
}

weft_status weft_program_cell_patch_prepare(weft_program_segment *p, int number,
                                            weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan_kernel *kernel = &p->segment->plan->kernels[number];
    const weft_graph *graph = p->segment->graph;
    const weft_accumulation *a = &graph->accumulations[kernel->scatters[0]];
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    const weft_cell_patches *made = NULL;
    TRY(patches_of(p, a->connectivity, kernel->patch_cells, true, &made, error));
    const size_t n =
        (size_t)(made->n_slots + 1) * (size_t)weft_shape_count(&graph->values[a->target].shape);
    TRY(weft_program_partials(p, a->target, n * real_bytes, error));
done:
    return status;
}

/* Shared memory of a block: at most what the patch needs that has most nodes of every connectivity. */
static weft_status count_shared(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                size_t *bytes, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->segment->graph;
    const weft_accumulation *a = &graph->accumulations[kernel->scatters[0]];
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    const weft_cell_patches *made = NULL;
    size_t staged = 0;
    for (int m = 0; m < graph->n_connectivities; ++m) {
        const int components = weft_cell_patch_staged(graph, kernel, m);
        if (components == 0)
            continue;
        TRY(patches_of(p, m, kernel->patch_cells, m == a->connectivity, &made, error));
        staged += (size_t)components * (size_t)made->most_nodes;
    }
    TRY(patches_of(p, a->connectivity, kernel->patch_cells, true, &made, error));
    const size_t results =
        (size_t)made->most_nodes * (size_t)weft_shape_count(&graph->values[a->target].shape);
    *bytes = ((staged > results ? staged : results) +
              (size_t)weft_cell_patch_contributions(graph, kernel)) *
             real_bytes;
done:
    return status;
}

weft_status weft_program_cell_patch_grid(const weft_program_segment *p,
                                         const weft_plan_kernel *kernel, weft_launch *launch,
                                         weft_error *error) {
    weft_status status = WEFT_OK;
    size_t bytes = 0;
    TRY(count_shared(p, kernel, &bytes, error));
    if (bytes > p->segment->limits.onchip_bytes)
        TRY(weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "patches of %d cells need %zu bytes of shared memory, %s has %zu a block",
            kernel->patch_cells, bytes, p->segment->limits.name, p->segment->limits.onchip_bytes));
    launch->block_threads = weft_cell_patch_threads(kernel->patch_cells);
    launch->n_blocks = (launch->n_elements + kernel->patch_cells - 1) / kernel->patch_cells;
    launch->shared_bytes = (int)bytes;
done:
    return status;
}

weft_status weft_program_cell_border_grid(const weft_program_segment *p,
                                          const weft_plan_kernel *kernel, weft_launch *launch,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_accumulation *a = &p->segment->graph->accumulations[kernel->gather];
    const weft_cell_patches *made = NULL;
    TRY(patches_of(p, a->connectivity, kernel->patch_cells, true, &made, error));
    launch->n_elements = made->n_border;
done:
    return status;
}
