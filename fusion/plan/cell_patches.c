/* Decides which kernels accumulate over patches of cells, and how large these are. */
#include "fusion/plan/cell_patches.h"
#include "fusion/base/target.h"

enum {
    STEP = 32,          /* cells; sizes are STEP times a power of two */
    NODES_PAYING = 16,  /* of a cell: P2 tetrahedra, 10, gain by patches, P3, 20, lose 9 % (H200) */
    NODE_BYTES = 48,    /* of contributions, per node that options->patch_nodes has: 24 KB of 512 */
    REGISTERS = 65536,  /* of a multiprocessor */
    REGISTERS_OWN = 16, /* of a thread, for places and addresses */
    GEOMETRY = 6,       /* numbers that a body keeps besides what it loads and returns */
    REGISTERS_MOST = 255,
    PARTITIONS = 4,
    BLOCKS_MOST = 24
};

weft_argument weft_cell_patch_argument(int connectivity, int cells, int part) {
    return (weft_argument){ARGUMENT_CELL_PATCH, connectivity,
                           cells / STEP * CELL_PATCH_PARTS + part};
}

int weft_cell_patch_cells_of(const weft_argument *argument) {
    return argument->part / CELL_PATCH_PARTS * STEP;
}

int weft_cell_patch_part_of(const weft_argument *argument) {
    return argument->part % CELL_PATCH_PARTS;
}

bool weft_cell_patch_fits(const weft_graph *graph, const weft_plan_kernel *kernel) {
    if (kernel->n_scatters != 1 || kernel->n_stores > 0 || kernel->n_reductions > 0 ||
        kernel->product >= 0 || graph->accumulations[kernel->scatters[0]].matrix)
        return false;
    for (int i = 0; i < kernel->implementation->fusion->n_calls; ++i)
        if (graph->calls[kernel->implementation->fusion->calls[i]].reduction)
            return false;
    return true;
}

bool weft_cell_patch_pays(const weft_graph *graph, const weft_plan_kernel *kernel) {
    const weft_accumulation *a = &graph->accumulations[kernel->scatters[0]];
    return graph->connectivities[a->connectivity].width <= NODES_PAYING;
}

static int components(const weft_graph *graph, const weft_accumulation *accumulation) {
    return weft_shape_count(&graph->values[accumulation->target].shape);
}

int weft_cell_patch_cells(const weft_graph *graph, const weft_accumulation *accumulation,
                          const weft_compile_options *options) {
    const int width = graph->connectivities[accumulation->connectivity].width;
    const long bytes = (long)width * components(graph, accumulation) * (options->single ? 4 : 8);
    const long most = (long)NODE_BYTES * weft_patch_nodes(options);
    int cells = WEFT_CELL_PATCH_MOST;
    while (cells > STEP && cells * bytes > most)
        cells /= 2;
    return cells;
}

int weft_cell_patch_threads(int cells) {
    return cells > 2 * STEP ? cells / 2 : cells;
}

int weft_cell_patch_staged(const weft_graph *graph, const weft_plan_kernel *kernel,
                           int connectivity) {
    int n = 0;
    for (int i = 0; i < kernel->n_loads; ++i)
        if (kernel->loads[i].connectivity == connectivity)
            n += weft_shape_count(&graph->values[kernel->loads[i].value].shape);
    return n;
}

int weft_cell_patch_contributions(const weft_graph *graph, const weft_plan_kernel *kernel) {
    const weft_accumulation *a = &graph->accumulations[kernel->scatters[0]];
    const int width = graph->connectivities[a->connectivity].width;
    return components(graph, a) * (kernel->patch_cells * width + 1);
}

int weft_cell_patch_resident(const weft_graph *graph, const weft_plan *plan,
                             const weft_plan_kernel *kernel, bool single) {
    const int warp = plan->target.warp_threads, warps_most = plan->target.resident_threads / warp;
    const weft_accumulation *a = &graph->accumulations[kernel->scatters[0]];
    const int width = graph->connectivities[a->connectivity].width;
    const int threads = weft_cell_patch_threads(kernel->patch_cells);
    int numbers = width * components(graph, a) + GEOMETRY;
    for (int i = 0; i < kernel->n_loads; ++i)
        if (kernel->loads[i].connectivity == a->connectivity)
            numbers += weft_shape_count(&kernel->loads[i].shape);
    const int registers = (single ? 1 : 2) * numbers + REGISTERS_OWN;
    /* a warp's registers are in one of the partitions of a multiprocessor, in units of 8 a thread */
    const int each = (registers < REGISTERS_MOST ? registers : REGISTERS_MOST) + 7;
    const int warps = REGISTERS / PARTITIONS / (each / 8 * 8 * warp) * PARTITIONS;
    const int most = warps < warps_most ? warps : warps_most;
    int blocks = most * warp / threads;
    blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST;
    return blocks > 1 ? blocks : 1;
}
