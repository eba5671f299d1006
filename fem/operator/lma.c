/* The operator formats that store local matrices: lma scatters products of cells to the nodes,
 * lma-gather gathers them node by node. */
#include "fem/operator/private.h"

static weft_status lma_make(weft_context *context, const weft_form *forms, int n_forms,
                            weft_operator **out, weft_error *error) {
    return weft_operator_make_cells(context, forms, n_forms, WEFT_CELLS_STORED,
                                    WEFT_SCATTER_IN_PLACE, out, error);
}

static weft_status gather_make(weft_context *context, const weft_form *forms, int n_forms,
                               weft_operator **out, weft_error *error) {
    return weft_operator_make_cells(context, forms, n_forms, WEFT_CELLS_STORED,
                                    WEFT_SCATTER_GATHERED, out, error);
}

static void lma_count_bytes(const weft_operator_sizes *s, weft_assembly_cost *cost) {
    const double local = 8.0 * (double)s->n_local * (double)s->n_local * (double)s->n_cells;
    const double connectivity = 4.0 * (double)s->width * (double)s->n_cells;
    cost->product_bytes = local + connectivity + 16.0 * (double)s->n_rows;
    cost->assembly_bytes = s->cell_bytes + local;
    cost->memory_bytes = local + connectivity;
}

static void gather_count_bytes(const weft_operator_sizes *s, weft_assembly_cost *cost) {
    lma_count_bytes(s, cost);
    cost->memory_bytes += 4.0 * (double)s->width * (double)s->n_cells + 8.0 * (double)s->n_rows;
}

static size_t lma_estimate_memory(const weft_operator_sizes *s, double applications,
                                  weft_memory_estimate *estimate) {
    (void)applications;
    weft_memory_estimate_add(estimate, "local matrices", s->n_padded * s->n_local * s->n_local,
                             sizeof(double));
    return 0;
}

static size_t gather_estimate_memory(const weft_operator_sizes *s, double applications,
                                     weft_memory_estimate *estimate) {
    (void)lma_estimate_memory(s, applications, estimate);
    const size_t made = estimate->bytes;
    /* for the product, and for the diagonal (Jacobi) */
    weft_memory_estimate_add(estimate, "local results, to be gathered",
                             (applications > 1 ? 2 : 1) * s->n_padded * s->n_local, sizeof(double));
    return estimate->bytes - made;
}

const weft_operator_format weft_format_lma = {
    .info = {.name = "lma",
             .help = "local matrices stored",
             .stores_local = true,
             .scatter = WEFT_SCATTER_IN_PLACE,
             .script = "stored.weft"},
    .gpu = {true, {0.76, 0.78}, 0.9, 10e-9},
    .host = {true, {1.26, 1.1}, 1.0, 20e-9},
    .make = lma_make,
    .count_bytes = lma_count_bytes,
    .estimate_memory = lma_estimate_memory,
};

const weft_operator_format weft_format_lma_gather = {
    .info = {.name = "lma-gather",
             .stores_local = true,
             .scatter = WEFT_SCATTER_GATHERED,
             .script = "stored.weft"},
    .gpu = {true, {0.59, 0.61}, 0.9, 40e-9},
    .host = {true, {1.47, 1.25}, 1.0, 40e-9},
    .make = gather_make,
    .count_bytes = gather_count_bytes,
    .estimate_memory = gather_estimate_memory,
};
