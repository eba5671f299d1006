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
