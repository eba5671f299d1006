/* The operator as one sparse matrix on a GPU: in slices (sliced.h), by Addto at precomputed
 * positions, the first form from zero, the others added. */
#include "sliced.h"

#include <stdlib.h>

typedef struct sliced_part {
    weft_memory *positions;
    weft_compiled assemble;
} sliced_part;

typedef struct sliced_operator {
    weft_context *context;
    weft_sliced_matrix *matrix;
    weft_memory *exported; /* in the pattern's order; NULL: never asked for */
    sliced_part *parts;
    int n_parts;
} sliced_operator;

static weft_status sliced_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    sliced_operator *sliced = op->state;
    for (int i = 0; i < sliced->n_parts; ++i)
        TRY(weft_program_run(sliced->parts[i].assemble.program, error));
done:
    return status;
}

static weft_status sliced_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                weft_error *error) {
    const sliced_operator *sliced = op->state;
    return weft_sliced_product(sliced->matrix, v, y, error);
}

static weft_status sliced_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    const sliced_operator *sliced = op->state;
    return weft_sliced_diagonal(sliced->matrix, d, error);
}

static void sliced_free(weft_operator *op) {
    sliced_operator *sliced = op->state;
    if (!sliced)
        return;
    for (int i = 0; i < sliced->n_parts; ++i) {
        weft_compiled_free(&sliced->parts[i].assemble);
        weft_memory_free(&sliced->parts[i].positions);
    }
    weft_sliced_matrix_free(&sliced->matrix);
    weft_memory_free(&sliced->exported);
    free(sliced->parts);
    free(sliced);
}

static const weft_operator_table sliced_table = {
    .assemble = sliced_assemble,
    .apply = sliced_apply,
    .diagonal = sliced_diagonal,
    .free = sliced_free,
};

/* The pattern is the first form's; the others' couplings are in it. */
static weft_status part_make(sliced_operator *sliced, const weft_form *form, sliced_part *part,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const bool first = part == sliced->parts;
    weft_fragment fragments[3] = {{form->name, form->text}};
    int n = 1;
    if (!first)
        fragments[n++] =
            (weft_fragment){"continue_matrix.weft", weft_fem_script("continue_matrix.weft")};
    fragments[n++] = (weft_fragment){"matrix.weft", weft_fem_script("matrix.weft")};
    const weft_compile_options options = {.expressions = form->expressions,
                                          .n_expressions = form->n_expressions,
                                          .parameters = form->parameters,
                                          .n_parameters = form->n_parameters};
    TRY(weft_compiled_make(sliced->context, fragments, n, &options, &part->assemble, error));
    TRY(weft_compiled_bind_form(&part->assemble, form, error));
    TRY(weft_sliced_positions(sliced->matrix, form->dofs, &part->positions, error));
    TRY(weft_program_bind_matrix(part->assemble.program, "A",
                                 weft_sliced_matrix_values(sliced->matrix), part->positions,
                                 error));
done:
    return status;
}

weft_status weft_operator_make_sliced(weft_context *context, const weft_form *forms, int n_forms,
                                      weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = calloc(1, sizeof *op);
    sliced_operator *sliced = calloc(1, sizeof *sliced);
    sliced_part *parts = calloc((size_t)n_forms, sizeof *parts);
    if (!op || !sliced || !parts) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for an operator");
        free(sliced);
        free(parts);
        free(op);
        return status;
    }
    *sliced = (sliced_operator){.context = context, .parts = parts, .n_parts = n_forms};
    *op = (weft_operator){
        .table = &sliced_table, .state = sliced, .n_dofs = weft_connectivity_to(forms[0].dofs)};
    TRY(weft_pattern_make(context->device, forms[0].dofs, WEFT_SLICE, &op->pattern, NULL, error));
    TRY(weft_sliced_matrix_make(context->device, op->pattern, &sliced->matrix, error));
    for (int i = 0; i < n_forms; ++i)
        TRY(part_make(sliced, &forms[i], &parts[i], error));
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}

weft_status weft_operator_matrix(weft_operator *op, weft_memory **values, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!op->pattern) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "this operator stores no sparse matrix");
        weft_error_hint(error, "use the assembly csr");
        goto done;
    }
    if (op->table == &sliced_table) {
        sliced_operator *sliced = op->state;
        if (!sliced->exported)
            TRY(weft_memory_make(sliced->context->device,
                                 (size_t)op->pattern->n_entries * sizeof(double), &sliced->exported,
                                 error));
        TRY(weft_sliced_export(sliced->matrix, op->pattern, sliced->exported, error));
        *values = sliced->exported;
    } else {
        *values = op->values;
    }
done:
    return status;
}
