/* Makes the prolongation of uniformly refined meshes. */
#include "fem/multigrid/private.h"

#include <stdlib.h>
#include <string.h>

typedef struct interpolation {
    const weft_parents *parents;
    int components;
    uint8_t *fine, *coarse; /* constrained dofs */
} interpolation;

static weft_status mark(const int32_t *dofs, int64_t n, int64_t n_all, uint8_t **out,
                        weft_error *error) {
    *out = calloc((size_t)n_all + 1, 1);
    if (!*out)
        return weft_out_of_memory(error, "a prolongation");
    for (int64_t k = 0; k < n; ++k) {
        if (dofs[k] < 0 || dofs[k] >= n_all)
            return weft_error_set(error, WEFT_ERROR_SHAPE, "constrained dof %lld of %lld dofs",
                                  (long long)dofs[k], (long long)n_all);
        (*out)[dofs[k]] = 1;
    }
    return WEFT_OK;
}

static bool fill_interpolation(const void *user, weft_csr_chunk *chunk) {
    const interpolation *p = user;
    if (!weft_csr_chunk_reserve(chunk, 2 * (chunk->last - chunk->first)))
        return false;
    for (int64_t i = chunk->first; i < chunk->last; ++i) {
        const int32_t *ends = p->parents->parents + i / p->components * 2;
        int32_t low = ends[0] < ends[1] ? ends[0] : ends[1];
        int32_t high = ends[0] < ends[1] ? ends[1] : ends[0];
        int64_t before = chunk->n;
        for (int k = 0; k < (low == high ? 1 : 2) && !p->fine[i]; ++k) {
            int64_t j = (int64_t)(k ? high : low) * p->components + i % p->components;
            if (p->coarse[j])
                continue;
            chunk->columns[chunk->n] = (int32_t)j;
            chunk->values[chunk->n++] = low == high ? 1 : 0.5;
        }
        chunk->lengths[i - chunk->first] = chunk->n - before;
    }
    return true;
}

weft_status weft_csr_from_parents(weft_device *device, const weft_parents *parents, weft_csr *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    interpolation p = {.parents = parents};
    p.components = parents->components ? parents->components : 1;
    weft_csr made = {.n_rows = parents->n_fine * p.components,
                     .n_columns = parents->n_coarse * p.components};
    for (int64_t k = 0; k < 2 * parents->n_fine; ++k)
        if (parents->parents[k] < 0 || parents->parents[k] >= parents->n_coarse)
            TRY(weft_error_set(error, WEFT_ERROR_SHAPE, "node %lld has the parent %lld of %lld",
                               (long long)(k / 2), (long long)parents->parents[k],
                               (long long)parents->n_coarse));
    TRY(mark(parents->fine_constrained, parents->n_fine_constrained, made.n_rows, &p.fine, error));
    TRY(mark(parents->coarse_constrained, parents->n_coarse_constrained, made.n_columns, &p.coarse,
             error));
    TRY(weft_csr_build(device, fill_interpolation, &p, &made, error));
    *out = made;
done:
    free(p.fine);
    free(p.coarse);
    return status;
}
