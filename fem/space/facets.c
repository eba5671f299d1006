/* The nodes of a space on facets, and the cells on the sides of facets. */
#include "fem/base/marks.h"
#include "fem/space/private.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of facets of a cell type, for each facet of the cell and each order of its vertices that a
 * mesh may list. */
typedef struct facet_nodes {
    const weft_mesh *mesh;
    const weft_cell *cell;
    const weft_element *element;
    weft_element *own; /* of the facet */
    int *closure;      /* [facets of a cell][own->n_nodes] */
    int *permuted;     /* [own->n_nodes] */
} facet_nodes;

static void facet_nodes_free(facet_nodes *f) {
    weft_element_free(&f->own);
    free(f->closure);
    free(f->permuted);
}

/* own stays NULL for elements without nodes on facets. */
static weft_status facet_nodes_make(const weft_space *space, facet_nodes *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(space);
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_cell *cell = weft_mesh_cell(mesh);
    const int d = cell->dimension, n_facets = cell->n_entities[d - 1];
    *out = (facet_nodes){.mesh = mesh, .cell = cell, .element = element};
    if ((element->family != WEFT_LAGRANGE && element->family != WEFT_DISCONTINUOUS) ||
        element->degree == 0)
        return WEFT_OK;
    TRY(weft_element_make(WEFT_LAGRANGE, cell->facet, element->degree, &out->own, error));
    const size_t width = (size_t)out->own->n_nodes;
    out->closure = malloc((size_t)n_facets * width * sizeof *out->closure);
    out->permuted = malloc(width * sizeof *out->permuted);
    if (!out->closure || !out->permuted)
        TRY(weft_out_of_memory(error, "the nodes of facets"));
    for (int f = 0; f < n_facets; ++f)
        weft_element_entity_closure(element, d - 1, f, out->closure + (size_t)f * width);
done:
    return status;
}

/* The nodes on a facet of a cell, in the order of the facet's element with its vertices as listed
 * in `vertices`. row: nodes of the cell. */
static void take_nodes(const facet_nodes *f, const weft_sides *sides, int64_t i,
                       const int32_t *vertices, const int32_t *row, int32_t *out) {
    int32_t corners[8];
    int order[8] = {0};
    const int n = weft_entity_nodes(f->mesh, sides->cells[i], f->cell->dimension - 1,
                                    sides->local[i], corners);
    const int *closure = f->closure + sides->local[i] * f->own->n_nodes;
    for (int k = 0; k < n; ++k)
        for (int own = 0; own < n; ++own)
            if (corners[own] == vertices[k])
                order[k] = own;
    weft_element_permute(f->own, order, f->permuted);
    for (int k = 0; k < f->own->n_nodes; ++k)
        out[k] = row[closure[f->permuted[k]]];
}

/* The nodes of the facets of a group, [n][width]. */
static weft_status list_nodes(const weft_space *space, int group, int32_t **out, int64_t *n,
                              int *width, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    facet_nodes f = {0};
    weft_sides sides = {0};
    int32_t *vertices = NULL, *nodes = NULL;
    TRY(weft_mesh_group_facets(mesh, group, &vertices, n, error));
    TRY(facet_nodes_make(space, &f, error));
    const int corners = weft_cell_of(f.cell->facet)->n_entities[0];
    *width = f.own ? f.own->n_nodes : 0;
    if (element->family == WEFT_LAGRANGE && element->degree == 1) {
        *out = vertices;
        vertices = NULL;
        goto done;
    }
    TRY(weft_sides_of_group(mesh, group, &sides, error));
    nodes = weft_array_make((size_t)*n * (size_t)*width, sizeof *nodes);
    if (!nodes)
        TRY(weft_out_of_memory(error, "the nodes of facets"));
    for (int64_t i = 0; i < *n && f.own; ++i)
        take_nodes(&f, &sides, i, vertices + i * corners,
                   weft_space_cell_nodes(space) + (int64_t)sides.cells[i] * element->n_nodes,
                   nodes + i * *width);
    *out = nodes;
    nodes = NULL;
done:
    facet_nodes_free(&f);
    weft_sides_free(&sides);
    free(vertices);
    free(nodes);
    return status;
}

static weft_status none(int32_t **out, int64_t *n, weft_error *error) {
    *n = 0;
    *out = weft_array_make(0, sizeof **out);
    return *out ? WEFT_OK : weft_out_of_memory(error, "the nodes of a group");
}

weft_status weft_space_group_nodes(const weft_space *space, int group, int32_t **out, int64_t *n,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_facets = 0, count = 0;
    int width = 0;
    int32_t *listed = NULL, *nodes = NULL;
    unsigned char *seen = NULL;
    const weft_mesh *mesh = weft_space_mesh(space);
    if (group >= 0 && mesh->groups[group].n_points > 0) /* vertices come first */
        return weft_space_element(space)->family == WEFT_LAGRANGE
                   ? weft_mesh_group_nodes(mesh, group, out, n, error)
                   : none(out, n, error);
    TRY(list_nodes(space, group, &listed, &n_facets, &width, error));
    const int64_t n_nodes = weft_space_nodes(space);
    seen = weft_array_make((size_t)n_nodes, 1);
    if (!seen)
        TRY(weft_out_of_memory(error, "the nodes of a group"));
    for (int64_t i = 0; i < n_facets * width; ++i) {
        count += !seen[listed[i]];
        seen[listed[i]] = 1;
    }
    nodes = weft_array_make((size_t)count, sizeof *nodes);
    if (!nodes)
        TRY(weft_out_of_memory(error, "the nodes of a group"));
    weft_marks_list(seen, n_nodes, nodes);
    *out = nodes;
    *n = count;
done:
    free(listed);
    free(seen);
    return status;
}

weft_status weft_space_facets_make(const weft_space *space, int group, weft_space_facets *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(list_nodes(space, group, &out->nodes, &out->n, &out->width, error));
    TRY(weft_connectivity_make(weft_space_device(space), out->nodes, out->n, out->width,
                               weft_space_nodes(space), &out->dofs, error));
done:
    return status;
}

void weft_space_facets_free(weft_space_facets *facets) {
    weft_connectivity_free(&facets->dofs);
    free(facets->nodes);
    facets->nodes = NULL;
    facets->n = 0;
}
