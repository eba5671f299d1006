/* The stars of a connectivity, made when they are first asked for and kept with it. */
#include "core/weft_core.h"
#include "fusion/connectivity/edge_patches.h"
#include "fusion/connectivity/private.h"
#include "fusion/connectivity/vertex_patches.h"
#include "fusion/weft_program.h"

weft_status weft_connectivity_stars(weft_connectivity *connectivity, int nodes, bool with_cells,
                                    const weft_stars **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_stars *stars = connectivity->stars;
    while (stars && (stars->nodes != nodes || stars->with_cells < with_cells))
        stars = stars->next;
    if (!stars) {
        TRY(weft_stars_make(connectivity->device, connectivity, nodes, with_cells, &stars, error));
        stars->next = connectivity->stars;
        connectivity->stars = stars;
    }
    *out = stars;
done:
    return status;
}

weft_status weft_connectivity_edge_stars(weft_connectivity *connectivity, int nodes, int n_warps,
                                         bool with_cells, const weft_edge_stars **out,
                                         weft_error *error) {
    weft_status status = WEFT_OK;
    weft_edge_stars *stars = connectivity->edge_stars;
    while (stars &&
           (stars->nodes != nodes || stars->n_warps != n_warps || stars->with_cells < with_cells))
        stars = stars->next;
    if (!stars) {
        TRY(weft_edge_stars_make(connectivity->device, connectivity, nodes, n_warps, with_cells,
                                 &stars, error));
        stars->next = connectivity->edge_stars;
        connectivity->edge_stars = stars;
    }
    *out = stars;
done:
    return status;
}
