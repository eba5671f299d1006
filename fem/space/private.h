/* Numbering of the nodes of spaces. In: a mesh and an element. Out: the nodes of each cell. */
#pragma once

#include "fem/mesh/entities.h"
#include "fem/weft_space.h"

/** weft_form_ship for a script that takes any cells. */
weft_status weft_form_ship_any(const weft_space *space, const char *script, weft_connectivity *dofs,
                               weft_bound_form *out, weft_error *error);

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
