/* The operator as one SELL matrix on a GPU (fem/sparse/sell.h). Assembly is owner-computes, in a
 * fixed order (fem/sparse/addto.h), or, where that is impossible, by atomic additions at
 * precomputed positions. */
#include "fem/form/compare.h"
#include "fem/operator/private.h"
#include "fem/sparse/addto.h"

/* Number of cells on which owner-computes assembly is verified. */
#define TRIAL_CELLS 2048

typedef struct sell_operator {
    weft_sell_matrix *matrix;
    weft_sell *layout;     /* kept until owner-computes assembly is verified */
    weft_memory *exported; /* in the pattern's order; NULL: not requested yet */
} sell_operator;

/* ---- one form ---- */

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

static weft_status bind_owners(const sell_operator *sell, const weft_compiled *compiled,
                               weft_connectivity *dofs, const weft_matrix_rows *rows,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind_connectivity(compiled->program, "dofs", dofs, error));
    TRY(weft_program_bind_matrix_rows(compiled->program, "A", weft_sell_matrix_values(sell->matrix),
                                      rows, error));
done:
    return status;
}

/* Make and bind the data for dofs of an owner-computes program, or of one with positions. */
static weft_status bind_rows(const weft_operator *op, const weft_compiled *compiled,
                             weft_connectivity *dofs, weft_matrix_rows *rows, weft_error *error) {
    weft_status status = WEFT_OK;
    const sell_operator *sell = op->state;
    bool with_cells = false;
    (void)patches_of(compiled, &with_cells);
    TRY(weft_addto_rows_make(op->context->device, sell->layout, op->pattern, dofs, with_cells, rows,
                             error));
    rows->start = weft_sell_matrix_start(sell->matrix);
    rows->rows = weft_sell_matrix_rows(sell->matrix);
    TRY(bind_owners(sell, compiled, dofs, rows, error));
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

/* Switch to atomic additions, and log why; `atomic` is moved, or compiled if it is empty. */
static weft_status part_fall_back(const weft_operator *op, weft_matrix_part *part,
                                  weft_compiled *atomic, const char *why, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!atomic->program)
        TRY(weft_matrix_part_compile(op, part, WEFT_SCATTER_IN_PLACE, atomic, error));
    weft_log(op->context->monitor, WEFT_LOG_WARNING,
             "%s: the matrix is assembled by atomic additions, not row by row: %s", part->form.name,
             why);
    weft_compiled_free(&part->assemble);
    weft_addto_rows_free(&part->rows);
    part->by_owners = false;
    part->assemble = *atomic;
    *atomic = (weft_compiled){0};
    TRY(bind_positions(op->state, &part->assemble, part->form.dofs, part->vector_dofs.connectivity,
                       &part->positions, error));
done:
    return status;
}

static weft_status part_make(const weft_operator *op, weft_matrix_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_scatter scatter =
        weft_form_components(&part->form) > 1 ? WEFT_SCATTER_IN_PLACE : WEFT_SCATTER_PATCHES;
    weft_compiled atomic = {0};
    weft_error why = {0};
    bool with_cells = false, unsupported = false;
    TRY(weft_matrix_part_compile(op, part, scatter, &part->assemble, error));
    part->by_owners = patches_of(&part->assemble, &with_cells);
    if (!part->by_owners) {
        TRY(bind_positions(op->state, &part->assemble, part->form.dofs,
                           part->vector_dofs.connectivity, &part->positions, error));
        goto done;
    }
    status = bind_rows(op, &part->assemble, part->form.dofs, &part->rows, &why);
    TRY(weft_status_supported(status, &why, &unsupported, error));
    if (unsupported)
        TRY(part_fall_back(op, part, &atomic, why.message, error));
done:
    weft_compiled_free(&atomic);
    return status;
}

/* ---- verification of owner-computes assembly ---- */

/* Assembly of the first cells, by atomic additions and by owners. */
typedef struct trial {
    const weft_operator *op;
    const weft_matrix_part *part;
    weft_compiled atomic;
    weft_connectivity *few;
    weft_memory *positions;
    weft_matrix_rows rows;
} trial;

/* y = A v with the matrix that a program assembles from zero. A weft_product_way. */
static weft_status trial_run(void *user, int which, weft_memory *v, weft_memory *y,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    trial *t = user;
    const sell_operator *sell = t->op->state;
    const weft_compiled *compiled = which == 0 ? &t->atomic : &t->part->assemble;
    if (which == 0)
        TRY(bind_positions(sell, compiled, t->few, t->few, &t->positions, error));
    else
        TRY(bind_rows(t->op, compiled, t->few, &t->rows, error));
    TRY(weft_memory_zero(weft_sell_matrix_values(sell->matrix), error));
    TRY(weft_program_run(compiled->program, error));
    TRY(weft_sell_product(sell->matrix, v, y, error));
done:
    return status;
}

/* Owner-computes assembly is unsuitable for forms whose values depend on the numbering of a cell's
 * vertices (e.g. an asymmetric quadrature rule), and for rows too long for a block's memory.
 * Afterwards the program is bound to all cells again. */
static weft_status part_check(const weft_operator *op, weft_matrix_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = op->context->device;
    weft_connectivity *all = part->form.dofs;
    const int64_t n_cells = weft_connectivity_from(all), n = op->pattern->n_rows;
    trial t = {.op = op, .part = part};
    weft_error why = {0};
    bool good = false;
    if (!part->by_owners || part->is_checked)
        return WEFT_OK;
    TRY(weft_matrix_part_compile(op, part, WEFT_SCATTER_IN_PLACE, &t.atomic, error));
    TRY(weft_connectivity_make(device, weft_connectivity_indices(all),
                               n_cells < TRIAL_CELLS ? n_cells : TRIAL_CELLS,
                               weft_connectivity_width(all), n, &t.few, error));
    TRY(weft_products_agree(device, n, trial_run, &t, &good, &why, error));
    if (good)
        TRY(bind_owners(op->state, &part->assemble, all, &part->rows, error));
    else
        TRY(part_fall_back(op, part, &t.atomic, why.message, error));
    part->is_checked = true;
done:
    weft_compiled_free(&t.atomic);
    weft_addto_rows_free(&t.rows);
    weft_memory_free(&t.positions);
    weft_connectivity_free(&t.few);
    return status;
}

/* ---- the operator ---- */

static weft_status sell_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    sell_operator *sell = op->state;
    for (int i = 0; i < op->n_parts; ++i)
        TRY(part_check(op, (weft_matrix_part *)op->parts + i, error));
    weft_sell_free(&sell->layout);
    TRY(weft_matrix_parts_assemble(op, error));
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
    weft_matrix_parts_free(op);
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
        TRY(weft_memory_make(op->context->device, (size_t)op->pattern->n_entries * sizeof(double),
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
    TRY(weft_matrix_parts_make(context, &sell_table, sizeof(sell_operator), forms, n_forms, &op,
                               error));
    sell_operator *sell = op->state;
    weft_matrix_part *parts = op->parts;
    /* the first form determines the pattern, which contains the couplings of the others */
    TRY(weft_pattern_make(context->device, parts[0].vector_dofs.connectivity, WEFT_SLICE,
                          &op->pattern, NULL, error));
    TRY(weft_sell_matrix_make(context->device, op->pattern, false, &sell->layout, &sell->matrix,
                              error));
    for (int i = 0; i < n_forms; ++i)
        TRY(part_make(op, &parts[i], error));
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}
