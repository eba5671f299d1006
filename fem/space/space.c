/* A function space: the dofs that a mesh has for an element with so many components a node. */
#include "fem/space/space.h"

#include <stdlib.h>

/* The nodes of an element are those of the mesh's vertices as long as P1 is the only one; what a
 * further element adds (nodes on edges, say) is numbered here, and nothing else counts nodes. */
struct weft_space {
    weft_device *device;
    const weft_mesh *mesh;
    weft_element_kind element;
    int components;
    int cell_width, facet_width; /* nodes of a cell, and of a facet */
    int64_t n_nodes;
    weft_connectivity *cells;
    weft_memory *x;
};

weft_status weft_space_make(weft_device *device, const weft_mesh *mesh, weft_element_kind element,
                            int components, weft_space **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    if (components < 1)
        return weft_error_set(error, WEFT_ERROR_USAGE, "a space has at least one component, not %d",
                              components);
    if (mesh->n_nodes > INT32_MAX / components)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "more than 2^31 - 1 degrees of freedom");
    weft_space *space = calloc(1, sizeof *space);
    if (!space)
        return weft_out_of_memory(error, "a space");
    *space = (weft_space){.device = device,
                          .mesh = mesh,
                          .element = element,
                          .components = components,
                          .cell_width = d + 1,
                          .facet_width = d,
                          .n_nodes = mesh->n_nodes};
    TRY(weft_connectivity_make(device, mesh->cells, mesh->n_cells, space->cell_width,
                               space->n_nodes, &space->cells, error));
    TRY(weft_memory_wrap(device, mesh->x, (size_t)space->n_nodes * (size_t)d * sizeof *mesh->x,
                         &space->x, error));
    *out = space;
    space = NULL;
done:
    weft_space_free(&space);
    return status;
}

void weft_space_free(weft_space **space) {
    if (!space || !*space)
        return;
    weft_connectivity_free(&(*space)->cells);
    weft_memory_free(&(*space)->x);
    free(*space);
    *space = NULL;
}

const weft_mesh *weft_space_mesh(const weft_space *space) {
    return space->mesh;
}

int weft_space_components(const weft_space *space) {
    return space->components;
}

int64_t weft_space_nodes(const weft_space *space) {
    return space->n_nodes;
}

int64_t weft_space_dofs(const weft_space *space) {
    return space->n_nodes * space->components;
}

weft_connectivity *weft_space_cells(const weft_space *space) {
    return space->cells;
}

weft_memory *weft_space_coordinates(const weft_space *space) {
    return space->x;
}

weft_status weft_space_group_nodes(const weft_space *space, int group, int32_t **out, int64_t *n,
                                   weft_error *error) {
    return weft_mesh_group_nodes(space->mesh, group, out, n, error);
}

weft_status weft_space_facets_make(const weft_space *space, int group, weft_space_facets *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    out->width = space->facet_width;
    TRY(weft_mesh_group_facets(space->mesh, group, &out->nodes, &out->n, error));
    TRY(weft_connectivity_make(space->device, out->nodes, out->n, out->width, space->n_nodes,
                               &out->dofs, error));
done:
    return status;
}

void weft_space_facets_free(weft_space_facets *facets) {
    weft_connectivity_free(&facets->dofs);
    free(facets->nodes);
    facets->nodes = NULL;
    facets->n = 0;
}

weft_assembly_problem weft_space_problem(const weft_space *space, double applications) {
    return (weft_assembly_problem){.dimension = space->mesh->dimension,
                                   .width = space->cell_width,
                                   .n_nodes = space->n_nodes,
                                   .n_cells = space->mesh->n_cells,
                                   .symmetric = true,
                                   .applications = applications,
                                   .components = space->components};
}
