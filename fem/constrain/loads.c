/* Concentrated loads at points. */
#include "fem/constrain/private.h"

#include <math.h>
#include <stdlib.h>

weft_status weft_point_loads_make(weft_context *context, const weft_space *space, const weft_bc *bc,
                                  weft_point_loads **out, weft_error *error) {
    const weft_constraint_field field = {.space = space, .bc = bc};
    return weft_point_loads_make_in(context, &field, 1, out, error);
}

weft_status weft_point_loads_make_in(weft_context *context, const weft_constraint_field *fields,
                                     int n, weft_point_loads **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_point_loads *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "loads at points"));
    TRY(constraint_fields_make(fields, n, &made->fields, error));
    made->values = (point_values){.context = context, .space = fields[0].space, .bc = fields[0].bc};
    made->vectors = (weft_vector_programs){.context = context, .n = made->fields.n_dofs};
    *out = made;
    made = NULL;
done:
    weft_point_loads_free(&made);
    return status;
}

void weft_point_loads_free(weft_point_loads **loads) {
    if (!loads || !*loads)
        return;
    constraint_fields_clear(&(*loads)->fields);
    point_values_clear(&(*loads)->values);
    weft_vectors_clear(&(*loads)->vectors);
    weft_memory_free(&(*loads)->memory);
    free((*loads)->sums);
    free((*loads)->entries);
    free(*loads);
    *loads = NULL;
}

weft_status weft_point_loads_add(weft_point_loads *loads, const double *point, int component,
                                 const char *value, const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    constraint_terms terms = {0};
    load_entry one = {.value = -1};
    TRY(constraint_point_terms(&loads->fields, component, point, origin, &terms, error));
    if (!weft_formula_constant(value, &one.constant)) {
        one.value = loads->values.n_values;
        TRY(point_values_add(&loads->values, point, value, origin, error));
    }
    load_entry *entries =
        realloc(loads->entries, (size_t)(loads->n_entries + terms.n) * sizeof *entries);
    if (!entries)
        TRY(weft_out_of_memory(error, "loads at points"));
    loads->entries = entries;
    for (int i = 0; i < terms.n; ++i) {
        one.dof = terms.dofs[i];
        one.shape = terms.factors[i];
        entries[loads->n_entries++] = one;
    }
done:
    constraint_terms_free(&terms);
    return status;
}

bool weft_point_loads_move(const weft_point_loads *loads) {
    bool moves = false;
    for (int i = 0; i < loads->values.n_formulas; ++i)
        moves |= weft_has_word(loads->values.formulas[i].text, "t");
    return moves;
}

weft_status weft_point_loads_apply(weft_point_loads *loads, weft_memory *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = loads->vectors.n;
    int32_t *changed = weft_array_make((size_t)loads->n_entries + 1, sizeof *changed);
    if (!loads->sums)
        loads->sums = weft_array_make((size_t)n, sizeof *loads->sums);
    if (!changed || !loads->sums)
        TRY(weft_out_of_memory(error, "loads at points"));
    if (!loads->memory)
        TRY(weft_memory_make(loads->values.context->device, (size_t)n * sizeof(double),
                             &loads->memory, error));
    TRY(point_values_evaluate(&loads->values, error));
    for (int i = 0; i < loads->n_entries; ++i) {
        changed[i] = loads->entries[i].dof;
        loads->sums[changed[i]] = 0;
    }
    for (int i = 0; i < loads->n_entries; ++i) {
        const load_entry *entry = &loads->entries[i];
        loads->sums[entry->dof] +=
            entry->shape *
            (entry->value < 0 ? entry->constant : loads->values.values[entry->value].now);
    }
    TRY(point_entries_write(loads->memory, loads->sums, n, changed, loads->n_entries, error));
    TRY(weft_vectors_add(&loads->vectors, b, loads->memory, error));
done:
    free(changed);
    return status;
}
