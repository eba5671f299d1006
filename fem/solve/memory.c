/* Predicts the memory of a solver on a device. */
#include "fem/solve/krylov.h"

/* Vectors of a basis of m rows. On the host each of the three products with its transpose keeps a partial result of every eight
 * rows. */
static int basis_vectors(const weft_limits *limits, int m) {
    return limits->execution == WEFT_EXECUTION_SIMT ? m : m + 3 * ((m + 7) / 8);
}

size_t weft_krylov_basis_bytes(const weft_limits *limits, int64_t n_dofs, int restart) {
    return sizeof(double) * (size_t)n_dofs * (size_t)basis_vectors(limits, restart);
}

size_t weft_cg_memory_estimate(const weft_limits *limits, weft_assembly assembly,
                               const weft_assembly_problem *problem, const weft_cg_options *options,
                               bool has_preconditioner) {
    const weft_krylov_method *method = weft_krylov_method_of(options->method);
    const bool gpu = limits->execution == WEFT_EXECUTION_SIMT;
    const weft_operator_format *format = weft_operator_format_of(assembly);
    const weft_operator_sizes sizes = weft_operator_sizes_of(limits, problem);
    const size_t rows = sizes.n_rows, entries = sizes.n_entries;
    weft_persistent_shape shape;
    char reason[200];
    if (options->size != sizeof *options)
        return SIZE_MAX;
    if (options->method != WEFT_METHOD_CG) {
        const int basis = method->end ? basis_vectors(limits, weft_krylov_restart(options)) : 0;
        return 8 * rows * (size_t)(4 + method->n_vectors + basis);
    }
    /* the entries by rows; pairs of entries, 28 bytes each; vectors */
    if (gpu && format->info.stores_matrix && !has_preconditioner &&
        weft_persistent_fits(limits, (int64_t)rows, (int64_t)entries, &shape, reason,
                             sizeof reason))
        return 8 * entries + 28 * (entries - rows) / 2 + 64 * rows;
    /* z, p, q, d; on a GPU p is double buffered if the product computes it */
    return 8 * rows * (gpu && format->has_rows_product ? 5 : 4);
}
