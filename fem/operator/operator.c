/* Makes operators by their format, checks arguments, and applies them. */
#include "fem/operator/operator.h"
#include "core/base/fault.h"
#include "core/weft_core.h"
#include "fem/form/form.h"
#include "fem/operator/private.h"
#include "fem/space/layout.h"
#include "fem/weft_fem.h"
#include "fusion/weft_program.h"

#include <stdlib.h>

weft_status weft_operator_make(weft_context *context, weft_assembly assembly,
                               const weft_form *forms, int n_forms, weft_operator **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    if (n_forms < 1)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "an operator needs a form"));
    for (int i = 0; i < n_forms; ++i) {
        if (!forms[i].dofs)
            TRY(weft_error_set(error, WEFT_ERROR_USAGE, "the form %s has no dofs", forms[i].name));
        if (weft_connectivity_to(forms[i].dofs) != weft_connectivity_to(forms[0].dofs))
            TRY(weft_error_set(error, WEFT_ERROR_SHAPE,
                               "the forms %s and %s have %lld and %lld dofs", forms[0].name,
                               forms[i].name, (long long)weft_connectivity_to(forms[0].dofs),
                               (long long)weft_connectivity_to(forms[i].dofs)));
        if (weft_form_components(&forms[i]) != weft_form_components(&forms[0]))
            TRY(weft_error_set(error, WEFT_ERROR_SHAPE,
                               "the forms %s and %s have %d and %d components per node",
                               forms[0].name, forms[i].name, weft_form_components(&forms[0]),
                               weft_form_components(&forms[i])));
    }
    TRY(weft_operator_format_of(assembly)->make(context, forms, n_forms, out, error));
done:
    return status;
}

weft_status weft_operator_allocate(weft_context *context, const weft_operator_table *table,
                                   const weft_operator_bytes *bytes, const weft_form *forms,
                                   int n_forms, weft_operator **out, weft_error *error) {
    weft_operator *op = calloc(1, sizeof *op);
    void *state = calloc(1, bytes->state + 1), *parts = calloc((size_t)n_forms + 1, bytes->part);
    if (!op || !state || !parts) {
        free(op);
        free(state);
        free(parts);
        return weft_out_of_memory(error, "an operator");
    }
    *op = (weft_operator){.table = table,
                          .context = context,
                          .state = state,
                          .parts = parts,
                          .n_parts = n_forms,
                          .n_dofs = n_forms > 0 ? weft_form_vector_dofs(&forms[0]) : 0};
    *out = op;
    return WEFT_OK;
}

void weft_operator_free(weft_operator **op) {
    if (!op || !*op)
        return;
    if ((*op)->table->free)
        (*op)->table->free(*op);
    if ((*op)->borrows_pattern && (*op)->pattern)
        *(*op)->pattern = (weft_pattern){0};
    weft_pattern_free(&(*op)->pattern);
    weft_memory_free(&(*op)->values);
    free((*op)->state);
    free((*op)->parts);
    free(*op);
    *op = NULL;
}

void weft_operator_release_assembly(weft_operator *op) {
    if (!op->table->release_assembly)
        return;
    op->table->release_assembly(op);
    op->assembly_released = true;
}

weft_status weft_operator_assemble(weft_operator *op, weft_error *error) {
    if (op->assembly_released)
        return weft_error_set(
            error, WEFT_ERROR_USAGE,
            "the matrix cannot be assembled again after weft_operator_release_assembly");
    return op->table->assemble ? op->table->assemble(op, error) : WEFT_OK;
}

static weft_status check_vector(const weft_operator *op, const char *name, const weft_memory *v,
                                weft_error *error) {
    const size_t bytes = (size_t)op->n_dofs * (op->single ? sizeof(float) : sizeof(double));
    if (weft_memory_bytes(v) >= bytes)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_SHAPE, "%s has %zu bytes, but %lld dofs need %zu", name,
                          weft_memory_bytes(v), (long long)op->n_dofs, bytes);
}

/* 0 without a context, as of operators of callers. */
static size_t device_bytes(const weft_operator *op) {
    return op->context ? weft_device_bytes(op->context->device) : 0;
}

void weft_operator_distribute(weft_operator *op, weft_layout *layout) {
    op->layout = layout;
}

weft_status weft_operator_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t before = device_bytes(op);
    TRY(check_vector(op, "v", v, error));
    TRY(check_vector(op, "y", y, error));
    if (op->layout && !weft_fault("copies_stale"))
        TRY((op->single ? weft_layout_update_single : weft_layout_update)(op->layout, v, error));
    TRY(op->table->apply(op, v, y, error));
    op->late_bytes += device_bytes(op) - before;
done:
    return status;
}

weft_status weft_operator_apply_in_loop(weft_operator *op, const weft_program_product *product,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    if (!product->active || !op->table->apply_predicated) {
        status = weft_operator_apply(op, product->v, product->y, error);
        goto done;
    }
    if (op->layout)
        TRY(weft_layout_exchange(op->layout, product->v, op->single, product->active, error));
    TRY(op->table->apply_predicated(op, product, error));
done:
    return status;
}

weft_status weft_operator_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t before = device_bytes(op);
    TRY(check_vector(op, "d", d, error));
    TRY(op->table->diagonal(op, d, error));
    op->late_bytes += device_bytes(op) - before;
done:
    return status;
}

int64_t weft_operator_dofs(const weft_operator *op) {
    return op->n_dofs;
}

const weft_pattern *weft_operator_pattern(const weft_operator *op) {
    weft_error error = {0};
    if (op->pattern && !op->pattern->columns && op->table->read_pattern &&
        op->table->read_pattern(op, &error) != WEFT_OK) {
        weft_log(op->context->monitor, WEFT_LOG_WARNING, "the pattern of the matrix: %s",
                 error.message);
        return NULL;
    }
    return op->pattern && op->pattern->columns ? op->pattern : NULL;
}

int64_t weft_operator_entries(const weft_operator *op) {
    return op->pattern ? op->pattern->n_entries : 0;
}

weft_memory *weft_operator_values(const weft_operator *op) {
    return op->values;
}

weft_status weft_operator_matrix(weft_operator *op, weft_memory **values, weft_error *error) {
    if (!op->pattern) {
        weft_error_set(error, WEFT_ERROR_USAGE, "this operator stores no sparse matrix");
        weft_error_hint(error, "use the assembly %s", weft_assembly_name(WEFT_ASSEMBLY_CSR));
        return WEFT_ERROR_USAGE;
    }
    if (op->table->matrix)
        return op->table->matrix(op, values, error);
    *values = op->values;
    return WEFT_OK;
}

void weft_operator_matrix_release(weft_operator *op) {
    if (op->table->matrix_release)
        op->table->matrix_release(op);
}

weft_sell_matrix *weft_operator_sell(const weft_operator *op, int *components) {
    return op->table->sell ? op->table->sell(op, components) : NULL;
}

weft_owners weft_owners_of(const weft_compilation *compilation) {
    weft_owners out = {0};
    for (int k = 0; k < weft_compilation_kernels(compilation); ++k) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, k, &info);
        out.patches |= info.patches;
        out.rows |= info.patch_rows;
        out.with_cells |= info.patch_cells;
        if (info.not_permuted)
            out.not_permuted = info.not_permuted;
    }
    return out;
}
