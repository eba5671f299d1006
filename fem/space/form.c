/* Forms with what is bound to them: scripts over the cells, facets or nodes of a space. */
#include "fem/mesh/mesh.h"
#include "fem/space/space.h"

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
    const char *text = weft_fem_script(script);
    if (dofs && weft_mesh_need_simplices(weft_space_mesh(space), script, error) != WEFT_OK)
        return WEFT_ERROR_UNSUPPORTED;
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

weft_status weft_form_sum(weft_context *context, const weft_bound_form *form, int64_t n_cells,
                          const char *const *names, int n, double *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t lanes = weft_device_limits(context->device)->lanes_double;
    const int64_t room = (n_cells + lanes - 1) / lanes * lanes; /* interleaved: in their order */
    double *values[2] = {NULL, NULL};
    weft_memory *memories[2] = {NULL, NULL};
    for (int i = 0; i < n; ++i)
        TRY(weft_vector_make(context->device, room, &values[i], &memories[i], error));
    TRY(weft_form_run(context, &form->form,
                      &(weft_form_outputs){names, memories, n, "cells", n_cells}, error));
    for (int i = 0; i < n; ++i) {
        TRY(weft_vector_pull(memories[i], values[i], n_cells, error));
        sums[i] = weft_sum(values[i], n_cells);
    }
done:
    for (int i = 0; i < 2; ++i) {
        weft_memory_free(&memories[i]);
        free(values[i]);
    }
    return status;
}
