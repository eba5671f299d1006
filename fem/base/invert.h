/** The inverse of a small dense matrix. */
#pragma once

#include <stdbool.h>

/** Invert a [n][n], which is overwritten, into out [n][n] by Gauss-Jordan elimination with partial pivoting.
 *  singular  a pivot relative to the largest entry, up to which the matrix counts as singular
 *  Returns   false: singular, and out is of no use */
bool weft_invert(int n, double *a, double *out, double singular);
