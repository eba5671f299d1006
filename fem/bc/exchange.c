/* What Robin conditions exchange with the outside. */
#include "fem/bc/private.h"

#include <stdlib.h>

/* int g, by the vector of the right-hand side */
static weft_status sum_given(const weft_bc *bc, const weft_bc_piece *piece, weft_memory *memory,
                             double *values, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_bound_form form;
    if (!weft_bc_has_flux(&piece->condition))
        goto done;
    TRY(weft_memory_zero(memory, error));
    TRY(weft_bc_flux_form(bc, piece, WEFT_LOAD_DEGREE, memory, &form, error));
    TRY(weft_bc_add_load(bc, &form, bc->facets[piece->facets].n, memory, values, error));
    *out = weft_sum(values, weft_bc_dofs(bc));
done:
    return status;
}

/* int alpha u, by the matrix */
static weft_status sum_taken(const weft_bc *bc, const weft_form *form, weft_memory *u,
                             weft_memory *memory, double *values, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    const int64_t n = weft_bc_dofs(bc);
    TRY(weft_operator_make(bc->context, WEFT_ASSEMBLY_MATRIX_FREE, form, 1, &op, error));
    TRY(weft_operator_assemble(op, error));
    TRY(weft_operator_apply(op, u, memory, error));
    TRY(weft_vector_pull(memory, values, n, error));
    *out = weft_sum(values, n);
done:
    weft_operator_free(&op);
    return status;
}

weft_status weft_bc_exchange(weft_bc *bc, weft_memory *u, double *given, double *taken, int n,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double *values = NULL;
    weft_memory *memory = NULL;
    int form = 0;
    for (int i = 0; i < n; ++i)
        given[i] = taken[i] = 0;
    if (bc->n_forms == 0)
        goto done;
    TRY(weft_vector_make(bc->context->device, weft_bc_dofs(bc), &values, &memory, error));
    for (int i = 0; i < bc->n_pieces; ++i) {
        if (bc->pieces[i].condition.kind != WEFT_ROBIN)
            continue;
        TRY(sum_given(bc, &bc->pieces[i], memory, values, &given[i], error));
        TRY(sum_taken(bc, &bc->forms[form++], u, memory, values, &taken[i], error));
    }
done:
    weft_memory_free(&memory);
    free(values);
    return status;
}
