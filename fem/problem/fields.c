/* The functions of a mixed space: their dofs and conditions. */
#include "fem/problem/fields.h"
#include "fem/space/layout.h"
#include "fem/space/vectors.h"

#include <stdlib.h>
#include <string.h>

void weft_fields_count(weft_fields *fields) {
    if (fields->n == 0)
        fields->list[fields->n++] = (weft_problem_field){.space = fields->space};
    fields->space = fields->list[0].space;
    fields->n_dofs = 0;
    fields->n_values = 0;
    for (int i = 0; i < fields->n; ++i) {
        weft_problem_field *field = &fields->list[i];
        const int last = field->first_value + weft_space_values_of(field->space);
        field->first_dof = fields->n_dofs;
        fields->spaces[i] = field->space;
        fields->n_dofs += weft_space_dofs(field->space);
        fields->n_values = last > fields->n_values ? last : fields->n_values;
    }
}

const weft_problem_field *weft_fields_of_dof(const weft_fields *fields, int64_t dof) {
    int i = fields->n - 1;
    while (i > 0 && dof < fields->list[i].first_dof)
        --i;
    return &fields->list[i];
}

weft_solution weft_fields_solution(const weft_fields *fields, const double *values) {
    return (weft_solution){.context = fields->context,
                           .mesh = fields->mesh,
                           .fields = fields->list,
                           .n_fields = fields->n,
                           .n_values = fields->n_values,
                           .name = weft_fields_name(fields),
                           .values = values};
}

/* ---- conditions -------------------------------------------------------------------------- */

static const weft_condition natural = {
    .kind = WEFT_NEUMANN, .group = "boundary", .value = "0", .origin = "--neumann"};

/* The conditions on one field, of its own components. Where there are none, its flux is zero. */
static weft_status make_field(weft_fields *fields, weft_problem_field *field, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_values_of(field->space);
    const weft_bc_place place = {field->first_dof, fields->n_dofs};
    int n = 0;
    weft_condition *list = calloc((size_t)fields->n_conditions + 1, sizeof *list);
    if (!list)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < fields->n_conditions && !field->is_enrichment; ++i) {
        const int k = fields->conditions[i].component - field->first_value;
        if (k < 0 || k >= c)
            continue;
        list[n] = fields->conditions[i];
        list[n++].component = k;
    }
    if (n == 0)
        list[n++] = natural;
    TRY(weft_bc_make_in(fields->context, field->space, &place, list, n, &field->bc, error));
done:
    free(list);
    return status;
}

static weft_status join_constrained(weft_fields *fields, weft_error *error) {
    int64_t all = 0;
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1)
            fields->own_constrained = weft_array_make((size_t)all, sizeof *fields->own_constrained);
        if (pass == 1 && !fields->own_constrained)
            return weft_out_of_memory(error, NULL);
        all = 0;
        for (int i = 0; i < fields->n; ++i) {
            int64_t n = 0;
            const int32_t *dofs = weft_bc_constrained(fields->list[i].bc, &n);
            for (int64_t k = 0; k < n && pass == 1; ++k)
                fields->own_constrained[all + k] = (int32_t)(fields->list[i].first_dof + dofs[k]);
            all += n;
        }
    }
    fields->constrained = fields->own_constrained;
    fields->n_constrained = all;
    return WEFT_OK;
}

bool weft_fields_are_natural(const weft_fields *fields) {
    return fields->n_conditions == 0 && (fields->is_natural || fields->has_constraints);
}

weft_status weft_fields_conditions_make(weft_fields *fields, weft_error *error) {
    weft_status status = WEFT_OK;
    if (fields->n > 1) {
        for (int i = 0; i < fields->n; ++i)
            TRY(make_field(fields, &fields->list[i], error));
        for (int i = 1; i < fields->n; ++i)
            TRY(weft_bc_join(fields->list[0].bc, fields->list[i].bc, error));
        TRY(join_constrained(fields, error));
    } else {
        const bool is_natural = weft_fields_are_natural(fields);
        TRY(weft_bc_make(fields->context, fields->space, is_natural ? &natural : fields->conditions,
                         is_natural ? 1 : fields->n_conditions, &fields->list[0].bc, error));
        fields->constrained = weft_bc_constrained(fields->list[0].bc, &fields->n_constrained);
    }
    fields->bc = fields->list[0].bc;
    if (!fields->layout)
        TRY(weft_layout_make(fields->spaces, fields->n, &fields->layout, error));
done:
    return status;
}

void weft_fields_set_conditions(const weft_fields *fields, double factor, double *u) {
    for (int i = 0; i < fields->n; ++i)
        weft_bc_set(fields->list[i].bc, factor, u + fields->list[i].first_dof);
}
