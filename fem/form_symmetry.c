/* Forms that promise something, run once to see. */
#include "operator_internal.h"

#include <math.h>

weft_status weft_form_asymmetry(weft_context *context, const weft_form *form, double *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled check = {0};
    static const char *const names[] = {"apart", "whole", "total"};
    double values[3] = {0};
    const weft_fragment fragments[] = {{form->name, form->text},
                                       {"asymmetry.weft", weft_fem_script("asymmetry.weft")}};
    const weft_compile_options options = weft_form_options(form);
    TRY(weft_compiled_make(context, fragments, 2, &options, &check, error));
    TRY(weft_compiled_bind_form(&check, form, error));
    TRY(weft_program_run(check.program, error));
    for (int i = 0; i < 3; ++i)
        TRY(weft_memory_read(weft_program_result(check.program, names[i]), 0, &values[i],
                             sizeof values[i], error));
    const double apart = values[0], whole = values[1], total = values[2];
    if (isnan(total))
        *out = NAN;
    else /* squares that overflow say nothing */
        *out = apart > 0 && isfinite(whole) ? sqrt(apart / whole) : 0;
done:
    weft_compiled_free(&check);
    return status;
}

weft_status weft_form_action_apart(weft_context *context, const weft_form *form, double *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled check = {0};
    weft_memory *v = NULL;
    weft_text name = {0};
    const char *tail = weft_form_components(form) > 1 ? "action_blocks.weft" : "action.weft";
    const int64_t n = weft_form_equations(form);
    double apart = 0, whole = 0;
    weft_text_add(&name, "action = %s;\n", form->action);
    if (name.failed) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for a script");
        goto done;
    }
    const weft_fragment fragments[] = {
        {form->name, form->text}, {"action", name.data}, {tail, weft_fem_script(tail)}};
    const weft_compile_options options = weft_form_options(form);
    TRY(weft_memory_make(context->device, (size_t)n * sizeof(double), &v, error));
    TRY(weft_trial_write(v, n, error));
    TRY(weft_compiled_make(context, fragments, 3, &options, &check, error));
    TRY(weft_compiled_bind_form(&check, form, error));
    TRY(weft_program_bind(check.program, "v", v, error));
    TRY(weft_program_run(check.program, error));
    TRY(weft_memory_read(weft_program_result(check.program, "apart"), 0, &apart, sizeof apart,
                         error));
    TRY(weft_memory_read(weft_program_result(check.program, "whole"), 0, &whole, sizeof whole,
                         error));
    *out = apart > 0 ? sqrt(apart / whole) : apart;
done:
    weft_compiled_free(&check);
    weft_memory_free(&v);
    weft_text_free(&name);
    return status;
}
