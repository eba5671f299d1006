/** Constant tables of P1 simplices for `//@ table` lines of kernel files.
 *
 *      In: dimension and degree.  Out: weights, points, shape functions.
 *
 *  The reference simplex of dimension d has the origin and the unit vectors as vertices, and the
 *  measure 1/d!. Shape function 0 is 1 - sum(xi), shape function i is xi_i. */
#pragma once

#include "fem/weft_element.h"
#include "fusion/weft_library.h"

/** Register tables for kernel files, for d = 1, 2, 3 and degree = 0 .. WEFT_QUADRATURE_DEGREE_MAX:
 *      simplex_weights(d, degree)  real[q]      sum 1/d!
 *      simplex_points(d, degree)   real[q,d]    coordinates
 *      simplex_shape(d, degree)    real[d+1,q]  shape functions at the points
 *  and those of fem/element/traces.h.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_tables_register(weft_library *library, weft_error *error);

/** weft_quadrature_make with the default scheme on the simplex of dimension d, in an arena.
 *  q        number of points
 *  points   [q][d], from the arena
 *  weights  [q], from the arena; their sum is 1/d!
 *  Errors   WEFT_ERROR_USAGE (d or degree out of range), WEFT_ERROR_MEMORY */
weft_status weft_simplex_quadrature(weft_arena *arena, int d, int degree, int *q, double **points,
                                    double **weights, weft_error *error);
