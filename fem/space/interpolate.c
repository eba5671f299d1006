/* Interpolates functions in another space on the same mesh, and evaluates them at points of cells. */
#include "fem/space/private.h"
#include "fem/space/space.h"
#include "fem/space/vectors.h"
#include "fem/weft_function.h"

#include <stdlib.h>

weft_element_kind weft_space_lattice(const weft_space *const *spaces, int n) {
    weft_element_kind kind = WEFT_ELEMENT_P1;
    for (int i = 0; i < n; ++i) {
        const weft_element *element = weft_space_element(spaces[i]);
        kind.degree = element->degree > kind.degree ? element->degree : kind.degree;
        if (!weft_family_about(element->family)->is_continuous)
            kind.family = weft_family_about(WEFT_LAGRANGE)->broken;
    }
    return kind;
}

weft_status weft_space_interpolate(const weft_space *space, const double *u, int components,
                                   const weft_space *to, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *from = weft_space_element(space), *at = weft_space_element(to);
    const int c = components;
    const int32_t *nodes = weft_space_cell_nodes(space), *targets = weft_space_cell_nodes(to);
    double *table = malloc((size_t)from->n_nodes * (size_t)at->n_nodes * sizeof *table);
    char *is_done = weft_array_make((size_t)weft_space_nodes(to), 1);
    if (!table || !is_done)
        TRY(weft_out_of_memory(error, "values at nodes"));
    if (weft_space_is_mapped(space)) {
        status = weft_mapped_interpolate(space, u, to, out, error);
        goto done;
    }
    TRY(weft_element_interpolate(from, at, table, error));
    for (int64_t cell = 0; cell < weft_space_mesh(to)->n_cells; ++cell)
        for (int i = 0; i < at->n_nodes; ++i) {
            const int64_t target = targets[cell * at->n_nodes + i];
            for (int k = 0; k < c && !is_done[target]; ++k)
                for (int j = 0; j < from->n_nodes; ++j)
                    out[target * c + k] += table[i * from->n_nodes + j] *
                                           u[(int64_t)nodes[cell * from->n_nodes + j] * c + k];
            is_done[target] = 1;
        }
done:
    free(table);
    free(is_done);
    return status;
}

weft_status weft_space_evaluate_at(const weft_space *space, const double *u, int components,
                                   const weft_cell_points *points, int stride, double *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(space);
    const int d = weft_space_mesh(space)->dimension;
    const int width = element->n_nodes;
    double *values = malloc((size_t)width * sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "values at points"));
    if (weft_space_is_mapped(space)) {
        status = weft_mapped_evaluate_at(space, u, points, stride, out, error);
        goto done;
    }
    for (int64_t i = 0; i < points->n; ++i) {
        if (points->cells[i] < 0)
            continue;
        const int32_t *nodes = weft_space_cell_nodes(space) + points->cells[i] * width;
        TRY(weft_element_tabulate(element, 0, 1, points->xi + i * d, values, error));
        for (int j = 0; j < width; ++j)
            for (int k = 0; k < components; ++k)
                out[i * stride + k] += values[j] * u[(int64_t)nodes[j] * components + k];
    }
done:
    free(values);
    return status;
}
