/** Two mass matrices that are coupled by derivatives, as in a step of Cahn and Hilliard's equations. Not installed.
 *
 *      In: rows of two functions c and m in the same space,
 *
 *          [ D  X ] [ c ]   D and C like mass matrices, X and Y like matrices of derivatives, the signs those of a
 *          [ Y  C ] [ m ]   saddle point; a term like C that X or Y contain too is ignored.
 *
 *      Out: with delta = |D|/|C|, s^2 = delta |Y|/|X|, T = eta |X|, eta^2 = |Y||C|/(|X||D|) and H = C + T,
 *
 *          [ C -T ] [ m/s ]   [ row of m, over s     ]                                     [ C    -T     ]
 *          [ T  C ] [  c  ] = [ row of c, over delta ]   which is preconditioned by P =    [ T  C + 2 T  ]:
 *
 *          P (m/s, c) = (f, g):  H h = f + g,  H c = g - T h,  m/s = h - c.
 *
 *  The eigenvalues of the quotient are 1/2 to 1 for every mesh, step of time and coefficient, as 2 a b <= a^2 + b^2;
 *  the Schur complement, of which this is the square, is of the fourth order, H of the second. For MINRES, of
 *  symmetric matrices, delta H and H precondition the two functions.
 *
 *  Decision  docs/decisions/0043-block-preconditioner-reads-the-matrix.md */
#pragma once

#include "fem/form/form.h"
#include "fem/multigrid/multigrid.h"
#include "fem/precondition/precondition.h"

typedef struct weft_coupled {
    const weft_csr *A;                 /* borrowed, with a symmetric pattern */
    const unsigned char *free;         /* [n_rows] 0: constrained */
    int64_t n;                         /* rows of each function */
    int64_t c, m;                      /* first rows */
    double scale, eta, sign_x, sign_c; /* delta; of the parts of X and C */
    double from_m, from_c, to_m;       /* f = from_m r_m, g = from_c r_c, m = to_m (h - c) */
} weft_coupled;

/** Are two functions coupled in this way? Sets the scales of *pair, of which A, free, n, c and m are given.
 *  Where only one of them is constrained, as in the clamped biharmonic equation, they are not: H cannot be of both.
 *  Source  Axelsson, Boyanova, Kronbichler, Neytcheva and Wu 2013, Numerical and computational efficiency of
 *          solvers for two-phase problems; Zulehner 2011 for MINRES */
bool weft_coupled_find(weft_coupled *pair);
/** Make the matrices H and T. Rows of T that are constrained are zero.
 *  H, T    caller's; weft_csr_clear
 *  Errors  WEFT_ERROR_UNSUPPORTED (X has another pattern than C), WEFT_ERROR_MEMORY; H and T untouched */
weft_status weft_coupled_matrices(weft_device *device, const weft_coupled *pair, weft_csr *H,
                                  weft_csr *T, weft_error *error);

/** The solver of P on the device. */
typedef struct weft_coupled_solver weft_coupled_solver;
/** Make a solver.
 *  T       its arrays are taken
 *  layout  of its rows, on several ranks; borrowed; NULL: there is one
 *  out     caller's; weft_coupled_solver_free
 *  Errors  those of compiling and of the device, WEFT_ERROR_MEMORY */
weft_status weft_coupled_solver_make(weft_context *context, const weft_coupled *pair, weft_csr *T,
                                     struct weft_layout *layout, weft_coupled_solver **out,
                                     weft_error *error);
void weft_coupled_solver_free(weft_coupled_solver **solver);
/** Solve approximately.
 *  cycle  approximates H^-1
 *  r      [n] each, of c and m; are overwritten with the solutions */
weft_status weft_coupled_solver_apply(weft_coupled_solver *solver, weft_preconditioner *cycle,
                                      weft_memory *r_c, weft_memory *r_m, weft_error *error);
