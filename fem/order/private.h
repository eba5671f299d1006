/* What fem/order/order.c (which number a node gets), fem/order/bisection.c and fem/order/metis.c (two ways to find it),
 * fem/order/apply.c and fem/order/simplices.c (a mesh renumbered) share. Not installed. */
#pragma once

#include "fem/weft_fem.h"

/** Numbers by recursive coordinate bisection: old [n_nodes] gets the old number of each new one.
 *  Ranges are halved at multiples of `leaf` along the longest axis of the box of their points; ties
 *  go by the other axes, then by the old number, so that the result depends on the mesh alone.
 *  Memory while it runs: 32 bytes a node. Errors WEFT_ERROR_MEMORY
 *  Source  Berger and Bokhari 1987 */
weft_status weft_order_bisect(weft_device *device, const weft_mesh *mesh, int64_t leaf,
                              int32_t *old, weft_error *error);
/** Numbers by METIS parts of about part_nodes nodes, breadth first inside; as above, on one thread.
 *  Memory while it runs: the node graph and what METIS takes. */
weft_status weft_order_metis(const weft_mesh *mesh, int64_t part_nodes, const weft_monitor *monitor,
                             int32_t *old, weft_error *error);

/** Renumber everything in a mesh. old [n_nodes]: new -> old node number.
 *  Cells go by their lowest node, then by the others; facets likewise, the boundary first.
 *  Memory while it runs: 20 bytes a tetrahedron, 8 and a second copy of x a node.
 *  Errors  WEFT_ERROR_MEMORY; the mesh is as it was */
weft_status weft_mesh_renumber(weft_device *device, weft_mesh *mesh, const int32_t *old,
                               weft_error *error);

/** Simplices, to be sorted.
 *  nodes  [n][width], every one in [0, n_nodes) of the mesh
 *  from   [n] which one each was before, or NULL */
typedef struct weft_simplices {
    int32_t *nodes;
    int64_t n;
    int width;
    int32_t *from;
} weft_simplices;
/** Sort simplices by their lowest node, then by the others ascending; new_of [n_nodes] is applied to
 *  every node first.
 *  Errors  WEFT_ERROR_MEMORY; simplices as they were */
weft_status weft_simplices_sort(weft_device *device, const weft_simplices *simplices,
                                const int32_t *new_of, int64_t n_nodes, weft_error *error);
