/* Shows functions of a space of any degree in result files. */
#include "fem/space/private.h"
#include "fem/weft_function.h"
#include "fem/weft_result.h"

#include <stdlib.h>
#include <string.h>

struct weft_space_output {
    const weft_space *space;
    bool is_mesh;   /* the nodes are those of the mesh */
    double *points; /* [width][d] */
    double *table;  /* [width][width]: function j at point i; NULL: the nodes are equispaced */
    double *x;      /* [n_nodes][d], or NULL: the space's own */
    weft_result_nodes nodes;
};

static weft_status make_table(weft_space_output *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *e = weft_space_element(out->space);
    const size_t width = (size_t)e->n_nodes;
    if (e->degree <= 2)
        return WEFT_OK;
    out->points = malloc(width * (size_t)weft_cell_of(e->cell)->dimension * sizeof *out->points);
    out->table = malloc(width * width * sizeof *out->table);
    if (!out->points || !out->table)
        TRY(weft_out_of_memory(error, "a result"));
    TRY(weft_element_equispaced(e, out->points, error));
    TRY(weft_element_tabulate(e, 0, e->n_nodes, out->points, out->table, error));
    TRY(weft_nodes_place(weft_space_mesh(out->space), e, out->points,
                         weft_space_cell_nodes(out->space), weft_space_nodes(out->space), &out->x,
                         error));
done:
    return status;
}

weft_status weft_space_output_make(const weft_space *space, weft_space_output **out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *e = weft_space_element(space);
    weft_space_output *made = NULL;
    if ((e->family != WEFT_LAGRANGE && e->family != WEFT_DISCONTINUOUS) || e->degree == 0) {
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "fields of this element have no nodes for VTK's "
                       "cells");
        weft_error_hint(error, "write constants as fields on cells, with weft_result_write");
        return WEFT_ERROR_USAGE;
    }
    made = calloc(1, sizeof *made);
    if (!made)
        return weft_out_of_memory(error, "a result");
    made->space = space;
    made->is_mesh = e->family == WEFT_LAGRANGE && e->degree == 1;
    TRY(make_table(made, error));
    made->nodes = (weft_result_nodes){.element = e,
                                      .n = weft_space_nodes(space),
                                      .x = made->x ? made->x : weft_space_points(space),
                                      .cells = weft_space_cell_nodes(space)};
    *out = made;
    made = NULL;
done:
    weft_space_output_free(&made);
    return status;
}

void weft_space_output_free(weft_space_output **output) {
    if (!output || !*output)
        return;
    free((*output)->points);
    free((*output)->table);
    free((*output)->x);
    free(*output);
    *output = NULL;
}

const weft_result_nodes *weft_space_output_nodes(const weft_space_output *output) {
    return output->is_mesh ? NULL : &output->nodes;
}

/* Cells that share a node agree on its value. */
const double *weft_space_output_values(const weft_space_output *output, int components,
                                       const double *values, double *room) {
    const weft_element *e = weft_space_element(output->space);
    const int32_t *nodes = weft_space_cell_nodes(output->space);
    if (!output->table)
        return values;
    for (int64_t c = 0; c < weft_space_mesh(output->space)->n_cells; ++c, nodes += e->n_nodes)
        for (int i = 0; i < e->n_nodes; ++i)
            for (int k = 0; k < components; ++k) {
                double sum = 0;
                for (int j = 0; j < e->n_nodes; ++j)
                    sum += output->table[i * e->n_nodes + j] *
                           values[(int64_t)nodes[j] * components + k];
                room[(int64_t)nodes[i] * components + k] = sum;
            }
    return room;
}

weft_status weft_space_write(const char *path, const weft_space *space, const weft_field *fields,
                             int n_fields, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space_output *output = NULL;
    weft_field *shown = calloc((size_t)n_fields + 1, sizeof *shown);
    double **rooms = calloc((size_t)n_fields + 1, sizeof *rooms);
    if (!shown || !rooms)
        TRY(weft_out_of_memory(error, "a result"));
    TRY(weft_space_output_make(space, &output, error));
    for (int f = 0; f < n_fields; ++f) {
        shown[f] = fields[f];
        if (fields[f].on_cells || fields[f].text || !output->table)
            continue;
        rooms[f] = weft_array_make((size_t)weft_space_nodes(space),
                                   (size_t)fields[f].n_components * sizeof **rooms);
        if (!rooms[f])
            TRY(weft_out_of_memory(error, "a result"));
        shown[f].values =
            weft_space_output_values(output, fields[f].n_components, fields[f].values, rooms[f]);
    }
    TRY(weft_result_write_nodes(path, weft_space_mesh(space), weft_space_output_nodes(output),
                                shown, n_fields, error));
done:
    for (int f = 0; rooms && f < n_fields; ++f)
        free(rooms[f]);
    free(rooms);
    free(shown);
    weft_space_output_free(&output);
    return status;
}
