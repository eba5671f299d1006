/* Averages cell data over children by a script that takes each value of each cell as an element. */
#include "fem/base/memory.h"
#include "fem/weft_hierarchy.h"

#include <stdlib.h>

enum { CHUNK = 4096 };

/* The values of a level's cells in their interleaved layout. Spare lanes repeat the last cell. */
typedef struct values_work {
    const weft_hierarchy_level *coarse, *fine;
    int components, lanes, n_children;
    int32_t *indices; /* [value of a coarse cell][n_children]: values of the children */
} values_work;

static int64_t count_values(const values_work *w, const weft_mesh *mesh) {
    return (mesh->n_cells + w->lanes - 1) / w->lanes * w->lanes * w->components;
}

static void put_indices(void *user, int64_t chunk) {
    const values_work *w = user;
    const int64_t n = count_values(w, w->coarse->mesh), last_cell = w->coarse->mesh->n_cells - 1;
    const int64_t last = (chunk + 1) * CHUNK < n ? (chunk + 1) * CHUNK : n;
    for (int64_t i = chunk * CHUNK; i < last; ++i) {
        const int64_t row = i / w->lanes, cell = row / w->components * w->lanes + i % w->lanes;
        const int64_t component = row % w->components;
        const int64_t children = (cell < last_cell ? cell : last_cell) * w->n_children;
        for (int64_t k = 0; k < w->n_children; ++k)
            w->indices[i * w->n_children + k] =
                (int32_t)(((children + k) / w->lanes * w->components + component) * w->lanes +
                          (children + k) % w->lanes);
    }
}

static weft_status make_indices(weft_device *device, values_work *w, weft_error *error) {
    const int64_t n = count_values(w, w->coarse->mesh);
    if (count_values(w, w->fine->mesh) > INT32_MAX)
        return weft_error_set(error, WEFT_ERROR_SHAPE,
                              "%d values in each of %lld cells are 2^31 or more", w->components,
                              (long long)w->fine->mesh->n_cells);
    w->indices = weft_scratch_make((size_t)n * (size_t)w->n_children, sizeof *w->indices);
    if (!w->indices)
        return weft_out_of_memory(error, "averages over children");
    return weft_device_for(device, (n + CHUNK - 1) / CHUNK, put_indices, w, error);
}

static weft_status average(weft_context *context, values_work *w, weft_memory *fine,
                           weft_memory *coarse, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity *children = NULL;
    const char *const names[] = {"mean"};
    const weft_form_outputs outputs = {.names = names, .memories = &coarse, .n = 1};
    const weft_form_input input = {"fine", fine};
    const weft_parameter parameter = {"n", w->n_children};
    weft_form form = {.name = "children_mean.weft",
                      .text = weft_fem_script("children_mean.weft"),
                      .inputs = &input,
                      .n_inputs = 1,
                      .parameters = &parameter,
                      .n_parameters = 1};
    TRY(make_indices(context->device, w, error));
    TRY(weft_connectivity_make(context->device, w->indices, count_values(w, w->coarse->mesh),
                               w->n_children, count_values(w, w->fine->mesh), &children, error));
    form.dofs = children;
    TRY(weft_form_run(context, &form, &outputs, error));
done:
    weft_connectivity_free(&children);
    free(w->indices);
    return status;
}

weft_status weft_hierarchy_average_cells(weft_context *context, const weft_hierarchy *hierarchy,
                                         int components, weft_memory *const *data,
                                         weft_error *error) {
    weft_status status = WEFT_OK;
    for (int l = hierarchy->n_levels - 1; l > 0; --l) {
        const weft_hierarchy_level *fine = &hierarchy->levels[l];
        values_work work = {.coarse = fine - 1,
                            .fine = fine,
                            .components = components,
                            .lanes = weft_device_limits(context->device)->lanes_double,
                            .n_children = 1 << fine->mesh->dimension};
        TRY(average(context, &work, data[l], data[l - 1], error));
    }
done:
    return status;
}
