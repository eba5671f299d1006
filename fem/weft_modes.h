/** Rigid motions and constants: what neither a matrix nor constraints fix, and what weak terms alone hold.
 *
 *      In: an assembled operator, constraints. Out: modes; constraints that pin them, and their amounts in a
 *      solution. */
#ifndef WEFT_MODES_H
#define WEFT_MODES_H

#include "fem/weft_constraint.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Modes that the weakest terms of A alone hold, such as soft springs of a stiff body: in A m the stiff
 *  terms cancel, and what rounding leaves of them may exceed the weak ones. Therefore such modes are
 *  solved for apart from the rest w, which is pinned:
 *
 *      u = w + sum_k c_k m_k,    c_k = m_k.(b - A w) / m_k.A m_k,    A w = b - sum_k c_k A m_k
 *
 *  with A m_k of the weak terms. */
typedef struct weft_held_modes {
    int n;
    double *modes;   /* [n][n_dofs]; m_k.A m_l = 0 for k != l */
    double *pulls;   /* [n][n_dofs] A m_k */
    double *work;    /* [n] m_k.A m_k > 0 */
    double *amounts; /* [n] c_k of the present solution */
    const struct weft_share
        *share; /* of the parts of ranks; borrowed; NULL: dofs are of the whole */
} weft_held_modes;
void weft_held_modes_clear(weft_held_modes *held);
/** Start with the amounts that balance b, and take their pulls off it.
 *  Errors  those of sums over ranks; so for all that sum */
weft_status weft_held_modes_balance(weft_held_modes *held, int64_t n_dofs, double *b,
                                    weft_error *error);
/** What the amounts lack where the rest is w and b is balanced.
 *  out  [n] */
weft_status weft_held_modes_lack(const weft_held_modes *held, int64_t n_dofs, const double *w,
                                 double *out, weft_error *error);
/** y = y + factor * sum_k amounts_k vectors_k, of the modes or of the pulls. */
void weft_held_modes_add(const weft_held_modes *held, int64_t n_dofs, double factor,
                         const double *amounts, const double *vectors, double *y);

/** What nothing fixes: the modes that both the operator and the constraints leave free, among the
 *  constants of each component and, of displacements, the rigid body modes, of each part of the mesh. */
typedef struct weft_free_modes {
    int n;
    double *modes;                  /* [n][n_dofs], orthonormal in L2; NULL if n is 0 */
    double *weighted;               /* [n][n_dofs] the mass matrix times them */
    weft_held_modes held;           /* those that are held, but weakly */
    const struct weft_share *share; /* as of these */
} weft_free_modes;
/** Find the free modes, and those that are held weakly. A form sees a mode if it maps it to more than rounding
 *  of the terms that it sums in some row, whatever other rows and parts have.
 *  op       assembled
 *  alone    [n_alone] those of its forms, such as Robin conditions, that hold a mode even where they are
 *           below rounding of the others; bound, borrowed for the call
 *  out      weft_free_modes_clear
 *  Errors   WEFT_ERROR_MEMORY, _DEVICE, those of weft_operator_make; *out untouched */
weft_status weft_free_modes_find(weft_constraints *constraints, weft_operator *op,
                                 const weft_form *alone, int n_alone, weft_free_modes *out,
                                 weft_error *error);
void weft_free_modes_clear(weft_free_modes *modes);
/** The size of the terms that a product sums in each row, which its rounding is relative to: |A s|, for
 *  pseudorandom s of size 1.
 *  out  [n_dofs] on the host */
weft_status weft_operator_row_sizes(weft_device *device, weft_operator *op, double *out,
                                    weft_error *error);
/** The largest |y_i| / sizes_i; up to WEFT_UNSEEN it is rounding. */
double weft_operator_seen(const double *y, const double *sizes, int64_t n);
#define WEFT_UNSEEN 1e-12
/** Fix as many dofs at 0 as there are free and held modes, so that none is left. If b does no work on the
 *  modes, these dofs need no force, and u is a solution up to the modes.
 *  b       [n_dofs], on the host; weft_held_modes_balance, and what errors of quadrature leave of work on free modes is
 *          taken off. NULL: held modes are not pinned, and see weft_free_modes_check
 *  Errors  WEFT_ERROR_INPUT: b does work on a free mode: there is no solution (says how much) */
weft_status weft_constraints_pin(weft_constraints *constraints, weft_free_modes *modes, double *b,
                                 weft_error *error);
/** Of a nonlinear problem, whose pins were made without b: the residual of the solution does no work on
 *  a mode.
 *  r       [n_dofs] the residual, reactions included
 *  most    work on a mode of length 1 that counts as none
 *  Errors  WEFT_ERROR_INPUT: it does (says how much) */
weft_status weft_free_modes_check(const weft_free_modes *modes, int64_t n_dofs, const double *r,
                                  double most, weft_error *error);
/** Remove the modes from u [n_dofs]: of the solutions, take the one without mean and rotation. */
weft_status weft_free_modes_remove(const weft_free_modes *modes, int64_t n_dofs, double *u,
                                   weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
