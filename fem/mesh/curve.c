/* Curved cells of degree 2: separates them into vertices and the places of all their nodes, and keeps
 * these in the order of the vertices. */
#include "fem/base/text.h"
#include "fem/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes of the Lagrange element of degree 2. */
static int curved_nodes(const weft_cell *cell) {
    const int d = cell->dimension;
    return cell->simplex ? (d + 1) * (d + 2) / 2 : d == 1 ? 3 : d == 2 ? 9 : 27;
}

int weft_mesh_data_width(const weft_mesh_data *data) {
    const weft_cell *cell = weft_mesh_data_cell(data);
    return data->degree == 2 ? curved_nodes(cell) : cell->n_entities[0];
}

int weft_mesh_curve_nodes(const weft_mesh *mesh) {
    return mesh->curve ? curved_nodes(weft_mesh_cell(mesh)) : 0;
}

void weft_mesh_straighten(weft_mesh *mesh) {
    free(mesh->curve);
    mesh->curve = NULL;
}

/* Count the nodes that are not a vertex of a cell, but another node. */
static weft_status count_others(const weft_mesh_data *data, int v, int width, int64_t *n,
                                weft_error *error) {
    unsigned char *use = calloc((size_t)data->n_nodes + 1, 1);
    if (!use)
        return weft_out_of_memory(error, "curved cells");
    for (int64_t i = 0; i < data->n_cells * width; ++i)
        use[data->cells[i]] |= i % width < v ? 1 : 2;
    for (int64_t i = 0; i < data->n_nodes; ++i)
        *n += use[i] == 2;
    free(use);
    return WEFT_OK;
}

weft_status weft_curve_split(weft_mesh_data *data, double **curve, int64_t *n_others,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = data->dimension, width = weft_mesh_data_width(data);
    const int v = weft_mesh_data_cell(data)->n_entities[0];
    double *x = NULL;
    TRY(count_others(data, v, width, n_others, error));
    x = weft_array_make((size_t)data->n_cells * (size_t)width, (size_t)d * sizeof *x);
    if (!x)
        TRY(weft_out_of_memory(error, "curved cells"));
    for (int64_t i = 0; i < data->n_cells * width; ++i)
        memcpy(x + i * d, data->x + (int64_t)data->cells[i] * d, (size_t)d * sizeof *x);
    for (int64_t c = 0; c < data->n_cells; ++c)
        memmove(data->cells + c * v, data->cells + c * width, (size_t)v * sizeof *data->cells);
    data->degree = 1;
    *curve = x;
done:
    return status;
}

/* Which of the cell's first v places are those of its vertices now; whether the order changed. */
static bool find_order(const weft_mesh_data *data, int v, int64_t cell, const double *places,
                       int vertices[8]) {
    const int d = data->dimension;
    bool changed = false;
    for (int i = 0; i < v; ++i) {
        const double *x = data->x + (int64_t)data->cells[cell * v + i] * d;
        vertices[i] = i;
        for (int k = 0; k < v; ++k)
            if (memcmp(x, places + k * d, (size_t)d * sizeof *x) == 0)
                vertices[i] = k;
        changed |= vertices[i] != i;
    }
    return changed;
}

/* Whether det J is positive at all nodes of the element. table [1 + d][n][n] */
static bool is_regular(const weft_element *e, const double *table, const double *places) {
    const int d = weft_cell_of(e->cell)->dimension, n = e->n_nodes;
    for (int q = 0; q < n; ++q) {
        double jacobian[3][3] = {{0}};
        for (int a = 0; a < d; ++a)
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < d; ++k)
                    jacobian[k][a] += table[((a + 1) * n + q) * n + i] * places[i * d + k];
        if (!(weft_determinant(d, jacobian) > 0))
            return false;
    }
    return true;
}

static weft_status refuse(const weft_mesh_data *data, const char *source, int64_t n, int64_t first,
                          weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "%s: %lld curved cell%s folded (first: ", source,
                   (long long)n, n == 1 ? " is" : "s are");
    weft_error_append_cell(error, data, first);
    weft_error_append(error, ")");
    weft_error_hint(
        error, "the determinant of its map is not positive at all of its nodes: mesh with smaller "
               "cells, Mesh.HighOrderOptimize = 1; or straight ones, Mesh.ElementOrder = 1;");
    return WEFT_ERROR_INPUT;
}

weft_status weft_curve_follow(const weft_mesh_data *data, const char *source, double *curve,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_mesh_data_cell(data);
    const int d = cell->dimension, v = cell->n_entities[0], n = curved_nodes(cell);
    weft_element *e = NULL;
    int nodes[27];
    int64_t n_folded = 0, first = -1;
    double old[27 * 3], *table = malloc((size_t)((d + 1) * n * n) * sizeof *table);
    if (!table)
        TRY(weft_out_of_memory(error, "curved cells"));
    TRY(weft_element_make(WEFT_LAGRANGE, cell->type, 2, &e, error));
    TRY(weft_element_tabulate(e, 1, n, e->points, table, error));
    for (int64_t c = 0; c < data->n_cells; ++c) {
        int vertices[8];
        double *places = curve + c * n * d;
        if (find_order(data, v, c, places, vertices) && weft_element_permute(e, vertices, nodes)) {
            memcpy(old, places, (size_t)(n * d) * sizeof *old);
            for (int i = 0; i < n; ++i)
                memcpy(places + i * d, old + nodes[i] * d, (size_t)d * sizeof *old);
        }
        if (!is_regular(e, table, places) && n_folded++ == 0)
            first = c;
    }
    if (n_folded > 0)
        status = refuse(data, source, n_folded, first, error);
done:
    weft_element_free(&e);
    free(table);
    return status;
}
