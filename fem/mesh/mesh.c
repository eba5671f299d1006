/* Frees meshes, computes volumes and hashes. */
#include "fem/mesh/mesh.h"
#include "fem/mesh/part.h"

#include <stdlib.h>
#include <string.h>

const int weft_facet_vertices_2[3][2] = {{1, 2}, {2, 0}, {0, 1}};
const int weft_facet_vertices_3[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

const weft_cell *weft_mesh_cell(const weft_mesh *mesh) {
    if (mesh->cell != WEFT_POINT)
        return weft_cell_of(mesh->cell);
    return weft_cell_of(mesh->dimension == 2 ? WEFT_TRIANGLE : WEFT_TETRAHEDRON);
}

int weft_mesh_cell_vertices(const weft_mesh *mesh) {
    return weft_mesh_cell(mesh)->n_entities[0];
}

int weft_mesh_facet_vertices(const weft_mesh *mesh) {
    return weft_cell_of(weft_mesh_cell(mesh)->facet)->n_entities[0];
}

const weft_cell *weft_mesh_data_cell(const weft_mesh_data *data) {
    return weft_mesh_cell(&(weft_mesh){.cell = data->cell, .dimension = data->dimension});
}

bool weft_mesh_is_affine(const weft_mesh *mesh) {
    return weft_mesh_cell(mesh)->simplex && !mesh->curve;
}

weft_status weft_mesh_need_simplices(const weft_mesh *mesh, const char *what, weft_error *error) {
    const weft_cell *cell = weft_mesh_cell(mesh);
    if (mesh->curve) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%s: %s takes straight cells, and these are curved", mesh->source, what);
        weft_error_hint(error, "set Mesh.ElementOrder = 1; in the .geo file and mesh again");
        return WEFT_ERROR_UNSUPPORTED;
    }
    if (cell->simplex && cell->dimension > 1)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: %s takes triangles or tetrahedra, not %s",
                   mesh->source, what, cell->plural);
    weft_error_hint(error, "mesh with triangles or tetrahedra, such as square:32 or cube:16");
    return WEFT_ERROR_UNSUPPORTED;
}

double weft_determinant(int d, double a[3][3]) {
    if (d == 1)
        return a[0][0];
    if (d == 2)
        return a[0][0] * a[1][1] - a[0][1] * a[1][0];
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
           a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

void weft_mesh_free(weft_mesh **mesh) {
    if (!mesh || !*mesh)
        return;
    free((*mesh)->x);
    free((*mesh)->cells);
    free((*mesh)->curve);
    free((*mesh)->facets);
    free((*mesh)->groups);
    free((*mesh)->group_facets);
    free((*mesh)->group_cells);
    weft_points_free(&(*mesh)->points);
    weft_part_free(&(*mesh)->part);
    free(*mesh);
    *mesh = NULL;
}

void weft_mesh_data_free(weft_mesh_data *data) {
    free(data->x);
    free(data->cells);
    free(data->groups);
    free(data->group_facet_nodes);
    free(data->group_cells);
    weft_points_free(&data->points);
    data->x = NULL;
    data->cells = NULL;
    data->groups = NULL;
    data->group_facet_nodes = NULL;
    data->group_cells = NULL;
}

static double volume_2(const double *a, const double *b, const double *c) {
    return 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
}

static double volume_3(const double *a, const double *b, const double *c, const double *d) {
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        w[i] = d[i] - a[i];
    }
    return (u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
            u[2] * (v[0] * w[1] - v[1] * w[0])) /
           6;
}

double weft_cell_volume(int dimension, const double *x, const int32_t *nodes) {
    if (dimension == 1)
        return x[nodes[1]] - x[nodes[0]];
    if (dimension == 2)
        return volume_2(x + 2 * (size_t)nodes[0], x + 2 * (size_t)nodes[1],
                        x + 2 * (size_t)nodes[2]);
    return volume_3(x + 3 * (size_t)nodes[0], x + 3 * (size_t)nodes[1], x + 3 * (size_t)nodes[2],
                    x + 3 * (size_t)nodes[3]);
}
