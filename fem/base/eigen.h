/** The eigenvalues of a small symmetric matrix. */
#pragma once

/** By Jacobi's method: make A [n][n] diagonal, with its eigenvalues in no order.
 *  V       [n][n] set to the eigenvectors, column k of eigenvalue k; NULL: they are not wanted
 *  Source  Golub and Van Loan 2013, section 8.5 */
void weft_diagonalise(int n, double *A, double *V);
/** By Householder's reflections and the implicit QL method, faster from some ten rows on: eigenvalues ascending.
 *  A       [n][n] set to the eigenvectors, column k of eigenvalue k
 *  values  [n]; NaN if entries of A are not finite
 *  work    [3 n]
 *  Source  Golub and Van Loan 2013, section 8.3; Wilkinson and Reinsch 1971, contribution II/2 and II/4 */
void weft_eigenvectors(int n, double *A, double *values, double *work);
