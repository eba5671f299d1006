/** The blocks of a matrix over several spaces, on the host. Not installed.
 *
 *      In: a matrix, the spaces that its rows belong to one after another.
 *      Out: for each space what approximates the inverse of its block, or of its Schur complement. */
#pragma once

#include "fem/multigrid/multigrid.h"
#include "fem/precondition/coupled.h"
#include "fem/precondition/mixed.h"
#include "fem/precondition/precondition.h"

/** What to take for a matrix that blocks do not suit. Refusals without it are for matrices that Jacobi's preconditioner suits
 *  as well. */
#define WEFT_BLOCKS_ADVICE "take --preconditioner lu where UMFPACK is installed, or jacobi"

typedef enum weft_block_role {
    WEFT_BLOCK_CONDENSED, /* eliminated before (condense.h): has no solver of its own */
    WEFT_BLOCK_COUPLED,   /* one of two mass matrices that derivatives couple (coupled.h) */
    WEFT_BLOCK_MASS,      /* the inverse of the diagonal is as good as the block's */
    WEFT_BLOCK_ELLIPTIC,  /* the block is inverted by multigrid */
    WEFT_BLOCK_MULTIPLIER /* zero, or a saddle point with the others: the Schur complement counts */
} weft_block_role;

/** Entries of the factors of an augmented block, over those of the block: 3.8 times the entries of the matrix in the plane. */
enum { WEFT_AUGMENTED_FACTORS = 4 };

/** What takes the place of the Schur complement of a multiplier (weft_blocks_make). */
typedef enum weft_schur {
    WEFT_SCHUR_AUTO,       /* one of the others, by the convection */
    WEFT_SCHUR_MASS,       /* its diagonal, a matrix or both, by the reaction */
    WEFT_SCHUR_COMMUTATOR, /* the least-squares commutator; elliptic blocks are factorised */
    WEFT_SCHUR_AUGMENTED   /* its diagonal, after the block before is augmented and factorised */
} weft_schur;

/** The inverse of a block is taken as sign times the sum of the inverse of `matrix`, by multigrid, if it has
 *  rows, and of `diagonal`, if there is one. */
typedef struct weft_block {
    const weft_space *space; /* borrowed */
    int64_t first, n;        /* its dofs */
    weft_block_role role;
    double sign; /* +1 or -1, of the diagonal of the block or of the Schur complement */
    /* sum of row sums over sum of the diagonal: 0 with derivatives alone, 1
     * to 3 for a mass matrix */
    double reaction;
    /* of an elliptic block, by the entries that are not symmetric: velocity times side of the domain over diffusivity, in the mean
     * over the domain and about a tenth of what the largest velocity gives; 0: it is symmetric */
    double convection;
    int32_t *constrained; /* [n_constrained] numbered from the first dof of the block, ascending */
    int64_t n_constrained;
    int partner;   /* of a coupled block: the other one; has_pair: the one with the fields below */
    bool has_pair; /* `matrix` is H, which both use; without it the block has no solver */
    weft_coupled pair;
    weft_csr coupling; /* T */
    weft_csr matrix;   /* symmetric, with a positive diagonal; {0}: none */
    bool is_singular;  /* constants are the null space of matrix */
    double *diagonal;  /* [n] not negative, 0 at constrained dofs; NULL: none */
    /* of a multiplier with the commutator: `matrix` is sign (C - B q^-1 B'), in place of `diagonal`; [rows of A] 1/q in the free
     * rows that are eliminated, 0 elsewhere (commutator.h); NULL: none */
    double *weights;
    double *penalty; /* of a multiplier that augments (augmented.c): [n] W; NULL: none */
    weft_csr factor; /* of an elliptic block, to be factorised in place of `matrix`; {0}: none */
} weft_block;

enum { WEFT_BLOCKS_MAX = WEFT_MIXED_SPACES_MAX };
typedef struct weft_blocks {
    int n, n_multipliers;
    weft_schur schur;  /* never WEFT_SCHUR_AUTO */
    double convection; /* the largest of the blocks */
    /* why convection has to do with multigrid and the mass, for which it is too strong; NULL: it has not */
    const char *because;
    weft_block list[WEFT_BLOCKS_MAX];
} weft_blocks;

/** A matrix, and what its rows are. All borrowed. */
typedef struct weft_blocks_matrix {
    const weft_csr *
        A; /* its pattern must be symmetric; its entries need not be: of a block the symmetric part is taken */
    const weft_preconditioner_problem *problem;
    const bool *
        condensed; /* [n_spaces] spaces that were eliminated, whose rows of A are the identity; NULL: none */
    /* on several ranks, whose A and constrained dofs are those of the whole, but spaces those of this rank's part; NULL: there is one */
    const weft_mixed *mixed;
} weft_blocks_matrix;

/** Find the blocks and what approximates their inverses.
 *
 *  The spaces are taken in order of their dofs, most first. The block of the first whose diagonal has no zero
 *  is not a multiplier. Another one is, if its diagonal has a zero, or if it and the blocks before
 *  have the signs of a saddle point, a_ii a_kk a_ik a_ki < 0. With D the diagonal of the others, B' and B the
 *  couplings and C the block, its Schur complement S is
 *      diag(C - B D^-1 B')          where the others are elliptic, so that S is like a mass matrix;
 *      C - B D^-1 B'                where the others are like mass matrices, so that S is elliptic;
 *      the sum of both inverses     where they are the sum of both, D in the second being the part of the
 *                                   reaction, by the volumes of nodes (Cahouet and Chabard 1988);
 *      the commutator, or augmented where convection is strong, of one multiplier with C = 0 and of a matrix that is not taken for
 *                                   a symmetric one (problem->is_general), on the host with a library for `lu`.
 *  Two mass matrices of the same space that are coupled by derivatives, with the signs of a saddle point, are not multipliers but
 *  coupled; for symmetric matrices each then has a matrix of its own.
 *  On several ranks all find the same, with rows and lists of the whole.
 *  schur      what to take; others than WEFT_SCHUR_AUTO and WEFT_SCHUR_MASS are refused where they do not suit
 *  out        weft_blocks_clear, also after an error
 *  Errors     WEFT_ERROR_UNSUPPORTED (a diagonal of a symmetric block has entries of both signs; all blocks are like mass
 *             matrices, so that the diagonal alone is as good; `schur` does not suit), WEFT_ERROR_MEMORY
 *  Source     Elman, Silvester and Wathen 2014, chapter 4; Benzi, Golub and Liesen 2005, section 10 */
weft_status weft_blocks_make(weft_device *device, const weft_blocks_matrix *matrix,
                             weft_schur schur, weft_blocks *out, weft_error *error);
/** Of what was found on several ranks, keep what this rank has: rows and lists are those of its part, but `matrix` stays whole. */
weft_status weft_blocks_take_part(weft_blocks *blocks, const weft_mixed *mixed,
                                  const weft_preconditioner_problem *part, weft_error *error);
void weft_blocks_clear(weft_blocks *blocks);
