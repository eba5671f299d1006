/** Vertex patches: an accumulating store y[dofs] += f(...) done by the owner of each target.
 *
 *  A node evaluates every cell round it, renumbered evenly so that it is local vertex 0, and keeps
 *  row 0 of the result. Nodes are taken in patches of consecutive numbers; what a patch and the
 *  nodes round it (its halo) hold is staged once. Local numbers: own nodes from 0, the halo from
 *  `nodes` on, ascending.
 *
 *  The cells of a ring are ordered so that consecutive ones share a facet wherever they can: then a
 *  cell takes one new vertex e. A ring is a list of words, each a local number and flags:
 *
 *      triangles    the cell (0, q, e), q the vertex before
 *      tetrahedra   from (p, q, r):  WORD_ROTATED ? (p, r, e) : (r, q, e), which is the next
 *                   (p, q, r) and the cell (0, p, q, r)
 *      WORD_SKIP    a vertex to start from: nothing is computed
 *
 *  The first width - 2 words of a ring (which all skip) set q, or q and r. A warp's rows lie one
 *  after the other, so that its threads read ahead past the end of a ring. */
#pragma once

#include "fusion/connectivity/patches.h"

#define WEFT_PATCH_LANES 32 /* nodes that walk their rings side by side: a row */
#define WEFT_PATCH_WALKS_MAX                                                                       \
    4 /* rings that a thread walks one after the other, at most: rows of a warp */
#define WEFT_PATCH_GROUP 4 /* words that are stored side by side: 8 bytes */

enum { WORD_SKIP = 1 << 15, WORD_ROTATED = 1 << 14, WORD_LOCAL = (1 << 14) - 1 };

/** Rings that a thread walks in patches of so many nodes: 4, 2 or 1. A patch below 512 nodes has as
 *  many threads as one of 512, where it can, so that few nodes take less time, not fewer threads.
 */
int weft_patch_walks(int nodes);

/* ---- one ring (fusion/connectivity/vertex_walk.c) ---- */

/** The facet of a cell opposite the ring's node, in local numbers: (0, v...) is an even
 *  renumbering of the cell. */
typedef struct weft_vertex_walk_link {
    int32_t v[3];
    int32_t cell;
} weft_vertex_walk_link;

/** Memory for one ring at a time. Start from {0}. */
typedef struct weft_vertex_walk_scratch {
    int capacity; /* links */
    int32_t *adjacent, *path, *best;
    uint8_t *visited;
    int table_size;
    uint32_t *keys;
    int32_t *places;
} weft_vertex_walk_scratch;
void weft_vertex_walk_scratch_free(weft_vertex_walk_scratch *scratch);

/** Most words that n links can need. */
#define WEFT_VERTEX_WALK_WORDS(n) (3 * (n) + 1)

/** Order the cells of one ring. words, cells: [WEFT_VERTEX_WALK_WORDS(n)], cells those of the words
 *  (any cell of the ring where a word computes nothing). Gives the number of words, -1: out of
 *  memory. */
int weft_vertex_walk_order(weft_vertex_walk_scratch *scratch, const weft_vertex_walk_link *links,
                           int n, int width, uint16_t *words, int32_t *cells);

/* ---- one patch (fusion/connectivity/vertex_patch.c) ---- */

/** Warps that walk a patch's rings. */
int weft_patch_warps(int nodes);

/** One group of words per unit; rows: [warp][4] first group; words of iterations 0 and 1, 2 and 3
 *  (16 bits each; 0 where there is no such iteration); 0. words: [n_units][lane][WEFT_PATCH_GROUP];
 *  cells: [n_units][WEFT_PATCH_GROUP][lane].
 *  Errors  as weft_patch_local */
weft_status weft_vertex_patch_make(const weft_patch_source *source, int64_t patch,
                                   weft_patch_scratch *scratch, weft_patch *out, weft_error *error);
