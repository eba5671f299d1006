/** Stars: an accumulating store y[dofs] += f(...) done by the owner of each target.
 *
 *  A node evaluates every cell round it, renumbered evenly so that it is local vertex 0, and keeps
 *  row 0 of the result. Nodes are taken in patches of consecutive numbers; what a patch and the
 *  nodes round it (its halo) hold is staged once. Local numbers: own nodes from 0, the halo from
 *  `nodes` on, ascending.
 *
 *  The cells of a star are ordered so that consecutive ones share a facet wherever they can: then a
 *  cell takes one new vertex e. A star is a list of words, each a local number and flags:
 *
 *      triangles    the cell (0, q, e), q the vertex before
 *      tetrahedra   from (p, q, r):  WORD_TURN ? (p, r, e) : (r, q, e), which is the next
 *                   (p, q, r) and the cell (0, p, q, r)
 *      WORD_SKIP    a vertex to start from: nothing is computed
 *
 *  The first width - 2 words of a star (which all skip) set q, or q and r. A warp's rows lie one
 *  after the other, so that its threads read ahead past the end of a star. */
#ifndef STAR_INTERNAL_H
#define STAR_INTERNAL_H

#include "core/weft_core.h"
#include "fusion/weft_program.h"

#define WEFT_STAR_LANES 32 /* nodes that walk their stars side by side: a row */
#define WEFT_STAR_TURNS                                                                            \
    4 /* stars that a thread walks one after the other, at most: rows of a warp */
#define WEFT_STAR_GROUP 4 /* words that are stored side by side: 8 bytes */

enum { WORD_SKIP = 1 << 15, WORD_TURN = 1 << 14, WORD_LOCAL = (1 << 14) - 1 };

/** Stars that a thread walks in patches of so many nodes: 4, 2 or 1. A patch below 512 nodes has as
 *  many threads as one of 512, where it can, so that few nodes take less time, not fewer threads.
 */
int weft_star_turns(int nodes);

/* ---- one star (fusion/connectivity/vertex_walk.c) ---- */

/** The facet of a cell opposite the star's node, in local numbers: (0, v...) is an even
 *  renumbering of the cell. */
typedef struct weft_star_link {
    int32_t v[3];
    int32_t cell;
} weft_star_link;

/** Memory for one star at a time. Start from {0}. */
typedef struct weft_star_scratch {
    int capacity; /* links */
    int32_t *adjacent, *path, *best;
    uint8_t *visited;
    int table_size;
    uint32_t *keys;
    int32_t *places;
} weft_star_scratch;
void weft_star_scratch_free(weft_star_scratch *scratch);

/** Most words that n links can need. */
#define WEFT_STAR_WORDS(n) (3 * (n) + 1)

/** Order the cells of one star. words, cells: [WEFT_STAR_WORDS(n)], cells those of the words (any
 *  cell of the star where a word computes nothing). Gives the number of words, -1: out of memory.
 */
int weft_star_order(weft_star_scratch *scratch, const weft_star_link *links, int n, int width,
                    uint16_t *words, int32_t *cells);

/* ---- one patch (fusion/connectivity/vertex_patch.c) ---- */

typedef struct weft_star_patch {
    int n_halo, n_groups;
    int32_t *halo;   /* [n_halo] ascending */
    uint16_t *order; /* [thread][turn] local number of the node */
    uint32_t *rows;  /* [warp][4] first group; words of turns 0 and 1, 2 and 3 (16 bits each; 0
                        where there is no such turn); 0 */
    uint16_t *words; /* [n_groups][lane][WEFT_STAR_GROUP] */
    int32_t *cells;  /* [n_groups][WEFT_STAR_GROUP][lane]; NULL: not wanted */
} weft_star_patch;
void weft_star_patch_free(weft_star_patch *patch);

/** What patches are made from. cells of patch i are list[start[i]] ... list[start[i + 1] - 1]. */
typedef struct weft_star_source_cells {
    const int32_t *indices, *list;
    const int64_t *start;
    int64_t n_to;
    int width, nodes;
    bool with_cells;
} weft_star_source_cells;

/** Warps that walk a patch's stars of vertices. */
int weft_star_warps(int nodes);

/** Fill source's list and start: the cells that touch each of n_patches patches, ascending. Both go
 *  to the caller, who frees them. (fusion/connectivity/patch_cells.c)
 *  Errors  WEFT_ERROR_MEMORY; what device tasks give */
weft_status weft_star_sort_cells(weft_device *device, weft_star_source_cells *source,
                                 int64_t n_from, int64_t n_patches, int32_t **list, int64_t **start,
                                 weft_error *error);

/** The local numbers of a patch's cells, [cells][width], and the nodes of its halo; the caller
 *  frees both. (fusion/connectivity/patch_numbering.c)
 *  Errors  WEFT_ERROR_MEMORY; WEFT_ERROR_UNSUPPORTED: more than 2^14 nodes in and round a patch */
weft_status weft_star_local(const weft_star_source_cells *source, int64_t patch, int32_t **local,
                            int32_t **halo, int *n_halo, weft_error *error);

/** Errors  as weft_star_local */
weft_status weft_star_patch_make(const weft_star_source_cells *source, int64_t patch,
                                 weft_star_scratch *scratch, weft_star_patch *out,
                                 weft_error *error);

/* ---- memory of all patches (fusion/connectivity/patch_memory.c) ---- */

/** MEMORY error: no memory for the `what` ("stars") of n cells. */
weft_status weft_star_no_memory(const char *what, int64_t n, weft_error *error);
/** A memory, and the array to fill: the memory itself where the host can use it. */
weft_status weft_star_place(weft_device *device, const char *what, size_t count, size_t size,
                            weft_memory **memory, void **array, weft_error *error);
/** What was filled beside its memory goes there. */
weft_status weft_star_send(weft_memory *memory, void *array, weft_error *error);
void weft_star_drop(weft_memory *memory, void *array);

/* ---- all patches (fusion/connectivity/vertex_patches.c) ---- */

typedef struct weft_stars weft_stars;
struct weft_stars {
    int nodes, width; /* a patch; a cell */
    int64_t n_nodes, n_patches, n_groups, n_halo;
    int most_local; /* nodes in and round a patch, at most */
    bool with_cells;
    weft_memory *halo_start; /* [n_patches + 1] int64_t */
    weft_memory *halo;       /* int32_t */
    weft_memory *order;      /* [n_patches][thread][turn] uint16_t */
    weft_memory *rows;       /* [n_patches][warp][4] uint32_t */
    weft_memory *words;      /* [n_groups][lane][4] uint16_t */
    weft_memory *cells;      /* [n_groups][4][lane] int32_t, or NULL */
    weft_stars *next;
};

/** connectivity  width 3 or 4
 *  nodes         of a patch: a multiple of 128, at most 4096
 *  Errors  WEFT_ERROR_UNSUPPORTED (the width; a patch with too many nodes round it),
 *          WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE */
weft_status weft_stars_make(weft_device *device, const weft_connectivity *connectivity, int nodes,
                            bool with_cells, weft_stars **out, weft_error *error);
void weft_stars_free(weft_stars **stars);
/** The same, kept with the connectivity. Borrowed. (fusion/connectivity/patch_cache.c) */
weft_status weft_connectivity_stars(weft_connectivity *connectivity, int nodes, bool with_cells,
                                    const weft_stars **out, weft_error *error);

#endif
