/* Locates points in a mesh, once for all values there. */
#include "fem/problem/probes.h"
#include "fem/base/memory.h"
#include "fem/weft_locate.h"

#include <math.h>
#include <stdlib.h>

struct weft_probes {
    weft_cell_points at; /* of cells and xi */
    int64_t *cells;      /* [n]; -1: outside */
    double *xi;          /* [n][d] reference coordinates */
};

weft_status weft_probes_make(const weft_context *context, const weft_mesh *mesh,
                             const double *points, int64_t n, weft_probes **out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_probes *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "points"));
    made->cells = weft_array_make((size_t)n, sizeof *made->cells);
    made->xi = weft_array_make((size_t)n, (size_t)mesh->dimension * sizeof *made->xi);
    if (!made->cells || !made->xi)
        TRY(weft_out_of_memory(error, "points"));
    TRY(weft_mesh_locate_cells(context->device, mesh, points, n, made->cells, made->xi, error));
    made->at = (weft_cell_points){n, made->cells, made->xi};
    *out = made;
    made = NULL;
done:
    weft_probes_free(&made);
    return status;
}

weft_status weft_probes_make_line(const weft_context *context, const weft_mesh *mesh,
                                  const double *from, const double *to, int64_t n, double *points,
                                  weft_probes **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    double *own = points ? NULL : weft_array_make((size_t)n, (size_t)d * sizeof *own);
    double *at = points ? points : own;
    if (!at)
        TRY(weft_out_of_memory(error, "points"));
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < d; ++k)
            at[i * d + k] =
                i == n - 1 ? to[k] : from[k] + (double)i / (double)(n - 1) * (to[k] - from[k]);
    TRY(weft_probes_make(context, mesh, at, n, out, error));
done:
    free(own);
    return status;
}

void weft_probes_free(weft_probes **probes) {
    if (!*probes)
        return;
    free((*probes)->cells);
    free((*probes)->xi);
    free(*probes);
    *probes = NULL;
}

const int64_t *weft_probes_cells(const weft_probes *probes) {
    return probes->cells;
}

const weft_cell_points *weft_probes_at(const weft_probes *probes) {
    return &probes->at;
}

weft_status weft_probes_field(const weft_probes *probes, const weft_space *space,
                              const weft_field *field, double *out, weft_error *error) {
    const int c = field->n_components;
    for (int64_t i = 0; i < probes->at.n * c; ++i) {
        const int64_t cell = probes->cells[i / c];
        out[i] = cell < 0 ? NAN : field->on_cells ? field->values[cell * c + i % c] : 0;
    }
    return field->on_cells
               ? WEFT_OK
               : weft_space_evaluate_at(space, field->values, c, &probes->at, c, out, error);
}
