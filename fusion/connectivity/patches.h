/** Patches of nodes, whose owners accumulate what the cells round them give. In: a connectivity. Out:
 *  for each patch the nodes round it and the words that its threads walk. What words mean is said
 *  in fusion/connectivity/vertex_patches.h and fusion/connectivity/edge_patches.h. */
#pragma once

#include "fusion/weft_program.h"

/** Vertex: each node evaluates the cells round it. Edge: a patch evaluates each of its cells once. */
typedef enum weft_patch_kind { PATCH_VERTEX, PATCH_EDGE, WEFT_PATCH_KINDS } weft_patch_kind;

/** What patches of a connectivity are wanted. */
typedef struct weft_patch_options {
    weft_patch_kind kind;
    int nodes;   /* of a patch, at most 4096; PATCH_VERTEX: a multiple of 128 */
    int n_warps; /* of a thread block; PATCH_VERTEX: as the nodes say, not read */
    bool with_cells;
} weft_patch_options;

typedef struct weft_patches weft_patches;
struct weft_patches {
    weft_patch_options options;
    int width; /* of a cell */
    int64_t n_nodes, n_patches, n_units, n_halo;
    int most_local;          /* nodes in and round a patch, at most */
    weft_memory *halo_start; /* [n_patches + 1] int64_t */
    weft_memory *halo;       /* int32_t */
    weft_memory *order;      /* [n_patches][thread][iteration] uint16_t; PATCH_EDGE: NULL */
    weft_memory *rows;       /* [n_patches] of weft_patch.rows */
    weft_memory *words;      /* [n_units], and what is read ahead, of weft_patch.words */
    weft_memory *cells;      /* [n_units] of weft_patch.cells, or NULL */
    weft_patches *next;
};

/** Made when first asked for, and kept with the connectivity. Borrowed.
 *  connectivity  width 3 or 4; PATCH_EDGE: 4
 *  Errors  WEFT_ERROR_UNSUPPORTED (the width; a patch with too many nodes round it; PATCH_EDGE: a
 *          vertex twice in a cell), WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE */
weft_status weft_connectivity_patches(weft_connectivity *connectivity,
                                      const weft_patch_options *options, const weft_patches **out,
                                      weft_error *error);
void weft_patches_free(weft_patches **patches);

/* ---- one patch (fusion/connectivity/patch.c) ---- */

/** What patches are made from. cells of patch i are list[start[i]] ... list[start[i + 1] - 1]. */
typedef struct weft_patch_source {
    const int32_t *indices, *list;
    const int64_t *start;
    int64_t n_to;
    int width, nodes, n_warps;
    bool with_cells;
} weft_patch_source;

/** A unit is what a lane reads at once: a few words of each lane of a warp. */
typedef struct weft_patch {
    int n_halo, n_units;
    int32_t *halo;   /* [n_halo] ascending */
    uint16_t *order; /* [thread][iteration] local number of the node; PATCH_EDGE: NULL */
    uint32_t *rows;  /* for each warp its first unit, and what its kind says */
    uint16_t *words;
    int32_t *cells; /* numbers of the cells, place by place; NULL: not wanted */
} weft_patch;
void weft_patch_free(weft_patch *patch);

/** Memory for one patch at a time, of either kind. Start from {0}. */
typedef struct weft_patch_scratch weft_patch_scratch;

/** Fill source's list and start: the cells that touch each of n_patches patches, ascending. Both go
 *  to the caller, who frees them.
 *  Errors  WEFT_ERROR_MEMORY; what device tasks give */
weft_status weft_patch_sort_cells(weft_device *device, weft_patch_source *source, int64_t n_from,
                                  int64_t n_patches, int32_t **list, int64_t **start,
                                  weft_error *error);
/** The local numbers of a patch's cells, [cells][width], and the nodes of its halo; the caller
 *  frees both.
 *  Errors  WEFT_ERROR_MEMORY; WEFT_ERROR_UNSUPPORTED: more than 2^14 nodes in and round a patch */
weft_status weft_patch_local(const weft_patch_source *source, int64_t patch, int32_t **local,
                             int32_t **halo, int *n_halo, weft_error *error);
