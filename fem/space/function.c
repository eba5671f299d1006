/* Formulas without coordinates, and how far a function of a space is from a formula. */
#include "core/base/number.h"
#include "fem/space/private.h"
#include "fem/space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool weft_formula_constant(const char *text, double *value) {
    char *end = NULL;
    const char *start = text + strspn(text, " \t");
    if (!*start || start[strspn(start, "0123456789.eE+- \t")])
        return false;
    const double number = weft_number_read(start, &end);
    if (end == start || end[strspn(end, " \t")] || !isfinite(number))
        return false;
    *value = number;
    return true;
}

static weft_status refuse_time(const char *text, const char *origin, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_TYPE, "'t' has no value here");
    weft_error_location(error, origin, text, 1, 1);
    weft_error_hint(error, "t is the time of problems in time");
    return WEFT_ERROR_TYPE;
}

weft_status weft_formula_evaluate(weft_context *context, const char *text, const char *origin,
                                  const double *t, double *value, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "u";
    double *times = NULL, *values = NULL;
    weft_memory *time = NULL, *memory = NULL;
    weft_bound_form form;
    if (weft_formula_constant(text, value))
        goto done;
    if (!t && weft_has_word(text, "t"))
        TRY(refuse_time(text, origin, error));
    TRY(weft_vector_make(context->device, 1, &times, &time, error));
    TRY(weft_vector_make(context->device, 1, &values, &memory, error));
    *times = t ? *t : 0;
    TRY(weft_vector_push(time, times, 1, error));
    weft_form_start("uniform.weft", weft_fem_script("uniform.weft"), NULL, &form);
    weft_form_bind_input(&form, "when", time);
    weft_form_bind_expression(&form, "value", text, origin);
    TRY(weft_form_run(context, &form.form, &(weft_form_outputs){&output, &memory, 1, NULL, 0},
                      error));
    TRY(weft_vector_pull(memory, values, 1, error));
    *value = *values;
done:
    weft_memory_free(&time);
    weft_memory_free(&memory);
    free(times);
    free(values);
    return status;
}

weft_status weft_formula_refuse(const weft_space *space, const char *text, const char *origin,
                                int64_t node, weft_error *error) {
    const int d = weft_space_mesh(space)->dimension;
    char point[64];
    weft_error_set(error, WEFT_ERROR_INPUT, "this expression is not finite at or near %s%s",
                   weft_point_text(&weft_space_points(space)[node * d], d, point),
                   weft_has_word(text, "t") ? " at t = 0" : "");
    weft_error_location(error, origin, text, 1, 1);
    weft_error_hint(
        error,
        "change it so that it has a value there: 1/x has none at x = 0, log(x) none for x <= 0");
    return WEFT_ERROR_INPUT;
}
