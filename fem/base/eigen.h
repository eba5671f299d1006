/** The eigenvalues of a small symmetric matrix. */
#pragma once

/** By Jacobi's method: make A [n][n] diagonal, with its eigenvalues in no order.
 *  V       [n][n] set to the eigenvectors, column k of eigenvalue k; NULL: they are not wanted
 *  Source  Golub and Van Loan 2013, section 8.5 */
void weft_diagonalise(int n, double *A, double *V);
