/* The operator format edge: a symmetric matrix stored by edges (fem/sparse/symmetric.h), to which
 * every form is added at precomputed positions. */
#include "fem/sparse/symmetric.h"
#include "fem/operator/private.h"

#include <stdlib.h>

/* Largest difference of K_ij and K_ji due to rounding, relative to the largest local matrix. */
static const double rounding = 1e-12;

typedef struct symmetric_operator {
    weft_symmetric *symmetric;
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
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "the form %s is not symmetric, and the assembly edge stores K_ij "
                                "and K_ji once",
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
                                               .settle = weft_matrix_parts_free,
                                               .apply = symmetric_apply,
                                               .diagonal = symmetric_diagonal,
                                               .free = symmetric_free,
                                               .rows = symmetric_rows};

static weft_status part_make(const weft_operator *op, const weft_pattern *pattern,
                             weft_matrix_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    const symmetric_operator *state = op->state;
    TRY(weft_matrix_part_compile(op, part, WEFT_SCATTER_IN_PLACE, &part->assemble, error));
    weft_program *program = part->assemble.program;
    TRY(weft_symmetric_positions(op->context->device, state->symmetric, pattern,
                                 part->vector_dofs.connectivity, weft_program_lanes(program),
                                 &part->positions, error));
    TRY(weft_program_bind_matrix(program, "A", state->values, part->positions, error));
done:
    return status;
}

/* The first form determines the pattern, which contains the couplings of the others. */
static weft_status structure_make(weft_operator *op, weft_pattern **pattern, weft_error *error) {
    weft_status status = WEFT_OK;
    symmetric_operator *state = op->state;
    const weft_matrix_part *parts = op->parts;
    weft_device *device = op->context->device;
    const weft_limits *limits = weft_device_limits(device);
    const bool on_gpu = limits->execution == WEFT_EXECUTION_SIMT;
    weft_symmetric_options options = {.few_discards = on_gpu};
    if (on_gpu) {
        options.most_rounds = weft_symmetric_rounds_within(limits->onchip_bytes);
        if (options.most_rounds < 1)
            return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                  "the assembly edge does not fit into the %zu bytes of shared "
                                  "memory of a block",
                                  limits->onchip_bytes);
    }
    TRY(weft_matrix_parts_pattern(op, pattern, error));
    if (!*pattern)
        TRY(weft_pattern_make(device, parts[0].vector_dofs.connectivity, limits->lanes_double,
                              pattern, NULL, error));
    TRY(weft_symmetric_make(device, *pattern, &options, &state->symmetric, error));
    TRY(weft_memory_make(device, (size_t)state->symmetric->n_values * sizeof(double),
                         &state->values, error));
    if (on_gpu) {
        TRY(weft_symmetric_matrix_make(device, state->symmetric, &state->matrix, error));
        free(state->symmetric->columns); /* the device has a copy */
        free(state->symmetric->lists);
        state->symmetric->columns = NULL;
        state->symmetric->lists = NULL;
    }
done:
    return status;
}

static weft_status symmetric_make(weft_context *context, const weft_form *forms, int n_forms,
                                  weft_operator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    weft_pattern *pattern = NULL;
    TRY(weft_matrix_parts_make(context, &edge_table, sizeof(symmetric_operator), forms, n_forms,
                               &op, error));
    const symmetric_operator *state = op->state;
    TRY(structure_make(op, &pattern, error));
    for (int i = 0; i < n_forms; ++i)
        TRY(part_make(op, pattern, (weft_matrix_part *)op->parts + i, error));
    free(state->symmetric->offsets); /* needed for positions only */
    state->symmetric->offsets = NULL;
    *out = op;
    op = NULL;
done:
    weft_pattern_free(&pattern);
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
    .gpu = {true, {0.68, 0.66}, 0.15, 1000e-9},
    .host = {false, {1.0, 1.0}, 0.9, 450e-9},
    .has_rows_product = true,
    .make = symmetric_make,
    .refuses = symmetric_refuses,
    .count_bytes = symmetric_count_bytes,
    .estimate_memory = symmetric_estimate_memory,
};
