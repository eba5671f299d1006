/* Finds the blocks of a saddle point, their roles and their matrices.
 *
 * Decision  docs/decisions/0043-block-preconditioner-reads-the-matrix.md */
#include "fem/element/element.h"
#include "fem/precondition/schur.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void weft_blocks_clear(weft_blocks *blocks) {
    for (int i = 0; i < blocks->n; ++i) {
        weft_block *block = &blocks->list[i];
        weft_csr_clear(&block->matrix);
        weft_csr_clear(&block->coupling);
        weft_csr_clear(&block->factor);
        free(block->weights);
        free(block->penalty);
        free(block->constrained);
        free(block->diagonal);
    }
    *blocks = (weft_blocks){0};
}

static void clear(weft_block_analysis *a) {
    weft_csr_clear(&a->T);
    free(a->diagonal);
    free(a->free);
    free(a->of);
    free(a->volumes);
}

/* ---- the matrix -------------------------------------------------------------------------- */

static weft_status check_pattern(const weft_block_analysis *a, weft_error *error) {
    const weft_csr *A = a->A, *T = &a->T;
    const size_t starts = (size_t)(A->n_rows + 1) * sizeof *A->row_start;
    if (memcmp(A->row_start, T->row_start, starts) == 0 &&
        memcmp(A->columns, T->columns, (size_t)A->row_start[A->n_rows] * sizeof *A->columns) == 0)
        return WEFT_OK;
    return weft_error_refuse(
        error, WEFT_ERROR_UNSUPPORTED,
        "the pattern of the matrix is not symmetric, as block preconditioners need it",
        WEFT_BLOCKS_ADVICE);
}

static void mark_rows(weft_block_analysis *a) {
    const weft_csr *A = a->A;
    const weft_preconditioner_problem *problem = a->problem;
    memset(a->free, 1, (size_t)A->n_rows);
    for (int64_t i = 0; i < problem->n_constrained; ++i)
        a->free[problem->constrained[i]] = 0;
    for (int b = 0; b < a->blocks->n; ++b)
        for (int64_t i = 0; i < a->blocks->list[b].n; ++i)
            a->of[a->blocks->list[b].first + i] = b;
    for (int64_t i = 0; i < A->n_rows; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (A->columns[k] == i)
                a->diagonal[i] = A->values[k];
}

static weft_status start(weft_block_analysis *a, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)a->A->n_rows;
    a->diagonal = calloc(n + 1, sizeof *a->diagonal);
    a->free = calloc(n + 1, sizeof *a->free);
    a->of = calloc(n + 1, sizeof *a->of);
    if (!a->diagonal || !a->free || !a->of)
        TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
    TRY(weft_csr_transpose(a->device, a->A, &a->T, error));
    TRY(check_pattern(a, error));
    mark_rows(a);
done:
    return status;
}

/* ---- roles ------------------------------------------------------------------------------- */

static bool is_unsymmetric(const weft_block_analysis *a, const weft_block *block);

/* The sign of the free entries of the diagonal of a block, of most of them where convection or a tangent's reaction takes the sign
 * from some; 0: one of them is zero. */
static weft_status find_sign(const weft_block_analysis *a, int number, double *sign,
                             weft_error *error) {
    const weft_block *block = &a->blocks->list[number];
    bool zero = false;
    int64_t positive = 0, negative = 0;
    for (int64_t i = block->first; i < block->first + block->n; ++i) {
        zero |= a->free[i] && a->diagonal[i] == 0;
        positive += a->free[i] && a->diagonal[i] > 0;
        negative += a->free[i] && a->diagonal[i] < 0;
    }
    *sign = zero ? 0 : negative > positive ? -1 : 1;
    if (zero || !positive || !negative || (a->problem->is_general && is_unsymmetric(a, block)))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "the diagonal of part %d of the matrix has entries of both signs", number);
    weft_error_hint(error, "%s", WEFT_BLOCKS_ADVICE);
    return WEFT_ERROR_UNSUPPORTED;
}

/* Do a block and those before it have the signs of a saddle point? */
static bool opposes(const weft_block_analysis *a, const weft_block *block) {
    double sum = 0;
    for (int64_t i = block->first; i < block->first + block->n; ++i)
        if (a->free[i])
            sum += weft_schur_eliminated(a, i, a->diagonal) / a->diagonal[i];
    return sum < -1e-3 * (double)block->n;
}

/* The reaction of a block: its rows that see no constrained dof, applied to the constant of their
 * component. */
static double find_reaction(const weft_block_analysis *a, const weft_block *block) {
    const weft_csr *A = a->A;
    const int c = weft_space_components(block->space);
    double rows = 0, diagonals = 0;
    for (int64_t i = block->first; i < block->first + block->n; ++i) {
        double row = 0;
        bool sees = !a->free[i];
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1] && !sees; ++k) {
            const int64_t j = A->columns[k] - block->first;
            if (j < 0 || j >= block->n)
                continue;
            sees = !a->free[A->columns[k]];
            row += j % c == (i - block->first) % c ? A->values[k] : 0;
        }
        rows += sees ? 0 : row * block->sign;
        diagonals += sees ? 0 : fabs(a->diagonal[i]);
    }
    return diagonals > 0 ? rows / diagonals : 0;
}

/* Find the mass matrix of the same space to which a block is coupled by derivatives, as in Cahn and Hilliard's
 * equations. */
static bool find_partner(const weft_block_analysis *a, weft_block *block) {
    for (int b = 0; b < a->blocks->n; ++b) {
        const weft_block *other = &a->blocks->list[b];
        block->pair = (weft_coupled){
            .A = a->A, .free = a->free, .n = block->n, .c = other->first, .m = block->first};
        block->partner = b;
        if (other != block && other->role == WEFT_BLOCK_MASS && other->sign != 0 &&
            other->n == block->n &&
            weft_element_is_same(weft_space_element(other->space),
                                 weft_space_element(block->space)) &&
            weft_coupled_find(&block->pair))
            return true;
    }
    return false;
}

/* Mark a block and its partner. */
static void couple(const weft_block_analysis *a, weft_block *block) {
    weft_block *other = &a->blocks->list[block->partner];
    block->role = other->role = WEFT_BLOCK_COUPLED;
    block->sign = block->pair.sign_c;
    block->reaction = 1;
    block->has_pair = true;
    other->partner = (int)(block - a->blocks->list);
}

static weft_status find_roles(weft_block_analysis *a, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_blocks *blocks = a->blocks;
    bool is_done[WEFT_BLOCKS_MAX] = {false};
    int n = blocks->n;
    for (int b = 0; b < blocks->n; ++b) {
        is_done[b] = blocks->list[b].role == WEFT_BLOCK_CONDENSED;
        n -= is_done[b];
    }
    for (int step = 0; step < n; ++step) {
        int next = -1;
        double sign = 0;
        for (int b = 0; b < blocks->n; ++b)
            if (!is_done[b] && (next < 0 || blocks->list[b].n > blocks->list[next].n))
                next = b;
        weft_block *block = &blocks->list[next];
        is_done[next] = true;
        TRY(find_sign(a, next, &sign, error));
        if (sign != 0 && find_partner(a, block)) {
            couple(a, block);
            continue;
        }
        if (sign == 0 || opposes(a, block)) {
            block->role = WEFT_BLOCK_MULTIPLIER;
            blocks->n_multipliers += 1;
            continue;
        }
        block->sign = sign;
        block->reaction = find_reaction(a, block);
        block->role =
            block->reaction > WEFT_BLOCK_MASS_REACTION ? WEFT_BLOCK_MASS : WEFT_BLOCK_ELLIPTIC;
    }
done:
    return status;
}

/* Jacobi's preconditioner does as well without multipliers and elliptic blocks. */
static weft_status check_roles(const weft_blocks *blocks, weft_error *error) {
    int n = 0;
    for (int b = 0; b < blocks->n; ++b)
        n += blocks->list[b].role != WEFT_BLOCK_CONDENSED;
    bool useful = blocks->n_multipliers > 0 && blocks->n_multipliers < n;
    for (int b = 0; b < blocks->n; ++b)
        useful |= blocks->list[b].role == WEFT_BLOCK_ELLIPTIC ||
                  blocks->list[b].role == WEFT_BLOCK_COUPLED;
    if (useful)
        return WEFT_OK;
    if (blocks->n_multipliers > 0)
        return weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                                 "the diagonal of every part of the matrix has zeros",
                                 WEFT_BLOCKS_ADVICE);
    return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                          "all parts of the matrix are like mass matrices");
}

/* ---- matrices of blocks ------------------------------------------------------------------ */

static weft_status list_constrained(const weft_block_analysis *a, weft_block *block,
                                    weft_error *error) {
    int64_t n = 0;
    for (int64_t i = 0; i < block->n; ++i)
        n += !a->free[block->first + i];
    block->constrained = malloc(((size_t)n + 1) * sizeof *block->constrained);
    if (!block->constrained)
        return weft_out_of_memory(error, "the blocks of a preconditioner");
    for (int64_t i = 0; i < block->n; ++i)
        if (!a->free[block->first + i])
            block->constrained[block->n_constrained++] = (int32_t)i;
    return WEFT_OK;
}

/* Is the block, in contrast to its pattern, not symmetric? */
static bool is_unsymmetric(const weft_block_analysis *a, const weft_block *block) {
    static const double SYMMETRIC = 1e-10;
    const weft_csr *A = a->A;
    const int64_t last = block->first + block->n;
    double most = 0, apart = 0;
    for (int64_t i = block->first; i < last; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (A->columns[k] >= block->first && A->columns[k] < last) {
                most = fmax(most, fabs(A->values[k]));
                apart = fmax(apart, fabs(A->values[k] - a->T.values[k]));
            }
    return apart > SYMMETRIC * most;
}

/* Make the symmetric part of a block that is not symmetric definite, which a term like (u . grad w, v) in a
 * tangent takes from it: without couplings of components, and with row sums and diagonals that are not negative. */
static void make_definite(const weft_block *block, weft_csr *A) {
    const int c = weft_space_components(block->space);
    for (int64_t i = 0; i < A->n_rows; ++i) {
        double row = 0, sizes = 0; /* of the entries beside the diagonal */
        int64_t diagonal = -1;
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
            if (A->columns[k] % c != i % c)
                A->values[k] = 0;
            row += A->values[k];
            diagonal = A->columns[k] == i ? k : diagonal;
            sizes += A->columns[k] == i ? 0 : fabs(A->values[k]);
        }
        if (row < 0 && diagonal >= 0)
            A->values[diagonal] -= 2 * row;
        if (diagonal >= 0 && !(A->values[diagonal] > 0))
            A->values[diagonal] = sizes;
    }
}

/* sign (A + A^T)/2 of the block */
static weft_status extract(const weft_block_analysis *a, weft_block *block, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_csr *A = a->A;
    weft_csr made = {0};
    int64_t n = 0;
    const int64_t last = block->first + block->n;
    for (int64_t k = A->row_start[block->first]; k < A->row_start[last]; ++k)
        n += A->columns[k] >= block->first && A->columns[k] < last;
    TRY(weft_csr_allocate(block->n, block->n, n, &made, error));
    n = 0;
    for (int64_t i = block->first; i < last; ++i) {
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k)
            if (A->columns[k] >= block->first && A->columns[k] < last) {
                made.columns[n] = (int32_t)(A->columns[k] - block->first);
                made.values[n++] = block->sign * 0.5 * (A->values[k] + a->T.values[k]);
            }
        made.row_start[i - block->first + 1] = n;
    }
    const bool has_convection = is_unsymmetric(a, block);
    if (has_convection)
        make_definite(block, &made);
    block->matrix = made;
    made = (weft_csr){0};
    if (has_convection)
        weft_convection_find(a, block);
done:
    weft_csr_clear(&made);
    return status;
}

/* The diagonals of elliptic blocks, for Schur complements, are those of their diffusion. */
static void take_diagonal(weft_block_analysis *a, const weft_block *block) {
    const weft_csr *A = &block->matrix;
    for (int64_t i = 0; i < block->n; ++i) {
        const int64_t at = weft_csr_find(A, i, i);
        if (at >= 0 && block->convection > 0)
            a->diagonal[block->first + i] = block->sign * A->values[at];
    }
}

/* ---- all blocks -------------------------------------------------------------------------- */

/* H, for two blocks with GMRES, and for each, in its scale, with MINRES. */
static weft_status make_coupled(const weft_block_analysis *a, weft_block *block,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_coupled *pair =
        block->has_pair ? &block->pair : &a->blocks->list[block->partner].pair;
    const double scale = block->has_pair ? 1 : pair->scale;
    if (a->problem->is_general && !block->has_pair)
        goto done;
    TRY(weft_coupled_matrices(a->device, pair, &block->matrix, &block->coupling, error));
    for (int64_t k = 0; k < block->matrix.row_start[block->n]; ++k)
        block->matrix.values[k] *= scale;
    block->is_singular = weft_block_is_singular(block);
done:
    return status;
}

static weft_status make_block(weft_block_analysis *a, weft_block *block, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(list_constrained(a, block, error));
    if (block->role == WEFT_BLOCK_COUPLED) {
        TRY(make_coupled(a, block, error));
        goto done;
    }
    if (block->role == WEFT_BLOCK_CONDENSED)
        goto done;
    if (block->role == WEFT_BLOCK_ELLIPTIC) {
        TRY(extract(a, block, error));
        take_diagonal(a, block);
        block->is_singular = weft_block_is_singular(block);
    } else if (block->role == WEFT_BLOCK_MASS) {
        block->diagonal = calloc((size_t)block->n + 1, sizeof *block->diagonal);
        if (!block->diagonal)
            TRY(weft_out_of_memory(error, "the blocks of a preconditioner"));
        for (int64_t i = 0; i < block->n; ++i)
            if (a->free[block->first + i])
                block->diagonal[i] = 1 / fabs(a->diagonal[block->first + i]);
    }
done:
    return status;
}

/* Schur complements, after the other blocks and what they are chosen by. */
static weft_status make_multipliers(weft_block_analysis *a, weft_schur schur, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_blocks *blocks = a->blocks;
    TRY(weft_schur_choose(a, schur, error));
    for (int b = 0; b < blocks->n; ++b)
        if (blocks->list[b].role == WEFT_BLOCK_ELLIPTIC && blocks->schur != WEFT_SCHUR_MASS)
            TRY(weft_convection_factor(a, &blocks->list[b], error));
    for (int b = 0; b < blocks->n; ++b)
        if (blocks->list[b].role == WEFT_BLOCK_MULTIPLIER)
            TRY(weft_schur_make(a, &blocks->list[b], error));
done:
    return status;
}

weft_status weft_blocks_make(weft_device *device, const weft_blocks_matrix *matrix,
                             weft_schur schur, weft_blocks *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = matrix->problem;
    const weft_mixed *mixed = matrix->mixed;
    weft_block_analysis a = {
        .device = device, .A = matrix->A, .problem = problem, .mixed = mixed, .blocks = out};
    int64_t first = 0;
    *out = (weft_blocks){.n = problem->n_spaces};
    for (int b = 0; b < out->n; ++b) {
        out->list[b] =
            (weft_block){.space = problem->spaces[b],
                         .first = first,
                         .n = mixed ? mixed->rows[b].n_whole : weft_space_dofs(problem->spaces[b]),
                         .role = WEFT_BLOCK_MASS};
        if (matrix->condensed && matrix->condensed[b])
            out->list[b].role = WEFT_BLOCK_CONDENSED;
        first += out->list[b].n;
    }
    TRY(start(&a, error));
    TRY(find_roles(&a, error));
    TRY(check_roles(out, error));
    for (int b = 0; b < out->n; ++b)
        TRY(make_block(&a, &out->list[b], error));
    TRY(make_multipliers(&a, schur, error));
done:
    clear(&a);
    return status;
}

/* ---- on several ranks ------------------------------------------------------------------------ */

/* Constrained dofs in the numbers of the block, whose dofs are from `first` on. */
static weft_status take_constrained(weft_block *block, const weft_preconditioner_problem *part,
                                    weft_error *error) {
    free(block->constrained);
    block->n_constrained = 0;
    block->constrained = malloc(((size_t)part->n_constrained + 1) * sizeof *block->constrained);
    if (!block->constrained)
        return weft_out_of_memory(error, "the blocks of a preconditioner");
    for (int64_t i = 0; i < part->n_constrained; ++i)
        if (part->constrained[i] >= block->first && part->constrained[i] < block->first + block->n)
            block->constrained[block->n_constrained++] =
                (int32_t)(part->constrained[i] - block->first);
    return WEFT_OK;
}

weft_status weft_blocks_take_part(weft_blocks *blocks, const weft_mixed *mixed,
                                  const weft_preconditioner_problem *part, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t first = 0;
    for (int b = 0; b < blocks->n; ++b) {
        weft_block *block = &blocks->list[b];
        block->first = first;
        block->n = block->pair.n = mixed->rows[b].n;
        first += block->n;
        TRY(take_constrained(block, part, error));
        TRY(weft_mixed_take_values(mixed, b, &block->diagonal, error));
        TRY(weft_mixed_take_rows(mixed, b, &block->coupling, error));
    }
done:
    return status;
}
