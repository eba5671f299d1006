#include "app_fem.h"

void app_form_start(const char *name, const char *text, weft_connectivity *dofs, app_form *out) {
    *out = (app_form){0};
    out->form = (weft_form){.name = name,
                            .text = text,
                            .dofs = dofs,
                            .inputs = out->inputs,
                            .expressions = out->expressions,
                            .parameters = out->parameters};
}

weft_status app_form_make(const char *script, int dimension, weft_memory *x,
                          weft_connectivity *dofs, app_form *out, weft_error *error) {
    const char *text = weft_fem_script(script);
    if (!text)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "the script %s is not part of this build",
                              script);
    app_form_start(script, text, dofs, out);
    app_form_input(out, "x", x);
    app_form_parameter(out, "d", dimension);
    return WEFT_OK;
}

void app_form_input(app_form *form, const char *name, weft_memory *memory) {
    form->inputs[form->form.n_inputs++] = (weft_form_input){name, memory};
}

void app_form_expression(app_form *form, const char *name, const char *text, const char *origin) {
    form->expressions[form->form.n_expressions++] = (weft_expression){name, text, origin};
}

void app_form_parameter(app_form *form, const char *name, int value) {
    form->parameters[form->form.n_parameters++] = (weft_parameter){name, value};
}
