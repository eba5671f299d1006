/* Verifies properties of forms by running them: symmetry, and that an action equals K v. */
#include "core/weft_core.h"
#include "fem/form/compare.h"
#include "fem/form/form.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdlib.h>

struct weft_symmetry {
    weft_compiled check; /* without a program: the form's text proves the symmetry */
    bool has_components;
    double coupling;
};

/* Compile a check, which must not provide the example kernel of reports. */
static weft_status check_make(weft_context *context, const weft_fragment *fragments,
                              int n_fragments, weft_compile_options options, weft_compiled *out,
                              weft_error *error) {
    options.runs_once = true;
    const weft_status status =
        weft_compiled_make(context, fragments, n_fragments, &options, out, error);
    context->saving.calls[0] = '\0';
    return status;
}

/* Compile the measurement of a form with `components` at each node. */
static weft_status measurement_make(weft_context *context, const weft_form *form,
                                    weft_memory *field, int components, weft_symmetry *symmetry,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const char *suffix = field            ? "asymmetry_fields.weft"
                         : components > 1 ? "asymmetry_blocks.weft"
                                          : "asymmetry.weft";
    const weft_fragment fragments[] = {{form->name, form->text}, {suffix, weft_fem_script(suffix)}};
    weft_compile_options options = weft_form_options(form);
    weft_parameter *parameters =
        weft_array_make((size_t)options.n_parameters + 1, sizeof *parameters);
    if (!parameters)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "no memory to look at a form"));
    for (int i = 0; i < options.n_parameters; ++i)
        parameters[i] = options.parameters[i];
    parameters[options.n_parameters] = (weft_parameter){"block_components", components};
    options.parameters = parameters;
    options.n_parameters += components > 1;
    TRY(check_make(context, fragments, 2, options, &symmetry->check, error));
    TRY(weft_compiled_bind_form(&symmetry->check, form, error));
    if (field)
        TRY(weft_program_bind(symmetry->check.program, "field", field, error));
done:
    free(parameters);
    return status;
}

weft_status weft_symmetry_make(weft_context *context, const weft_form *form, weft_memory *field,
                               weft_symmetry **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int components = field ? 1 : weft_form_components(form);
    weft_symmetry *symmetry = calloc(1, sizeof *symmetry);
    if (!symmetry)
        TRY(weft_out_of_memory(error, "a check of symmetry"));
    symmetry->has_components = components > 1;
    if (!form->is_symmetric || components > 1)
        TRY(measurement_make(context, form, field, components, symmetry, error));
    *out = symmetry;
    symmetry = NULL;
done:
    weft_symmetry_free(&symmetry);
    return status;
}

weft_status weft_symmetry_measure(weft_symmetry *symmetry, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program *program = symmetry->check.program;
    double apart = 0, total = 0;
    *out = 0;
    if (!program)
        goto done;
    TRY(weft_program_run(program, error));
    TRY(weft_memory_read(weft_program_result(program, "apart"), 0, &apart, sizeof apart, error));
    TRY(weft_memory_read(weft_program_result(program, "total"), 0, &total, sizeof total, error));
    if (symmetry->has_components)
        TRY(weft_memory_read(weft_program_result(program, "coupled"), 0, &symmetry->coupling,
                             sizeof symmetry->coupling, error));
    if (isnan(total))
        *out = NAN;
    else /* 0 if the squares overflow */
        *out = apart > 0 && isfinite(apart) ? sqrt(apart) : 0;
done:
    return status;
}

double weft_symmetry_coupling(const weft_symmetry *symmetry) {
    return symmetry->coupling;
}

void weft_symmetry_free(weft_symmetry **symmetry) {
    if (!symmetry || !*symmetry)
        return;
    weft_compiled_free(&(*symmetry)->check);
    free(*symmetry);
    *symmetry = NULL;
}

weft_status weft_form_asymmetry(weft_context *context, const weft_form *form, double *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_symmetry *symmetry = NULL;
    TRY(weft_symmetry_make(context, form, NULL, &symmetry, error));
    TRY(weft_symmetry_measure(symmetry, out, error));
done:
    weft_symmetry_free(&symmetry);
    return status;
}

weft_status weft_form_action_difference(weft_context *context, const weft_form *form, double *out,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled check = {0};
    weft_memory *v = NULL;
    weft_text name = {0};
    const char *suffix = weft_form_components(form) > 1 ? "action_blocks.weft" : "action.weft";
    const int64_t n = weft_form_vector_dofs(form);
    double difference = 0, whole = 0;
    weft_text_add(&name, "action = %s;\n", form->action);
    if (name.failed) {
        status = weft_out_of_memory(error, "a script");
        goto done;
    }
    const weft_fragment fragments[] = {
        {form->name, form->text}, {"action", name.data}, {suffix, weft_fem_script(suffix)}};
    const weft_compile_options options = weft_form_options(form);
    TRY(weft_memory_make(context->device, (size_t)n * sizeof(double), &v, error));
    TRY(weft_write_synthetic(context->device, v, n, error));
    TRY(check_make(context, fragments, 3, options, &check, error));
    TRY(weft_compiled_bind_form(&check, form, error));
    TRY(weft_program_bind(check.program, "v", v, error));
    TRY(weft_program_run(check.program, error));
    TRY(weft_memory_read(weft_program_result(check.program, "apart"), 0, &difference,
                         sizeof difference, error));
    TRY(weft_memory_read(weft_program_result(check.program, "whole"), 0, &whole, sizeof whole,
                         error));
    *out = difference > 0 ? sqrt(difference / whole) : difference;
done:
    weft_compiled_free(&check);
    weft_memory_free(&v);
    weft_text_free(&name);
    return status;
}
