/* The operator format matrix-free, which recomputes local matrices in every product. */
#include "fem/operator/private.h"

static weft_status make(weft_context *context, const weft_form *forms, int n_forms,
                        weft_operator **out, weft_error *error) {
    return weft_operator_make_cells(context, forms, n_forms, 0, WEFT_SCATTER_AUTO, out, error);
}

static void count_bytes(const weft_operator_sizes *s, weft_assembly_cost *cost) {
    cost->product_bytes = s->cell_bytes + 16.0 * (double)s->n_rows;
    cost->assembly_bytes = 0;
    cost->memory_bytes = 2 * 4.0 * (double)s->width * (double)s->n_cells;
}

static size_t estimate_memory(const weft_operator_sizes *s, double applications,
                              weft_memory_estimate *estimate) {
    const size_t made = estimate->bytes;
    (void)applications;
    if (!s->on_gpu || s->limits->records_only)
        return 0;
    /* a word per node and cell, a sixth more for padding; halos */
    weft_memory_estimate_add(estimate, "patches", s->n_cells * s->width / 6 * 7, sizeof(uint32_t));
    weft_memory_estimate_add(estimate, "patches, patches", s->n_nodes, sizeof(uint64_t));
    return estimate->bytes - made;
}

const weft_operator_format weft_format_matrix_free = {
    .info = {.name = "matrix-free", .script = "product.weft"},
    .gpu = {true, {0.55, 0.39}, 1.0, 1500e-9},
    .host = {true, {0.63, 0.26}, 1.0, 20e-9},
    .recomputes = true,
    .make = make,
    .count_bytes = count_bytes,
    .estimate_memory = estimate_memory,
};
