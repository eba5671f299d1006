/* Shared by fem/mesh/tile.c, which repeats a mesh, and fem/mesh/tile_sides.c, which finds the nodes
 * where copies meet. Not installed. */
#pragma once

#include "fem/weft_fem.h"

/** Nodes on the sides of a mesh's bounding box. Bit a of a mask is for axis a; only axes along
 *  which the mesh is repeated have sides. Initialise with {0}. */
typedef struct weft_tile_sides {
    double low[3], period[3];  /* the box */
    uint8_t *on_low, *on_high; /* [n_nodes] masks */
    /* [n_nodes]: the node on the opposite side along axis a, -1: none; NULL for other axes */
    int32_t *partner[3];
} weft_tile_sides;

/** Find the sides, pair their nodes, and check that facets are paired, too.
 *  out     weft_tile_sides_free, also after an error
 *  Errors  WEFT_ERROR_INPUT (names the first node or facet without a partner), WEFT_ERROR_MEMORY */
weft_status weft_tile_sides_find(const weft_mesh *mesh, const int64_t counts[3],
                                 weft_tile_sides *out, weft_error *error);
void weft_tile_sides_free(weft_tile_sides *sides);
/** Returns WEFT_ERROR_MEMORY. */
weft_status weft_tile_no_memory(const weft_mesh *tile, weft_error *error);
