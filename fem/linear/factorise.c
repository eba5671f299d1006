/* Decides whether `auto` may factorise the matrix.
 *
 * Decision  docs/decisions/0063-what-an-iteration-cannot-solve-is-factorised.md */
#include "fem/linear/linear.h"

/* Unknowns above which factors in the plane, and in space, take more time and memory than an iteration that converges. */
enum { PLANE_MOST = 100000, SPACE_MOST = 20000 };

int weft_linear_lu(void) {
    int kind = WEFT_JACOBI;
    (void)weft_preconditioner_find("lu", &kind, NULL);
    return kind;
}

bool weft_linear_may_factorise(const weft_linear *linear, int64_t n_nodes, int components,
                               weft_factorization_cost *out) {
    const weft_problem_options *options = linear->options;
    const weft_limits *limits = weft_device_limits(linear->context->device);
    const int dimension = linear->mesh->dimension;
    const int64_t most = dimension < 3 ? PLANE_MOST : SPACE_MOST;
    const bool stores_matrix = options->assembly == WEFT_AUTO ||
                               weft_assembly_about((weft_assembly)options->assembly)->stores_matrix;
    *out = weft_factorization_predict(dimension, n_nodes, components);
    return options->preconditioner == WEFT_AUTO && !options->until_discretisation &&
           options->method != WEFT_METHOD_MINRES && limits->execution != WEFT_EXECUTION_SIMT &&
           !limits->records_only && stores_matrix && n_nodes * components <= most &&
           out->bytes < (double)weft_device_bytes_free(linear->context->device) / 2 &&
           weft_preconditioner_is_found(weft_linear_lu());
}
