/** What approximates the Schur complement of a multiplier.
 *  In: the blocks of a saddle point, with their roles. Out: a diagonal and, where the Schur complement is not only like a mass
 *  matrix, a matrix. */
#pragma once

#include "fem/precondition/blocks.h"

/** The reaction of a block from which on it counts as a mass matrix; mass matrices have 1 to 3. */
static const double WEFT_BLOCK_MASS_REACTION = 0.3;

/** A matrix whose blocks are being found (fem/precondition/blocks.c). */
typedef struct weft_block_analysis {
    weft_device *device;
    const weft_csr *A;
    weft_csr T; /* A^T */
    const weft_preconditioner_problem *problem;
    const weft_mixed *mixed; /* NULL: one rank */
    weft_blocks *blocks;
    double *diagonal;    /* [n_rows] */
    unsigned char *free; /* [n_rows] not constrained */
    int *of;             /* [n_rows] the block of a row */
    double *volumes;     /* [n_rows] of nodes; NULL: not needed yet */
} weft_block_analysis;

/** Nodes of a block, of all ranks. */
static inline int64_t weft_block_nodes(const weft_block *block) {
    return block->n / weft_space_components(block->space);
}
/** Sum a_ik a_ki / d_k of row i over the free k of blocks that are neither multipliers nor its own. */
double weft_schur_eliminated(const weft_block_analysis *a, int64_t i, const double *d);
/** Is a column one of the block's own that is free? Or one of those that are eliminated before the block, a multiplier? */
bool weft_schur_is_own(const weft_block_analysis *a, const weft_block *block, int32_t j);
bool weft_schur_is_eliminated(const weft_block_analysis *a, const weft_block *block, int32_t j);
/** out = C + B S B' of a block C with its couplings B and B' to the columns where S, `scale` [rows of A], is not 0. Constrained
 *  rows are empty. out: weft_csr_clear */
weft_status weft_schur_add_product(const weft_block_analysis *a, const weft_block *block,
                                   const double *scale, weft_csr *out, weft_error *error);
/** Choose what takes the place of Schur complements, after the matrices of elliptic blocks are made (choose_schur.c).
 *  Errors  WEFT_ERROR_UNSUPPORTED (the one that is asked for does not suit) */
weft_status weft_schur_choose(const weft_block_analysis *a, weft_schur asked, weft_error *error);
/** Set the convection of an elliptic block, whose `matrix` is its diffusion. (convection.c) */
void weft_convection_find(const weft_block_analysis *a, weft_block *block);
/** Set what is to be factorised of an elliptic block: itself, without couplings that are zero in both directions. (convection.c)
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_convection_factor(const weft_block_analysis *a, weft_block *block,
                                   weft_error *error);
/** Set the penalty of a multiplier with a diagonal, and augment what is to be factorised of the block that it is coupled to.
 *  (augmented.c)
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_augment(const weft_block_analysis *a, weft_block *multiplier, weft_error *error);
/** The only elliptic block that a multiplier is coupled to; NULL: there are several, or others. (augmented.c) */
weft_block *weft_augmented_block(const weft_block_analysis *a, const weft_block *multiplier);
/** Are constants in the null space of the matrix of a block with one component? */
bool weft_block_is_singular(const weft_block *block);
/** Set the diagonal or the matrix of a multiplier (weft_blocks_make says which).
 *  Errors  WEFT_ERROR_UNSUPPORTED, WEFT_ERROR_MEMORY */
weft_status weft_schur_make(weft_block_analysis *a, weft_block *block, weft_error *error);
