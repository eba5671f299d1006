/* Forms with what is bound to them: scripts over the cells, facets or nodes of a space. */
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

/* The sums of the device's blocks of threads if kernels for set-up run there, otherwise the list. */
static weft_status sum_list(weft_device *device, weft_memory *list, int64_t n, double *sum,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const bool on_device = weft_setup_on_device(device);
    const int64_t n_parts = on_device ? (n + THREADS - 1) / THREADS : n;
    weft_setup *setup = NULL;
    weft_memory *parts = NULL;
    double *values = weft_array_make_unset((uint64_t)n_parts * sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "the sum of a list"));
    if (on_device) {
        const weft_setup_kernel kernel = {"values", "block_sums", n, n_parts, 0};
        TRY(weft_setup_make(device, &setup, error));
        TRY(weft_memory_make_unset(device, (size_t)n_parts * sizeof *values, &parts, error));
        TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){list, parts}, 2, error));
    }
    TRY(weft_memory_read(on_device ? parts : list, 0, values, (size_t)n_parts * sizeof *values,
                         error));
    *sum = weft_sum(values, n_parts);
done:
    free(values);
    weft_memory_free(&parts);
    weft_setup_free(&setup);
    return status;
}

weft_status weft_form_sum(weft_context *context, const weft_bound_form *form, int64_t n_cells,
                          const char *const *names, int n, double *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t lanes = weft_device_limits(context->device)->lanes_double;
    const int64_t room = (n_cells + lanes - 1) / lanes * lanes; /* interleaved: in their order */
    weft_memory *memories[2] = {NULL, NULL};
    for (int i = 0; i < n; ++i)
        TRY(weft_memory_make(context->device, (size_t)room * sizeof(double), &memories[i], error));
    TRY(weft_form_run(context, &form->form,
                      &(weft_form_outputs){names, memories, n, "cells", n_cells}, error));
    for (int i = 0; i < n; ++i)
        TRY(sum_list(context->device, memories[i], n_cells, &sums[i], error));
done:
    weft_memory_free(&memories[0]);
    weft_memory_free(&memories[1]);
    return status;
}
