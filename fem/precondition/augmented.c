/* Augments a block F that a multiplier without a block of its own is coupled to, for an augmented Lagrangian:
 *
 *      [ 1  s B'W ] [ F  B' ]   [ F + s B'W B  B' ]
 *      [     1    ] [ B  0  ] = [ B            0  ],   s: the sign with which s B'W B is like F,
 *
 * whose Schur complement is the inverse of S^-1 - s W, in which W, a diagonal, dominates what convection makes of S^-1. Where
 * the right-hand matrix is preconditioned by a triangular M, the left-hand one is by M with the first factor before it: the
 * system stays as it is, and so does its solution.
 *
 * Source  Benzi and Olshanskii 2006, An augmented Lagrangian-based approach to the Oseen problem */
#include "fem/precondition/schur.h"

#include <math.h>
#include <stdlib.h>

/* W, relative to the convection and to the diagonal of S^-1, which is diffusion: about the largest velocity times the side of the domain,
 * over the mass. Cavities at Reynolds numbers from 10 to 1000 take 5 to 7 iterations, with a tenth of it 8 to 13. */
static const double PENALTY = 10;

weft_block *weft_augmented_block(const weft_block_analysis *a, const weft_block *multiplier) {
    const weft_csr *A = a->A;
    weft_block *found = NULL;
    for (int64_t i = multiplier->first; i < multiplier->first + multiplier->n; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
            if (A->values[k] == 0 || !weft_schur_is_eliminated(a, multiplier, A->columns[k]))
                continue;
            weft_block *one = &a->blocks->list[a->of[A->columns[k]]];
            if (one->role != WEFT_BLOCK_ELLIPTIC || (found && found != one))
                return NULL;
            found = one;
        }
    return found;
}

/* [F, B'], the rows of a block, in its own columns and those of a multiplier */
static weft_status make_wide(const weft_block_analysis *a, const weft_block *block,
                             const weft_block *multiplier, weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = a->A;
    const int64_t last = block->first + block->n;
    int64_t n = 0;
    TRY(weft_csr_allocate(block->n, A->n_rows, A->row_start[last] - A->row_start[block->first], out,
                          error));
    for (int64_t i = block->first; i < last; ++i) {
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
            const int32_t j = A->columns[k];
            if ((j < block->first || j >= last) && !weft_schur_is_own(a, multiplier, j))
                continue;
            out->columns[n] = j;
            out->values[n++] = block->sign * A->values[k];
        }
        out->row_start[i - block->first + 1] = n;
    }
done:
    return status;
}

/* [1; s W B], the columns of a block, in all rows */
static weft_status make_tall(const weft_block_analysis *a, const weft_block *block,
                             const weft_block *multiplier, weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = a->A;
    const int64_t last = block->first + block->n;
    const int64_t most =
        A->row_start[multiplier->first + multiplier->n] - A->row_start[multiplier->first];
    int64_t n = 0;
    TRY(weft_csr_allocate(A->n_rows, block->n, block->n + most, out, error));
    for (int64_t i = 0; i < A->n_rows; ++i) {
        if (i >= block->first && i < last) {
            out->columns[n] = (int32_t)(i - block->first);
            out->values[n++] = 1;
        } else if (weft_schur_is_own(a, multiplier, (int32_t)i)) {
            const double weight = -multiplier->sign * multiplier->penalty[i - multiplier->first];
            for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
                if (A->columns[k] >= block->first && A->columns[k] < last) {
                    out->columns[n] = (int32_t)(A->columns[k] - block->first);
                    out->values[n++] = weight * A->values[k];
                }
        }
        out->row_start[i + 1] = n;
    }
done:
    return status;
}

weft_status weft_augment(const weft_block_analysis *a, weft_block *multiplier, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_block *block = weft_augmented_block(a, multiplier);
    weft_csr wide = {0}, tall = {0};
    multiplier->penalty = calloc((size_t)multiplier->n + 1, sizeof *multiplier->penalty);
    if (!multiplier->penalty)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    for (int64_t i = 0; i < multiplier->n; ++i)
        multiplier->penalty[i] = PENALTY * fmax(block->convection, 1) * multiplier->diagonal[i];
    TRY(make_wide(a, block, multiplier, &wide, error));
    TRY(make_tall(a, block, multiplier, &tall, error));
    weft_csr_clear(&block->factor);
    TRY(weft_csr_multiply(a->device, &wide, &tall, &block->factor, error));
done:
    weft_csr_clear(&wide);
    weft_csr_clear(&tall);
    return status;
}
