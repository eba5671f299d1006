/** Cell patches: an accumulating store y[dofs] += f(...) over consecutive cells, with any number of
 *  connectivities, done on chip by the thread block of a patch.
 *
 *  Patch p has the cells [p * cells, (p + 1) * cells). Through each connectivity they name some nodes,
 *  which have local numbers: first the inner nodes, which no other patch names, then the border nodes,
 *  each part ascending. Data of the nodes is staged on chip by local number, and read by each cell
 *  through its places. Contributions to a target are stored per cell and summed by node: a row is 32
 *  nodes of a patch, one per lane, sorted by their numbers of contributions. The sums of inner nodes
 *  are final; those of border nodes go to slots, which a second kernel adds up in ascending order of
 *  patches. Every order of additions is fixed, and no store is atomic. */
#pragma once

#include "fusion/weft_program.h"

#define WEFT_CELL_PATCH_LANES 32

enum { WEFT_CELL_PATCH_NONE = 0xffff }; /* in `order`: no node */

typedef struct weft_cell_patches weft_cell_patches;
struct weft_cell_patches {
    int cells, width;
    bool sums;
    int64_t n_patches, n_border, n_slots;
    int most_nodes;     /* of a patch */
    weft_memory *start; /* int64_t [n_patches + 1][3]: first node, slot and row of each patch */
    weft_memory *nodes; /* int32_t, global numbers by patch and local number */
    /* uint32_t [n_patches][(width + 1) / 2][cells]: local numbers of two nodes of a cell, the
     * first in the lower half */
    weft_memory *places;
    /* of a target of sums, otherwise NULL */
    weft_memory *row_start; /* uint32_t [rows + 1] first pair of each row */
    weft_memory *order;     /* uint16_t [rows][lane] local number, or WEFT_CELL_PATCH_NONE */
    /* uint32_t [pairs][lane] two contributions, node of the cell * cells + cell in the
     * patch; width * cells: none */
    weft_memory *pairs;
    weft_memory *border;       /* int32_t [n_border] targets with other than one patch, ascending */
    weft_memory *border_start; /* uint32_t [n_border + 1] */
    weft_memory *border_slots; /* uint32_t [n_slots] ascending per target */
    weft_cell_patches *next;
};

/** Patches of the given number of cells, made when first asked for and kept with the connectivity.
 *  cells   a multiple of 32, cells * width below 65535
 *  sums    with rows and borders
 *  out     borrowed from the connectivity
 *  Errors  WEFT_ERROR_UNSUPPORTED: cells * width; 2^32 slots or pairs
 *          WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE; *out untouched */
weft_status weft_connectivity_cell_patches(weft_connectivity *connectivity, int cells, bool sums,
                                           const weft_cell_patches **out, weft_error *error);
void weft_cell_patches_free(weft_cell_patches **patches);
