/* Interpolates formulas: the values of a formula at the points of the functionals, and what these make of them. */
#include "fem/space/private.h"
#include "fem/space/space.h"
#include "fem/space/vectors.h"

#include <stdlib.h>

/* Does a formula have groups? */
static weft_status find_groups(const char *text, const char *origin, bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = false;
    for (const char *at = text; *at;) {
        weft_formula_piece piece;
        TRY(weft_formula_next(&at, &piece, origin, error));
        *out |= piece.group[0] != '\0';
    }
done:
    return status;
}

static void bind(weft_bound_form *form, const weft_timed_formula *formula) {
    weft_form_bind_expression(form, "value", formula->text, formula->origin);
    if (formula->when)
        weft_form_bind_input(form, "when", formula->when);
}

/* ---- cell by cell ---------------------------------------------------------------------------- */

/* The points of the functionals in each cell. */
typedef struct cell_points {
    int width;
    weft_connectivity *cells, *own_cells; /* cells -> points */
    weft_memory *x, *own_x;
    int32_t *indices;
    double *places;
} cell_points;

static void cell_points_free(cell_points *points) {
    weft_connectivity_free(&points->own_cells);
    weft_memory_free(&points->own_x);
    free(points->indices);
    free(points->places);
}

/* Of values at the nodes these are the nodes. */
static weft_status cell_points_make(const weft_space *space, cell_points *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    weft_device *device = weft_space_device(space);
    const int width = element->functionals.n_points;
    const int64_t n = mesh->n_cells * width;
    *out = (cell_points){
        .width = width, .cells = weft_space_cells(space), .x = weft_space_coordinates(space)};
    if (element->is_pointwise)
        goto done;
    if (n > INT32_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "more than 2^31 - 1 points at which a formula is evaluated"));
    out->indices = weft_array_make((size_t)n, sizeof *out->indices);
    if (!out->indices)
        TRY(weft_out_of_memory(error, "the points of a space"));
    for (int64_t i = 0; i < n; ++i)
        out->indices[i] = (int32_t)i;
    TRY(weft_nodes_place(device, mesh, width, element->functionals.points, out->indices, n,
                         &out->places, error));
    TRY(weft_connectivity_make(device, out->indices, mesh->n_cells, width, n, &out->own_cells,
                               error));
    TRY(weft_memory_wrap(device, out->places,
                         (size_t)n * (size_t)mesh->dimension * sizeof *out->places, &out->own_x,
                         error));
    out->cells = out->own_cells;
    out->x = out->own_x;
done:
    return status;
}

/* Of cells that share a dof, the last one's value holds.
 *  of_cells  [blocks][n_points][lanes] */
static weft_status apply(const weft_space *space, int64_t lanes, const double *of_cells,
                         double *values, weft_error *error) {
    const weft_element *element = weft_space_element(space);
    const int64_t n = element->functionals.n_points, width = element->n_nodes;
    const int32_t *nodes = weft_space_cell_nodes(space);
    double *at_points = malloc((size_t)(n + width) * sizeof *at_points);
    if (!at_points)
        return weft_out_of_memory(error, "the values of a formula");
    double *dofs = at_points + n;
    for (int64_t c = 0; c < weft_space_mesh(space)->n_cells; ++c) {
        for (int64_t k = 0; k < n; ++k)
            at_points[k] = of_cells[(c / lanes * n + k) * lanes + c % lanes];
        weft_element_apply(element, at_points, dofs);
        for (int64_t i = 0; i < width; ++i)
            values[nodes[c * width + i]] = dofs[i];
    }
    free(at_points);
    return WEFT_OK;
}

/* The values of a formula at the points of the functionals.
 *  of_cells  [blocks][n_points][lanes]; caller's; free() */
static weft_status evaluate_points(weft_context *context, const weft_space *space,
                                   const cell_points *points, const weft_timed_formula *formula,
                                   double **of_cells, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "u";
    const int64_t lanes = weft_device_limits(context->device)->lanes_double;
    const int64_t n_cells = weft_space_mesh(space)->n_cells;
    weft_memory *cells = NULL;
    weft_bound_form form;
    const int64_t n_padded = (n_cells + lanes - 1) / lanes * lanes * points->width;
    TRY(weft_vector_make(context->device, n_padded, of_cells, &cells, error));
    TRY(weft_form_ship_any(space, formula->when ? "cell_nodes_time.weft" : "cell_nodes.weft",
                           points->cells, &form, error));
    form.inputs[0].memory = points->x;
    weft_form_bind_parameter(&form, "n", points->width);
    bind(&form, formula);
    TRY(weft_form_run(context, &form.form,
                      &(weft_form_outputs){&output, &cells, 1, "cells", n_cells}, error));
    TRY(weft_vector_pull(cells, *of_cells, n_padded, error));
done:
    weft_memory_free(&cells);
    return status;
}

static weft_status evaluate_cells(weft_context *context, const weft_space *space,
                                  const weft_timed_formula *formula, weft_memory *memory,
                                  double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t lanes = weft_device_limits(context->device)->lanes_double;
    double *of_cells = NULL;
    cell_points points = {0};
    TRY(cell_points_make(space, &points, error));
    TRY(evaluate_points(context, space, &points, formula, &of_cells, error));
    TRY(apply(space, lanes, of_cells, values, error));
    TRY(weft_vector_push(memory, values, weft_space_nodes(space), error));
done:
    cell_points_free(&points);
    free(of_cells);
    return status;
}

/* ---- vector fields --------------------------------------------------------------------------- */

/* Of the values of each component at the points, in all cells.
 *  of_cells  [d] of [blocks][n_points][lanes] */
static weft_status apply_mapped(const weft_space *space, int64_t lanes, double *const *of_cells,
                                double *values, weft_error *error) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    const int64_t n = element->functionals.n_points, width = element->n_nodes;
    const int d = mesh->dimension;
    const int32_t *nodes = weft_space_cell_nodes(space);
    double *at_points = malloc((size_t)(n * d + width) * sizeof *at_points);
    if (!at_points)
        return weft_out_of_memory(error, "the values of a formula");
    double *dofs = at_points + n * d;
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        weft_mapping map;
        weft_mapping_make(mesh, element->map, c, &map);
        for (int64_t p = 0; p < n; ++p) {
            double value[3];
            for (int k = 0; k < d; ++k)
                value[k] = of_cells[k][(c / lanes * n + p) * lanes + c % lanes];
            weft_mapping_pull(&map, value, at_points + p * d);
        }
        weft_element_apply(element, at_points, dofs);
        for (int64_t i = 0; i < width; ++i)
            values[nodes[c * width + i]] = dofs[i];
    }
    free(at_points);
    return WEFT_OK;
}

weft_status weft_mapped_evaluate(weft_context *context, const weft_space *space,
                                 const char *const *texts, const char *origin, weft_memory *when,
                                 double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = weft_space_mesh(space)->dimension;
    double *of_cells[3] = {NULL};
    cell_points points = {0};
    TRY(cell_points_make(space, &points, error));
    for (int k = 0; k < d; ++k)
        TRY(evaluate_points(context, space, &points, &(weft_timed_formula){texts[k], origin, when},
                            &of_cells[k], error));
    TRY(apply_mapped(space, weft_device_limits(context->device)->lanes_double, of_cells, values,
                     error));
done:
    for (int k = 0; k < d; ++k)
        free(of_cells[k]);
    cell_points_free(&points);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------- */

weft_status weft_space_evaluate_timed(weft_context *context, const weft_space *space,
                                      const weft_timed_formula *formula, weft_memory *memory,
                                      double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "u";
    const weft_element *element = weft_space_element(space);
    const int64_t n = weft_space_nodes(space);
    bool has_groups = false;
    weft_bound_form form;
    if (element->value_size != 1)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a formula for functions with %d components", element->value_size));
    if (!formula->when) /* those of conditions, which have a time, may be groups of facets */
        TRY(find_groups(formula->text, formula->origin, &has_groups, error));
    if (!element->is_pointwise || (has_groups && !weft_element_is_on_vertices(element))) {
        status = evaluate_cells(context, space, formula, memory, values, error);
        goto done;
    }
    /* values at nodes are found once for all cells that share them */
    TRY(weft_form_ship(space, formula->when ? "nodal_time.weft" : "nodal.weft", NULL, &form,
                       error));
    bind(&form, formula);
    TRY(weft_form_run(context, &form.form, &(weft_form_outputs){&output, &memory, 1, "nodes", n},
                      error));
    TRY(weft_vector_pull(memory, values, n, error));
done:
    return status;
}

weft_status weft_space_evaluate(weft_context *context, const weft_space *space, const char *text,
                                const char *origin, weft_memory *memory, double *values,
                                weft_error *error) {
    return weft_space_evaluate_timed(context, space, &(weft_timed_formula){text, origin, NULL},
                                     memory, values, error);
}
