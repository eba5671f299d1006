/* Predicts what a sparse factorization costs. */
#include "fem/weft_preconditioner.h"

#include <math.h>

/* Entries of the factors and operations of nested dissection for one unknown per node, c n log2 n and c n^(3/2) in the
 * plane, c n^(4/3) and c n^2 in space; k unknowns are blocks of k^2 entries. Ordering takes seconds per row, operations and
 * solutions those of the reference BLAS on one core, bytes per entry are at the peak. Measured with degrees 1 to 3,
 * velocities and pressures, 4,000 to 60,000 unknowns. */
typedef struct growth {
    double entries, operations, order_seconds;
} growth;
static const growth line = {4, 8, 3e-6}, plane = {4.8, 45, 15e-6}, space = {16, 13, 30e-6};
static const double OPERATION_SECONDS = 1 / 2.3e9, SOLUTION_SECONDS = 3.3e-9, ENTRY_BYTES = 13;

weft_factorization_cost weft_factorization_predict(int dimension, int64_t n_nodes, int components) {
    const growth *const g = dimension <= 1 ? &line : dimension == 2 ? &plane : &space;
    const double n = (double)(n_nodes > 2 ? n_nodes : 2), k = components > 1 ? components : 1;
    const double fill = dimension <= 1 ? 1 : dimension == 2 ? log2(n) : cbrt(n);
    const double work = dimension <= 1 ? 1 : dimension == 2 ? sqrt(n) : n;
    const double entries = g->entries * n * fill * k * k;
    return (weft_factorization_cost){.seconds = g->order_seconds * n * k + OPERATION_SECONDS *
                                                                               g->operations * n *
                                                                               work * k * k * k,
                                     .solution_seconds = SOLUTION_SECONDS * entries,
                                     .bytes = ENTRY_BYTES * entries};
}
