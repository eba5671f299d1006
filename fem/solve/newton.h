/** Newton's method with backtracking for R(u) = 0. In: functions for R and for the linear systems.
 *  Out: u, on the device.
 *
 *  Each iteration solves K du = -R(u), K = dR/du, and takes u + s du for the first s = 1, 1/2, ... that
 *  reduces the norm of R over the free dofs. Norms are relative to the largest norm of R over all
 *  dofs, reactions included, that an iterate has had, so that prescribed values alone give a scale.
 *  Where the residual falls no more, convergence to the rounding error of K u is sufficient.
 *
 *  With constraints u = C v + g the iterates satisfy them, and norms are those of C^T R at free dofs.
 *
 *  Source  Nocedal and Wright 2006, sections 3.1 and 11.1; Tisseur 2001 */
#pragma once

#include "fem/form/vectors.h"
#include "fem/weft_constraint.h"

/** State before an iteration, or at the end. */
typedef struct weft_newton_state {
    int iteration;
    double norm, scale; /* of R now, over free dofs; the largest over all dofs */
    double damping;     /* s of the iteration before */
    bool converged, to_rounding;
} weft_newton_state;

typedef struct weft_newton_problem {
    weft_vector_programs *vectors; /* borrowed, as all pointers */
    weft_memory *u;                /* [n] the iterate: the initial guess, then the solution */
    weft_memory *is_free;          /* [n] 1, at dofs with prescribed values 0 */
    weft_reduction *constraints;   /* NULL: none; du satisfies them */
    /** r = -R(u) */
    weft_status (*residual)(void *user, weft_memory *r, weft_error *error);
    /** Assemble K at u and solve K du = r.
     *  du       zeroed; with `lifts`, in iteration 0, its values at prescribed dofs are set here
     *  tangent  K, or C^T K C
     *  usable   false: the method ends */
    weft_status (*solve)(void *user, int iteration, weft_memory *r, weft_memory *du,
                         weft_operator **tangent, bool *usable, weft_error *error);
    /** Called before each iteration and at the end; may be NULL. */
    weft_status (*note)(void *user, const weft_newton_state *state, weft_error *error);
    void *user;
    bool lifts; /* u has the prescribed values after iteration 0, whose full step is taken */
    double tolerance;
    int max_iterations;
} weft_newton_problem;

/** Vectors for repeated use. Start from {0}; weft_newton_clear. */
typedef struct weft_newton {
    weft_memory *r, *du, *before, *restricted;
} weft_newton;
weft_status weft_newton_solve(weft_newton *newton, const weft_newton_problem *problem,
                              weft_newton_state *state, weft_error *error);
void weft_newton_clear(weft_newton *newton);
