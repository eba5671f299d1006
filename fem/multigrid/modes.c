/* Makes the near-nullspace: constants, rigid body modes, or given vectors. */
#include "fem/multigrid/private.h"

#include <math.h>
#include <stdlib.h>

/* Row `component` of the modes at x: translations, then rotations. */
static void rigid_row(int d, const double *x, int component, double *row) {
    for (int k = 0; k < d; ++k)
        row[k] = k == component;
    if (d == 2) {
        row[2] = component == 0 ? -x[1] : x[0];
        return;
    }
    for (int axis = 0; axis < 3; ++axis) { /* e_axis x x */
        int next = (axis + 1) % 3, last = (axis + 2) % 3;
        row[3 + axis] = component == last ? x[next] : component == next ? -x[last] : 0;
    }
}

weft_status weft_modes_make(const weft_aggregation_options *options, int64_t n_rows,
                            const double *scale, double **modes, int *n_modes, weft_error *error) {
    const int d = options->dimension, components = options->components ? options->components : 1;
    const double *given = options->near_nullspace;
    int m = given ? options->n_near_nullspace : components;
    m = options->rigid_body_modes ? d * (d + 1) / 2 : m;
    double *made = calloc((size_t)n_rows + 1, (size_t)m * sizeof *made);
    if (!made)
        return weft_out_of_memory(error, "the near-nullspace");
    for (int64_t i = 0; i < n_rows; ++i) {
        double *row = made + i * m;
        bool finite = true;
        if (scale[i] == 0)
            continue;
        if (options->rigid_body_modes)
            rigid_row(d, options->x + i / d * d, (int)(i % d), row);
        else if (!given)
            row[i % components] = 1;
        for (int k = 0; k < m; ++k) {
            row[k] = given && !options->rigid_body_modes ? given[i * m + k] : row[k];
            finite &= isfinite(row[k]) != 0;
        }
        if (!finite) {
            free(made);
            return weft_error_set(error, WEFT_ERROR_INPUT,
                                  "the near-nullspace of row %lld is not finite", (long long)i);
        }
    }
    *modes = made;
    *n_modes = m;
    return WEFT_OK;
}
