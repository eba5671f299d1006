/* Formats that add every form to one matrix: the parts, one for each form. */
#include "fem/operator/private.h"
#include "fem/sparse/addto.h"
#include "fem/sparse/csr.h"
#include "fem/sparse/on_device.h"

#include <stdlib.h>

weft_status weft_matrix_parts_make(weft_context *context, const weft_operator_table *table,
                                   size_t state_bytes, const weft_form *forms, int n_forms,
                                   weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    const weft_operator_bytes bytes = {state_bytes, sizeof(weft_matrix_part)};
    TRY(weft_operator_allocate(context, table, &bytes, forms, n_forms, &op, error));
    weft_matrix_part *parts = op->parts;
    for (int i = 0; i < n_forms; ++i) {
        parts[i].form = forms[i];
        TRY(weft_vector_dofs_make(context->device, &forms[i], &parts[i].vector_dofs, error));
    }
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}

weft_status weft_matrix_parts_pattern(const weft_operator *op, weft_pattern **out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_matrix_part *parts = op->parts;
    int n = 0;
    const weft_connectivity **list = calloc((size_t)op->n_parts, sizeof *list);
    if (!list)
        TRY(weft_out_of_memory(error, "a sparse matrix"));
    for (int i = 0; i < op->n_parts; ++i)
        if (i == 0 || parts[i].form.adds_couplings)
            list[n++] = parts[i].vector_dofs.connectivity;
    if (n > 1)
        TRY(weft_pattern_make_of_all(op->context->device, list, n, out, error));
done:
    free(list);
    return status;
}

weft_status weft_matrix_part_compile(const weft_operator *op, const weft_matrix_part *part,
                                     weft_scatter scatter, weft_compiled *out, weft_error *error) {
    return weft_compiled_make_addto(op->context, &part->form, part->vector_dofs.connectivity,
                                    part == op->parts || part->is_ordered, scatter, out, error);
}

weft_status weft_matrix_parts_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_matrix_part *parts = op->parts;
    for (int i = 0; i < op->n_parts; ++i)
        TRY(weft_program_run(parts[i].assemble.program, error));
done:
    return status;
}

void weft_matrix_parts_free(weft_operator *op) {
    weft_matrix_part *parts = op->parts;
    for (int i = 0; i < op->n_parts; ++i) {
        weft_compiled_free(&parts[i].assemble);
        weft_addto_rows_free(&parts[i].rows);
        weft_memory_free(&parts[i].positions);
        weft_ordered_sums_free(&parts[i].sums);
        weft_vector_dofs_free(&parts[i].vector_dofs);
    }
}
