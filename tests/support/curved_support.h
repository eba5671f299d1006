/** Meshes whose cells are mapped by F(x) = x + quadratic terms, with cells in several orders of their
 *  vertices: cells of degree 2 represent F, those of degree 1 are distorted. */
#ifndef WEFT_CURVED_SUPPORT_H
#define WEFT_CURVED_SUPPORT_H

#include "fem/weft_fem.h"
#include "test_support.h"

/* d = 1: x + x^2/5; d = 2: (x + y^2/5, y + xy/4); d = 3: and (.., .., z + xy/10 + z^2/10) */
static inline void curve_point(int d, const double *x, double *out) {
    out[0] = x[0] + (d == 1 ? x[0] * x[0] : x[1] * x[1]) / 5;
    if (d > 1)
        out[1] = x[1] + x[0] * x[1] / 4;
    if (d > 2)
        out[2] = x[2] + x[0] * x[1] / 10 + x[2] * x[2] / 10;
}

static inline weft_space *curved_space(weft_device *device, const weft_mesh *mesh, int degree) {
    weft_space *space = NULL;
    weft_error error = {0};
    if (weft_space_make(device, mesh, (weft_element_kind){WEFT_LAGRANGE, degree}, 1, &space,
                        &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return space;
}

/** The mesh with its nodes mapped, as cells of degree 1 or 2; each second cell with its first two axes or vertices
 * exchanged, which inverts it. */
static inline weft_mesh_data curved_data(weft_device *device, const weft_mesh *mesh, int degree) {
    weft_space *space = curved_space(device, mesh, degree);
    const weft_element *e = weft_space_element(space);
    const int d = mesh->dimension, n = e->n_nodes;
    weft_mesh_data data = {.dimension = d, .cell = weft_mesh_cell(mesh)->type, .degree = degree};
    static const int swaps[WEFT_CELL_TYPES][8] = {[WEFT_INTERVAL] = {1, 0},
                                                  [WEFT_TRIANGLE] = {1, 0, 2},
                                                  [WEFT_TETRAHEDRON] = {1, 0, 2, 3},
                                                  [WEFT_QUADRILATERAL] = {0, 2, 1, 3},
                                                  [WEFT_HEXAHEDRON] = {0, 2, 1, 3, 4, 6, 5, 7}};
    int nodes[27];
    assert_true(weft_element_permute(e, swaps[data.cell], nodes));
    data.n_nodes = weft_space_nodes(space);
    data.n_cells = mesh->n_cells;
    data.x = weft_array_make((size_t)data.n_nodes, (size_t)d * sizeof *data.x);
    data.cells = weft_array_make((size_t)data.n_cells, (size_t)n * sizeof *data.cells);
    assert_true(data.x && data.cells);
    for (int64_t i = 0; i < data.n_nodes; ++i)
        curve_point(d, weft_space_points(space) + i * d, data.x + i * d);
    for (int64_t c = 0; c < data.n_cells; ++c)
        for (int i = 0; i < n; ++i)
            data.cells[c * n + i] = weft_space_cell_nodes(space)[c * n + (c % 2 ? nodes[i] : i)];
    weft_space_free(&space);
    return data;
}

/** A built-in mesh, mapped. */
static inline weft_mesh *curved_mesh(weft_device *device, const char *name, int degree) {
    weft_mesh *straight = NULL, *mesh = NULL;
    weft_error error = {0};
    assert_int_equal(weft_mesh_read(name, 0, NULL, &straight, NULL), WEFT_OK);
    weft_mesh_data data = curved_data(device, straight, degree);
    if (weft_mesh_make(&data, "curved", NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s: %s", name, error.message);
    weft_mesh_free(&straight);
    return mesh;
}

#endif
