/* Facet integrals: the nodes of the cells on the sides of facets, each cell reoriented so that
 * the facet is its base.
 *
 * Decision  docs/decisions/0031-cells-are-not-sorted.md */
#include "fem/space/layout.h"
#include "fem/space/private.h"
#include "fem/space/space.h"

#include <stdlib.h>
#include <string.h>

/* The nodes of an element in a reoriented cell, for each order of vertices. The origin and the ends of
 * the first d - 1 axes tell an order. */
enum { CODES = 8 * 8 * 8 };

typedef struct orientations {
    const weft_element *element;
    int n_vertices;
    int *nodes[CODES]; /* [n_nodes], where it has occurred */
} orientations;

static int code_of(const orientations *t, const int *vertices) {
    const int d = weft_cell_of(t->element->cell)->dimension;
    return vertices[0] + 8 * (d > 1 ? vertices[1] : 0) + 64 * (d > 2 ? vertices[2] : 0);
}

static weft_status find_orientation(orientations *t, const int *vertices, const int **out,
                                    weft_error *error) {
    const int code = code_of(t, vertices);
    if (!t->nodes[code]) {
        int *nodes = malloc((size_t)t->element->n_nodes * sizeof *nodes);
        if (!nodes)
            return weft_out_of_memory(error, "the nodes of facets");
        if (!weft_element_permute(t->element, vertices, nodes)) {
            free(nodes);
            weft_error_set(
                error, WEFT_ERROR_UNSUPPORTED,
                "a quadrature element of degree %d has points that no symmetry of the %s "
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

/* local [n][n_sides]: the number of the facet in its cells */
static weft_status fill(const weft_space *space, const unsigned char *local, weft_space_sides *out,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    const int width = element->n_nodes;
    orientations t = {.element = element};
    int32_t *row = malloc((size_t)width * sizeof *row);
    if (!row)
        TRY(weft_out_of_memory(error, "the nodes of facets"));
    TRY(weft_space_read_rows(space, out->cells, out->n * out->n_sides, out->nodes, error));
    for (int64_t i = 0; i < out->n * out->n_sides; ++i) {
        int vertices[8];
        const int *from = NULL;
        memcpy(row, out->nodes + i * width, (size_t)width * sizeof *row);
        weft_side_order(mesh, out->cells[i], local[i], vertices);
        TRY(find_orientation(&t, vertices, &from, error));
        for (int k = 0; k < width; ++k)
            out->nodes[i * width + k] = row[from[k]];
    }
done:
    free(row);
    for (int code = 0; code < CODES; ++code)
        free(t.nodes[code]);
    return status;
}

/* Allocate for the cells, which are taken over. */
static weft_status start(const weft_space *space, weft_sides *sides, weft_space_sides *out,
                         weft_error *error) {
    const size_t width = (size_t)weft_space_element(space)->n_nodes * (size_t)sides->n_sides;
    out->n = sides->n;
    out->n_sides = sides->n_sides;
    out->width = (int)width;
    out->cells = sides->cells;
    sides->cells = NULL;
    out->nodes = weft_array_make((size_t)out->n * width, sizeof *out->nodes);
    return out->nodes ? WEFT_OK : weft_out_of_memory(error, "the nodes of facets");
}

static weft_status connect(const weft_space *space, weft_space_sides *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_connectivity_make(weft_space_device(space), out->nodes, out->n, out->width,
                               weft_space_nodes(space), &out->dofs, error));
    TRY(weft_space_share(space, out->dofs, error));
    TRY(weft_connectivity_make(weft_space_device(space), out->cells, out->n, out->n_sides,
                               weft_space_mesh(space)->n_cells, &out->to_cells, error));
done:
    return status;
}

static weft_status make(const weft_space *space, weft_sides *sides, weft_space_sides *out,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(start(space, sides, out, error));
    TRY(fill(space, sides->local, out, error));
    TRY(connect(space, out, error));
done:
    return status;
}

weft_status weft_space_group_cells_make(const weft_space *space, int group, weft_space_sides *out,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_group *from = &mesh->groups[group];
    weft_sides sides = {.n = from->n_cells, .n_sides = 1};
    sides.cells = weft_array_make((size_t)from->n_cells, sizeof *sides.cells);
    if (!sides.cells)
        TRY(weft_out_of_memory(error, "the cells of a group"));
    memcpy(sides.cells, mesh->group_cells + from->first_cell,
           (size_t)from->n_cells * sizeof *sides.cells);
    TRY(start(space, &sides, out, error));
    TRY(weft_space_read_rows(space, out->cells, out->n, out->nodes, error));
    TRY(connect(space, out, error));
done:
    weft_sides_free(&sides);
    return status;
}

typedef weft_status sides_finder(weft_device *device, const weft_mesh *mesh, int group,
                                 weft_sides *out, weft_error *error);

static weft_status make_found(const weft_space *space, sides_finder *find, int group,
                              weft_space_sides *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sides sides = {0};
    TRY(find(weft_space_device(space), weft_space_mesh(space), group, &sides, error));
    TRY(make(space, &sides, out, error));
done:
    weft_sides_free(&sides);
    return status;
}

/* Keep the facets with these numbers in their cells. */
static void keep(const int *facets, weft_sides *sides) {
    const int n_sides = sides->n_sides;
    int64_t kept = 0;
    for (int64_t i = 0; i < sides->n; ++i) {
        bool is_wanted = true;
        for (int side = 0; side < n_sides; ++side)
            is_wanted = is_wanted && sides->local[i * n_sides + side] == facets[side];
        for (int side = 0; side < n_sides && is_wanted; ++side) {
            sides->cells[kept * n_sides + side] = sides->cells[i * n_sides + side];
            sides->local[kept * n_sides + side] = sides->local[i * n_sides + side];
        }
        kept += is_wanted;
    }
    sides->n = kept;
}

weft_status weft_space_sides_at(const weft_space *space, const weft_entities_of *of,
                                weft_space_sides *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sides sides = {0};
    TRY((of->kind == WEFT_ENTITIES_EXTERIOR ? weft_sides_exterior : weft_sides_interior)(
        weft_space_device(space), weft_space_mesh(space), of->group, &sides, error));
    keep(of->facets, &sides);
    TRY(start(space, &sides, out, error));
    TRY(weft_space_read_rows(space, out->cells, out->n * out->n_sides, out->nodes, error));
    TRY(connect(space, out, error));
done:
    weft_sides_free(&sides);
    return status;
}

weft_status weft_space_exterior_make(const weft_space *space, int group, weft_space_sides *out,
                                     weft_error *error) {
    return make_found(space, weft_sides_exterior, group, out, error);
}

weft_status weft_space_one_side_make(const weft_space *space, int group, int cells,
                                     weft_space_sides *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    weft_sides sides = {0};
    int64_t two = 0;
    TRY(cells < 0 ? weft_sides_of_group(weft_space_device(space), mesh, group, &sides, error)
                  : weft_sides_of_cells(weft_space_device(space), mesh, group, cells, &sides, &two,
                                        error));
    TRY(make(space, &sides, out, error));
done:
    weft_sides_free(&sides);
    return status;
}

weft_status weft_space_interior_make(const weft_space *space, int group, weft_space_sides *out,
                                     weft_error *error) {
    return make_found(space, weft_sides_interior, group, out, error);
}

void weft_space_sides_free(weft_space_sides *sides) {
    weft_connectivity_free(&sides->dofs);
    weft_connectivity_free(&sides->to_cells);
    free(sides->nodes);
    free(sides->cells);
    *sides = (weft_space_sides){0};
}
