/* Renumbering of meshes, shared by the files of this folder. Not installed.
 *
 *      In: a mesh.  Out: new -> old node numbers (bisection.c, metis.c), the renumbered mesh
 *      (apply.c, simplices.c). */
#pragma once

#include "fem/weft_fem.h"

/** Number the nodes by recursive coordinate bisection: ranges are halved at multiples of `leaf`
 *  along the longest axis of the bounding box of their points. Ties are broken by the other axes,
 *  then by the old number, so that the result depends on the mesh only.
 *  old     [n_nodes], gets the old number of each new one
 *  Memory  during the call, 32 bytes per node
 *  Errors  WEFT_ERROR_MEMORY
 *  Source  Berger and Bokhari 1987 */
weft_status weft_order_bisect(weft_device *device, const weft_mesh *mesh, int64_t leaf,
                              int32_t *old, weft_error *error);
/** Units of 2^-32 of the longest extent of (halved) coordinates; 0: all points coincide. */
double weft_order_scale(double longest);
/** Number the nodes by METIS parts of about part_nodes nodes, breadth first within each; on one
 *  thread.
 *  old     [n_nodes], gets the old number of each new one
 *  Memory  during the call, the node graph and that of METIS
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_order_metis(const weft_mesh *mesh, int64_t part_nodes, const weft_monitor *monitor,
                             int32_t *old, weft_error *error);

/** Renumber the nodes of a mesh, and sort its cells by their lowest node, then by the others;
 *  facets likewise, the boundary first.
 *  renumbering  its nodes are given; its cells are NULL or get the old number of each new one
 *  Memory       during the call, 16 bytes per tetrahedron, 8 per node, and a copy of x
 *  Errors       WEFT_ERROR_MEMORY; the mesh is unchanged */
weft_status weft_mesh_renumber(weft_device *device, weft_mesh *mesh,
                               const weft_renumbering *renumbering, weft_error *error);

/** What follows new numbers in a mesh, as one array each. */
typedef struct weft_mesh_moves {
    int32_t *facets; /* [n_facets][w], a copy: to be renumbered and sorted */
    /* [n_facets]: the first to be set, numbers in the boundary and in the rest counted
     * from 0 each; work space */
    int32_t *facet_from, *new_facet;
    int32_t *cell_from;                /* [n_cells] to be set: new -> old; NULL: nothing needs it */
    int32_t *own_cell_from, *new_cell; /* its memory unless it is the caller's; work space */
    double *curve;                     /* work space */
} weft_mesh_moves;
/** cells   NULL, or gets cell_from
 *  out     weft_mesh_moves_free
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_mesh_moves_make(const weft_mesh *mesh, int32_t *cells, weft_mesh_moves *out,
                                 weft_error *error);
/** Accepts {0}; leaves {0}. */
void weft_mesh_moves_free(weft_mesh_moves *moves);
/** Replace the facets of a mesh whose cells have been renumbered and sorted; renumber groups and move
 *  curved cells. */
void weft_mesh_moves_follow(weft_mesh *mesh, weft_mesh_moves *moves);

/** Cells or facets to be sorted.
 *  nodes  [n][width], width 1 to 4 or 8, in [0, n_nodes) of the mesh
 *  from   [n] gets the old index of each simplex; or NULL */
typedef struct weft_simplices {
    int32_t *nodes;
    int64_t n;
    int width;
    int32_t *from;
} weft_simplices;
/** Renumber the nodes of simplices, then sort simplices by their four lowest nodes.
 *  new_of  [n_nodes] old -> new node number
 *  Errors  WEFT_ERROR_MEMORY; the simplices are unchanged */
weft_status weft_simplices_sort(weft_device *device, const weft_simplices *simplices,
                                const int32_t *new_of, int64_t n_nodes, weft_error *error);
