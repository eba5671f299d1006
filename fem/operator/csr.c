/* The operator as one sparse matrix: every form by Addto, the first from zero, the others added. */
#include "core/weft_core.h"
#include "fem/form/form.h"
#include "fem/operator/operator.h"
#include "fem/operator/private.h"
#include "fem/sparse/sell.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <stdlib.h>

typedef struct weft_csr_part {
    weft_equations equations;
    weft_memory *positions;
    weft_compiled assemble;
} weft_csr_part;

typedef struct weft_csr_operator {
    weft_context *context;
    weft_csr_part *parts;
    int n_parts;
} weft_csr_operator;

static weft_status csr_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr_operator *csr = op->state;
    for (int i = 0; i < csr->n_parts; ++i)
        TRY(weft_program_run(csr->parts[i].assemble.program, error));
done:
    return status;
}

static weft_status csr_apply(weft_operator *op, weft_memory *v, weft_memory *y, weft_error *error) {
    weft_csr_operator *csr = op->state;
    const double *values = weft_memory_host(op->values);
    if (!values) /* a device that holds no numbers */
        return WEFT_OK;
    return weft_csr_product(csr->context->device, op->pattern, values, weft_memory_host(v),
                            weft_memory_host(y), error);
}

static weft_status csr_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    (void)error;
    const weft_pattern *pattern = op->pattern;
    const double *values = weft_memory_host(op->values);
    double *out = weft_memory_host(d);
    for (int64_t r = 0; values && r < pattern->n_rows; ++r)
        for (int64_t k = pattern->row_start[r]; k < pattern->row_start[r + 1]; ++k)
            if (pattern->columns[k] == r)
                out[r] = values[k];
    return WEFT_OK;
}

static void csr_free(weft_operator *op) {
    weft_csr_operator *csr = op->state;
    if (!csr)
        return;
    for (int i = 0; i < csr->n_parts; ++i) {
        weft_compiled_free(&csr->parts[i].assemble);
        weft_memory_free(&csr->parts[i].positions);
        weft_equations_free(&csr->parts[i].equations);
    }
    free(csr->parts);
    free(csr);
}

static const weft_operator_table csr_table = {
    .assemble = csr_assemble, .apply = csr_apply, .diagonal = csr_diagonal, .free = csr_free};

/* The first form makes the pattern; the others' couplings are in it. */
static weft_status part_make(weft_context *context, weft_operator *op, const weft_form *form,
                             weft_csr_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = context->device;
    const bool first = op->pattern == NULL;
    TRY(weft_equations_make(device, form, &part->equations, error));
    weft_connectivity *rows = part->equations.connectivity;
    TRY(weft_compiled_make_addto(context, form, rows, first, WEFT_SCATTER_COLOURED, &part->assemble,
                                 error));
    const int lanes = weft_program_lanes(part->assemble.program);
    if (first) {
        TRY(weft_pattern_make(device, rows, lanes, &op->pattern, &part->positions, error));
        TRY(weft_memory_make(device, (size_t)op->pattern->n_entries * sizeof(double), &op->values,
                             error));
    } else {
        TRY(weft_pattern_positions(device, op->pattern, rows, lanes, &part->positions, error));
    }
    TRY(weft_program_bind_matrix(part->assemble.program, "A", op->values, part->positions, error));
done:
    return status;
}

/* A GPU, or a null device with one's limits. */
static bool takes_slices(const weft_device *device) {
    const weft_limits *limits = weft_device_limits(device);
    return limits->kind == WEFT_DEVICE_CUDA ||
           (limits->kind == WEFT_DEVICE_NULL && limits->lanes_double == WEFT_SLICE);
}

weft_status weft_operator_make_csr(weft_context *context, const weft_form *forms, int n_forms,
                                   weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    if (takes_slices(context->device))
        return weft_operator_make_sliced(context, forms, n_forms, out, error);
    weft_operator *op = calloc(1, sizeof *op);
    weft_csr_operator *csr = calloc(1, sizeof *csr);
    weft_csr_part *parts = calloc((size_t)n_forms, sizeof *parts);
    if (!op || !csr || !parts) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for an operator");
        free(csr);
        free(parts);
        free(op);
        return status;
    }
    *csr = (weft_csr_operator){context, parts, n_forms};
    *op = (weft_operator){
        .table = &csr_table, .state = csr, .n_dofs = weft_form_equations(&forms[0])};
    for (int i = 0; i < n_forms; ++i)
        TRY(part_make(context, op, &forms[i], &parts[i], error));
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}
