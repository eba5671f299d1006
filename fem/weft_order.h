/** Orderings of meshes.
 *
 *      In: a mesh.  Out: the same mesh with its nodes and cells renumbered for locality. */
#ifndef WEFT_ORDER_H
#define WEFT_ORDER_H

#include "fem/weft_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_ordering {
    WEFT_ORDERING_BISECTION, /* recursive coordinate bisection: parallel, parts of equal size */
    WEFT_ORDERING_METIS      /* METIS parts of the node graph, breadth first within: one thread */
} weft_ordering;
/** New -> old numbers of a renumbered mesh. */
typedef struct weft_renumbering {
    int32_t *nodes, *cells; /* [n_nodes], [n_cells] */
} weft_renumbering;
/** Renumber nodes and cells for locality: nodes by compact parts, with neighbouring parts close to
 *  each other; cells by their lowest node.
 *  device       borrowed, for its kernels if it is a GPU and the mesh large, otherwise for its
 *               threads; NULL: one thread. The result does not depend on it
 *  mesh         renumbered in place
 *  part_nodes   nodes per part; exact for WEFT_ORDERING_BISECTION, except for the last part;
 *               approximate for METIS; 0: 512, METIS 4096
 *  renumbering  NULL, or gets two arrays; caller's; free()
 *  Memory       during the call, 16 bytes per tetrahedron and 36 per node, and that of METIS; with
 *               a renumbering 8, with groups of cells 12 more per cell
 *               on a GPU during the call 40 bytes per tetrahedron and 80 per node
 *  Errors       WEFT_ERROR_MEMORY, _COMPILER: the mesh is unchanged; _DEVICE */
weft_status weft_mesh_order(weft_device *device, weft_mesh *mesh, weft_ordering method,
                            int64_t part_nodes, const weft_monitor *monitor,
                            weft_renumbering *renumbering, weft_error *error);
/** Mean distance of node numbers within a cell, divided by n_nodes; an ordering should reduce it.
 *  device  as for weft_mesh_order */
double weft_mesh_bandwidth(weft_device *device, const weft_mesh *mesh);

#ifdef __cplusplus
}
#endif
#endif
