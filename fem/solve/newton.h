/** Newton's method with a line search for R(u) = 0. In: functions for R and for the linear systems.
 *  Out: u, on the device.
 *
 *  Each iteration solves K du = -R(u), K = dR/du, and takes u + s du with the s of fem/solve/line_search.h. Only
 *  where prescribed values change is the first step a whole one, du = g - u at these dofs. If it leaves more
 *  than half of the residual of the linear system, because loads are far from what K says at the start, the
 *  prescribed values alone may come first: K du = 0, du = g - u, if that gives a smaller residual.
 *
 *  The iteration has converged where both are true (norms of R over free dofs, T the tolerance):
 *
 *      |R| <= T max(|R over all dofs|, min(|R at the start|, |diag K| |u|))
 *      |next du| <= min(100 T, sqrt T) |u|
 *
 *  R over all dofs has the reactions. Everything is of the present iterate but the residual at the start, which is that
 *  of the loads and the prescribed values; no size of an iterate that was left counts. The next du is
 *  estimated from the rate at which R falls, so that one iteration is enough for linear problems. If R
 *  falls no more, it is enough that it is as small as rounding K u makes it. What scales R, K or u changes nothing.
 *
 *  In a mixed space the residual of each function is also at most T times its own reactions or terms |diag K| |u|.
 *
 *  With constraints u = C v + g the iterates satisfy them, and norms are those of C^T R at free dofs.
 *
 *  Source  Nocedal and Wright 2006, chapter 11; Deuflhard 2011, chapter 2; Tisseur 2001
 *  Decision  docs/decisions/0037-newton-compares-with-the-present-iterate.md */
#pragma once

#include "fem/form/vectors.h"
#include "fem/weft_constraint.h"
#include "fem/weft_newton.h"

/** State before an iteration, or at the end. */
typedef struct weft_newton_state {
    int iteration;
    double norm, scale; /* of R now, over free dofs; what it is compared with */
    double damping;     /* s of the iteration before */
    bool converged, to_rounding;
    weft_newton_outcome outcome; /* at the end */
} weft_newton_state;

typedef struct weft_newton_tangent {
    weft_operator *whole, *solved; /* K, and C^T K C; without constraints the same; borrowed */
    bool is_definite;              /* symmetric and, as far as is known, positive definite */
} weft_newton_tangent;

typedef struct weft_newton_problem {
    weft_vector_programs *vectors; /* borrowed, as all pointers */
    weft_memory *u;                /* [n] the iterate: the initial guess, then the solution */
    weft_memory *is_free;          /* [n] 1, at dofs with prescribed values 0 */
    weft_reduction *constraints;   /* NULL: none; du satisfies them */
    /** r = -R(u) */
    weft_status (*residual)(void *user, weft_memory *r, weft_error *error);
    /** Assemble K at u. */
    weft_status (*assemble)(void *user, int iteration, weft_newton_tangent *out, weft_error *error);
    /** Solve K du = r.
     *  du      the initial guess, with the values at prescribed dofs, which stay
     *  usable  false: the method ends */
    weft_status (*solve)(void *user, weft_memory *r, weft_memory *du, bool *usable,
                         weft_error *error);
    /** Before iteration 0, set du, which is zero, to g - u at prescribed dofs; NULL: u has these values. */
    weft_status (*lift)(void *user, weft_memory *du, weft_error *error);
    /** Called before each iteration and at the end; may be NULL. */
    weft_status (*note)(void *user, const weft_newton_state *state, weft_error *error);
    void *user;
    double tolerance;
    int max_iterations;
    /* [n_fields + 1] first dofs of the functions of a mixed space; NULL: one */
    const int64_t *fields;
    int n_fields;
} weft_newton_problem;

/** Vectors for repeated use. Start from {0}; weft_newton_clear. */
typedef struct weft_newton {
    weft_memory *r, *du, *before, *more, *restricted;
} weft_newton;
weft_status weft_newton_solve(weft_newton *newton, const weft_newton_problem *problem,
                              weft_newton_state *state, weft_error *error);
void weft_newton_clear(weft_newton *newton);
