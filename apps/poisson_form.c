#include "poisson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

weft_status poisson_form_make(const poisson *run, const char *script, weft_connectivity *dofs,
                              poisson_form *out, weft_error *error) {
    const char *text = weft_fem_script(script);
    if (!text)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "the script %s is not part of this build",
                              script);
    *out = (poisson_form){0};
    out->form = (weft_form){.name = script,
                            .text = text,
                            .dofs = dofs,
                            .inputs = out->inputs,
                            .expressions = out->expressions,
                            .parameters = out->parameters};
    poisson_form_input(out, "x", run->x);
    poisson_form_parameter(out, "d", run->mesh->dimension);
    return WEFT_OK;
}

void poisson_form_input(poisson_form *form, const char *name, weft_memory *memory) {
    form->inputs[form->form.n_inputs++] = (weft_form_input){name, memory};
}

void poisson_form_expression(poisson_form *form, const char *name, const char *text,
                             const char *origin) {
    form->expressions[form->form.n_expressions++] = (weft_expression){name, text, origin};
}

void poisson_form_parameter(poisson_form *form, const char *name, int value) {
    form->parameters[form->form.n_parameters++] = (weft_parameter){name, value};
}

weft_status poisson_form_cells(const poisson *run, poisson_form *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *diffusivity = run->options->diffusivity;
    TRY(poisson_form_make(run, diffusivity ? "poisson_diffusivity.weft" : "poisson.weft",
                          run->cells, out, error));
    if (diffusivity)
        poisson_form_expression(out, "diffusivity", diffusivity, "--diffusivity");
    out->form.product = diffusivity ? "stiffness_product_mean.weft" : "stiffness_product.weft";
done:
    return status;
}

bool poisson_constant(const char *text, double *value) {
    return app_parse_number("", text, -HUGE_VAL, HUGE_VAL, value, NULL) == WEFT_OK;
}

weft_status poisson_array_make(const poisson *run, int64_t n, double **values, weft_memory **memory,
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

weft_status poisson_array_pull(const weft_memory *memory, double *values, int64_t n,
                               weft_error *error) {
    if (weft_memory_host(memory) == values)
        return WEFT_OK;
    return weft_memory_read(memory, 0, values, (size_t)n * sizeof *values, error);
}

weft_status poisson_array_push(weft_memory *memory, const double *values, int64_t n,
                               weft_error *error) {
    if (weft_memory_host(memory) == values)
        return WEFT_OK;
    return weft_memory_write(memory, 0, values, (size_t)n * sizeof *values, error);
}

weft_status poisson_refuse_value(const poisson *run, const char *origin, const char *text,
                                 int64_t node, weft_error *error) {
    const double *x = &run->mesh->x[node * run->mesh->dimension];
    char z[32] = "";
    if (run->mesh->dimension == 3)
        snprintf(z, sizeof z, ", %g", x[2]);
    weft_error_set(error, WEFT_ERROR_INPUT, "this expression is not finite at or near (%g, %g%s)",
                   x[0], x[1], z);
    weft_error_place(error, origin, text, 1, 1);
    weft_error_hint(
        error,
        "change it so that it has a value there: 1/x has none at x = 0, log(x) none for x <= 0");
    return WEFT_ERROR_INPUT;
}
