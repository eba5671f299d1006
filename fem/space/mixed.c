/* Mixed spaces: the dofs of several spaces over one mesh, numbered one space after another. */
#include "fem/space/private.h"

#include <stdlib.h>

weft_status weft_mixed_make(const weft_space *const *spaces, int n, weft_mixed *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(spaces[0]);
    int first = 0;
    if (n > WEFT_MIXED_MAX)
        return weft_error_set(error, WEFT_ERROR_USAGE, "a mixed space has %d parts, and at most %d",
                              n, WEFT_MIXED_MAX);
    for (int i = 0; i < n; ++i) {
        const weft_space *space = spaces[i];
        if (weft_space_mesh(space) != mesh)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "part %d of a mixed space is on another mesh", i + 1);
        out->first[i] = out->n_dofs;
        out->n_dofs += weft_space_dofs(space);
        out->width += weft_space_element(space)->n_nodes * weft_space_components(space);
    }
    if (out->n_dofs > INT32_MAX)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "more than 2^31 - 1 degrees of freedom");
    out->cell_dofs =
        weft_array_make((size_t)mesh->n_cells * (size_t)out->width, sizeof *out->cell_dofs);
    if (!out->cell_dofs)
        return weft_out_of_memory(error, "the dofs of a mixed space");
    for (int i = 0; i < n; ++i) {
        const int32_t *nodes = weft_space_cell_nodes(spaces[i]);
        const int components = weft_space_components(spaces[i]);
        const int nodes_of_cell = weft_space_element(spaces[i])->n_nodes;
        for (int64_t c = 0; c < mesh->n_cells; ++c)
            for (int k = 0; k < nodes_of_cell * components; ++k)
                out->cell_dofs[c * out->width + first + k] =
                    (int32_t)(out->first[i] +
                              (int64_t)nodes[c * nodes_of_cell + k / components] * components +
                              k % components);
        first += nodes_of_cell * components;
    }
    TRY(weft_connectivity_make(weft_space_device(spaces[0]), out->cell_dofs, mesh->n_cells,
                               out->width, out->n_dofs, &out->dofs, error));
done:
    return status;
}

void weft_mixed_free(weft_mixed *mixed) {
    weft_connectivity_free(&mixed->dofs);
    free(mixed->cell_dofs);
    *mixed = (weft_mixed){0};
}
