/* Measures the convection in an elliptic block, and extracts the block with it. */
#include "fem/precondition/schur.h"

#include <math.h>

static double diagonal_of(const weft_csr *A, int64_t row) {
    const int64_t at = weft_csr_find(A, row, row);
    return at < 0 ? 0 : A->values[at];
}

/* Half the differences of entries and their transposes in a row, of one component: the velocity times a side of the cell, where
 * the diagonal is the diffusivity. What couples components is reaction, as (v . grad u) in a tangent. */
static double skew_sum(const weft_block_analysis *a, const weft_block *block, int64_t i) {
    const weft_csr *A = a->A;
    const int c = weft_space_components(block->space);
    double sum = 0;
    for (int64_t k = A->row_start[block->first + i]; k < A->row_start[block->first + i + 1]; ++k) {
        const int64_t j = A->columns[k] - block->first;
        if (j >= 0 && j < block->n && j % c == i % c)
            sum += 0.5 * fabs(A->values[k] - a->T.values[k]);
    }
    return sum;
}

void weft_convection_find(const weft_block_analysis *a, weft_block *block) {
    const int dimension = weft_space_mesh(block->space)->dimension;
    const double per_side = pow((double)weft_block_nodes(block), 1.0 / dimension);
    double sum = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < block->n; ++i) {
        const double diffusion = diagonal_of(&block->matrix, i);
        if (!a->free[block->first + i] || !(diffusion > 0))
            continue;
        sum += skew_sum(a, block, i) / diffusion;
        ++n;
    }
    block->convection = n > 0 ? sum / (double)n * per_side : 0;
}

weft_status weft_convection_factor(const weft_block_analysis *a, weft_block *block,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = a->A;
    const int64_t last = block->first + block->n;
    int64_t n = 0;
    TRY(weft_csr_allocate(block->n, block->n, A->row_start[last] - A->row_start[block->first],
                          &block->factor, error));
    for (int64_t i = block->first; i < last; ++i) {
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
            const bool is_seen = A->values[k] != 0 || a->T.values[k] != 0 || A->columns[k] == i;
            if (A->columns[k] < block->first || A->columns[k] >= last || !is_seen)
                continue;
            block->factor.columns[n] = (int32_t)(A->columns[k] - block->first);
            block->factor.values[n++] = block->sign * A->values[k];
        }
        block->factor.row_start[i - block->first + 1] = n;
    }
done:
    return status;
}
