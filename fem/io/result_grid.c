/* The points and cells of result files: those of the mesh, or nodes of any degree. */
#include "fem/io/result.h"

#include <stdlib.h>
#include <string.h>

weft_status weft_result_grid_make(const weft_mesh *mesh, const weft_result_nodes *nodes,
                                  weft_result_grid *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_mesh_cell(mesh);
    weft_element *linear = NULL;
    const int degree = nodes ? nodes->element->degree : 1;
    *out = (weft_result_grid){.dimension = mesh->dimension,
                              .type = weft_vtk_type(cell->type, degree),
                              .n_points = nodes ? nodes->n : mesh->n_nodes,
                              .n_cells = mesh->n_cells,
                              .width = nodes ? nodes->element->n_nodes : cell->n_entities[0],
                              .x = nodes ? nodes->x : mesh->x,
                              .cells = nodes ? nodes->cells : mesh->cells};
    if (!nodes)
        TRY(weft_element_make(WEFT_LAGRANGE, cell->type, 1, &linear, error));
    TRY(weft_vtk_order(nodes ? nodes->element : linear, &out->order, error));
done:
    weft_element_free(&linear);
    return status;
}

void weft_result_grid_free(weft_result_grid *grid) {
    free(grid->order);
    grid->order = NULL;
}

void weft_points_fill(const weft_result_grid *grid, int64_t first, int64_t n, void *out) {
    double(*points)[3] = out;
    const int d = grid->dimension;
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k)
            points[i][k] = k < d ? grid->x[(first + i) * d + k] : 0;
}

void weft_cells_fill(const weft_result_grid *grid, int64_t first, int64_t n, void *out) {
    int32_t *nodes = out;
    const int32_t *from = grid->cells + first * grid->width;
    for (int64_t i = 0; i < n; ++i, from += grid->width)
        for (int k = 0; k < grid->width; ++k)
            *nodes++ = from[grid->order ? grid->order[k] : k];
}

void weft_types_fill(const weft_result_grid *grid, int64_t n, void *out) {
    memset(out, grid->type, (size_t)n);
}
