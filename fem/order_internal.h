/* What order.c (which number a node gets) and order_apply.c (a mesh renumbered) share. Not
 * installed. */
#ifndef WEFT_ORDER_INTERNAL_H
#define WEFT_ORDER_INTERNAL_H

#include "fem_internal.h"

/** Neighbours of nodes: neighbours[start[i] .. start[i + 1]), without i itself. */
typedef struct weft_node_graph {
    int64_t n_nodes;
    int64_t *start;
    int32_t *neighbours;
} weft_node_graph;

/** Renumber everything in a mesh. new_of [n_nodes]: old -> new node number.
 *  Cells go by their lowest node, then by the others; facets likewise, the boundary first. */
weft_status weft_mesh_renumber(weft_mesh *mesh, const int32_t *new_of, weft_error *error);

#endif
