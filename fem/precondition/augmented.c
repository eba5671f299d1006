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

weft_status weft_augment(const weft_block_analysis *a, weft_block *multiplier, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_block *block = weft_augmented_block(a, multiplier);
    double *scale = calloc((size_t)a->A->n_rows + 1, sizeof *scale);
    multiplier->penalty = calloc((size_t)multiplier->n + 1, sizeof *multiplier->penalty);
    if (!scale || !multiplier->penalty)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    for (int64_t i = 0; i < multiplier->n; ++i) {
        multiplier->penalty[i] = PENALTY * fmax(block->convection, 1) * multiplier->diagonal[i];
        scale[multiplier->first + i] = -multiplier->sign * multiplier->penalty[i];
    }
    weft_csr_clear(&block->factor);
    TRY(weft_schur_add_product(a, block, scale, &block->factor, error));
    for (int64_t k = 0; k < block->factor.row_start[block->n]; ++k)
        block->factor.values[k] *= block->sign;
done:
    free(scale);
    return status;
}
