/* Sets u at the start, where time begins or Newton's method does. */
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/solve/solve.h"

#include <math.h>
#include <stdlib.h>

/* Set a component of a field to a formula. */
static weft_status set_component(solve *run, const app_field *field, int k, const char *formula,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(field->space);
    const int64_t n = weft_space_nodes(field->space);
    double *column = NULL, *u = run->base.u_values + field->first_dof, constant = 0;
    weft_memory *memory = NULL;
    const bool is_constant = weft_formula_constant(formula, &constant);
    TRY(weft_vector_make(run->base.device, n, &column, &memory, error));
    if (!is_constant)
        TRY(weft_space_evaluate(&run->base.context, field->space, formula, "--initial", memory,
                                column, error));
    for (int64_t i = 0; i < n; ++i) {
        const double value = is_constant ? constant : column[i];
        if (!isfinite(value) && !run->base.is_null)
            TRY(weft_formula_refuse(field->space, formula, "--initial", i, error));
        u[i * c + k] = value;
    }
done:
    weft_memory_free(&memory);
    free(column);
    return status;
}

weft_status solve_initial_set(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *text = run->options->initial;
    const int n = run->base.n_values;
    char **list = NULL;
    if (!text)
        return WEFT_OK;
    TRY(app_split_components("--initial", text, n, &list, error));
    for (int i = 0; i < run->base.n_fields;
         ++i) { /* those of enrichments, too, have values at nodes */
        const app_field *field = &run->base.fields[i];
        for (int k = 0; k < weft_space_components(field->space); ++k)
            TRY(set_component(run, field, k, list[field->first_value + k], error));
    }
done:
    app_free_list(&list, n);
    return status;
}
