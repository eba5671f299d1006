/* The operator as one SELL matrix on a GPU (fem/sparse/sell.h). Assembly is owner-computes, in a
 * fixed order (fem/sparse/addto.h), or, where that is impossible, by atomic additions at
 * precomputed positions. */
#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fem/form/compare.h"
#include "fem/operator/private.h"
#include "fem/sparse/on_device.h"

#include <stdlib.h>

/* Pattern and layout are made on the device, or, where set-up does not run there or a row is too
 * long, on the host. */
typedef struct sell_operator {
    weft_sell_matrix *matrix;
    weft_setup *setup;       /* NULL: made on the host */
    weft_sell *layout;       /* on the host; NULL from the first assembly on */
    weft_device_halos halos; /* on the device, for the rows of all parts; empty: too large, */
    weft_error why;          /* for this reason */
    weft_row_cells cells;    /* of each row of the first form, until those of all parts are made */
    weft_memory *row_start;  /* on the device; NULL: not requested yet */
    weft_memory *exported;   /* in the pattern's order; NULL: not requested yet */
    bool is_assembled;       /* at least once */
} sell_operator;

/* ---- one form ---- */

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

static int count_ranges(const weft_operator *op, const weft_connectivity *dofs) {
    const int64_t n = weft_connectivity_from(dofs) * weft_connectivity_width(dofs);
    return weft_connectivity_ranges(weft_device_limits(op->context->device), (size_t)n);
}

/* Rows of whole blocks. */
static weft_target_range band_rows(const weft_operator *op, int band, int n_bands) {
    const int64_t n = op->pattern->n_rows, n_blocks = (n + WEFT_SELL_ROWS - 1) / WEFT_SELL_ROWS;
    const int64_t first = n_blocks * band / n_bands * WEFT_SELL_ROWS;
    const int64_t last = n_blocks * (band + 1) / n_bands * WEFT_SELL_ROWS;
    return (weft_target_range){first, (last < n ? last : n) - first};
}

static weft_status rows_on_device(const weft_operator *op, weft_connectivity *dofs,
                                  const weft_target_range *band, bool with_cells,
                                  weft_matrix_rows *rows, weft_error *error) {
    weft_status status = WEFT_OK;
    const sell_operator *sell = op->state;
    const weft_matrix_part *parts = op->parts;
    const bool has_cells = sell->cells.start && dofs == parts[0].vector_dofs.connectivity &&
                           band->n == op->pattern->n_rows;
    weft_row_cells own = {0};
    if (!sell->halos.start) {
        *error = sell->why;
        TRY(WEFT_ERROR_UNSUPPORTED);
    }
    if (!has_cells)
        TRY(weft_row_cells_make(sell->setup, dofs, band, &own, error));
    TRY(weft_addto_rows_on_device(sell->setup, sell->matrix, &sell->halos, dofs,
                                  has_cells ? &sell->cells : &own, with_cells, rows, error));
done:
    weft_row_cells_free(&own);
    return status;
}

/* Those on the device share the halos. */
static void rows_free(const sell_operator *sell, weft_matrix_rows *rows) {
    if (sell->setup)
        rows->halo_start = rows->halo = NULL;
    weft_addto_rows_free(rows);
}

/* Make the data for dofs of an owner-computes program, for the rows of a band; bands need set-up on the
 * device. */
static weft_status rows_make(const weft_operator *op, const weft_compiled *compiled,
                             weft_connectivity *dofs, const weft_target_range *band,
                             weft_matrix_rows *rows, weft_error *error) {
    weft_status status = WEFT_OK;
    const sell_operator *sell = op->state;
    const bool with_cells = weft_owners_of(compiled->compilation).with_cells;
    TRY(sell->setup ? rows_on_device(op, dofs, band, with_cells, rows, error)
                    : weft_addto_rows_make(op->context->device, sell->layout, op->pattern, dofs,
                                           with_cells, rows, error));
    rows->start = weft_sell_matrix_start(sell->matrix);
    rows->rows = weft_sell_matrix_rows(sell->matrix);
done:
    return status;
}

/* On several ranks the order of additions must not depend on the parts. */
static weft_status make_sums(const weft_operator *op, weft_matrix_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    const sell_operator *sell = op->state;
    weft_connectivity *rows = part->vector_dofs.connectivity;
    const size_t bytes = weft_memory_bytes(weft_sell_matrix_values(sell->matrix));
    TRY(weft_ordered_sums_make(op->context->device, weft_connectivity_from(rows),
                               weft_connectivity_width(rows), part->positions,
                               (int64_t)(bytes / sizeof(double)), &part->sums, error));
    weft_memory_free(&part->positions);
done:
    return status;
}

static weft_status bind_positions(const weft_operator *op, weft_matrix_part *part,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const sell_operator *sell = op->state;
    weft_program *program = part->assemble.program;
    TRY(weft_sell_positions(sell->matrix, part->vector_dofs.connectivity, &part->positions, error));
    if (part->is_ordered)
        TRY(make_sums(op, part, error));
    weft_memory *values =
        part->sums ? weft_ordered_sums_values(part->sums) : weft_sell_matrix_values(sell->matrix);
    TRY(weft_program_bind_connectivity(program, "dofs", part->form.dofs, error));
    TRY(weft_program_bind_matrix(
        program, "A", values,
        part->sums ? weft_ordered_sums_positions(part->sums) : part->positions, error));
done:
    return status;
}

static void log_atomic(const weft_operator *op, const weft_matrix_part *part, const char *why) {
    const bool is_ordered = op->context->comm;
    weft_log(op->context->monitor, is_ordered ? WEFT_LOG_INFO : WEFT_LOG_WARNING,
             "%s: the matrix is assembled %s, not row by row: %s", part->form.name,
             is_ordered ? "from stored local matrices" : "by atomic additions", why);
}

static weft_status part_compile_atomic(const weft_operator *op, weft_matrix_part *part,
                                       weft_error *error) {
    weft_compiled_free(&part->assemble);
    part->is_ordered = op->context->comm;
    return weft_matrix_part_compile(op, part, WEFT_SCATTER_IN_PLACE, &part->assemble, error);
}

/* Switch to atomic additions, and log why. */
static weft_status part_fall_back(const weft_operator *op, weft_matrix_part *part, const char *why,
                                  weft_error *error) {
    log_atomic(op, part, why);
    rows_free(op->state, &part->rows);
    part->by_owners = false;
    return part_compile_atomic(op, part, error);
}

static weft_status part_bind(const weft_operator *op, weft_matrix_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    if (part->by_owners && part->n_bands > 1) /* rows are bound band by band */
        TRY(weft_program_bind_connectivity(part->assemble.program, "dofs", part->form.dofs, error));
    else if (part->by_owners)
        TRY(bind_owners(op->state, &part->assemble, part->form.dofs, &part->rows, error));
    else
        TRY(bind_positions(op, part, error));
done:
    return status;
}

/* A program with more kernels than that of the matrix would run them again for each band. */
static int count_bands(const weft_operator *op, const weft_matrix_part *part) {
    const sell_operator *sell = op->state;
    return sell->setup && weft_compilation_kernels(part->assemble.compilation) == 1 &&
                   op->pattern->n_rows >= WEFT_CONNECTIVITY_RANGES * WEFT_SELL_ROWS
               ? count_ranges(op, part->form.dofs)
               : 1;
}

/* Compile a part and make its rows; nothing of it needs the values of the matrix yet. */
static weft_status part_make(const weft_operator *op, weft_matrix_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_scatter scatter =
        weft_form_components(&part->form) > 1 ? WEFT_SCATTER_IN_PLACE : WEFT_SCATTER_PATCHES;
    weft_error why = {0};
    bool unsupported = false;
    TRY(weft_matrix_part_compile(op, part, scatter, &part->assemble, error));
    const weft_owners owners = weft_owners_of(part->assemble.compilation);
    part->by_owners = owners.rows;
    if (owners.not_permuted)
        log_atomic(op, part, owners.not_permuted);
    part->is_ordered = !owners.rows && op->context->comm;
    if (!owners.rows && /* patches are of a list that the matrix needs, and have no fallback */
        (owners.patches || (part->is_ordered && part != op->parts)))
        TRY(part_compile_atomic(op, part, error));
    if (!part->by_owners)
        goto done;
    part->n_bands = count_bands(op, part);
    const weft_target_range all = band_rows(op, 0, 1);
    if (part->n_bands == 1)
        status = rows_make(op, &part->assemble, part->form.dofs, &all, &part->rows, &why);
    TRY(weft_status_supported(status, &why, &unsupported, error));
    if (unsupported)
        TRY(part_fall_back(op, part, why.message, error));
done:
    return status;
}

/* Run an owner-computes program band by band. */
static weft_status run_bands(const weft_operator *op, const weft_matrix_part *part,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity *dofs = part->form.dofs;
    weft_matrix_rows rows = {0};
    for (int band = 0; band < part->n_bands; ++band) {
        const weft_target_range own = band_rows(op, band, part->n_bands);
        TRY(rows_make(op, &part->assemble, dofs, &own, &rows, error));
        TRY(bind_owners(op->state, &part->assemble, dofs, &rows, error));
        TRY(weft_program_run(part->assemble.program, error));
        rows_free(op->state, &rows);
    }
done:
    rows_free(op->state, &rows);
    return status;
}

/* ---- the operator ---- */

/* Words that were made band by band are kept from the second assembly on, if there is memory: then there may
 * be many. */
static weft_status part_keep(const weft_operator *op, weft_matrix_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_connectivity *dofs = part->form.dofs;
    const weft_target_range all = band_rows(op, 0, 1);
    const size_t n_padded =
        (size_t)weft_connectivity_from(dofs) * (size_t)weft_connectivity_width(dofs);
    const size_t bytes = n_padded * 2 * sizeof(uint64_t); /* and their sources */
    if (!part->by_owners || part->n_bands == 1 ||
        bytes > weft_device_bytes_free(op->context->device) / 2)
        goto done;
    part->n_bands = 1;
    TRY(rows_make(op, &part->assemble, part->form.dofs, &all, &part->rows, error));
    TRY(part_bind(op, part, error));
done:
    return status;
}

/* Add a form to the matrix. What its owners cannot make, since a row or a block is too large, is found when the
 * words are made, before or, band by band, here, or at the launch; then *again is set, and all forms have to be
 * added from the first one on. */
static weft_status part_assemble(weft_operator *op, weft_matrix_part *part, bool *again,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const sell_operator *sell = op->state;
    weft_error why = {0};
    *again = false;
    if (!part->by_owners) {
        TRY(weft_program_run(part->assemble.program, error));
        if (part->sums)
            TRY(weft_ordered_sums_add(part->sums, part == op->parts,
                                      weft_sell_matrix_values(sell->matrix), error));
        goto done;
    }
    status = part->n_bands > 1 ? run_bands(op, part, &why)
                               : weft_program_run(part->assemble.program, &why);
    TRY(weft_status_supported(status, &why, again, error));
    if (*again) {
        TRY(part_fall_back(op, part, why.message, error));
        TRY(part_bind(op, part, error));
    }
done:
    return status;
}

static weft_status sell_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    sell_operator *sell = op->state;
    weft_matrix_part *parts = op->parts;
    bool again = false;
    for (int i = 0; i < op->n_parts && sell->is_assembled; ++i)
        TRY(part_keep(op, &parts[i], error));
    weft_sell_free(&sell->layout);
    for (int i = 0; i < op->n_parts; i = again ? 0 : i + 1)
        TRY(part_assemble(op, &parts[i], &again, error));
    sell->is_assembled = true;
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

static void sell_release_assembly(weft_operator *op) {
    sell_operator *sell = op->state;
    weft_matrix_part *parts = op->parts;
    for (int i = 0; i < op->n_parts; ++i)
        rows_free(sell, &parts[i].rows);
    weft_matrix_parts_free(op);
    weft_device_halos_free(&sell->halos);
}

static void sell_matrix_release(weft_operator *op) {
    sell_operator *sell = op->state;
    weft_memory_free(&sell->row_start);
    weft_memory_free(&sell->exported);
}

static void sell_free(weft_operator *op) {
    sell_operator *sell = op->state;
    sell_release_assembly(op);
    weft_sell_matrix_free(&sell->matrix);
    weft_sell_free(&sell->layout);
    weft_row_cells_free(&sell->cells);
    sell_matrix_release(op);
    weft_setup_free(&sell->setup);
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
    if (!sell->row_start && sell->setup)
        TRY(weft_sell_matrix_row_starts(sell->setup, sell->matrix, &sell->row_start, error));
    if (!sell->row_start)
        TRY(weft_memory_place(op->context->device, op->pattern->row_start,
                              (size_t)op->pattern->n_rows + 1, sizeof(int64_t), &sell->row_start,
                              error));
    TRY(weft_sell_export(sell->matrix, sell->row_start, sell->exported, error));
    *values = sell->exported;
done:
    return status;
}

static weft_status sell_read_pattern(const weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    const sell_operator *sell = op->state;
    weft_device_pattern pattern = {op->pattern->n_rows, op->pattern->n_entries, NULL, NULL};
    TRY(weft_sell_matrix_row_starts(sell->setup, sell->matrix, &pattern.row_start, error));
    TRY(weft_sell_matrix_columns(sell->setup, sell->matrix, pattern.row_start, pattern.n_entries,
                                 &pattern.columns, error));
    TRY(weft_device_pattern_read(&pattern, op->pattern, error));
done:
    weft_device_pattern_free(&pattern);
    return status;
}

static weft_sell_matrix *sell_made_on_device(const weft_operator *op, int *components) {
    const sell_operator *sell = op->state;
    const weft_matrix_part *parts = op->parts;
    *components = weft_form_components(&parts[0].form);
    return sell->setup ? sell->matrix : NULL;
}

static const weft_operator_table sell_table = {
    .assemble = sell_assemble,
    .release_assembly = sell_release_assembly,
    .apply = sell_apply,
    .diagonal = sell_diagonal,
    .free = sell_free,
    .rows = sell_rows,
    .matrix = sell_matrix,
    .matrix_release = sell_matrix_release,
    .read_pattern = sell_read_pattern,
    .sell = sell_made_on_device,
};

/* The pattern is freed behind it: it can be read from the layout. */
static weft_status layout_on_device(weft_operator *op, weft_connectivity *dofs, weft_error *error) {
    weft_status status = WEFT_OK;
    sell_operator *sell = op->state;
    bool unsupported = false;
    weft_device_pattern pattern = {0};
    weft_pattern *sizes = NULL;
    const double start = weft_clock();
    TRY(weft_setup_make(op->context->device, &sell->setup, error));
    TRY(weft_row_cells_make(sell->setup, dofs, NULL, &sell->cells, error));
    TRY(weft_device_pattern_make(sell->setup, dofs, &sell->cells, &pattern, error));
    if (count_ranges(op, dofs) > 1)
        weft_row_cells_free(&sell->cells); /* those of each band are made when needed */
    TRY(weft_sell_matrix_from_device(sell->setup, &pattern, &sell->matrix, error));
    status = weft_device_halos_make(sell->setup, &pattern, &sell->halos, &sell->why);
    TRY(weft_status_supported(status, &sell->why, &unsupported, error));
    sizes = calloc(1, sizeof *sizes);
    if (!sizes)
        TRY(weft_out_of_memory(error, "a sparse matrix"));
    sizes->n_rows = pattern.n_rows;
    sizes->n_entries = pattern.n_entries;
    op->pattern = sizes;
    weft_log(op->context->monitor, WEFT_LOG_INFO,
             "a matrix of %lld rows and %lld entries laid out on the device in %.3f s",
             (long long)pattern.n_rows, (long long)pattern.n_entries, weft_clock() - start);
done:
    weft_device_pattern_free(&pattern);
    return status;
}

static weft_status layout_on_host(weft_operator *op, weft_connectivity *dofs, weft_error *error) {
    weft_status status = WEFT_OK;
    sell_operator *sell = op->state;
    weft_setup_free(&sell->setup);
    weft_row_cells_free(&sell->cells);
    if (!op->pattern)
        TRY(weft_pattern_make(op->context->device, dofs, WEFT_SLICE, &op->pattern, NULL, error));
    TRY(weft_sell_matrix_make(op->context->device, op->pattern, false, &sell->layout, &sell->matrix,
                              error));
done:
    return status;
}

static weft_status make_layout(weft_operator *op, weft_connectivity *dofs, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error why = {0};
    bool unsupported = !weft_setup_on_device(op->context->device) || op->pattern;
    if (!unsupported) {
        TRY(weft_status_supported(layout_on_device(op, dofs, &why), &why, &unsupported, error));
        if (unsupported)
            weft_log(op->context->monitor, WEFT_LOG_INFO, "the matrix is laid out on the host: %s",
                     why.message);
    }
    if (unsupported)
        TRY(layout_on_host(op, dofs, error));
done:
    return status;
}

weft_status weft_operator_make_sell(weft_context *context, const weft_form *forms, int n_forms,
                                    weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    TRY(weft_matrix_parts_make(context, &sell_table, sizeof(sell_operator), forms, n_forms, &op,
                               error));
    weft_matrix_part *parts = op->parts;
    TRY(weft_matrix_parts_pattern(op, &op->pattern, error)); /* else that of the first form */
    TRY(make_layout(op, parts[0].vector_dofs.connectivity, error));
    for (int i = 0; i < n_forms; ++i)
        TRY(part_make(op, &parts[i], error));
    sell_operator *sell = op->state;
    weft_row_cells_free(&sell->cells);
    TRY(weft_sell_matrix_make_values(sell->matrix, error));
    for (int i = 0; i < n_forms; ++i)
        TRY(part_bind(op, &parts[i], error));
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}
