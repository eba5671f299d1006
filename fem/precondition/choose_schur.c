/* Chooses what takes the place of a Schur complement, by the convection in the matrix.
 *
 * Decision  docs/decisions/0066-convection-wants-a-factorised-velocity.md */
#include "core/weft_core.h"
#include "fem/precondition/schur.h"

#include <math.h>

/* Convection up to which multigrid of the diffusion, with the mass for the Schur complement, takes at most about 100 iterations of GMRES,
 * and up to which the commutator does, with a factorization: of cavities at Reynolds numbers of 150 and 500. */
static const double WEAK = 15, MODERATE = 50;

static const weft_block *find_multiplier(const weft_block_analysis *a) {
    const weft_block *found = NULL;
    for (int b = 0; b < a->blocks->n; ++b)
        if (a->blocks->list[b].role == WEFT_BLOCK_MULTIPLIER)
            found = &a->blocks->list[b];
    return found;
}

static bool has_block(const weft_block_analysis *a, const weft_block *block) {
    for (int64_t i = block->first; i < block->first + block->n; ++i)
        for (int64_t k = a->A->row_start[i]; k < a->A->row_start[i + 1]; ++k)
            if (weft_schur_is_own(a, block, a->A->columns[k]) && a->A->values[k] != 0)
                return true;
    return false;
}

static bool is_beside_elliptic(const weft_block_analysis *a, const weft_block *multiplier) {
    for (int64_t i = multiplier->first; i < multiplier->first + multiplier->n; ++i)
        for (int64_t k = a->A->row_start[i]; k < a->A->row_start[i + 1]; ++k)
            if (a->A->values[k] != 0 && weft_schur_is_eliminated(a, multiplier, a->A->columns[k]) &&
                a->blocks->list[a->of[a->A->columns[k]]].role == WEFT_BLOCK_ELLIPTIC)
                return true;
    return false;
}

/* Why the structure of the matrix suits only the mass; NULL: it suits the others. */
static const char *unsuited(const weft_block_analysis *a) {
    const weft_block *multiplier = find_multiplier(a);
    if (!a->problem->is_general)
        return "the method is for symmetric matrices";
    if (a->blocks->n_multipliers != 1)
        return a->blocks->n_multipliers == 0 ? "there is no multiplier, such as a pressure"
                                             : "there are several multipliers";
    if (has_block(a, multiplier))
        return "the multiplier has a block of its own, such as a stabilisation or what condensed "
               "bubbles leave";
    return is_beside_elliptic(a, multiplier) ? NULL : "nothing elliptic is beside the multiplier";
}

static bool is_on_host(const weft_block_analysis *a) {
    return weft_device_limits(a->device)->execution != WEFT_EXECUTION_SIMT;
}

/* Do the factors of all blocks, times so much, fit into half of the free memory? */
static bool fits(const weft_block_analysis *a, double times) {
    double bytes = 0;
    for (int b = 0; b < a->blocks->n; ++b) {
        const weft_space *space = a->blocks->list[b].space;
        bytes += weft_factorization_predict(weft_space_mesh(space)->dimension,
                                            weft_space_nodes(space), weft_space_components(space))
                     .bytes;
    }
    return times * bytes < (double)weft_device_bytes_free(a->device) / 2;
}

/* Why nothing may be factorised; NULL: it may. */
static const char *unfactorised(const weft_block_analysis *a) {
    if (a->mixed)
        return "several ranks have no factorization but PETSc's";
    if (!is_on_host(a))
        return "lu runs on the host";
    int lu = -1;
    if (weft_preconditioner_find("lu", &lu, NULL) != WEFT_OK || !weft_preconditioner_is_found(lu))
        return "no library for lu is found";
    return fits(a, 1) ? NULL : "its factors take more than half of the free memory";
}

/* because  NULL: it is the device that does not suit */
static weft_status refuse(weft_schur asked, const char *because, weft_error *error) {
    const char *name = asked == WEFT_SCHUR_COMMUTATOR ? "commutator" : "augmented";
    if (because)
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "the preconditioner %s does not suit the matrix: %s", name, because);
    else
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "the preconditioner %s factorises on the host", name);
    weft_error_hint(error, "use %s",
                    because ? "--preconditioner block, or lu"
                            : "--device host, or --preconditioner block");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status weft_schur_choose(const weft_block_analysis *a, weft_schur asked, weft_error *error) {
    weft_blocks *blocks = a->blocks;
    for (int b = 0; b < blocks->n; ++b)
        blocks->convection = fmax(blocks->convection, blocks->list[b].convection);
    const char *because = unsuited(a);
    const bool may_augment = !because && weft_augmented_block(a, find_multiplier(a));
    if (asked == WEFT_SCHUR_AUGMENTED && !because && !may_augment)
        because = "several functions are beside the multiplier";
    if (asked != WEFT_SCHUR_AUTO) {
        blocks->schur = asked;
        return asked != WEFT_SCHUR_MASS && (because || !is_on_host(a))
                   ? refuse(asked, because, error)
                   : WEFT_OK;
    }
    blocks->schur = WEFT_SCHUR_MASS;
    if (blocks->convection <= WEAK || blocks->n_multipliers == 0)
        return WEFT_OK;
    blocks->because = because ? because : unfactorised(a);
    if (!blocks->because)
        blocks->schur =
            blocks->convection > MODERATE && may_augment && fits(a, WEFT_AUGMENTED_FACTORS)
                ? WEFT_SCHUR_AUGMENTED
                : WEFT_SCHUR_COMMUTATOR;
    return WEFT_OK;
}
