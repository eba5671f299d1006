/** Vertex patches: an accumulating store y[dofs] += f(...) done by the owner of each target.
 *
 *  A node evaluates every incident cell, its vertices permuted evenly so that the node is local
 *  vertex 0, and keeps row 0 of the result. A patch is `nodes` consecutive nodes; the data of its
 *  own nodes and of its halo is staged on chip once. Local numbers: own nodes from 0, the halo from
 *  `nodes` on, ascending.
 *
 *  The cells incident to a node form its ring. They are ordered so that consecutive cells share a
 *  facet wherever possible: each cell then adds one new vertex e. A ring is a list of words, each a
 *  local number and flags:
 *
 *      triangles    the cell (0, q, e), where q is the previous vertex
 *      tetrahedra   (p, q, r) becomes WORD_ROTATED ? (p, r, e) : (r, q, e), the cell (0, p, q, r)
 *      WORD_SKIP    a start vertex: nothing is computed
 *
 *  The first width - 2 words of a ring, all with WORD_SKIP, set q (triangles) or q and r
 *  (tetrahedra). The rows of a warp are contiguous, so its threads may read ahead past the end of a
 *  ring. */
#pragma once

#include "fusion/connectivity/patches.h"

#define WEFT_PATCH_LANES 32 /* nodes that walk their rings in parallel: a row */
#define WEFT_PATCH_WALKS_MAX                                                                       \
    4 /* maximum number of rings that a thread walks in sequence: rows per warp */
#define WEFT_PATCH_GROUP 4 /* words of a lane that are stored together: 8 bytes */

enum { WORD_SKIP = 1 << 15, WORD_ROTATED = 1 << 14, WORD_LOCAL = (1 << 14) - 1 };

/** Rings per thread in a patch of `nodes` nodes: 4, 2 or 1. A smaller patch has fewer rings per
 *  thread rather than fewer threads: 128 threads for 128, 256 and 512 nodes. */
int weft_patch_walks(int nodes);

/* ---- one ring (fusion/connectivity/vertex_walk.c) ---- */

/** The facet of a cell opposite the ring's node, in local numbers: (node, v[0], ...) is an even
 *  permutation of the cell. */
typedef struct weft_vertex_walk_link {
    int32_t v[3];
    int32_t cell;
} weft_vertex_walk_link;

/** Scratch memory for one ring at a time. Start from {0}. */
typedef struct weft_vertex_walk_scratch {
    int capacity; /* links */
    int32_t *adjacent, *path, *best;
    uint8_t *visited;
    int table_size;
    uint32_t *keys;
    int32_t *places;
} weft_vertex_walk_scratch;
void weft_vertex_walk_scratch_free(weft_vertex_walk_scratch *scratch);

/** Maximum number of words for n links. */
#define WEFT_VERTEX_WALK_WORDS(n) (3 * (n) + 1)

/** Order the cells of one ring.
 *  links   [n]
 *  width   nodes per cell: 3 or 4
 *  words   caller's, [WEFT_VERTEX_WALK_WORDS(n)]
 *  cells   caller's, of the same size: the cell of each word, some cell of the ring for WORD_SKIP
 *  Returns the number of words; -1: out of memory */
int weft_vertex_walk_order(weft_vertex_walk_scratch *scratch, const weft_vertex_walk_link *links,
                           int n, int width, uint16_t *words, int32_t *cells);

/* ---- one patch (fusion/connectivity/vertex_patch.c) ---- */

/** Warps per thread block for patches of `nodes` nodes. */
int weft_patch_warps(int nodes);

/** Make one patch. A unit is one group of words per lane.
 *  out     caller's; weft_patch_free
 *  Layout  rows[warp][4]: first group; words of iterations 0 and 1; of 2 and 3 (16 bits each, 0: no
 *          such iteration); 0
 *          words[n_units][lane][WEFT_PATCH_GROUP]
 *          cells[n_units][WEFT_PATCH_GROUP][lane]
 *  Errors  as weft_patch_local; WEFT_ERROR_UNSUPPORTED: a ring of more than 65535 words;
 *          *out untouched */
weft_status weft_vertex_patch_make(const weft_patch_source *source, int64_t patch,
                                   weft_patch_scratch *scratch, weft_patch *out, weft_error *error);
