/* The operator format csr: one sparse matrix, to which every form is added; on a GPU in SELL format
 * (fem/operator/sell.c). */
#include "fem/operator/private.h"
#include "fem/sparse/sell.h"

weft_status weft_operator_csr_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                    weft_error *error) {
    const double *values = weft_memory_host(op->values);
    if (!values) /* a null device */
        return WEFT_OK;
    return weft_csr_product(op->context->device, op->pattern, values, weft_memory_host(v),
                            weft_memory_host(y), error);
}

typedef struct diagonal {
    const weft_pattern *pattern;
    const double *values;
    double *out;
} diagonal;

enum { CHUNK = 1 << 14 };

static void chunk_diagonal(void *user, int64_t chunk) {
    const diagonal *d = user;
    const int64_t n = d->pattern->n_rows, end = (chunk + 1) * CHUNK;
    for (int64_t r = chunk * CHUNK; r < end && r < n; ++r) {
        const int64_t last = d->pattern->row_start[r + 1];
        int64_t k = d->pattern->row_start[r];
        while (k < last && d->pattern->columns[k] < r)
            ++k;
        d->out[r] = k < last && d->pattern->columns[k] == r ? d->values[k] : 0;
    }
}

weft_status weft_operator_csr_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    diagonal run = {op->pattern, weft_memory_host(op->values), weft_memory_host(d)};
    const int64_t n = run.values ? op->pattern->n_rows : 0; /* a null device has none */
    return weft_device_for(op->context->device, (n + CHUNK - 1) / CHUNK, chunk_diagonal, &run,
                           error);
}

static const weft_operator_table csr_table = {.assemble = weft_matrix_parts_assemble,
                                              .release_assembly = weft_matrix_parts_free,
                                              .apply = weft_operator_csr_apply,
                                              .diagonal = weft_operator_csr_diagonal,
                                              .free = weft_matrix_parts_free};

static weft_status make_values(weft_operator *op, weft_error *error) {
    return weft_memory_make(op->context->device, (size_t)op->pattern->n_entries * sizeof(double),
                            &op->values, error);
}

/* The pattern is there, or the first form's. */
static weft_status part_make(weft_operator *op, weft_matrix_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = op->context->device;
    const weft_connectivity *rows = part->vector_dofs.connectivity;
    TRY(weft_matrix_part_compile(op, part, WEFT_SCATTER_IN_PLACE, &part->assemble, error));
    const int lanes = weft_program_lanes(part->assemble.program);
    if (!op->pattern) {
        TRY(weft_pattern_make(device, rows, lanes, &op->pattern, &part->positions, error));
        TRY(make_values(op, error));
    } else {
        TRY(weft_pattern_positions(device, op->pattern, rows, lanes, &part->positions, error));
    }
    TRY(weft_program_bind_matrix(part->assemble.program, "A", op->values, part->positions, error));
done:
    return status;
}

static weft_status csr_make(weft_context *context, const weft_form *forms, int n_forms,
                            weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    if (weft_device_limits(context->device)->execution == WEFT_EXECUTION_SIMT) {
        status = weft_operator_make_sell(context, forms, n_forms, out, error);
        goto done;
    }
    TRY(weft_matrix_parts_make(context, &csr_table, 0, forms, n_forms, &op, error));
    TRY(weft_matrix_parts_pattern(op, &op->pattern, error));
    if (op->pattern)
        TRY(make_values(op, error));
    for (int i = 0; i < n_forms; ++i)
        TRY(part_make(op, (weft_matrix_part *)op->parts + i, error));
    *out = op;
    op = NULL;
done:
    weft_operator_free(&op);
    return status;
}

static void csr_count_bytes(const weft_operator_sizes *s, weft_assembly_cost *cost) {
    const double rows = (double)s->n_rows, entries = 12.0 * (double)s->n_entries;
    const double positions = 4.0 * (double)s->n_local * (double)s->n_local * (double)s->n_cells;
    cost->product_bytes = entries + 16 * rows + (s->on_gpu ? 0 : 8 * rows);
    cost->assembly_bytes = s->cell_bytes + positions + 16.0 * (double)s->n_entries;
    cost->memory_bytes = entries + 8 * rows + positions;
}

const char *const weft_assembly_rows = "rows of the matrix of each cell";
const char *const weft_assembly_positions = "positions of K in the matrix";
const char *const weft_assembly_cells = "cells round each row";
const char *const weft_assembly_halos = "halos of the matrix' blocks";

void weft_operator_estimate_rows(const weft_operator_sizes *s, weft_memory_estimate *estimate) {
    if (s->n_components > 1)
        weft_memory_estimate_add(estimate, weft_assembly_rows, s->n_padded * s->n_local,
                                 sizeof(int32_t));
}

void weft_operator_estimate_positions(const weft_operator_sizes *s,
                                      weft_memory_estimate *estimate) {
    weft_memory_estimate_add(estimate, weft_assembly_positions,
                             s->n_padded * s->n_local * s->n_local, sizeof(uint32_t));
}

/* A word per row and cell, with the padding of slices; or, for a band of rows, words and the transposed
 * connectivity. */
static size_t cells_bytes(const weft_operator_sizes *s) {
    const size_t places = s->n_padded * s->n_local / 25 * 26;
    const size_t ranges = (size_t)weft_connectivity_ranges(s->limits, s->n_cells * s->width);
    const size_t band = places / ranges * (sizeof(uint64_t) + sizeof(uint32_t));
    return ranges == 1 ? places * sizeof(uint64_t) : band;
}

static size_t csr_estimate_memory(const weft_operator_sizes *s, double applications,
                                  weft_memory_estimate *estimate) {
    (void)applications;
    weft_operator_estimate_rows(s, estimate);
    if (!s->on_gpu) {
        weft_operator_estimate_positions(s, estimate);
        weft_memory_estimate_add(estimate, "matrix, values", s->n_entries, sizeof(double));
        return 0;
    }
    /* The diagonal and the other entries, with the padding of slices; 16-bit column codes, as for
     * ordered nodes. */
    const size_t blocks = (s->n_rows + WEFT_SELL_ROWS - 1) / WEFT_SELL_ROWS;
    const size_t others = (s->n_entries - s->n_rows) / 100 * 103;
    weft_memory_estimate_add(estimate, "matrix, values", blocks * WEFT_SELL_ROWS + others,
                             sizeof(double));
    weft_memory_estimate_add(estimate, "matrix, columns", others, sizeof(uint16_t));
    if (s->n_components > 1)
        weft_operator_estimate_positions(s, estimate);
    else
        weft_memory_estimate_add(estimate, weft_assembly_cells, cells_bytes(s), 1);
    weft_memory_estimate_add(estimate, weft_assembly_halos, s->n_rows, sizeof(int32_t));
    weft_memory_estimate_add(estimate, "matrix, rows and starts",
                             blocks * (2 * WEFT_SELL_SLICES + WEFT_SELL_BASES + WEFT_SELL_ROWS),
                             sizeof(uint32_t));
    return 0;
}

const weft_operator_format weft_format_csr = {
    .info = {.name = "csr", .stores_matrix = true, .script = "matrix.weft"},
    .gpu = {true, {0.87, 0.90}, 0.7, 16e-9},
    .host = {true, {3.0, 3.0}, 0.9, 150e-9},
    .has_rows_product = true,
    .make = csr_make,
    .count_bytes = csr_count_bytes,
    .estimate_memory = csr_estimate_memory,
};
