/* Forms with their bindings: scripts over the cells, facets or nodes of a space. */
#include "fem/form/form.h"
#include "fem/mesh/mesh.h"
#include "fem/space/private.h"
#include "fem/space/space.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>

void weft_form_start(const char *name, const char *text, weft_connectivity *dofs,
                     weft_bound_form *out) {
    *out = (weft_bound_form){0};
    out->form = (weft_form){.name = name,
                            .text = text,
                            .dofs = dofs,
                            .inputs = out->inputs,
                            .expressions = out->expressions,
                            .parameters = out->parameters,
                            .connectivities = out->connectivities};
}

weft_status weft_form_ship(const weft_space *space, const char *script, weft_connectivity *dofs,
                           weft_bound_form *out, weft_error *error) {
    if (dofs && weft_mesh_need_simplices(weft_space_mesh(space), script, error) != WEFT_OK)
        return WEFT_ERROR_UNSUPPORTED;
    return weft_form_ship_any(space, script, dofs, out, error);
}

weft_status weft_form_ship_any(const weft_space *space, const char *script, weft_connectivity *dofs,
                               weft_bound_form *out, weft_error *error) {
    const char *text = weft_fem_script(script);
    if (!text)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "the script %s is not part of this build",
                              script);
    weft_form_start(script, text, dofs, out);
    weft_form_bind_input(out, "x", weft_space_coordinates(space));
    weft_form_bind_parameter(out, "d", weft_space_mesh(space)->dimension);
    out->form.points = weft_space_data_points(space);
    return WEFT_OK;
}

void weft_form_bind_input(weft_bound_form *form, const char *name, weft_memory *memory) {
    form->inputs[form->form.n_inputs++] = (weft_form_input){name, memory};
}

void weft_form_bind_expression(weft_bound_form *form, const char *name, const char *text,
                               const char *origin) {
    form->expressions[form->form.n_expressions++] = (weft_expression){name, text, origin};
}

void weft_form_bind_parameter(weft_bound_form *form, const char *name, int value) {
    form->parameters[form->form.n_parameters++] = (weft_parameter){name, value};
}

void weft_form_bind_connectivity(weft_bound_form *form, const char *name,
                                 weft_connectivity *connectivity) {
    form->connectivities[form->form.n_connectivities++] =
        (weft_form_connectivity){name, connectivity};
}

enum { THREADS = 256 }; /* see kernels/setup/values.cu */

/* Lists whose values are summed: of blocks of the device's threads if kernels for set-up run there,
 * otherwise each value. */
typedef struct list_sums {
    weft_device *device;
    int n;
    int64_t each; /* elements of a value; divides WEFT_RANGE_UNIT */
    double *values[2];
} list_sums;

static weft_status read_values(const list_sums *sums, weft_memory *list, int64_t n, double *values,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_values = (n + sums->each - 1) / sums->each;
    const size_t bytes = (size_t)n_values * sizeof *values;
    weft_setup *setup = NULL;
    weft_memory *parts = NULL;
    if (sums->each > 1) {
        const weft_setup_kernel kernel = {"values", "block_sums", n, n_values, 0};
        TRY(weft_setup_make(sums->device, &setup, error));
        TRY(weft_memory_make_unset(sums->device, bytes, &parts, error));
        TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){list, parts}, 2, error));
    }
    TRY(weft_memory_read(parts ? parts : list, 0, values, bytes, error));
done:
    weft_memory_free(&parts);
    weft_setup_free(&setup);
    return status;
}

/* A weft_range_done. */
static weft_status read_range(void *user, weft_memory *const *lists, int64_t first, int64_t n,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const list_sums *sums = user;
    for (int i = 0; i < sums->n; ++i)
        TRY(read_values(sums, lists[i], n, sums->values[i] + first / sums->each, error));
done:
    return status;
}

weft_status weft_form_sum(weft_context *context, const weft_bound_form *form, int64_t n_cells,
                          const char *const *names, int n, double *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *const own[2] = {NULL, NULL};
    list_sums lists = {.device = context->device,
                       .n = n,
                       .each = weft_setup_on_device(context->device) ? THREADS : 1};
    const int64_t n_values = (n_cells + lists.each - 1) / lists.each;
    for (int i = 0; i < n; ++i)
        if (!(lists.values[i] = weft_array_make_unset((uint64_t)n_values * sizeof(double))))
            TRY(weft_out_of_memory(error, "the sum of a list"));
    TRY(weft_form_run_ranges(context, &form->form,
                             &(weft_form_outputs){names, own, n, "cells", n_cells}, read_range,
                             &lists, error));
    for (int i = 0; i < n; ++i)
        sums[i] = weft_sum(lists.values[i], n_values);
done:
    free(lists.values[0]);
    free(lists.values[1]);
    return status;
}
