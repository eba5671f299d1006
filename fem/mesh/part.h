/** The part of a mesh that one rank has. Not installed.
 *
 *      a mesh, ranks -> the mesh of this rank, which knows its part
 *
 *  Nodes are divided among the ranks in the order of their numbers. A rank has the cells that touch a node of its own, and
 *  the other nodes of these cells, which are copies of nodes that other ranks own. Nodes, cells and facets keep their order: whatever
 *  follows from comparing numbers (entities, dofs, columns of a matrix, the order in which cells are added up) is for
 *  the rank's own rows what it is in the whole mesh.
 *
 *  Decision  docs/decisions/0069-ranks-keep-the-order-of-the-whole.md */
#pragma once

#include "core/weft_comm.h"
#include "fem/mesh/mesh.h"

typedef struct weft_part {
    weft_comm *comm;                                  /* borrowed */
    int64_t n_global_nodes, n_global_cells, n_pieces; /* of the whole mesh: pieces share no node */
    int64_t *
        starts; /* [ranks + 1]: a rank owns the nodes starts[r] to starts[r + 1] of the whole mesh */
    weft_mesh_shape shape;  /* of the whole mesh */
    int32_t *nodes, *cells; /* [n_nodes], [n_cells]: numbers in the whole mesh, ascending */
    struct weft_team *team; /* of GPUs, made with the first space; NULL: none yet */
} weft_part;

/** The part of this rank.
 *  whole   the same on all ranks
 *  out     caller's; weft_mesh_free. Its `part` is set, and source is that of the whole
 *  Errors  WEFT_ERROR_INPUT: there are fewer nodes than ranks; WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_mesh_take_part(weft_comm *comm, const weft_mesh *whole, weft_mesh **out,
                                weft_error *error);
/** The rank that owns a node of the part. */
int weft_part_owner(const weft_part *part, int32_t node);
void weft_part_free(weft_part **part);
