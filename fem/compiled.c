#include "operator_internal.h"

weft_status weft_compiled_make(weft_context *context, const weft_fragment *fragments,
                               int n_fragments, const weft_compile_options *options,
                               weft_compiled *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled made = {0};
    weft_compile_options planned = *options;
    planned.plan = context->plan;
    double start = weft_clock();
    TRY(weft_compile(context->library, weft_device_limits(context->device), fragments, n_fragments,
                     &planned, &made.compilation, error));
    context->plan_seconds += weft_clock() - start;
    start = weft_clock();
    TRY(weft_program_make(context->device, made.compilation, &made.program, error));
    context->compile_seconds += weft_clock() - start;
    context->n_kernels += weft_compilation_kernels(made.compilation);
    *out = made;
    made = (weft_compiled){0};
done:
    weft_compiled_free(&made);
    return status;
}

void weft_compiled_free(weft_compiled *compiled) {
    weft_program_free(&compiled->program);
    weft_compilation_free(&compiled->compilation);
}

weft_status weft_compiled_bind_form(weft_compiled *compiled, const weft_form *form,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    if (form->dofs)
        TRY(weft_program_bind_connectivity(compiled->program, "dofs", form->dofs, error));
    for (int i = 0; i < form->n_inputs; ++i)
        TRY(weft_program_bind(compiled->program, form->inputs[i].name, form->inputs[i].memory,
                              error));
done:
    return status;
}
