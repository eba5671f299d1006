/** Auxiliary spaces of functions with continuous tangential or normal components. Not installed.
 *
 *      In: a space and its constrained dofs. Out: which spaces help, and the transfers from them.
 *
 *  The kernel of curl is gradients, and that of div curls; other functions of the lowest degree are near continuous vectors.
 *  A space of higher degree goes to the lowest one first. */
#pragma once

#include "fem/multigrid/multigrid.h"
#include "fem/weft_space.h"

/** What functions of an auxiliary space become. */
typedef enum weft_auxiliary_map {
    WEFT_AUXILIARY_KERNEL, /* gradients; in the plane rotated ones, in space curls */
    WEFT_AUXILIARY_LOWEST, /* themselves */
    WEFT_AUXILIARY_AXIS    /* vectors along an axis */
} weft_auxiliary_map;

/** A transfer. Free with weft_auxiliary_clear. */
typedef struct weft_auxiliary {
    weft_auxiliary_map map;
    weft_space *space; /* owned; those of all axes are that of the first, which owns it */
    bool owns_space;
    weft_csr
        P; /* [dofs of the space itself][dofs of the auxiliary one]; rows of constrained dofs are empty */
    /* ascending dofs of the auxiliary space that are zero, as they would change constrained ones */
    int32_t *constrained;
    int64_t n_constrained;
} weft_auxiliary;
enum { WEFT_AUXILIARY_MAX = 4 };

/** space        of a family of vectors whose values are mapped
 *  constrained  [n_constrained] ascending dofs
 *  out          [WEFT_AUXILIARY_MAX]: the kernel, then the lowest degree or the axes; *n of them
 *  Errors       WEFT_ERROR_UNSUPPORTED (a space whose cells share no dofs), _MEMORY */
weft_status weft_auxiliary_make(const weft_space *space, const int32_t *constrained,
                                int64_t n_constrained, weft_auxiliary *out, int *n,
                                weft_error *error);
/** The kernel alone. */
weft_status weft_auxiliary_kernel(const weft_space *space, const int32_t *constrained,
                                  int64_t n_constrained, weft_auxiliary *out, weft_error *error);
void weft_auxiliary_clear(weft_auxiliary *auxiliary);
