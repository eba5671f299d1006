/** The part of a mesh that one rank has. Not installed.
 *
 *      a mesh, ranks -> the mesh of this rank, which knows its part
 *
 *  Nodes are divided among the ranks in the order of their numbers. A rank has the cells that touch a node of its own, further ones
 *  that it asks for, and the other nodes of these cells, which are copies of nodes that other ranks own. Nodes, cells and facets keep their order: whatever
 *  follows from comparing numbers (entities, dofs, columns of a matrix, the order in which cells are added up) is for
 *  the rank's own rows what it is in the whole mesh.
 *
 *  Decision  docs/decisions/0069-ranks-keep-the-order-of-the-whole.md */
#pragma once

#include "core/weft_comm.h"
#include "fem/mesh/mesh.h"

/** Cells that ranks have besides those that touch a node of their own: each in one entry, the same list on all ranks. */
typedef struct weft_part_cell {
    int32_t rank, cell; /* its number in the whole mesh */
} weft_part_cell;
typedef struct weft_part_cells {
    weft_part_cell *list; /* [n], by rank, then by cell */
    int64_t n, capacity;
} weft_part_cells;
/** Add an entry, at the end. Initialise with {NULL}; free(list).
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_part_cells_add(weft_part_cells *cells, int rank, int32_t cell, weft_error *error);
/** Sort entries, and keep each once. */
void weft_part_cells_sort(weft_part_cells *cells);

typedef struct weft_part {
    weft_comm *comm;                                  /* borrowed */
    int64_t n_global_nodes, n_global_cells, n_pieces; /* of the whole mesh: pieces share no node */
    int64_t *
        starts; /* [ranks + 1]: a rank owns the nodes starts[r] to starts[r + 1] of the whole mesh */
    weft_mesh_shape shape;  /* of the whole mesh */
    int32_t *nodes, *cells; /* [n_nodes], [n_cells]: numbers in the whole mesh, ascending */
    int32_t *pieces;        /* [n_nodes] the piece of the whole mesh that each is in */
    /* cells of this part that rank r has, too, though they touch no node of its own: also[also_starts[r]] and so on */
    int64_t *also_starts;   /* [ranks + 1] */
    int32_t *also;          /* numbers in this part, ascending for each rank */
    struct weft_team *team; /* of GPUs, made with the first space; NULL: none yet */
} weft_part;

/** The first node of each rank, and the number of nodes: equal shares, or those of weft_comm_share_out, with at least one node each where there are as many.
 *  out      [ranks + 1] */
void weft_part_starts(const weft_comm *comm, int64_t n_nodes, int64_t *out);
/** The rank that owns a node of the whole mesh. */
int weft_part_owner_of(const int64_t *starts, int n_ranks, int64_t node);
/** Add the cells behind the facets of those that ranks have: these and those that touch a node of theirs. So integrals over
 *  facets between cells are complete in the rows of each rank. (neighbours.c)
 *  device  borrowed, for its threads; NULL: one
 *  starts  [n_ranks + 1] weft_part_starts
 *  cells   sorted, also afterwards
 *  Errors  WEFT_ERROR_UNSUPPORTED (weft_entities_make), WEFT_ERROR_MEMORY */
weft_status weft_part_cells_behind(weft_device *device, const weft_mesh *whole,
                                   const int64_t *starts, int n_ranks, weft_part_cells *cells,
                                   weft_error *error);
/** The part of this rank.
 *  whole   the same on all ranks
 *  more    what ranks have besides; {NULL}: nothing
 *  out     caller's; weft_mesh_free. Its `part` is set, and source is that of the whole
 *  Errors  WEFT_ERROR_INPUT: there are fewer nodes than ranks; WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_mesh_take_part(weft_comm *comm, const weft_mesh *whole,
                                const weft_part_cells *more, weft_mesh **out, weft_error *error);
void weft_part_free(weft_part **part);
