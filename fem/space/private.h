/* Numbering of the nodes of spaces. In: a mesh and an element. Out: the nodes of each cell. */
#pragma once

#include "fem/mesh/copies.h"
#include "fem/mesh/entities.h"
#include "fem/weft_space.h"

/** weft_form_ship for a script that takes any cells. */
weft_status weft_form_ship_any(const weft_space *space, const char *script, weft_connectivity *dofs,
                               weft_bound_form *out, weft_error *error);

/** Facets with given numbers in the cells on their sides, whose nodes are in the cell's own order. */
struct weft_entities_of;
weft_status weft_space_sides_at(const weft_space *space, const struct weft_entities_of *of,
                                weft_space_sides *out, weft_error *error);

/** Number the nodes of an element on a mesh: those of the vertices, edges, faces and cells with the
 *  same lowest vertex follow each other, in the order of that vertex. Nodes on an edge or a face
 *  that several cells share are in the order of its vertices' numbers, so any order of a cell's
 *  vertices will do.
 *  cells   [n_cells][element->n_nodes], from weft_array_make; caller's; free()
 *  Errors  WEFT_ERROR_UNSUPPORTED (2^31 nodes), WEFT_ERROR_MEMORY; *cells untouched */
weft_status weft_nodes_number(weft_device *device, const weft_mesh *mesh,
                              const weft_element *element, int32_t **cells, int64_t *n_nodes,
                              weft_error *error);
/** Coordinates of points that each cell has.
 *  points  [width][d] in the reference cell, such as element->points
 *  cells   [n_cells][width], the number of each among all n
 *  x       [n][d], from weft_array_make; caller's; free()
 *  Errors  WEFT_ERROR_MEMORY; *x untouched */
weft_status weft_nodes_place(weft_device *device, const weft_mesh *mesh, int width,
                             const double *points, const int32_t *cells, int64_t n, double **x,
                             weft_error *error);

enum { WEFT_NODE_ORDERS = 16 };
/** Nodes in the interior of an edge or a face in the order of its vertices' numbers, for each order of these vertices
 *  in a cell. */
typedef struct weft_node_permutations {
    int n; /* nodes */
    int32_t
        *from; /* [WEFT_NODE_ORDERS][n]: the cell's node at place i of the sorted order; free() */
} weft_node_permutations;
/** Those of the entities of one dimension. An order is first vertex * vertices + second vertex.
 *  Errors  WEFT_ERROR_MEMORY; free out->from also then */
weft_status weft_node_permutations_make(const weft_element *element, int dimension,
                                        weft_node_permutations *out, weft_error *error);
/** Whether a space may have n nodes.
 *  Errors  WEFT_ERROR_UNSUPPORTED (2^31) */
weft_status weft_nodes_check(const weft_mesh *mesh, int64_t n, weft_error *error);
/** Functions of the map from the reference cell at points.
 *  shape  [width][n_functions]; caller's; free() */
weft_status weft_nodes_map(const weft_mesh *mesh, int width, const double *points, double **shape,
                           int *n_functions, weft_error *error);

/** The nodes of an element on a device on which set-up runs. Initialise with {0}. */
typedef struct weft_device_nodes {
    int64_t n;
    weft_memory *cells; /* as of weft_nodes_number */
    weft_memory *x;     /* as of weft_nodes_place */
} weft_device_nodes;
/** weft_nodes_number and weft_nodes_place by kernels of the device (kernels/setup/nodes.cu).
 *  copies  NULL, or what the device has of the mesh; borrowed
 *  out     weft_device_nodes_free
 *  Errors  theirs; WEFT_ERROR_COMPILER, _DEVICE; *out untouched */
weft_status weft_nodes_make_on_device(weft_device *device, const weft_mesh *mesh,
                                      const weft_mesh_copies *copies, const weft_element *element,
                                      weft_device_nodes *out, weft_error *error);
void weft_device_nodes_free(weft_device_nodes *nodes);

/** Whether cells_integrate can: the device is a GPU and has the cells, and the functions interpolate the maps of the cells. */
bool cells_integrate_on_device(const weft_space *space);
/** The integral of one component of a function, and the measure of the mesh.
 *  degree  of what the rule integrates
 *  u       values at the nodes, in steps of the space's components from entry `first` on; NULL: of 1
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status cells_integrate(const weft_space *space, int degree, weft_memory *u, int64_t first,
                            double out[2], weft_error *error);
