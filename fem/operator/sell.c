/* The operator as one SELL matrix on a GPU (fem/sparse/sell.h). Assembly is owner-computes, in a
 * fixed order (fem/sparse/addto.h), or, where that is impossible, by atomic additions at
 * precomputed positions. */
#include "fem/form/form.h"
#include "fem/form/compare.h"
#include "fem/operator/private.h"
#include "fem/sparse/addto.h"

#include <stdio.h>
#include <stdlib.h>

/* Number of cells on which owner-computes assembly is verified. */
#define TRIAL_CELLS 2048

typedef struct sell_part {
    weft_form form;
    weft_vector_dofs vector_dofs;
    weft_compiled assemble;
    bool by_owners, is_checked;
    weft_matrix_rows rows;  /* for owner-computes assembly */
    weft_memory *positions; /* for atomic additions */
} sell_part;

typedef struct sell_operator {
    weft_context *context;
    weft_sell_matrix *matrix;
    weft_sell *layout;     /* kept until owner-computes assembly is verified */
    weft_memory *exported; /* in the pattern's order; NULL: not requested yet */
    sell_part *parts;
    int n_parts;
} sell_operator;

/* ---- one form ---- */

static weft_status part_compile(const sell_operator *sell, const sell_part *part,
                                weft_scatter scatter, weft_compiled *out, weft_error *error) {
    return weft_compiled_make_addto(sell->context, &part->form, part->vector_dofs.connectivity,
                                    part == sell->parts, scatter, out, error);
}

static bool patches_of(const weft_compiled *compiled, bool *with_cells) {
    bool patches = false;
    *with_cells = false;
    for (int k = 0; k < weft_compilation_kernels(compiled->compilation); ++k) {
        weft_kernel_info info;
        weft_compilation_kernel(compiled->compilation, k, &info);
        patches |= info.patches;
        *with_cells |= info.patch_cells;
    }
    return patches;
}

/* Make and bind the data for dofs of an owner-computes program, or of one with positions. */
static weft_status bind_rows(const sell_operator *sell, const weft_pattern *pattern,
                             const weft_compiled *compiled, weft_connectivity *dofs,
                             weft_matrix_rows *rows, weft_error *error) {
    weft_status status = WEFT_OK;
    bool with_cells = false;
    (void)patches_of(compiled, &with_cells);
    TRY(weft_addto_rows_make(sell->context->device, sell->layout, pattern, dofs, with_cells, rows,
                             error));
    rows->start = weft_sell_matrix_start(sell->matrix);
    rows->rows = weft_sell_matrix_rows(sell->matrix);
    TRY(weft_program_bind_connectivity(compiled->program, "dofs", dofs, error));
    TRY(weft_program_bind_matrix_rows(compiled->program, "A", weft_sell_matrix_values(sell->matrix),
                                      rows, error));
done:
    return status;
}

/* rows equals dofs if nodes have one component. */
static weft_status bind_positions(const sell_operator *sell, const weft_compiled *compiled,
                                  weft_connectivity *dofs, const weft_connectivity *rows,
                                  weft_memory **positions, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_sell_positions(sell->matrix, rows, positions, error));
    TRY(weft_program_bind_connectivity(compiled->program, "dofs", dofs, error));
    TRY(weft_program_bind_matrix(compiled->program, "A", weft_sell_matrix_values(sell->matrix),
                                 *positions, error));
done:
    return status;
}

/* Switch to atomic additions, and log why. */
static weft_status part_fall_back(const sell_operator *sell, sell_part *part, weft_compiled *atomic,
                                  const char *why, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_log(sell->context->monitor, WEFT_LOG_WARNING,
             "%s: the matrix is assembled by atomic additions, not row by row: %s", part->form.name,
             why);
    weft_compiled_free(&part->assemble);
    weft_addto_rows_free(&part->rows);
    part->by_owners = false;
    part->assemble = *atomic;
    *atomic = (weft_compiled){0};
    TRY(bind_positions(sell, &part->assemble, part->form.dofs, part->vector_dofs.connectivity,
                       &part->positions, error));
done:
    return status;
}

static weft_status part_make(const sell_operator *sell, const weft_pattern *pattern,
                             sell_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled atomic = {0};
    weft_error why = {0};
    bool with_cells = false;
    TRY(part_compile(sell, part,
                     weft_form_components(&part->form) > 1 ? WEFT_SCATTER_IN_PLACE
                                                           : WEFT_SCATTER_PATCHES,
                     &part->assemble, error));
    part->by_owners = patches_of(&part->assemble, &with_cells);
    if (!part->by_owners) {
        TRY(bind_positions(sell, &part->assemble, part->form.dofs, part->vector_dofs.connectivity,
                           &part->positions, error));
        goto done;
    }
    status = bind_rows(sell, pattern, &part->assemble, part->form.dofs, &part->rows, &why);
    if (status == WEFT_ERROR_UNSUPPORTED) {
        TRY(part_compile(sell, part, WEFT_SCATTER_IN_PLACE, &atomic, error));
        TRY(part_fall_back(sell, part, &atomic, why.message, error));
    } else if (status != WEFT_OK && error) {
        *error = why;
    }
done:
    weft_compiled_free(&atomic);
    return status;
}

/* ---- verification of owner-computes assembly ---- */

/* y = A v with the matrix that a program assembles from zero. */
static weft_status trial_run(const sell_operator *sell, const weft_compiled *compiled,
                             weft_memory *v, weft_memory *y, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_zero(weft_sell_matrix_values(sell->matrix), error));
    TRY(weft_program_run(compiled->program, error));
    TRY(weft_sell_product(sell->matrix, v, y, error));
done:
    return status;
}

/* Assemble the first cells by owners and by atomic additions, and compare the products. Afterwards
 * the programs are bound to all cells again. */
static weft_status trial_apart(const sell_operator *sell, const weft_pattern *pattern,
                               sell_part *part, const weft_compiled *atomic, double *difference,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = sell->context->device;
    weft_connectivity *all = part->form.dofs, *few = NULL;
    const int64_t n_cells = weft_connectivity_from(all), n = pattern->n_rows;
    weft_matrix_rows rows = {0};
    weft_memory *positions = NULL, *v = NULL, *y[2] = {NULL, NULL};
    TRY(weft_connectivity_make(device, weft_connectivity_indices(all),
                               n_cells < TRIAL_CELLS ? n_cells : TRIAL_CELLS,
                               weft_connectivity_width(all), n, &few, error));
    TRY(bind_rows(sell, pattern, &part->assemble, few, &rows, error));
    TRY(bind_positions(sell, atomic, few, few, &positions, error));
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &v, error));
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &y[0], error));
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &y[1], error));
    TRY(weft_write_synthetic(v, n, error));
    TRY(trial_run(sell, atomic, v, y[0], error));
    TRY(trial_run(sell, &part->assemble, v, y[1], error));
    TRY(weft_relative_difference(y[0], y[1], n, difference, error));
    TRY(weft_program_bind_connectivity(part->assemble.program, "dofs", all, error));
    TRY(weft_program_bind_matrix_rows(part->assemble.program, "A",
                                      weft_sell_matrix_values(sell->matrix), &part->rows, error));
done:
    weft_addto_rows_free(&rows);
    weft_memory_free(&positions);
    weft_memory_free(&v);
    weft_memory_free(&y[0]);
    weft_memory_free(&y[1]);
    weft_connectivity_free(&few);
    return status;
}

/* Owner-computes assembly is unsuitable for forms whose values depend on the numbering of a cell's
 * vertices (e.g. an asymmetric quadrature rule), and for rows too long for a block's memory. */
static weft_status part_check(const sell_operator *sell, const weft_pattern *pattern,
                              sell_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled atomic = {0};
    weft_error why = {0};
    double difference = 0;
    if (!part->by_owners || part->is_checked)
        return WEFT_OK;
    TRY(part_compile(sell, part, WEFT_SCATTER_IN_PLACE, &atomic, error));
    status = trial_apart(sell, pattern, part, &atomic, &difference, &why);
    if (status == WEFT_OK && difference > WEFT_RELATIVE_DIFFERENCE_MAX)
        snprintf(why.message, sizeof why.message,
                 "its values depend on the numbering of a cell's vertices (by %.1e)", difference);
    if (status == WEFT_ERROR_UNSUPPORTED ||
        (status == WEFT_OK && difference > WEFT_RELATIVE_DIFFERENCE_MAX))
        TRY(part_fall_back(sell, part, &atomic, why.message, error));
    else if (status != WEFT_OK && error)
        *error = why;
    part->is_checked = status == WEFT_OK;
done:
    weft_compiled_free(&atomic);
    return status;
}

/* ---- the operator ---- */

static weft_status sell_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    sell_operator *sell = op->state;
    for (int i = 0; i < sell->n_parts; ++i)
        TRY(part_check(sell, op->pattern, &sell->parts[i], error));
    weft_sell_free(&sell->layout);
    for (int i = 0; i < sell->n_parts; ++i)
        TRY(weft_program_run(sell->parts[i].assemble.program, error));
done:
    return status;
}

static weft_status sell_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                              weft_error *error) {
    const sell_operator *sell = op->state;
    return weft_sell_product(sell->matrix, v, y, error);
}

static weft_status sell_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    const sell_operator *sell = op->state;
    return weft_sell_diagonal(sell->matrix, d, error);
}

static void sell_free(weft_operator *op) {
    sell_operator *sell = op->state;
    for (int i = 0; i < sell->n_parts; ++i) {
        weft_compiled_free(&sell->parts[i].assemble);
        weft_addto_rows_free(&sell->parts[i].rows);
        weft_memory_free(&sell->parts[i].positions);
        weft_vector_dofs_free(&sell->parts[i].vector_dofs);
    }
    weft_sell_matrix_free(&sell->matrix);
    weft_sell_free(&sell->layout);
    weft_memory_free(&sell->exported);
}

static const weft_product_arguments *sell_rows(const weft_operator *op) {
    const sell_operator *sell = op->state;
    return weft_sell_matrix_product_kernel(sell->matrix);
}

static weft_status sell_matrix(weft_operator *op, weft_memory **values, weft_error *error) {
    weft_status status = WEFT_OK;
    sell_operator *sell = op->state;
    if (!sell->exported)
        TRY(weft_memory_make(sell->context->device, (size_t)op->pattern->n_entries * sizeof(double),
                             &sell->exported, error));
    TRY(weft_sell_export(sell->matrix, op->pattern, sell->exported, error));
    *values = sell->exported;
done:
    return status;
}

static const weft_operator_table sell_table = {
    .assemble = sell_assemble,
    .apply = sell_apply,
    .diagonal = sell_diagonal,
    .free = sell_free,
    .rows = sell_rows,
    .matrix = sell_matrix,
};

weft_status weft_operator_make_sell(weft_context *context, const weft_form *forms, int n_forms,
                                    weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    TRY(weft_operator_allocate(&sell_table, sizeof(sell_operator), sizeof(sell_part), forms,
                               n_forms, &op, error));
    sell_operator *sell = op->state;
    sell_part *parts = op->parts;
    *sell = (sell_operator){.context = context, .parts = parts, .n_parts = n_forms};
    /* the first form determines the pattern, which contains the couplings of the others */
    for (int i = 0; i < n_forms; ++i) {
        parts[i].form = forms[i];
        TRY(weft_vector_dofs_make(context->device, &forms[i], &parts[i].vector_dofs, error));
    }
    TRY(weft_pattern_make(context->device, parts[0].vector_dofs.connectivity, WEFT_SLICE,
                          &op->pattern, NULL, error));
    TRY(weft_sell_matrix_make(context->device, op->pattern, &sell->layout, &sell->matrix, error));
    for (int i = 0; i < n_forms; ++i) {
        TRY(part_make(sell, op->pattern, &parts[i], error));
    }
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}
