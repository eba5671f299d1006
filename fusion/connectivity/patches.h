/** Owner-computes scatter: each patch of nodes accumulates the contributions of its incident cells.
 *  In:  a connectivity from cells to nodes
 *  Out: per patch its halo (nodes of its cells that it does not own) and the words that its threads
 *       decode; vertex_patches.h and edge_patches.h define the words
 *
 *  Decision  docs/decisions/0021-owners-compute-on-gpus.md */
#pragma once

#include "fusion/weft_program.h"

/** PATCH_VERTEX: each node evaluates its incident cells.
 *  PATCH_EDGE:   a patch evaluates each of its cells once. */
typedef enum weft_patch_kind { PATCH_VERTEX, PATCH_EDGE, WEFT_PATCH_KINDS } weft_patch_kind;

/** The patches to make. */
typedef struct weft_patch_options {
    weft_patch_kind kind;
    int nodes;   /* per patch, at most 4096; PATCH_VERTEX: a multiple of 128 */
    int n_warps; /* per thread block; PATCH_VERTEX: ignored, follows from nodes */
    bool with_cells;
} weft_patch_options;

typedef struct weft_patches weft_patches;
struct weft_patches {
    weft_patch_options options;
    int width; /* nodes per cell */
    int64_t n_nodes, n_patches, n_units, n_halo;
    int most_local;          /* maximum of own and halo nodes over the patches */
    weft_memory *halo_start; /* [n_patches + 1] int64_t */
    weft_memory *halo;       /* int32_t */
    weft_memory *order;      /* [n_patches][thread][iteration] uint16_t; PATCH_EDGE: NULL */
    weft_memory *rows;       /* [n_patches] weft_patch.rows */
    weft_memory *words;      /* [n_units] weft_patch.words, then zeros for the read-ahead */
    weft_memory *cells;      /* [n_units] weft_patch.cells, or NULL */
    weft_patches *next;
};

/** Patches with these options, made when first asked for and kept with the connectivity.
 *  connectivity  width 3 or 4; PATCH_EDGE: 4
 *  out           borrowed from the connectivity
 *  Errors  WEFT_ERROR_UNSUPPORTED: the width; more than 2^14 own and halo nodes in a patch;
 *          PATCH_EDGE: a cell that names a vertex twice
 *          WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE; *out untouched */
weft_status weft_connectivity_patches(weft_connectivity *connectivity,
                                      const weft_patch_options *options, const weft_patches **out,
                                      weft_error *error);
void weft_patches_free(weft_patches **patches);

/* ---- one patch (fusion/connectivity/patch.c) ---- */

/** The input of a patch: cells of patch i are list[start[i]] ... list[start[i + 1] - 1]. */
typedef struct weft_patch_source {
    const int32_t *indices, *list;
    const int64_t *start;
    int64_t n_to;
    int width, nodes, n_warps;
    bool with_cells;
} weft_patch_source;

/** One patch. A unit is what a warp reads in one load: a few words per lane. */
typedef struct weft_patch {
    int n_halo, n_units;
    int32_t *halo;   /* [n_halo] ascending */
    uint16_t *order; /* [thread][iteration] local number of the node; PATCH_EDGE: NULL */
    uint32_t *rows;  /* per warp: its first unit, then fields that depend on the kind */
    uint16_t *words;
    int32_t *cells; /* the cell number for each word; NULL: not requested */
} weft_patch;
void weft_patch_free(weft_patch *patch);

/** Scratch memory for one patch at a time, of either kind. Start from {0}. */
typedef struct weft_patch_scratch weft_patch_scratch;

/** Set source->list and source->start: the cells incident to each of n_patches patches.
 *  list    [start[n_patches]] cell numbers, ascending per patch; the caller frees it
 *  start   [n_patches + 1]; the caller frees it
 *  Errors  WEFT_ERROR_MEMORY, errors of weft_device_for; outputs untouched */
weft_status weft_patch_sort_cells(weft_device *device, weft_patch_source *source, int64_t n_from,
                                  int64_t n_patches, int32_t **list, int64_t **start,
                                  weft_error *error);
/** Local node numbers of a patch: own nodes from 0, then the halo.
 *  local   [cells of the patch][width]; the caller frees it
 *  halo    [n_halo] global numbers, ascending; the caller frees it
 *  Errors  WEFT_ERROR_UNSUPPORTED: more than 2^14 own and halo nodes; WEFT_ERROR_MEMORY;
 *          outputs untouched */
weft_status weft_patch_local(const weft_patch_source *source, int64_t patch, int32_t **local,
                             int32_t **halo, int *n_halo, weft_error *error);
