/** Mesh files of a body with a plane of symmetry, and of its half, in any direction: [0, 1]^2, and with its
 *  mirror image [-1, 1] x [0, 1], turned by an angle.
 *
 *      groups  far (x = 1), other (x = -1, of the whole), plane (x = 0, of the half) */
#ifndef MIRRORED_MESH_H
#define MIRRORED_MESH_H

#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <string.h>

enum { MIRRORED_SIDE = 6 };

/** Turn (x, y) by the angle. */
static inline void mirrored_turn(double angle, double x, double y, double out[2]) {
    out[0] = cos(angle) * x - sin(angle) * y;
    out[1] = sin(angle) * x + cos(angle) * y;
}

/* Node (i, j), i from -n (of the half from 0) to n. */
static inline int32_t mirrored_node(bool whole, int i, int j) {
    const int n = MIRRORED_SIDE;
    return (int32_t)(j * (whole ? 2 * n + 1 : n + 1) + i + (whole ? n : 0));
}

static inline void mirrored_cells(bool whole, int32_t *cells) {
    const int n = MIRRORED_SIDE;
    for (int j = 0; j < n; ++j)
        for (int i = whole ? -n : 0; i < n; ++i) {
            const int32_t a = mirrored_node(whole, i, j), b = mirrored_node(whole, i + 1, j),
                          c = mirrored_node(whole, i + 1, j + 1),
                          d = mirrored_node(whole, i, j + 1);
            const int32_t right[6] = {a, b, c, a, c, d}, left[6] = {a, b, d, b, c, d};
            memcpy(cells, i < 0 ? left : right, sizeof right);
            cells += 6;
        }
}

/* The mesh file; free() the path. */
static inline char *mirrored_mesh_write(const char *folder, bool whole, double angle) {
    const int n = MIRRORED_SIDE, columns = whole ? 2 * n + 1 : n + 1;
    char *path = test_path(folder, whole ? "whole.vtkhdf" : "half.vtkhdf");
    weft_mesh_data data = {.dimension = 2,
                           .n_nodes = columns * (n + 1),
                           .n_cells = 2 * (columns - 1) * n,
                           .n_groups = 2,
                           .n_group_facets = 2 * n};
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    data.x = weft_array_make((size_t)data.n_nodes * 2, sizeof *data.x);
    data.cells = weft_array_make((size_t)data.n_cells * 3, sizeof *data.cells);
    data.groups = weft_array_make(2, sizeof *data.groups);
    data.group_facet_nodes = weft_array_make((size_t)(4 * n), sizeof *data.group_facet_nodes);
    assert_true(data.x && data.cells && data.groups && data.group_facet_nodes);
    for (int j = 0; j <= n; ++j)
        for (int i = whole ? -n : 0; i <= n; ++i)
            mirrored_turn(angle, (double)i / n, (double)j / n,
                          &data.x[2 * mirrored_node(whole, i, j)]);
    mirrored_cells(whole, data.cells);
    for (int g = 0; g < 2; ++g) {
        data.groups[g] = (weft_group){.dimension = 1, .first_facet = g * n, .n_facets = n};
        strcpy(data.groups[g].name, g == 0 ? "far" : whole ? "other" : "plane");
        for (int j = 0; j < n; ++j)
            for (int v = 0; v < 2; ++v)
                data.group_facet_nodes[2 * (g * n + j) + v] = mirrored_node(whole,
                                                                            g == 0  ? n
                                                                            : whole ? -n
                                                                                    : 0,
                                                                            j + v);
    }
    assert_int_equal(weft_mesh_make(&data, "mirrored", NULL, &mesh, &error), WEFT_OK);
    assert_int_equal(weft_result_write(path, mesh, NULL, 0, &error), WEFT_OK);
    weft_mesh_free(&mesh);
    return path;
}

#endif
