/* Products of forms by their kernels of whole cells. */
#include "fem/cells/cells.h"

#include <string.h>

static weft_memory *find_input(const weft_form *form, const char *name) {
    for (int i = 0; i < form->n_inputs; ++i)
        if (strcmp(form->inputs[i].name, name) == 0)
            return form->inputs[i].memory;
    return NULL;
}

static weft_connectivity *find_connectivity(const weft_form *form, const char *name) {
    if (!name || strcmp(name, "dofs") == 0)
        return form->dofs;
    for (int i = 0; i < form->n_connectivities; ++i)
        if (strcmp(form->connectivities[i].name, name) == 0)
            return form->connectivities[i].connectivity;
    return NULL;
}

static weft_status missing(const weft_form *form, const char *name, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_INTERNAL,
                          "%s: nothing is bound to %s, which its kernel reads", form->name, name);
}

static weft_status add_action(weft_context *context, const weft_form *form,
                              const weft_form_kernel *own, weft_form_actions *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cell_binding sources[WEFT_CELL_SOURCES] = {{NULL, NULL}};
    weft_memory *coordinates = find_input(form, own->coordinates);
    weft_connectivity *vertices = find_connectivity(form, own->vertices);
    if (!coordinates || !vertices)
        TRY(missing(form, own->coordinates, error));
    for (int i = 0; i < own->kernel->n_sources; ++i) {
        const char *input = own->inputs[i];
        sources[i].values = input ? find_input(form, input) : NULL;
        if (own->kernel->sources[i].kind == WEFT_CELL_NODAL)
            sources[i].nodes = find_connectivity(form, own->connectivities[i]);
        if ((input && !sources[i].values) ||
            (own->kernel->sources[i].kind == WEFT_CELL_NODAL && !sources[i].nodes))
            TRY(missing(form, input ? input : "dofs", error));
    }
    const weft_cell_data data = {
        .vertices = vertices,
        .coordinates = coordinates,
        .nodes = form->dofs,
        .sources = sources,
        .like = out->like && out->n < out->like->n ? out->like->list[out->n] : NULL};
    TRY(weft_cell_action_make(context->device, own->kernel, &data, &out->list[out->n], error));
    ++out->n;
done:
    return status;
}

weft_status weft_form_actions_make(weft_context *context, const weft_form *form, bool single,
                                   weft_form_actions *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error why = {0};
    const weft_form_kernel *list = NULL;
    int n = 0;
    if (!form->kernels)
        goto done;
    status = form->kernels->make(form->kernels, weft_device_limits(context->device), single, &list,
                                 &n, &why);
    if (status == WEFT_ERROR_UNSUPPORTED || n > WEFT_FORM_KERNELS) {
        weft_log(context->monitor, WEFT_LOG_INFO, "%s: products from local matrices: %s",
                 form->name, why.message);
        status = WEFT_OK;
        goto done;
    }
    if (status != WEFT_OK && error)
        *error = why;
    TRY(status);
    for (int i = 0; i < n; ++i)
        TRY(add_action(context, form, &list[i], out, error));
    weft_log(context->monitor, WEFT_LOG_INFO, "%s: products by sum factorisation", form->name);
done:
    return status;
}

void weft_form_actions_free(weft_form_actions *actions) {
    for (int i = 0; i < actions->n; ++i)
        weft_cell_action_free(&actions->list[i]);
    actions->n = 0;
}

weft_status weft_form_actions_run(const weft_form_actions *actions, weft_memory *v, weft_memory *y,
                                  weft_memory *active, bool clears, weft_error *error) {
    weft_status status = WEFT_OK;
    if (clears && !active)
        TRY(weft_memory_zero(y, error));
    for (int i = 0; i < actions->n; ++i)
        if (active) {
            TRY(weft_cell_action_guard(actions->list[i], error));
            TRY(weft_cell_action_add_predicated(actions->list[i], v, y, active, clears && i == 0,
                                                error));
        } else
            TRY(weft_cell_action_add(actions->list[i], v, y, error));
done:
    return status;
}
