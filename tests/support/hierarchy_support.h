/** What the tests of hierarchies share: irregular meshes, and hierarchies made of them. */
#ifndef WEFT_HIERARCHY_SUPPORT_H
#define WEFT_HIERARCHY_SUPPORT_H

#include "fem/weft_hierarchy.h"
#include "mesh_support.h"

/** square:n or cube:n as a mesh generator might have made it: nodes and cells in any order, cells
 *  beginning with any vertex, and each node moved by up to a tenth of a step, on sides along
 *  them. */
static inline weft_mesh *irregular_mesh(int d, int64_t n) {
    uint64_t random = 1234;
    weft_mesh *grid = make_mesh(d, n), *mesh = NULL;
    weft_mesh_data data = take_apart(grid);
    int32_t *nodes = random_order(grid->n_nodes, 5), *cells = random_order(grid->n_cells, 6);
    for (int64_t i = 0; i < grid->n_nodes * d; ++i) {
        const double x = grid->x[i], step = (double)(random_next(&random) % 2001) / 1000 - 1;
        data.x[(int64_t)nodes[i / d] * d + i % d] = x > 0 && x < 1 ? x + 0.1 * step / (double)n : x;
    }
    for (int64_t c = 0; c < grid->n_cells; ++c) {
        const int turn = (int)(random_next(&random) % (uint64_t)(d + 1));
        for (int k = 0; k <= d; ++k)
            data.cells[cells[c] * (int64_t)(d + 1) + (k + turn) % (d + 1)] =
                nodes[grid->cells[c * (d + 1) + k]];
    }
    for (int64_t i = 0; i < data.n_group_facets * d; ++i)
        data.group_facet_nodes[i] = nodes[data.group_facet_nodes[i]];
    assert_int_equal(weft_mesh_make(&data, "irregular", NULL, &mesh, NULL), WEFT_OK);
    free(nodes);
    free(cells);
    weft_mesh_free(&grid);
    return mesh;
}

static inline weft_hierarchy *make_hierarchy(weft_device *device, weft_mesh *coarse,
                                             const weft_hierarchy_options *options) {
    weft_error error = {0};
    weft_hierarchy *hierarchy = NULL;
    if (weft_hierarchy_make(device, &coarse, options, NULL, &hierarchy, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_null(coarse);
    return hierarchy;
}

#endif
