/** The map from the reference cell to the cells of a mesh: of degree 1, or 2 where the mesh is curved. In: a
 *  mesh. Out: nodes, Jacobians, reference coordinates of points. */
#pragma once

#include "fem/weft_element.h"
#include "fem/weft_mesh.h"

typedef struct weft_cell_map {
    const weft_mesh *mesh; /* borrowed */
    weft_element *element; /* Lagrange */
    int d, n_nodes;        /* dimension; nodes of a cell */
} weft_cell_map;
enum { WEFT_CELL_MAP_NUMBERS = 27 * 3 }; /* of the nodes of a cell, at most */

/** out  weft_cell_map_clear, also after an error */
weft_status weft_cell_map_make(const weft_mesh *mesh, weft_cell_map *out, weft_error *error);
void weft_cell_map_clear(weft_cell_map *map);
/** The nodes of a cell, in the order of the element.
 *  nodes  [n_nodes][d] */
void weft_cell_map_nodes(const weft_cell_map *map, int64_t cell,
                         double nodes[WEFT_CELL_MAP_NUMBERS]);
/** The inverse of J = dx/dxi at a point.
 *  table    [1 + d][stride] functions of the map's element at points and, from row 1 on, their derivatives;
 *           the table begins with the point's first entry
 *  nodes    those of the cell
 *  inverse  [3 * a + i]: d xi_a / d x_i, of the identity beyond d
 *  Returns  |det J| */
double weft_cell_map_inverse(const weft_cell_map *map, const double *table, int64_t stride,
                             const double *nodes, double inverse[9]);
/** The reference coordinates of a point, by Newton's method.
 *  xi       [d]
 *  Returns  how far inside the cell they are: the least distance from a facet of the reference cell, on
 *           simplices the least barycentric coordinate; negative outside, NaN or -INFINITY if there are none
 *  Threads  may be called by several at once */
double weft_cell_map_invert(const weft_cell_map *map, int64_t cell, const double *point,
                            double xi[3]);
