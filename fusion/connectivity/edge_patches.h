/** Edge patches: an accumulating store y[dofs] += f(...) over tetrahedra, done by the owner of each
 *  target with each cell of a patch evaluated once.
 *
 *  An edge ring is an edge (a, b) and some cells round it, each of which shares a facet with the
 *  next: the cells (a, b, r0, r1), (a, b, r1, r2), ... of its ring r. One thread evaluates them one
 *  after the other, so that a cell takes one new vertex; what rows a and b get is added up in
 *  registers over the whole ring, what a ring vertex gets over the two cells that have it.
 *
 *  Cells of odd number stand mirrored, (a, b, r2, r1): then ring vertices of even number are always
 *  local vertex 2 and the others local vertex 3, nothing moves, and what two neighbours compute of
 *  their common facet is the same text, which the compiler computes once. Values must therefore
 *  not depend on any renumbering of a cell's vertices.
 *
 *  Nodes are taken in patches and numbered locally as in fusion/connectivity/vertex_patches.h; a patch has every cell
 *  that touches its own nodes, and what the nodes round it would get is dropped. 32 rings, one a
 *  lane, are a row: they give what they have to a copy of the patch's sums that belongs to their
 *  warp, all at the same time (r0 and r1, then r2 and r3, ..., at last a and b), and rows are put
 *  together such that no two lanes then give to the same node. Nothing is atomic, and the order of
 *  additions is fixed.
 *
 *  A row is words in pairs, a lane's next pair after those of the other lanes: (a, b), (r0, r1),
 *  (r2, r3) ... A word is a local number and flags:
 *
 *      EDGE_LAST    the last cell of the row (the same in all lanes)
 *      EDGE_SKIP    this lane's ring has ended, or there is none: nothing is computed or added
 *
 *  A warp's rows lie one after the other, so that its threads read ahead past the end of one. */
#pragma once

#include "fusion/connectivity/vertex_patches.h"

#define WEFT_EDGE_RING_CELLS 8  /* of an edge ring, at most */
#define WEFT_EDGE_PATCH_AHEAD 4 /* pairs that are read past the last one of a patch */

enum { EDGE_SKIP = 1 << 15, EDGE_LAST = 1 << 14, EDGE_LOCAL = (1 << 14) - 1 };

/* ---- a cover of cells (fusion/connectivity/edge_cover.c) ---- */

typedef struct weft_edge_ring {
    int32_t ends[2];     /* a and b, local numbers */
    int32_t at, n_cells; /* ring[at] ... ring[at + n_cells]; cell k is cells[at + k] */
} weft_edge_ring;

/** Memory for the cover of one patch at a time, and the cover. Start from {0}. */
typedef struct weft_edge_ring_scratch {
    int capacity_cells, capacity_local;
    weft_edge_ring *rings;
    int32_t *ring, *cells; /* cells by their place in the patch */
    int n_rings, n_ring;
    /* edges by their lower end, and the cells round each */
    int32_t *first, *second, *start, *round;
    int n_edges;
    int32_t *corner_start, *corners; /* of all nodes in and round the patch */
    int32_t *edge_to;                /* [local] */
    int32_t *waiting;                /* [edges] the next of a bucket */
    uint8_t *covered;                /* [cells] */
} weft_edge_ring_scratch;
void weft_edge_ring_scratch_free(weft_edge_ring_scratch *scratch);

/** Every cell of a patch in one edge ring: scratch->rings, those of more cells first. local:
 *  [n_cells][4] numbers below n_local, no two of a cell the same. False: out of memory. */
bool weft_edge_rings_cover(weft_edge_ring_scratch *scratch, const int32_t *local, int n_cells,
                           int n_local);

/** See fusion/connectivity/patches.h. */
struct weft_patch_scratch {
    weft_vertex_walk_scratch vertex;
    weft_edge_ring_scratch edge;
};

/* ---- one patch (fusion/connectivity/edge_patch.c) ---- */

/** One pair of words per unit; rows: [warp][2] first pair, number of rows. words:
 *  [n_units][lane][2]; cells: [n_units][2][lane], that the word's vertex completes.
 *  Errors  as weft_patch_local; WEFT_ERROR_UNSUPPORTED: a vertex twice in a cell */
weft_status weft_edge_patch_make(const weft_patch_source *source, int64_t patch,
                                 weft_patch_scratch *scratch, weft_patch *out, weft_error *error);
