/* Sets u at the start, where time begins or Newton's method does. */
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/solve/solve.h"

weft_status solve_initial_set(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *text = run->options->initial;
    const int n = run->base.problem->n_values;
    char **list = NULL;
    if (!text)
        return WEFT_OK;
    TRY(app_split_components("--initial", text, n, &list, error));
    for (int i = 0; i < run->base.problem->n_fields;
         ++i) { /* those of enrichments have values at nodes, too */
        const weft_problem_field *field = &run->base.problem->fields[i];
        for (int k = 0; k < weft_space_components(field->space); ++k)
            TRY(solve_component_fill(run, field->space, list[field->first_value + k], "--initial",
                                     k, run->base.problem->u_values + field->first_dof, error));
    }
done:
    app_free_list(&list, n);
    return status;
}
