/* Functions with values that are mapped with the cells: on straight simplices by the Jacobian J, u(x) = J^-T f or J f / det J. */
#include "fem/space/vectors.h"
#include "fem/space/space.h"

#include <stdlib.h>
#include <string.h>

int weft_space_values_of(const weft_space *space) {
    return weft_space_components(space) * weft_space_element(space)->value_size;
}

bool weft_space_is_mapped(const weft_space *space) {
    return weft_space_element(space)->map != WEFT_MAP_IDENTITY;
}

weft_status weft_mapped_refuse(const char *what, weft_error *error) {
    weft_error_set(
        error, WEFT_ERROR_UNSUPPORTED,
        "%s are not computed for functions with continuous tangential or normal components", what);
    weft_error_hint(error, "leave them out, or take a Lagrange element");
    return WEFT_ERROR_UNSUPPORTED;
}

/* The matrix by which values are mapped, and its inverse: J^-T and J^T, or J / det J and det J J^-1. */
void weft_mapping_make(const weft_mesh *mesh, weft_map map, int64_t cell, weft_mapping *out) {
    const int d = mesh->dimension;
    const int32_t *vertices = mesh->cells + cell * (d + 1);
    double J[3][3] = {{0}}, adjugate[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, det = 0;
    for (int i = 0; i < d; ++i)
        for (int k = 0; k < d; ++k)
            J[i][k] =
                mesh->x[(int64_t)vertices[k + 1] * d + i] - mesh->x[(int64_t)vertices[0] * d + i];
    if (d == 2) {
        adjugate[0][0] = J[1][1], adjugate[0][1] = -J[0][1];
        adjugate[1][0] = -J[1][0], adjugate[1][1] = J[0][0];
    } else
        for (int i = 0; i < d; ++i)
            for (int k = 0; k < d; ++k) {
                const int r1 = (k + 1) % 3, r2 = (k + 2) % 3, c1 = (i + 1) % 3, c2 = (i + 2) % 3;
                adjugate[i][k] = J[r1][c1] * J[r2][c2] - J[r1][c2] * J[r2][c1];
            }
    for (int k = 0; k < d; ++k)
        det += J[0][k] * adjugate[k][0];
    out->d = d;
    for (int i = 0; i < d; ++i)
        for (int k = 0; k < d; ++k) {
            const bool is_covariant = map == WEFT_MAP_COVARIANT;
            out->push[i][k] = is_covariant ? adjugate[k][i] / det : J[i][k] / det;
            out->pull[i][k] = is_covariant ? J[k][i] : adjugate[i][k];
        }
}

static void multiply(int d, const double matrix[3][3], const double *from, double *out) {
    for (int i = 0; i < d; ++i) {
        out[i] = 0;
        for (int k = 0; k < d; ++k)
            out[i] += matrix[i][k] * from[k];
    }
}

void weft_mapping_push(const weft_mapping *map, const double *reference, double *out) {
    multiply(map->d, map->push, reference, out);
}

void weft_mapping_pull(const weft_mapping *map, const double *values, double *out) {
    multiply(map->d, map->pull, values, out);
}

/* The value at a point whose functions are tabulated.
 *  table  [n_nodes][d] */
static void value_at(const weft_space *space, const double *table, const double *u, int64_t cell,
                     const weft_mapping *map, double out[3]) {
    const int n = weft_space_element(space)->n_nodes, d = map->d;
    const int32_t *nodes = weft_space_cell_nodes(space) + cell * n;
    double reference[3] = {0};
    for (int j = 0; j < n; ++j)
        for (int k = 0; k < d; ++k)
            reference[k] += table[j * d + k] * u[nodes[j]];
    weft_mapping_push(map, reference, out);
}

weft_status weft_mapped_interpolate(const weft_space *space, const double *u, const weft_space *to,
                                    double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *from = weft_space_element(space), *at = weft_space_element(to);
    const int d = mesh->dimension, n = at->n_nodes;
    const int32_t *targets = weft_space_cell_nodes(to);
    double *table = malloc((size_t)(from->n_nodes * n * d) * sizeof *table);
    char *is_done = weft_array_make((size_t)weft_space_nodes(to), 1);
    if (!table || !is_done)
        TRY(weft_out_of_memory(error, "values at nodes"));
    if (!at->is_pointwise)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "vectors are interpolated at points"));
    TRY(weft_element_tabulate(from, 0, n, at->points, table, error));
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        weft_mapping map;
        weft_mapping_make(mesh, from->map, cell, &map);
        for (int i = 0; i < n; ++i) {
            const int64_t target = targets[cell * n + i];
            double value[3];
            if (is_done[target])
                continue;
            value_at(space, table + i * from->n_nodes * d, u, cell, &map, value);
            for (int k = 0; k < d; ++k)
                out[target * d + k] += value[k];
            is_done[target] = 1;
        }
    }
done:
    free(table);
    free(is_done);
    return status;
}

weft_status weft_mapped_evaluate_at(const weft_space *space, const double *u,
                                    const weft_cell_points *points, int stride, double *out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    const int d = mesh->dimension;
    double *table = malloc((size_t)(element->n_nodes * d) * sizeof *table);
    if (!table)
        TRY(weft_out_of_memory(error, "values at points"));
    for (int64_t i = 0; i < points->n; ++i) {
        weft_mapping map;
        double value[3];
        if (points->cells[i] < 0)
            continue;
        weft_mapping_make(mesh, element->map, points->cells[i], &map);
        TRY(weft_element_tabulate(element, 0, 1, points->xi + i * d, table, error));
        value_at(space, table, u, points->cells[i], &map, value);
        for (int k = 0; k < d; ++k)
            out[i * stride + k] += value[k];
    }
done:
    free(table);
    return status;
}

weft_status weft_mapped_constant(const weft_space *space, int component, double *out,
                                 weft_error *error) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    const int n = element->functionals.n_points, width = element->n_nodes, d = mesh->dimension;
    const int32_t *nodes = weft_space_cell_nodes(space);
    const double unit[3] = {component == 0, component == 1, component == 2};
    double *at_points = malloc((size_t)(n * d + width) * sizeof *at_points);
    if (!at_points)
        return weft_out_of_memory(error, "a constant vector");
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        weft_mapping map;
        weft_mapping_make(mesh, element->map, c, &map);
        for (int p = 0; p < n; ++p)
            weft_mapping_pull(&map, unit, at_points + p * d);
        weft_element_apply(element, at_points, at_points + n * d);
        for (int i = 0; i < width; ++i)
            out[nodes[c * width + i]] = at_points[n * d + i];
    }
    free(at_points);
    return WEFT_OK;
}
