/* The functions of a mixed space: their dofs and conditions. */
#include "apps/common/run.h"

#include <stdlib.h>
#include <string.h>

void app_run_fields_count(app_run *run) {
    if (run->n_fields == 0)
        run->fields[run->n_fields++] = (app_field){.space = run->space};
    run->space = run->fields[0].space;
    run->n_dofs = 0;
    run->n_values = 0;
    for (int i = 0; i < run->n_fields; ++i) {
        app_field *field = &run->fields[i];
        const int last = field->first_value + weft_space_components(field->space);
        field->first_dof = run->n_dofs;
        run->spaces[i] = field->space;
        run->n_dofs += weft_space_dofs(field->space);
        run->n_values = last > run->n_values ? last : run->n_values;
    }
}

const app_field *app_run_field_of_value(const app_run *run, int value) {
    int i = 0;
    while (i + 1 < run->n_fields &&
           (run->fields[i].is_enrichment ||
            value >= run->fields[i].first_value + weft_space_components(run->fields[i].space)))
        ++i;
    return &run->fields[i];
}

const app_field *app_run_field_of_dof(const app_run *run, int64_t dof) {
    int i = run->n_fields - 1;
    while (i > 0 && dof < run->fields[i].first_dof)
        --i;
    return &run->fields[i];
}

/* Of an enriched function dofs are values at nodes, those of bubbles too: as a term a bubble has what the function before
 * lacks there. */
weft_status app_run_field_term(const app_run *run, int i, double **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_field *field = &run->fields[i];
    const int c = weft_space_components(field->space);
    const int64_t n = weft_space_dofs(field->space);
    const double *u = run->u_values + field->first_dof;
    double *values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        return weft_out_of_memory(error, NULL);
    if (field->is_enrichment)
        TRY(weft_space_interpolate(run->fields[i - 1].space,
                                   run->u_values + run->fields[i - 1].first_dof, c, field->space,
                                   values, error));
    for (int64_t k = 0; k < n; ++k)
        values[k] = u[k] - values[k];
    *out = values;
    values = NULL;
done:
    free(values);
    return status;
}

/* ---- conditions -------------------------------------------------------------------------- */

/* The conditions on one field, of its own components. Where there are none, its flux is zero. */
static weft_status make_field(app_run *run, app_field *field, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(field->space);
    const weft_bc_place place = {field->first_dof, run->n_dofs};
    int n = 0;
    weft_condition *list = calloc((size_t)run->pieces.n + 1, sizeof *list);
    if (!list)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < run->pieces.n && !field->is_enrichment; ++i) {
        const int k = run->pieces.list[i].component - field->first_value;
        if (k < 0 || k >= c)
            continue;
        list[n] = run->pieces.list[i];
        list[n++].component = k;
    }
    if (n == 0)
        list[n++] = (weft_condition){
            .kind = WEFT_NEUMANN, .group = "boundary", .value = "0", .origin = "--neumann"};
    TRY(weft_bc_make_in(&run->context, field->space, &place, list, n, &field->bc, error));
done:
    free(list);
    return status;
}

static weft_status join_constrained(app_run *run, weft_error *error) {
    int64_t all = 0;
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1)
            run->own_constrained = weft_array_make((size_t)all, sizeof *run->own_constrained);
        if (pass == 1 && !run->own_constrained)
            return weft_out_of_memory(error, NULL);
        all = 0;
        for (int i = 0; i < run->n_fields; ++i) {
            int64_t n = 0;
            const int32_t *dofs = weft_bc_constrained(run->fields[i].bc, &n);
            for (int64_t k = 0; k < n && pass == 1; ++k)
                run->own_constrained[all + k] = (int32_t)(run->fields[i].first_dof + dofs[k]);
            all += n;
        }
    }
    run->constrained = run->own_constrained;
    run->n_constrained = all;
    return WEFT_OK;
}

weft_status app_run_conditions_make(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->n_fields > 1) {
        for (int i = 0; i < run->n_fields; ++i)
            TRY(make_field(run, &run->fields[i], error));
        for (int i = 1; i < run->n_fields; ++i)
            TRY(weft_bc_join(run->fields[0].bc, run->fields[i].bc, error));
        TRY(join_constrained(run, error));
    } else {
        TRY(weft_bc_make(&run->context, run->space, run->pieces.list, run->pieces.n,
                         &run->fields[0].bc, error));
        run->constrained = weft_bc_constrained(run->fields[0].bc, &run->n_constrained);
    }
    run->bc = run->fields[0].bc;
done:
    return status;
}

void app_run_set_conditions(const app_run *run, double factor, double *u) {
    for (int i = 0; i < run->n_fields; ++i)
        weft_bc_set(run->fields[i].bc, factor, u + run->fields[i].first_dof);
}
