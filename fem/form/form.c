/* Compiles and runs a form once. */
#include "fem/form/form.h"

weft_status weft_form_run(weft_context *context, const weft_form *form,
                          const weft_form_outputs *outputs, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled compiled = {0};
    weft_text returns = {0};
    for (int i = 0; i < outputs->n; ++i)
        weft_text_add(&returns, "%s %s", i ? "," : "return", outputs->names[i]);
    weft_text_add(&returns, ";\n");
    if (returns.failed) {
        status =
            weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the script %s", form->name);
        goto done;
    }
    weft_fragment fragments[] = {{form->name, form->text}, {"outputs", returns.data}};
    weft_compile_options options = weft_form_options(form);
    /* runs only once: a gather costs little, and makes results bitwise repeatable on GPUs */
    if (weft_device_limits(context->device)->execution == WEFT_EXECUTION_SIMT)
        options.scatter = WEFT_SCATTER_GATHERED;
    TRY(weft_compiled_make(context, fragments, 2, &options, &compiled, error));
    TRY(weft_compiled_bind_form(&compiled, form, error));
    if (outputs->index_set)
        TRY(weft_program_size(compiled.program, outputs->index_set, outputs->n_elements, error));
    for (int i = 0; i < outputs->n; ++i)
        TRY(weft_program_bind(compiled.program, outputs->names[i], outputs->memories[i], error));
    TRY(weft_program_run(compiled.program, error));
done:
    weft_compiled_free(&compiled);
    weft_text_free(&returns);
    return status;
}
