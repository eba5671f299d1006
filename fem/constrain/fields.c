/* The functions that constraints are between: their dofs and components among those of all. */
#include "fem/constrain/private.h"

#include <stdlib.h>
#include <string.h>

weft_status constraint_fields_make(const weft_constraint_field *list, int n, constraint_fields *out,
                                   weft_error *error) {
    *out = (constraint_fields){.n = n};
    out->list = calloc((size_t)n, sizeof *out->list);
    if (!out->list)
        return weft_out_of_memory(error, "constraints");
    memcpy(out->list, list, (size_t)n * sizeof *list);
    for (int i = 0; i < n; ++i) {
        const int last = list[i].first_value + weft_space_components(list[i].space);
        out->n_values = last > out->n_values ? last : out->n_values;
        out->n_dofs += weft_space_dofs(list[i].space);
    }
    return WEFT_OK;
}

void constraint_fields_clear(constraint_fields *fields) {
    free(fields->list);
    *fields = (constraint_fields){0};
}

const weft_constraint_field *constraint_field_of(const constraint_fields *fields, int32_t dof) {
    int i = fields->n - 1;
    while (i > 0 && dof < fields->list[i].first_dof)
        --i;
    return &fields->list[i];
}

int constraint_value_of(const constraint_fields *fields, int32_t dof) {
    const weft_constraint_field *field = constraint_field_of(fields, dof);
    return field->first_value +
           (int)((dof - field->first_dof) % weft_space_components(field->space));
}

int32_t constraint_dof(const weft_constraint_field *field, int32_t node, int component) {
    return (int32_t)(field->first_dof + (int64_t)node * weft_space_components(field->space) +
                     component);
}

bool constraint_field_has(const weft_constraint_field *field, int value) {
    return !field->is_enrichment && value >= field->first_value &&
           value < field->first_value + weft_space_components(field->space);
}

bool constraint_field_is_shared(const weft_constraint_field *field) {
    return !field->is_enrichment && weft_element_has_vertices(weft_space_element(field->space));
}
