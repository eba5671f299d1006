/* What a kernel by patches computes, and whether it can be written so. */
#include "fusion/plan/patches.h"
#include "fusion/base/target.h"
#include "fusion/connectivity/vertex_patches.h"

int weft_star_load_count(const weft_graph *graph, const weft_operand *load) {
    return weft_shape_count(&graph->data[load->datum].shape);
}

bool weft_star_is_nodal(const weft_star_source *star, const weft_operand *load) {
    return load->map == star->accumulation->map;
}

int weft_star_staged_count(const weft_graph *graph, const weft_star_source *star) {
    int n = 0;
    for (int i = 0; i < star->n_loads; ++i)
        if (weft_star_is_nodal(star, &star->loads[i]))
            n += weft_star_load_count(graph, &star->loads[i]);
    return n;
}

int weft_star_result_count(const weft_graph *graph, const weft_star_source *star) {
    return weft_shape_count(&graph->data[star->accumulation->target].shape);
}

bool weft_star_source_fits(const weft_graph *graph, const weft_star_source *star) {
    const weft_accumulation *a = star->accumulation;
    const weft_map *map = &graph->maps[a->map];
    if (map->width > 4 || map->width < (a->matrix ? 2 : 3))
        return false;
    for (int i = 0; i < star->n_loads; ++i) {
        const weft_operand *load = &star->loads[i];
        const weft_datum *datum = &graph->data[load->datum];
        if (weft_star_is_nodal(star, load) || datum->index_set < 0)
            continue;
        if (load->map >= 0 || datum->index_set != map->from)
            return false;
        for (int k = 0; k < datum->shape.rank; ++k)
            if (datum->shape.sizes[k] == map->width)
                return false;
    }
    for (int i = 0; i < star->n_calls; ++i)
        if (graph->calls[star->calls[i]].reduction != NULL)
            return false;
    return true;
}

bool weft_star_source_reads_cells(const weft_graph *graph, const weft_star_source *star) {
    for (int i = 0; i < star->n_loads; ++i)
        if (star->loads[i].map < 0 && graph->data[star->loads[i].datum].index_set >= 0)
            return true;
    return false;
}

size_t weft_star_source_shared(const weft_graph *graph, const weft_star_source *star,
                               int most_local, size_t real_bytes) {
    const size_t values = (size_t)most_local * (size_t)weft_star_staged_count(graph, star);
    const size_t copies = star->edges ? (size_t)(star->threads / WEFT_STAR_LANES) : 1;
    const size_t sums = (size_t)star->nodes * (size_t)weft_star_result_count(graph, star) * copies;
    return (values + sums) * real_bytes;
}

weft_star_source weft_star_source_of(const weft_graph *graph, const weft_plan_kernel *kernel) {
    const bool edges = kernel->kind == KERNEL_EDGE_PATCH;
    weft_star_source star = {.accumulation = &graph->accumulations[kernel->scatters[0]],
                             .calls = kernel->implementation->order,
                             .variants = kernel->implementation->variants,
                             .n_calls = kernel->implementation->fusion->n_calls,
                             .loads = kernel->loads,
                             .n_loads = kernel->n_loads,
                             .vector = -1,
                             .nodes = kernel->star_nodes,
                             .threads = edges ? WEFT_EDGE_STAR_THREADS : WEFT_STAR_THREADS,
                             .edges = edges};
    for (int i = 0; i < kernel->n_loads && star.vector < 0; ++i)
        if (kernel->loads[i].map == star.accumulation->map &&
            weft_shape_count(&graph->data[kernel->loads[i].datum].shape) == 1)
            star.vector = kernel->loads[i].datum;
    return star;
}
