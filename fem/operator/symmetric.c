/* The operator format edge: a symmetric matrix stored by edges (fem/sparse/symmetric.h), to which
 * every form is added at precomputed positions. */
#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fem/form/compare.h"
#include "fem/operator/private.h"
#include "fem/sparse/on_device.h"

#include <stdlib.h>

/* Largest difference of K_ij and K_ji due to rounding, relative to the largest local matrix. */
static const double rounding = 1e-12;

typedef struct symmetric_operator {
    weft_symmetric *symmetric;     /* NULL: on a GPU */
    weft_symmetric_matrix *matrix; /* on a GPU */
    weft_memory *values;
    bool is_checked;
} symmetric_operator;

/* Only one of K_ij and K_ji is added, so they must be equal. Checked once for all cells, in the
 * first assembly. */
static weft_status check_symmetric(weft_context *context, const weft_form *form,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    double difference = 0;
    TRY(weft_form_asymmetry(context, form, &difference, error));
    if (difference > rounding) {
        status = weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "the form %s is not symmetric, and the assembly edge stores K_ij and K_ji once",
            form->name);
        weft_error_hint(error, "use the assembly csr, lma or matrix-free");
    }
done:
    return status;
}

static weft_status symmetric_assemble(weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    symmetric_operator *state = op->state;
    const weft_matrix_part *parts = op->parts;
    const bool holds_numbers = !weft_device_limits(op->context->device)->records_only;
    for (int i = 0; i < op->n_parts && holds_numbers && !state->is_checked; ++i)
        TRY(check_symmetric(op->context, &parts[i].form, error));
    state->is_checked = true;
    TRY(weft_matrix_parts_assemble(op, error));
done:
    return status;
}

static weft_status symmetric_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                   weft_error *error) {
    const symmetric_operator *state = op->state;
    const double *values = weft_memory_host(state->values);
    if (state->matrix)
        return weft_symmetric_matrix_product(state->matrix, state->values, v, y, error);
    if (!values) /* a null device */
        return WEFT_OK;
    weft_device *device = op->context->device;
    return weft_symmetric_product(device, state->symmetric, values, weft_vectors_of(device),
                                  weft_memory_host(v), weft_memory_host(y), error);
}

static weft_status symmetric_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    const symmetric_operator *state = op->state;
    const double *values = weft_memory_host(state->values);
    double *out = weft_memory_host(d);
    if (state->matrix)
        return weft_symmetric_matrix_diagonal(state->matrix, state->values, d, error);
    for (int64_t i = 0; values && i < op->n_dofs; ++i)
        out[i] = values[state->symmetric->patches[i / WEFT_SYMMETRIC_NODES].first_value +
                        i % WEFT_SYMMETRIC_NODES];
    return WEFT_OK;
}

static void symmetric_free(weft_operator *op) {
    symmetric_operator *state = op->state;
    weft_matrix_parts_free(op);
    weft_memory_free(&state->values);
    weft_symmetric_matrix_free(&state->matrix);
    weft_symmetric_free(&state->symmetric);
}

static const weft_product_arguments *symmetric_rows(const weft_operator *op) {
    const symmetric_operator *state = op->state;
    return state->matrix ? weft_symmetric_matrix_rows(state->matrix, state->values) : NULL;
}

static const weft_operator_table edge_table = {.assemble = symmetric_assemble,
                                               .release_assembly = weft_matrix_parts_free,
                                               .apply = symmetric_apply,
                                               .diagonal = symmetric_diagonal,
                                               .free = symmetric_free,
                                               .rows = symmetric_rows};

/* What the operator is made from: a pattern and its layout, on the device or on the host. The first
 * form determines the pattern, which contains the couplings of the others. */
typedef struct structure {
    weft_setup *setup; /* NULL: on the host */
    weft_device_pattern device_pattern;
    weft_device_symmetric layout;
    weft_pattern *pattern; /* on the host; its layout is the operator's */
} structure;

static void structure_free(structure *s) {
    weft_device_pattern_free(&s->device_pattern);
    weft_device_symmetric_free(&s->layout);
    weft_pattern_free(&s->pattern);
    weft_setup_free(&s->setup);
}

static weft_status part_make(const weft_operator *op, const structure *s, weft_matrix_part *part,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const symmetric_operator *state = op->state;
    TRY(weft_matrix_part_compile(op, part, WEFT_SCATTER_IN_PLACE, &part->assemble, error));
    weft_program *program = part->assemble.program;
    weft_connectivity *dofs = part->vector_dofs.connectivity;
    const int lanes = weft_program_lanes(program);
    TRY(s->setup ? weft_device_symmetric_positions(s->setup, &s->layout, &s->device_pattern, dofs,
                                                   lanes, &part->positions, error)
                 : weft_symmetric_positions(op->context->device, state->symmetric, s->pattern, dofs,
                                            lanes, &part->positions, error));
done:
    return status;
}

static weft_status options_make(const weft_limits *limits, weft_symmetric_options *out,
                                weft_error *error) {
    const bool on_gpu = limits->execution == WEFT_EXECUTION_SIMT;
    *out = (weft_symmetric_options){.few_discards = on_gpu};
    if (on_gpu)
        out->most_rounds = weft_symmetric_rounds_within(limits->onchip_bytes);
    if (!on_gpu || out->most_rounds > 0)
        return WEFT_OK;
    return weft_error_set(
        error, WEFT_ERROR_UNSUPPORTED,
        "the assembly edge does not fit into the %zu bytes of shared memory of a block",
        limits->onchip_bytes);
}

static weft_status layout_on_device(const weft_operator *op, const weft_symmetric_options *options,
                                    structure *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_matrix_part *parts = op->parts;
    weft_connectivity *dofs = parts[0].vector_dofs.connectivity;
    weft_row_cells cells = {0};
    const double start = weft_clock();
    TRY(weft_setup_make(op->context->device, &s->setup, error));
    TRY(weft_row_cells_make(s->setup, dofs, NULL, &cells, error));
    TRY(weft_device_pattern_make(s->setup, dofs, &cells, &s->device_pattern, error));
    weft_row_cells_free(&cells);
    TRY(weft_device_symmetric_make(s->setup, &s->device_pattern, options, &s->layout, error));
    weft_log(op->context->monitor, WEFT_LOG_INFO,
             "a symmetric matrix of %lld rows and %lld entries laid out on the device in %.3f s",
             (long long)s->device_pattern.n_rows, (long long)s->device_pattern.n_entries,
             weft_clock() - start);
done:
    weft_row_cells_free(&cells);
    return status;
}

static weft_status layout_on_host(const weft_operator *op, const weft_symmetric_options *options,
                                  structure *s, weft_error *error) {
    weft_status status = WEFT_OK;
    symmetric_operator *state = op->state;
    const weft_matrix_part *parts = op->parts;
    weft_device *device = op->context->device;
    if (!s->pattern)
        TRY(weft_pattern_make(device, parts[0].vector_dofs.connectivity,
                              weft_device_limits(device)->lanes_double, &s->pattern, NULL, error));
    TRY(weft_symmetric_make(device, s->pattern, options, &state->symmetric, error));
done:
    return status;
}

static weft_status structure_make(const weft_operator *op, structure *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = op->context->device;
    weft_symmetric_options options;
    weft_error why = {0};
    TRY(options_make(weft_device_limits(device), &options, error));
    TRY(weft_matrix_parts_pattern(op, &s->pattern, error)); /* else that of the first form */
    bool unsupported = !weft_setup_on_device(device) || s->pattern;
    if (!unsupported) {
        status = layout_on_device(op, &options, s, &why);
        TRY(weft_status_supported(status, &why, &unsupported, error));
        if (unsupported) {
            weft_log(op->context->monitor, WEFT_LOG_INFO, "the matrix is laid out on the host: %s",
                     why.message);
            structure_free(s);
        }
    }
    if (unsupported)
        TRY(layout_on_host(op, &options, s, error));
done:
    return status;
}

/* After the positions were found: a GPU needs nothing of the layout on the host. The values come last,
 * when the pattern is gone. */
static weft_status matrix_make(const weft_operator *op, structure *s, weft_error *error) {
    weft_status status = WEFT_OK;
    symmetric_operator *state = op->state;
    const weft_matrix_part *parts = op->parts;
    weft_device *device = op->context->device;
    const int64_t n_values = (s->setup ? s->layout.sizes : state->symmetric)->n_values;
    if (s->setup) {
        TRY(weft_symmetric_matrix_from_device(s->setup, &s->layout, &state->matrix, error));
    } else if (weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT) {
        TRY(weft_symmetric_matrix_make(device, state->symmetric, &state->matrix, error));
        weft_symmetric_free(&state->symmetric);
    } else {
        free(state->symmetric->offsets);
        state->symmetric->offsets = NULL;
    }
    structure_free(s);
    TRY(weft_memory_make(device, (size_t)n_values * sizeof(double), &state->values, error));
    for (int i = 0; i < op->n_parts; ++i)
        TRY(weft_program_bind_matrix(parts[i].assemble.program, "A", state->values,
                                     parts[i].positions, error));
done:
    return status;
}

static weft_status symmetric_make(weft_context *context, const weft_form *forms, int n_forms,
                                  weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    structure s = {0};
    TRY(weft_matrix_parts_make(context, &edge_table, sizeof(symmetric_operator), forms, n_forms,
                               &op, error));
    TRY(structure_make(op, &s, error));
    for (int i = 0; i < n_forms; ++i)
        TRY(part_make(op, &s, (weft_matrix_part *)op->parts + i, error));
    TRY(matrix_make(op, &s, error));
    *out = op;
    op = NULL;
done:
    structure_free(&s);
    weft_operator_free(&op);
    return status;
}

static const char *symmetric_refuses(const weft_assembly_problem *p) {
    return !p->symmetric                  ? "the form is not symmetric"
           : p->width != p->dimension + 1 ? "for simplices of degree 1"
           : p->components > 1            ? "for one component a node"
                                          : NULL;
}

/* A value and a 16-bit column per edge inside a patch, two of each per edge between patches; the
 * diagonal; the halo of each patch. */
static void symmetric_count_bytes(const weft_operator_sizes *s, weft_assembly_cost *cost) {
    const double rows = (double)s->n_rows, edges = ((double)s->n_entries - rows) / 2;
    const double positions = 4.0 * (double)s->n_local * (double)s->n_local * (double)s->n_cells;
    cost->product_bytes = 1.2 * 10 * edges + 8 * rows + 10 * rows + 16 * rows;
    cost->assembly_bytes = s->cell_bytes + positions + 16.0 * (double)s->n_entries;
    cost->memory_bytes = cost->product_bytes + positions;
}

/* Each edge once, a third more for edges between patches and for padding of rounds; discard slots,
 * one per row on the host, few on a GPU. */
static size_t symmetric_estimate_memory(const weft_operator_sizes *s, double applications,
                                        weft_memory_estimate *estimate) {
    const size_t slots = (s->n_entries - s->n_rows) / 2 / 3 * 4;
    (void)applications;
    weft_operator_estimate_rows(s, estimate);
    weft_operator_estimate_positions(s, estimate);
    weft_memory_estimate_add(estimate, "matrix, values", (s->on_gpu ? 1 : 2) * s->n_rows + slots,
                             sizeof(double));
    if (!s->on_gpu)
        return 0;
    /* until the positions are found, the pattern and its entries' places instead of the values; on
     * a null device they are the host's */
    const size_t places =
        s->n_entries * (sizeof(int32_t) + sizeof(uint32_t)) + s->n_rows * sizeof(int64_t);
    const size_t values = (s->n_rows + slots) * sizeof(double);
    if (places > values && !s->limits->records_only)
        weft_memory_estimate_add(estimate, weft_assembly_positions, places - values, 1);
    weft_memory_estimate_add(estimate, "matrix, columns", slots, sizeof(uint16_t));
    weft_memory_estimate_add(estimate, "matrix, halos", s->n_rows / 2, sizeof(int32_t));
    return 0;
}

const weft_operator_format weft_format_symmetric = {
    .info = {.name = "edge",
             .alias = "symmetric",
             .help = "symmetric, by patches",
             .symmetric_only = true,
             .script = "matrix.weft"},
    .gpu = {true, {0.68, 0.66}, 0.15, 30e-9},
    .host = {false, {1.0, 1.0}, 0.9, 450e-9},
    .has_rows_product = true,
    .make = symmetric_make,
    .refuses = symmetric_refuses,
    .count_bytes = symmetric_count_bytes,
    .estimate_memory = symmetric_estimate_memory,
};
