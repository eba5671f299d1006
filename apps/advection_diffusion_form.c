#include "advection_diffusion.h"

#include <stdlib.h>

weft_status ad_form_make(const ad_run *run, const char *script, weft_connectivity *dofs,
                         ad_form *out, weft_error *error) {
    const char *text = weft_fem_script(script);
    if (!text)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "the script %s is not part of this build",
                              script);
    *out = (ad_form){0};
    out->form = (weft_form){.name = script,
                            .text = text,
                            .dofs = dofs,
                            .inputs = out->inputs,
                            .expressions = out->expressions,
                            .parameters = out->parameters,
                            .n_parameters = 1};
    out->parameters[0] = (weft_parameter){"d", run->mesh->dimension};
    ad_form_input(out, "x", run->x);
    return WEFT_OK;
}

void ad_form_input(ad_form *form, const char *name, weft_memory *memory) {
    form->inputs[form->form.n_inputs++] = (weft_form_input){name, memory};
}

void ad_form_expression(ad_form *form, const char *name, const weft_expression *given) {
    form->expressions[form->form.n_expressions++] =
        (weft_expression){name, given->text, given->origin};
}

weft_status ad_array_make(const ad_run *run, int64_t n, double **values, weft_memory **memory,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    double *array = weft_array_make((size_t)n, sizeof *array);
    if (!array) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(weft_memory_wrap(run->device, array, (size_t)n * sizeof *array, memory, error));
    *values = array;
    array = NULL;
done:
    free(array);
    return status;
}

weft_status ad_array_pull(const weft_memory *memory, double *values, int64_t n, weft_error *error) {
    if (weft_memory_host(memory) == values)
        return WEFT_OK;
    return weft_memory_read(memory, 0, values, (size_t)n * sizeof *values, error);
}

weft_status ad_refuse_value(const char *origin, const char *text, const double *point,
                            int dimension, double t, weft_error *error) {
    char where[64];
    weft_error_set(error, WEFT_ERROR_INPUT, "this expression is not finite at or near %s at t = %g",
                   app_print_point(point, dimension, where), t);
    weft_error_place(error, origin, text, 1, 1);
    weft_error_hint(
        error,
        "change it so that it has a value there: 1/x has none at x = 0, log(x) none for x <= 0");
    return WEFT_ERROR_INPUT;
}
