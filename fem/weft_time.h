/** Advection and diffusion in time. In: a mesh, formulas, an initial field. Out: the field after each step. */
#ifndef WEFT_TIME_H
#define WEFT_TIME_H

#include "fem/weft_operator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_splitting {
    WEFT_SPLITTING_LIE,   /* advection, then diffusion: first order */
    WEFT_SPLITTING_STRANG /* half a diffusion, advection, half a diffusion: second order */
} weft_splitting;

/** Nodes at which T is given, as a formula in x, y, z and t. */
typedef struct weft_dirichlet_nodes {
    const char *text, *origin; /* of the formula */
    const int32_t *nodes;
    int64_t n_nodes;
} weft_dirichlet_nodes;

/** dT/dt + u.grad T = div(mu grad T) with continuous linear T on simplices. Formulas are in x, y, z
 *  and t, each with an origin for messages. All is borrowed and must outlive the stepper.
 *
 *  velocity     [mesh->dimension] components of u; NULL: nothing is advected
 *  diffusivity  mu: one formula, or those of a symmetric tensor, row by row; NULL: no diffusion
 *  dirichlet    where nodes are in several, the last holds; elsewhere mu dT/dn = 0
 *  initial      [n_nodes] T at the time 0, the kept values among them
 *
 *  Each step of length dt splits: advection by classical Runge and Kutta (four solves with the mass
 *  matrix, or, lumped, divisions), diffusion by the theta scheme (a solve). Coefficients that
 * depend on t are those of t + dt/2, where they are renewed, else those of t = 0. */
typedef struct weft_advection_diffusion_problem {
    const weft_mesh *mesh;
    weft_connectivity *cells;                      /* of the mesh: cells -> nodes */
    weft_memory *x;                                /* the mesh's coordinates */
    const weft_expression *velocity, *diffusivity; /* names are not looked at */
    int n_diffusivity;                             /* 0, 1, or dimension squared */
    const weft_dirichlet_nodes *dirichlet;
    int n_kept;
    const double *initial;
    double dt, theta; /* dt > 0, theta in [0, 1] */
    weft_splitting splitting;
    bool lumped;            /* mass, in both parts of a step */
    bool reassemble;        /* assemble all operators in every step */
    weft_assembly assembly; /* edge: the advection, which is not symmetric, as csr */
    double tolerance;       /* of each solve: |r| <= tolerance |b| over free nodes, r the
                               recurrence's; 0 stands for 2^-52 */
    int max_iterations;
} weft_advection_diffusion_problem;

/** What ended a run. */
typedef enum weft_step_outcome {
    WEFT_STEP_DONE,
    WEFT_STEP_NAN,       /* T holds a number that is not finite */
    WEFT_STEP_BLOW_UP,   /* T has grown to a million times what was given */
    WEFT_STEP_ADVECTION, /* a slope has not converged */
    WEFT_STEP_DIFFUSION  /* a diffusion has not */
} weft_step_outcome;
const char *weft_step_outcome_name(weft_step_outcome outcome);

/** Where a run stands. */
typedef struct weft_step_state {
    int64_t step; /* steps done since the time 0 */
    double t;
    weft_step_outcome outcome;
    int advection[4];   /* iterations of the last step's solves */
    int diffusion;      /* the same (Strang: of both) */
    int64_t iterations; /* of all solves since the stepper was made */
} weft_step_state;

typedef struct weft_advection_diffusion weft_advection_diffusion;
/** Compile the script of a step (fem/scripts/step_*.weft), make and assemble the operators, set T.
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE with a caret in the user's formula; WEFT_ERROR_INPUT: a value
 *          where T is kept is not finite; WEFT_ERROR_UNSUPPORTED, _COMPILER, _DEVICE, _MEMORY */
weft_status weft_advection_diffusion_make(weft_context *context,
                                          const weft_advection_diffusion_problem *problem,
                                          weft_advection_diffusion **out, weft_error *error);
void weft_advection_diffusion_free(weft_advection_diffusion **ad);
/** At most n steps more. A state other than WEFT_STEP_DONE is no error, and ends the run. On a GPU
 *  that records, all n are one graph. The result does not depend on how steps are grouped. */
weft_status weft_advection_diffusion_run(weft_advection_diffusion *ad, int64_t n,
                                         weft_step_state *state, weft_error *error);
/** The step's script and plan, as weft_compilation_print. */
weft_status weft_advection_diffusion_print(const weft_advection_diffusion *ad, const char *stage,
                                           weft_text *out, weft_error *error);
/** T, [n_nodes] doubles. Borrowed. */
weft_memory *weft_advection_diffusion_field(const weft_advection_diffusion *ad);
/** All that one step hands to the next: lists of n_nodes doubles. A run that is given them, and the
 *  number of steps, goes on bit by bit as it would have. Borrowed; returns how many. */
enum { WEFT_ADVECTION_DIFFUSION_LISTS = 8 };
int weft_advection_diffusion_lists(const weft_advection_diffusion *ad,
                                   const char *names[WEFT_ADVECTION_DIFFUSION_LISTS],
                                   weft_memory *lists[WEFT_ADVECTION_DIFFUSION_LISTS]);
/** After lists were written: so many steps are done. */
weft_status weft_advection_diffusion_resume(weft_advection_diffusion *ad, int64_t step,
                                            weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
