/** Edge patches: an accumulating store y[dofs] += f(...) over tetrahedra, done by the owner of each
 *  target; a patch evaluates each of its cells once.
 *
 *  An edge ring is an edge (a, b) and a chain of cells incident to it, consecutive ones sharing a
 *  facet: (a, b, r0, r1), (a, b, r1, r2), ... One thread evaluates them in sequence, so each cell
 *  adds one new vertex. Contributions to a and b are summed in registers over the whole ring,
 *  those to a ring vertex over the two cells that contain it.
 *
 *  Cells of odd index are mirrored, (a, b, r2, r1): ring vertices of even index are then always
 *  local vertex 2 and those of odd index local vertex 3. No value changes its register, and two
 *  neighbours evaluate their common facet by the same expressions, which the compiler computes
 *  once. The values must therefore not depend on the order of a cell's vertices.
 *
 *  Nodes are grouped in patches and numbered locally as in fusion/connectivity/vertex_patches.h. A
 *  patch has every cell incident to its own nodes; contributions to halo nodes are dropped.
 *
 *  A row is 32 rings, one per lane. Each warp has its own copy of the patch's sums, and its lanes
 *  add to it in lockstep: r0 and r1, then r2 and r3, ..., finally a and b. Rows are composed so
 *  that no two lanes add to the same node in one step: no atomics, and a fixed order of additions.
 *
 *  A row is stored as pairs of words (a, b), (r0, r1), (r2, r3), ..., each pair for all lanes
 *  before the next pair. A word is a local number and flags:
 *
 *      EDGE_LAST    the last cell of the row (the same in all lanes)
 *      EDGE_SKIP    this lane's ring has ended, or there is none: nothing is computed or added
 *
 *  The rows of a warp are contiguous, so its threads may read ahead past the end of a row. */
#pragma once

#include "fusion/connectivity/vertex_patches.h"

#define WEFT_EDGE_RING_CELLS 8       /* maximum number of cells of an edge ring */
#define WEFT_EDGE_PATCH_READ_AHEAD 4 /* pairs that are read beyond the last one of a patch */

enum { EDGE_SKIP = 1 << 15, EDGE_LAST = 1 << 14, EDGE_LOCAL = (1 << 14) - 1 };

/* ---- a cover of cells (fusion/connectivity/edge_cover.c) ---- */

typedef struct weft_edge_ring {
    int32_t ends[2];     /* a and b, local numbers */
    int32_t at, n_cells; /* ring[at] ... ring[at + n_cells]; cell k is cells[at + k] */
} weft_edge_ring;

/** The cover of one patch at a time, and scratch memory for it. Start from {0}. */
typedef struct weft_edge_ring_scratch {
    int capacity_cells, capacity_local;
    weft_edge_ring *rings;
    int32_t *ring, *cells; /* cells by their index in the patch */
    int n_rings, n_ring;
    /* edges (first, second) by lower end; cells of edge e: round[start[e]] ... */
    int32_t *first, *second, *start, *round;
    int n_edges;
    int32_t *corner_start, *corners; /* cells incident to each own or halo node */
    int32_t *edge_to;                /* [local] the latest edge to this node, -1: none */
    int32_t *waiting;                /* [edges] linked lists: the next edge of the same bucket */
    uint8_t *covered;                /* [cells] */
} weft_edge_ring_scratch;
void weft_edge_ring_scratch_free(weft_edge_ring_scratch *scratch);

/** Cover the cells of a patch by edge rings: each cell is in exactly one.
 *  local   [n_cells][4] local node numbers in [0, n_local), distinct within a cell
 *  scratch the result: rings[n_rings], longest first, with their vertices and cells
 *  Returns false: out of memory */
bool weft_edge_rings_cover(weft_edge_ring_scratch *scratch, const int32_t *local, int n_cells,
                           int n_local);

/** See fusion/connectivity/patches.h. */
struct weft_patch_scratch {
    weft_vertex_walk_scratch vertex;
    weft_edge_ring_scratch edge;
};

/* ---- one patch (fusion/connectivity/edge_patch.c) ---- */

/** Make one patch. A unit is one pair of words per lane.
 *  out     caller's; weft_patch_free
 *  Layout  rows[warp][2]: first pair, number of rows
 *          words[n_units][lane][2]
 *          cells[n_units][2][lane]: the cell that the word's vertex completes
 *  Errors  as weft_patch_local; WEFT_ERROR_UNSUPPORTED: a cell names a vertex twice;
 *          *out untouched */
weft_status weft_edge_patch_make(const weft_patch_source *source, int64_t patch,
                                 weft_patch_scratch *scratch, weft_patch *out, weft_error *error);
