/** Constant tables of P1 simplices for `//@ table` lines of kernel files, and quadrature rules for
 *  C code.
 *
 *      In: dimension and degree.  Out: weights, points, shape functions.
 *
 *  The reference simplex of dimension d has the origin and the unit vectors as vertices, and the
 *  measure 1/d!. Shape function 0 is 1 - sum(xi), shape function i is xi_i. */
#pragma once

#include "fusion/weft_library.h"

#define WEFT_DEGREE_MAX 20

/** Register tables for kernel files, for d = 1, 2, 3 and degree = 0 .. WEFT_DEGREE_MAX:
 *      simplex_weights(d, degree)  real[q]      sum 1/d!
 *      simplex_points(d, degree)   real[q,d]    coordinates
 *      simplex_shape(d, degree)    real[d+1,q]  shape functions at the points
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_tables_register(weft_library *library, weft_error *error);

/** Quadrature on the reference simplex, exact for polynomials up to `degree`, with positive weights
 *  and interior points.
 *  q        number of points
 *  points   [q][d], from the arena
 *  weights  [q], from the arena; their sum is 1/d!
 *  Errors   WEFT_ERROR_USAGE (d or degree out of range), WEFT_ERROR_MEMORY
 *  Source   symmetric rules: Strang and Fix 1973, section 4.3 (triangle, degree 2); Cowper 1973
 *           (triangle, 4 and 5); Hammer and Stroud 1956 (tetrahedron, 2); Walkington 2000
 *           (tetrahedron, 5). Others: collapsed Gauss-Jacobi products, Stroud 1971, section 2.8;
 *           Karniadakis and Sherwin 2005, appendix B */
weft_status weft_quadrature_make(weft_arena *arena, int d, int degree, int *q, double **points,
                                 double **weights, weft_error *error);
