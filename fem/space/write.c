/* Shows functions of a space of any degree in result files. */
#include "fem/space/private.h"
#include "fem/space/space.h"
#include "fem/weft_function.h"
#include "fem/weft_result.h"

#include <stdlib.h>
#include <string.h>

struct weft_space_output {
    const weft_space *space;
    weft_space *own; /* whose nodes are a lattice, where those of the space are not; else NULL */
    bool is_mesh;    /* the nodes are those of the mesh */
    int width;       /* nodes shown in each cell */
    double *points;  /* [width][d] */
    /* [width][functions of the space]; NULL: values at nodes are shown as they are */
    double *table;
    double *x; /* [n_nodes][d], or NULL: those of the lattice */
    weft_result_nodes nodes;
};

/* VTK has equispaced nodes, which those of degree 1 and 2 are. */
static weft_status make_table(weft_space_output *out, const weft_space *lattice,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *e = weft_space_element(out->space), *at = weft_space_element(lattice);
    const size_t width = (size_t)at->n_nodes;
    if (!out->own && at->lattice_degree <= 2)
        goto done;
    out->points = malloc(width * (size_t)weft_cell_of(e->cell)->dimension * sizeof *out->points);
    out->table = malloc(width * (size_t)e->n_nodes * sizeof *out->table);
    if (!out->points || !out->table)
        TRY(weft_out_of_memory(error, "a result"));
    TRY(weft_element_equispaced(at, out->points, error));
    TRY(weft_element_tabulate(e, 0, at->n_nodes, out->points, out->table, error));
    TRY(weft_nodes_place(weft_space_device(lattice), weft_space_mesh(out->space), at->n_nodes,
                         out->points, weft_space_cell_nodes(lattice), weft_space_nodes(lattice),
                         &out->x, error));
done:
    return status;
}

static weft_status refuse_element(weft_error *error) {
    return weft_error_refuse(error, WEFT_ERROR_USAGE,
                             "fields of this element have no nodes for VTK's cells",
                             "write constants as fields on cells, with weft_result_write");
}

weft_status weft_space_output_make(const weft_space *space, weft_space_output **out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *e = weft_space_element(space);
    const weft_family_info *about = weft_family_about(e->family);
    weft_space_output *made = NULL;
    if (about->at_points || about->is_vector || weft_element_is_constant(e))
        TRY(refuse_element(error));
    made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a result"));
    made->space = space;
    if (e->lattice_degree == 0)
        TRY(weft_space_make(weft_space_device(space), weft_space_mesh(space),
                            weft_space_lattice(&space, 1), 1, &made->own, error));
    const weft_space *lattice = made->own ? made->own : space;
    made->width = weft_space_element(lattice)->n_nodes;
    made->is_mesh = weft_element_is_on_vertices(weft_space_element(lattice));
    TRY(make_table(made, lattice, error));
    made->nodes = (weft_result_nodes){.element = weft_space_element(lattice),
                                      .n = weft_space_nodes(lattice),
                                      .x = made->x ? made->x : weft_space_points(lattice),
                                      .cells = weft_space_cell_nodes(lattice)};
    *out = made;
    made = NULL;
done:
    weft_space_output_free(&made);
    return status;
}

void weft_space_output_free(weft_space_output **output) {
    if (!output || !*output)
        return;
    weft_space_free(&(*output)->own);
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
                                       const double *values, double *scratch) {
    const int n = weft_space_element(output->space)->n_nodes;
    const int32_t *nodes = weft_space_cell_nodes(output->space), *shown = output->nodes.cells;
    if (!output->table)
        return values;
    for (int64_t c = 0; c < weft_space_mesh(output->space)->n_cells; ++c) {
        for (int i = 0; i < output->width; ++i)
            for (int k = 0; k < components; ++k) {
                double sum = 0;
                for (int j = 0; j < n; ++j)
                    sum += output->table[i * n + j] * values[(int64_t)nodes[j] * components + k];
                scratch[(int64_t)shown[i] * components + k] = sum;
            }
        nodes += n;
        shown += output->width;
    }
    return scratch;
}

weft_status weft_space_write(const char *path, const weft_space *space, const weft_field *fields,
                             int n_fields, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space_output *output = NULL;
    weft_field *shown = calloc((size_t)n_fields + 1, sizeof *shown);
    double **buffers = calloc((size_t)n_fields + 1, sizeof *buffers);
    if (!shown || !buffers)
        TRY(weft_out_of_memory(error, "a result"));
    TRY(weft_space_output_make(space, &output, error));
    for (int f = 0; f < n_fields; ++f) {
        shown[f] = fields[f];
        if (fields[f].on_cells || fields[f].text || !output->table)
            continue;
        buffers[f] = weft_array_make((size_t)output->nodes.n,
                                     (size_t)fields[f].n_components * sizeof **buffers);
        if (!buffers[f])
            TRY(weft_out_of_memory(error, "a result"));
        shown[f].values =
            weft_space_output_values(output, fields[f].n_components, fields[f].values, buffers[f]);
    }
    TRY(weft_result_write_nodes(path, weft_space_mesh(space), weft_space_output_nodes(output),
                                shown, n_fields, error));
done:
    for (int f = 0; buffers && f < n_fields; ++f)
        free(buffers[f]);
    free(buffers);
    free(shown);
    weft_space_output_free(&output);
    return status;
}
