/* Facet integrals: the nodes of the cells on the sides of facets, each cell turned so that the
 * facet is its base. */
#include "fem/space/private.h"

#include <stdlib.h>
#include <string.h>

/* The nodes of an element in a turned cell, for each order of vertices. The origin and the ends of
 * the first d - 1 axes tell an order. */
enum { CODES = 8 * 8 * 8 };

typedef struct turned {
    const weft_element *element;
    int n_vertices;
    int *nodes[CODES]; /* [n_nodes], where it has occurred */
} turned;

static int code_of(const turned *t, const int *vertices) {
    const int d = weft_cell_of(t->element->cell)->dimension;
    return vertices[0] + 8 * (d > 1 ? vertices[1] : 0) + 64 * (d > 2 ? vertices[2] : 0);
}

static weft_status find_turned(turned *t, const int *vertices, const int **out, weft_error *error) {
    const int code = code_of(t, vertices);
    if (!t->nodes[code]) {
        int *nodes = malloc((size_t)t->element->n_nodes * sizeof *nodes);
        if (!nodes)
            return weft_out_of_memory(error, "the nodes of facets");
        if (!weft_element_permute(t->element, vertices, nodes)) {
            free(nodes);
            weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a quadrature element of degree %d has points that no turn of the %s "
                           "maps onto each other, so it has no facet integrals",
                           t->element->degree, weft_cell_of(t->element->cell)->name);
            weft_error_hint(error, "use a discontinuous element for this coefficient");
            return WEFT_ERROR_UNSUPPORTED;
        }
        t->nodes[code] = nodes;
    }
    *out = t->nodes[code];
    return WEFT_OK;
}

static weft_status fill(const weft_space *space, const weft_sides *sides, weft_space_sides *out,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    const int width = element->n_nodes;
    turned t = {.element = element};
    for (int64_t i = 0; i < sides->n * sides->n_sides; ++i) {
        int vertices[8];
        const int *from = NULL;
        const int32_t *row = weft_space_cell_nodes(space) + (int64_t)sides->cells[i] * width;
        weft_side_order(mesh, sides->cells[i], sides->local[i], vertices);
        TRY(find_turned(&t, vertices, &from, error));
        for (int k = 0; k < width; ++k)
            out->nodes[i * width + k] = row[from[k]];
    }
done:
    for (int code = 0; code < CODES; ++code)
        free(t.nodes[code]);
    return status;
}

/* Takes sides->cells over. */
static weft_status make(const weft_space *space, weft_sides *sides, weft_space_sides *out,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    const int width = sides->n_sides * weft_space_element(space)->n_nodes;
    out->n = sides->n;
    out->n_sides = sides->n_sides;
    out->width = width;
    out->nodes = weft_array_make((size_t)sides->n * (size_t)width, sizeof *out->nodes);
    if (!out->nodes)
        TRY(weft_out_of_memory(error, "the nodes of facets"));
    TRY(fill(space, sides, out, error));
    out->cells = sides->cells;
    sides->cells = NULL;
    TRY(weft_connectivity_make(weft_space_device(space), out->nodes, out->n, width,
                               weft_space_nodes(space), &out->dofs, error));
    TRY(weft_connectivity_make(weft_space_device(space), out->cells, out->n, out->n_sides,
                               weft_space_mesh(space)->n_cells, &out->to_cells, error));
done:
    return status;
}

weft_status weft_space_exterior_make(const weft_space *space, int group, weft_space_sides *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sides sides = {0};
    TRY(weft_sides_of_group(weft_space_mesh(space), group, &sides, error));
    TRY(make(space, &sides, out, error));
done:
    weft_sides_free(&sides);
    return status;
}

weft_status weft_space_interior_make(const weft_space *space, weft_space_sides *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sides sides = {0};
    TRY(weft_sides_interior(weft_space_mesh(space), &sides, error));
    TRY(make(space, &sides, out, error));
done:
    weft_sides_free(&sides);
    return status;
}

void weft_space_sides_free(weft_space_sides *sides) {
    weft_connectivity_free(&sides->dofs);
    weft_connectivity_free(&sides->to_cells);
    free(sides->nodes);
    free(sides->cells);
    *sides = (weft_space_sides){0};
}
