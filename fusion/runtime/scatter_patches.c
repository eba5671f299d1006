/* What kernels that accumulate by stars work on, and their launches. */
#include "core/weft_core.h"
#include "fusion/base/target.h"
#include "fusion/connectivity/edge_patches.h"
#include "fusion/connectivity/vertex_patches.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/patches.h"
#include "fusion/plan/plan.h"
#include "fusion/plan/segment.h"
#include "fusion/runtime/private.h"
#include "fusion/runtime/runtime.h"
#include "fusion/weft_program.h"

/* Does any kernel ask for the numbers of the cells? Then all share what has them. */
static bool stars_read_cells(const weft_program_segment *p, int map, int part) {
    const weft_plan *plan = p->segment->plan;
    bool with_cells = false;
    for (int k = 0; k < plan->n_kernels; ++k)
        for (int i = 0; i < plan->kernels[k].n_arguments; ++i) {
            const weft_argument *argument = &plan->kernels[k].arguments[i];
            with_cells |=
                argument->kind == ARGUMENT_STAR && argument->index == map && argument->part == part;
        }
    return with_cells;
}

static weft_status program_stars(const weft_program_segment *p, int map, const weft_stars **out,
                                 weft_error *error) {
    const bool with_cells = stars_read_cells(p, map, WEFT_STAR_ARGUMENTS - 1);
    return weft_connectivity_stars(p->maps[map], weft_star_nodes(&p->segment->options), with_cells,
                                   out, error);
}

static weft_status program_edge_stars(const weft_program_segment *p, int map,
                                      const weft_edge_stars **out, weft_error *error) {
    const int cells = WEFT_STAR_ARGUMENTS + WEFT_EDGE_STAR_ARGUMENTS - 1;
    return weft_connectivity_edge_stars(p->maps[map], weft_star_nodes(&p->segment->options),
                                        WEFT_EDGE_STAR_THREADS / WEFT_STAR_LANES,
                                        stars_read_cells(p, map, cells), out, error);
}

weft_status weft_program_star_argument(const weft_program_segment *p, const weft_argument *argument,
                                       weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_stars *stars = NULL;
    const weft_edge_stars *edges = NULL;
    if (argument->part >= WEFT_STAR_ARGUMENTS) {
        TRY(program_edge_stars(p, argument->index, &edges, error));
        weft_memory *const memories[WEFT_EDGE_STAR_ARGUMENTS] = {
            edges->halo_start, edges->halo, edges->warps, edges->words, edges->cells};
        *out = memories[argument->part - WEFT_STAR_ARGUMENTS];
        goto done;
    }
    TRY(program_stars(p, argument->index, &stars, error));
    weft_memory *const memories[WEFT_STAR_ARGUMENTS] = {
        stars->halo_start, stars->halo, stars->order, stars->rows, stars->words, stars->cells};
    *out = memories[argument->part];
done:
    return status;
}

/* A block a patch; what it stages must fit in its shared memory. */
weft_status weft_program_stars_launch(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                      weft_launch *launch, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->segment->graph;
    const weft_star_source star = weft_star_source_of(graph, kernel);
    const weft_stars *stars = NULL;
    const weft_edge_stars *edges = NULL;
    if (star.accumulation->matrix)
        return weft_program_matrix_launch(p, kernel, launch, error);
    if (kernel->edges)
        TRY(program_edge_stars(p, star.accumulation->map, &edges, error));
    else
        TRY(program_stars(p, star.accumulation->map, &stars, error));
    const int most_local = edges ? edges->most_local : stars->most_local;
    const size_t bytes = weft_star_source_shared(
        graph, &star, most_local, p->segment->options.single ? sizeof(float) : sizeof(double));
    if (bytes > p->segment->limits.onchip_bytes) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%d nodes in and round a patch of %d need %zu bytes of shared memory, %s "
                       "has %zu a block",
                       most_local, star.nodes, bytes, p->segment->limits.name,
                       p->segment->limits.onchip_bytes);
        weft_error_hint(error, "renumber the nodes, so that neighbours have near numbers");
        return WEFT_ERROR_UNSUPPORTED;
    }
    launch->n_instances = edges ? edges->n_nodes : stars->n_nodes;
    launch->block_threads = star.threads;
    launch->n_blocks = edges ? edges->n_patches : stars->n_patches;
    launch->shared_bytes = (int)bytes;
done:
    return status;
}
