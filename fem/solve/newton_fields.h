/** Newton's criterion for each function of a mixed space. */
#pragma once

#include "core/weft_core.h"
#include "fusion/weft_share.h"

typedef struct weft_newton_fields {
    const int64_t *first; /* [n + 1] dofs of the functions, from 0; borrowed, as all pointers */
    int n;
    weft_memory *r, *restricted; /* R, and C^T R, without constraints the same */
    weft_memory *terms;          /* |diag K| u */
    weft_memory *is_free;
    const weft_share *share; /* of the dofs; NULL: all count */
    double tolerance, scale; /* of functions without a diagonal */
} weft_newton_fields;

/** Is |C^T R| over the free dofs of each function at most the tolerance times |R| over all of its dofs, or |diag K| |u|?
 *  Errors  WEFT_ERROR_MEMORY, those of weft_memory_read */
weft_status weft_newton_fields_small(const weft_newton_fields *fields, bool *out,
                                     weft_error *error);
