/* Writes functions of a space of any degree to result files. */
#include "fem/space/private.h"
#include "fem/weft_function.h"
#include "fem/weft_result.h"

#include <stdlib.h>
#include <string.h>

/* Equispaced nodes of a space, and how values there follow from those at its own nodes. */
typedef struct output {
    const weft_space *space;
    double *points; /* [width][d] */
    double *table;  /* [width][width]: function j at point i; NULL: the nodes are equispaced */
    double *x;      /* [n_nodes][d], or NULL: the space's own */
    double **values;
    weft_field *fields;
} output;

static void output_free(output *out, int n_fields) {
    for (int f = 0; out->values && f < n_fields; ++f)
        free(out->values[f]);
    free(out->values);
    free(out->fields);
    free(out->points);
    free(out->table);
    free(out->x);
}

static weft_status make_table(output *out, weft_error *error) {
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

/* Values at equispaced nodes; cells that share a node agree on them. */
static void convert(const output *out, int components, const double *from, double *to) {
    const weft_element *e = weft_space_element(out->space);
    const int32_t *nodes = weft_space_cell_nodes(out->space);
    for (int64_t c = 0; c < weft_space_mesh(out->space)->n_cells; ++c, nodes += e->n_nodes)
        for (int i = 0; i < e->n_nodes; ++i)
            for (int k = 0; k < components; ++k) {
                double sum = 0;
                for (int j = 0; j < e->n_nodes; ++j)
                    sum +=
                        out->table[i * e->n_nodes + j] * from[(int64_t)nodes[j] * components + k];
                to[(int64_t)nodes[i] * components + k] = sum;
            }
}

static weft_status convert_fields(output *out, const weft_field *fields, int n_fields,
                                  weft_error *error) {
    out->values = calloc((size_t)n_fields + 1, sizeof *out->values);
    out->fields = calloc((size_t)n_fields + 1, sizeof *out->fields);
    if (!out->values || !out->fields)
        return weft_out_of_memory(error, "a result");
    for (int f = 0; f < n_fields; ++f) {
        out->fields[f] = fields[f];
        if (!out->table || fields[f].on_cells)
            continue;
        const size_t n = (size_t)weft_space_nodes(out->space) * (size_t)fields[f].n_components;
        out->values[f] = malloc((n + 1) * sizeof *out->values[f]);
        if (!out->values[f])
            return weft_out_of_memory(error, "a result");
        convert(out, fields[f].n_components, fields[f].values, out->values[f]);
        out->fields[f].values = out->values[f];
    }
    return WEFT_OK;
}

weft_status weft_space_write(const char *path, const weft_space *space, const weft_field *fields,
                             int n_fields, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *e = weft_space_element(space);
    output out = {.space = space};
    if (e->family == WEFT_LAGRANGE && e->degree == 1)
        return weft_result_write(path, weft_space_mesh(space), fields, n_fields, error);
    if ((e->family != WEFT_LAGRANGE && e->family != WEFT_DISCONTINUOUS) || e->degree == 0) {
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "%s: fields of this element have no nodes for VTK's cells", path);
        weft_error_hint(error, "write constants as fields on cells, with weft_result_write");
        return WEFT_ERROR_USAGE;
    }
    TRY(make_table(&out, error));
    TRY(convert_fields(&out, fields, n_fields, error));
    const weft_result_nodes nodes = {.element = e,
                                     .n = weft_space_nodes(space),
                                     .x = out.x ? out.x : weft_space_points(space),
                                     .cells = weft_space_cell_nodes(space)};
    TRY(weft_result_write_nodes(path, weft_space_mesh(space), &nodes, out.fields, n_fields, error));
done:
    output_free(&out, n_fields);
    return status;
}
