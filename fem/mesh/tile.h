/* What fem/mesh/tile.c (a mesh repeated) and fem/mesh/tile_sides.c (which nodes meet) share. Not installed.
 */
#pragma once

#include "fem/weft_fem.h"

/** Nodes on the sides of a mesh's bounding box. Bit a of a mask stands for axis a; axes that are
 *  not repeated have no sides. Start from {0}. */
typedef struct weft_tile_sides {
    double low[3], period[3];  /* the box */
    uint8_t *on_low, *on_high; /* [n_nodes] masks */
    int32_t *partner[3]; /* [n_nodes]: the node opposite along axis a, -1 where there is none; NULL
                            for axes that are not repeated */
} weft_tile_sides;

/** Find the sides and pair their nodes, and check that the facets are paired by it too.
 *  Errors WEFT_ERROR_INPUT: the first node or facet without a partner; WEFT_ERROR_MEMORY */
weft_status weft_tile_sides_find(const weft_mesh *mesh, const int64_t counts[3],
                                 weft_tile_sides *out, weft_error *error);
void weft_tile_sides_free(weft_tile_sides *sides);
