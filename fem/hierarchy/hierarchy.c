/* Makes hierarchies of meshes: orders the coarsest, then refines it level by level. */
#include "fem/hierarchy/hierarchy.h"
#include "core/base/options.h"
#include "fem/mesh/mesh.h"
#include "fem/order/order.h"

#include <stdlib.h>

weft_status weft_hierarchy_make_keeping(weft_device *device, weft_mesh **coarse,
                                        const weft_hierarchy_options *options,
                                        const weft_monitor *monitor, weft_hierarchy **out,
                                        weft_mesh_copies *copies, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hierarchy *made = NULL;
    TRY(weft_options_check("weft_hierarchy_options", options->size, sizeof *options, error));
    if (options->times != 0)
        TRY(weft_mesh_refine_check(*coarse, options->times, error));
    made = calloc(1, sizeof *made);
    if (made)
        made->levels = calloc((size_t)options->times + 1, sizeof *made->levels);
    if (!made || !made->levels)
        TRY(weft_out_of_memory(error, "a hierarchy of meshes"));
    made->n_levels = options->times + 1;
    made->levels[0].mesh = *coarse;
    *coarse = NULL;
    const weft_order_options order = {options->ordering, options->part_nodes, monitor};
    const double start = weft_clock();
    if (options->ordered)
        TRY(weft_mesh_order_keeping(device, made->levels[0].mesh, &order, NULL, copies, error));
    made->order_seconds = weft_clock() - start;
    TRY(weft_mesh_refine_levels(device, made, monitor, copies, error));
    *out = made;
    made = NULL;
done:
    if (status != WEFT_OK)
        weft_mesh_copies_free(copies);
    weft_mesh_free(coarse);
    weft_hierarchy_free(&made);
    return status;
}

weft_status weft_hierarchy_make(weft_device *device, weft_mesh **coarse,
                                const weft_hierarchy_options *options, const weft_monitor *monitor,
                                weft_hierarchy **out, weft_error *error) {
    return weft_hierarchy_make_keeping(device, coarse, options, monitor, out, NULL, error);
}

void weft_hierarchy_free(weft_hierarchy **hierarchy) {
    weft_hierarchy *freed = *hierarchy;
    if (!freed)
        return;
    for (int l = 0; l < freed->n_levels; ++l) {
        weft_mesh_free(&freed->levels[l].mesh);
        free(freed->levels[l].parents);
    }
    free(freed->levels);
    free(freed);
    *hierarchy = NULL;
}

static size_t mesh_bytes(const weft_mesh *mesh) {
    const size_t d = (size_t)mesh->dimension;
    size_t numbers = (size_t)mesh->n_cells * (d + 1) + (size_t)mesh->n_facets * d;
    for (int g = 0; g < mesh->n_groups; ++g)
        numbers += (size_t)(mesh->groups[g].n_facets + mesh->groups[g].n_cells);
    return (size_t)mesh->n_nodes * d * sizeof *mesh->x + numbers * sizeof *mesh->cells +
           (size_t)mesh->n_groups * sizeof *mesh->groups;
}

size_t weft_hierarchy_bytes(const weft_hierarchy *hierarchy) {
    size_t bytes = 0;
    for (int l = 0; l < hierarchy->n_levels; ++l) {
        const weft_hierarchy_level *level = &hierarchy->levels[l];
        const weft_mesh *mesh = level->mesh;
        if (l + 1 < hierarchy->n_levels)
            bytes += mesh_bytes(mesh);
        if (l > 0)
            bytes += (size_t)(2 * mesh->n_nodes) * sizeof *level->parents;
    }
    return bytes;
}
