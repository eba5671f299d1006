/* The nodes of a space on facets, and the cells on the sides of facets. */
#include "fem/base/marks.h"
#include "fem/element/element.h"
#include "fem/space/layout.h"
#include "fem/space/private.h"
#include "fem/space/space.h"

#include <stdlib.h>
#include <string.h>

enum { CODES = 8 * 8 };

/* Nodes of facets of a cell type, for each facet of the cell and each order of its vertices that a
 * mesh may list. */
typedef struct facet_nodes {
    const weft_mesh *mesh;
    const weft_cell *cell, *facet;
    int width;     /* nodes on a facet; 0: there are none */
    int *closure;  /* [facets of a cell][width] */
    int *permuted; /* [CODES][width]: by the first two vertices of an order, which tell it */
    bool is_known[CODES], is_mapped;
    double *points; /* [width][d - 1], where they are on a facet */
} facet_nodes;

static void facet_nodes_free(facet_nodes *f) {
    free(f->closure);
    free(f->permuted);
    free(f->points);
}

static weft_status facet_nodes_make(const weft_space *space, facet_nodes *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(space);
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_cell *cell = weft_mesh_cell(mesh);
    const int d = cell->dimension, n_facets = cell->n_entities[d - 1];
    const size_t n_nodes = (size_t)element->n_nodes;
    *out = (facet_nodes){.mesh = mesh,
                         .cell = cell,
                         .facet = weft_cell_of(cell->facet),
                         .is_mapped = element->map != WEFT_MAP_IDENTITY};
    out->permuted = malloc(CODES * n_nodes * sizeof *out->permuted);
    out->closure = malloc((size_t)n_facets * n_nodes * sizeof *out->closure);
    out->points = malloc(n_nodes * (size_t)d * sizeof *out->points);
    if (!out->closure || !out->permuted || !out->points)
        TRY(weft_out_of_memory(error, "the nodes of facets"));
    for (int f = 0; f < n_facets; ++f)
        out->width = weft_element_entity_closure(element, d - 1, f, out->closure + f * out->width);
    weft_element_points_on(element, d - 1, 0, out->width, out->closure, out->points);
done:
    return status;
}

/* The nodes on a facet of a cell, in the order of the facet's own type with its vertices as listed
 * in `vertices`. row: nodes of the cell. */
static void take_nodes(facet_nodes *f, const weft_sides *sides, int64_t i, const int32_t *vertices,
                       const int32_t *row, int32_t *out) {
    int32_t corners[8];
    int order[8] = {0};
    const int n = weft_entity_nodes(f->mesh, sides->cells[i], f->cell->dimension - 1,
                                    sides->local[i], corners);
    const int *closure = f->closure + sides->local[i] * f->width;
    for (int k = 0; k < n; ++k)
        for (int own = 0; own < n; ++own)
            if (corners[own] == vertices[k])
                order[k] = own;
    const int code = 8 * order[0] + order[1];
    int *permuted = f->permuted + code * f->width;
    if (!f->is_known[code] && !f->is_mapped)
        weft_points_permute(f->facet, f->width, f->points, order, permuted);
    f->is_known[code] = true;
    for (int k = 0; k < f->width; ++k) /* in sorted cells several nodes may be at one point */
        out[k] = row[closure[f->is_mapped ? k : permuted[k]]];
}

/* The nodes of the facets of a group, [n][width]. */
static weft_status list_nodes(const weft_space *space, int group, int32_t **out, int64_t *n,
                              int *width, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    facet_nodes f = {0};
    weft_sides sides = {0};
    int32_t *vertices = NULL, *nodes = NULL, *rows = NULL;
    TRY(weft_mesh_group_facets(mesh, group, &vertices, n, error));
    TRY(facet_nodes_make(space, &f, error));
    const int corners = f.facet->n_entities[0];
    *width = f.width;
    if (weft_element_is_on_vertices(element)) {
        *out = vertices;
        vertices = NULL;
        goto done;
    }
    TRY(weft_sides_of_group(weft_space_device(space), mesh, group, &sides, error));
    nodes = weft_array_make((size_t)*n * (size_t)*width, sizeof *nodes);
    rows = weft_array_make_unset((uint64_t)*n * (uint64_t)element->n_nodes * sizeof *rows);
    if (!nodes || !rows)
        TRY(weft_out_of_memory(error, "the nodes of facets"));
    TRY(weft_space_read_rows(space, sides.cells, *n, rows, error));
    for (int64_t i = 0; i < *n && f.width > 0; ++i)
        take_nodes(&f, &sides, i, vertices + i * corners, rows + i * element->n_nodes,
                   nodes + i * *width);
    *out = nodes;
    nodes = NULL;
done:
    facet_nodes_free(&f);
    weft_sides_free(&sides);
    free(vertices);
    free(nodes);
    free(rows);
    return status;
}

/* The nodes with these marks, ascending. */
static weft_status list_marked(const unsigned char *seen, int64_t n_nodes, int32_t **out,
                               int64_t *n, weft_error *error) {
    *n = weft_marks_count(seen, n_nodes);
    *out = weft_array_make((size_t)*n, sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, "the nodes of a group");
    weft_marks_list(seen, n_nodes, *out);
    return WEFT_OK;
}

/* Mark the nodes on the vertices of a group of points. */
static weft_status mark_vertices(const weft_space *space, int group, unsigned char *seen,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    const int v = weft_mesh_cell_vertices(mesh), inside = element->entity_nodes[0];
    const int32_t *nodes = weft_space_cell_nodes(space);
    unsigned char *in_group = weft_array_make((size_t)mesh->n_nodes, 1);
    int32_t *vertices = NULL;
    int64_t n = 0;
    if (!in_group)
        TRY(weft_out_of_memory(error, "the nodes of a group"));
    TRY(weft_mesh_group_nodes(mesh, group, &vertices, &n, error));
    for (int64_t i = 0; i < n; ++i)
        in_group[vertices[i]] = 1;
    for (int64_t i = 0; i < mesh->n_cells * v; ++i)
        for (int k = 0; k < inside && in_group[mesh->cells[i]]; ++k)
            seen[nodes[i / v * element->n_nodes + i % v * inside + k]] = 1;
done:
    free(in_group);
    free(vertices);
    return status;
}

weft_status weft_space_group_nodes(const weft_space *space, int group, int32_t **out, int64_t *n,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_facets = 0;
    int width = 0;
    int32_t *listed = NULL;
    const weft_mesh *mesh = weft_space_mesh(space);
    unsigned char *seen = weft_array_make((size_t)weft_space_nodes(space), 1);
    if (!seen)
        TRY(weft_out_of_memory(error, "the nodes of a group"));
    if (group >= 0 && mesh->groups[group].n_points > 0)
        TRY(mark_vertices(space, group, seen, error));
    else
        TRY(list_nodes(space, group, &listed, &n_facets, &width, error));
    for (int64_t i = 0; i < n_facets * width; ++i)
        seen[listed[i]] = 1;
    TRY(list_marked(seen, weft_space_nodes(space), out, n, error));
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
    TRY(weft_space_share(space, out->dofs, error));
done:
    return status;
}

void weft_space_facets_free(weft_space_facets *facets) {
    weft_connectivity_free(&facets->dofs);
    free(facets->nodes);
    facets->nodes = NULL;
    facets->n = 0;
}
