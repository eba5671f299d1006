/* Sums a residual over the dofs of each Dirichlet condition. */
#include "fem/derive/derive.h"

#include <stdlib.h>

weft_status weft_reactions(const weft_bc *bc, const double *r, double *out, int n,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_dofs = 0, *next = NULL;
    const int32_t *dofs = weft_bc_constrained(bc, &n_dofs);
    int32_t *owners = weft_array_make((size_t)n_dofs, sizeof *owners);
    double *values = weft_array_make((size_t)n_dofs, sizeof *values);
    next = calloc((size_t)n + 2, sizeof *next);
    if (!owners || !values || !next)
        TRY(weft_out_of_memory(error, "reactions"));
    TRY(weft_bc_owners(bc, owners, error));
    for (int64_t i = 0; i < n_dofs; ++i)
        ++next[owners[i] + 2];
    for (int k = 0; k < n; ++k)
        next[k + 2] += next[k + 1];
    for (int64_t i = 0; i < n_dofs; ++i) /* condition after condition; then next[k] is its first */
        values[next[owners[i] + 1]++] = r[dofs[i]];
    for (int k = 0; k < n; ++k)
        out[k] = weft_sum(values + next[k], next[k + 1] - next[k]);
done:
    free(owners);
    free(values);
    free(next);
    return status;
}
