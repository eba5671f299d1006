/* Parts of elements and quadrature. In: reference cells and degrees. Out: nodes, orthonormal
 * polynomials, one-dimensional and symmetric rules. */
#pragma once

#include "fem/weft_element.h"

/** Nodes of the Lagrange element in the order of weft_element.h.
 *  warped  Gauss-Lobatto-Legendre points, else equispaced ones
 *  points  [..][d], caller's; NULL: they are only counted
 *  entity_nodes  [4]
 *  Returns their number; -1: out of memory */
int weft_lagrange_nodes(const weft_cell *cell, int degree, bool warped, double *points,
                        int entity_nodes[4]);
/** Nodes in the interior of a cell.
 *  points  [..][d] or NULL
 *  Returns their number */
int weft_interior_nodes(const weft_cell *cell, int degree, bool warped, double *points);

/** Number of the polynomials of weft_orthonormal_tabulate. */
int weft_orthonormal_count(const weft_cell *cell, int degree);
/** Orthonormal polynomials on a simplex up to the degree, times the bubble (the product of the
 *  barycentric coordinates) on request, with derivatives, at one point.
 *  point   [d]
 *  values  [weft_orthonormal_count][weft_derivative_count(d, order)]: Taylor coefficients, i.e.
 *          derivatives divided by the factorials of their powers
 *  Source  Dubiner 1991; Karniadakis and Sherwin 2005, section 3.2; in the form without division
 *          by 1 - y, i.e. with Jacobi polynomials scaled to homogeneous ones */
void weft_orthonormal_tabulate(const weft_cell *cell, int degree, bool bubble, int order,
                               const double *point, double *values);

/** n Gauss-Jacobi points on [0, 1], ascending, for the weight (1 - x)^k, k = 0, 1, 2. */
void weft_gauss_jacobi(int n, int k, double *points, double *weights);
/** n >= 2 Gauss-Lobatto-Legendre points on [0, 1], ascending. */
void weft_gauss_lobatto(int n, double *points, double *weights);

/** Points of the symmetric rule on a triangle or tetrahedron; 0: there is none.
 *  points   [n][d] or NULL
 *  weights  [n] or NULL; their sum is 1 */
int weft_symmetric_rule(const weft_cell *cell, int degree, double *points, double *weights);
