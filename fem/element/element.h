/** Elements. In: a family, a cell, a degree. Out: nodes, functionals and functions. The interface is
 *  public, fem/weft_element.h, but for the places of nodes on parts of cells. */
#pragma once

#include "fem/weft_element.h"

/** Where nodes are that are on an entity, in the coordinates of its own type.
 *  nodes   [n] of the element
 *  points  [n][dimension], caller's */
void weft_element_points_on(const weft_element *element, int dimension, int entity, int n,
                            const int *nodes, double *points);
/** Where points are in a cell whose vertices are listed in another order.
 *  points    [n][d] all different
 *  vertices  [v], a symmetry of the cell: vertex i of the new list is vertex vertices[i] of the old
 *  out       [n]: point i of the new cell is point out[i] of the old
 *  Returns false if that maps a point onto none */
bool weft_points_permute(const weft_cell *cell, int n, const double *points, const int *vertices,
                         int *out);
/** Both are the same element: of one family, degree and cell. */
bool weft_element_is_same(const weft_element *a, const weft_element *b);
