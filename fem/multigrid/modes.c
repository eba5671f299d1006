/* Makes the near-nullspace: constants, rigid body modes, or given vectors. */
#include "fem/multigrid/private.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNKS = 64 };

/* Row `component` of the modes at x: translations, then rotations. */
static void rigid_row(int d, const double *x, int component, double *row) {
    for (int k = 0; k < d; ++k)
        row[k] = k == component;
    if (d == 2) {
        row[2] = component == 0 ? -x[1] : x[0];
        return;
    }
    for (int axis = 0; d == 3 && axis < 3; ++axis) { /* e_axis x x */
        int next = (axis + 1) % 3, last = (axis + 2) % 3;
        row[3 + axis] = component == last ? x[next] : component == next ? -x[last] : 0;
    }
}

typedef struct filling {
    const weft_aggregation_options *options;
    const double *scale;
    int64_t n_rows, refused[CHUNKS]; /* first row that is not finite, or -1 */
    double *modes;
    int n_modes, components;
} filling;

/* Returns whether the row is finite. */
static bool fill_row(const filling *f, int64_t i, double *row) {
    const weft_aggregation_options *options = f->options;
    const int d = options->dimension;
    bool finite = true;
    if (options->rigid_body_modes)
        rigid_row(d, options->x + i / d * d, (int)(i % d), row);
    else if (!options->near_nullspace)
        row[i % f->components] = 1;
    else
        for (int k = 0; k < f->n_modes; ++k)
            row[k] = options->near_nullspace[i * f->n_modes + k];
    for (int k = 0; k < f->n_modes; ++k)
        finite &= isfinite(row[k]) != 0;
    return finite;
}

static void fill_chunk(void *user, int64_t chunk) {
    filling *f = user;
    int64_t last = weft_chunk_start(f->n_rows, chunk + 1, CHUNKS);
    f->refused[chunk] = -1;
    for (int64_t i = weft_chunk_start(f->n_rows, chunk, CHUNKS); i < last; ++i) {
        double *row = f->modes + i * f->n_modes;
        for (int k = 0; k < f->n_modes; ++k)
            row[k] = 0;
        if (f->scale[i] != 0 && !fill_row(f, i, row) && f->refused[chunk] < 0)
            f->refused[chunk] = i;
    }
}

weft_status weft_modes_make(weft_device *device, const weft_aggregation_options *options,
                            int64_t n_rows, const double *scale, double **modes, int *n_modes,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = options->dimension, components = options->components ? options->components : 1;
    int m = options->near_nullspace ? options->n_near_nullspace : components;
    m = options->rigid_body_modes ? d * (d + 1) / 2 : m;
    filling f = {.options = options,
                 .scale = scale,
                 .n_rows = n_rows,
                 .n_modes = m,
                 .components = components};
    f.modes = malloc(((size_t)n_rows * (size_t)m + 1) * sizeof *f.modes);
    if (!f.modes)
        TRY(weft_out_of_memory(error, "the near-nullspace"));
    TRY(weft_device_for(device, CHUNKS, fill_chunk, &f, error));
    for (int chunk = 0; chunk < CHUNKS; ++chunk)
        if (f.refused[chunk] >= 0)
            TRY(weft_error_set(error, WEFT_ERROR_INPUT,
                               "the near-nullspace of row %lld is not finite",
                               (long long)f.refused[chunk]));
    *modes = f.modes;
    *n_modes = m;
    f.modes = NULL;
done:
    free(f.modes);
    return status;
}
