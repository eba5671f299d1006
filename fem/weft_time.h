/** Time integration of advection-diffusion problems.
 *
 *      In: a mesh, formulas, an initial field.  Out: the field after each step. */
#ifndef WEFT_TIME_H
#define WEFT_TIME_H

#include "fem/weft_bc.h"
#include "fem/weft_preconditioner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_splitting {
    WEFT_SPLITTING_LIE,   /* advection, then diffusion: first order */
    WEFT_SPLITTING_STRANG /* half a diffusion step, advection, half a step: second order */
} weft_splitting;

/** Of the advection. Slopes are solves with the mass matrix, or divisions if it is lumped. */
typedef enum weft_runge_kutta {
    WEFT_RUNGE_KUTTA_4, /* classical, order 4 */
    WEFT_RUNGE_KUTTA_3  /* Heun's of order 3 */
} weft_runge_kutta;

/** Name and help of an option, and the name in reports. */
typedef struct weft_step_scheme_info {
    const char *name, *help, *title;
} weft_step_scheme_info;
/** Of a weft_splitting or a weft_runge_kutta; NULL beyond the last one. */
const weft_step_scheme_info *weft_splitting_about(int number);
const weft_step_scheme_info *weft_runge_kutta_about(int number);

/** When the operators are assembled. */
typedef enum weft_reassemble {
    WEFT_REASSEMBLE_AUTO, /* in every step if one depends on t */
    WEFT_REASSEMBLE_ONCE, /* at t = 0 */
    WEFT_REASSEMBLE_EVERY_STEP
} weft_reassemble;

/** The problem
 *
 *      c (dT/dt + u.grad T) = div(mu grad T) + f
 *
 *  with continuous, piecewise linear T on simplices. Formulas are in x, y, z and t, each with an
 *  origin for messages. All pointers are borrowed and must outlive the stepper.
 *
 *  space        of linear functions on triangles or tetrahedra
 *  velocity     [n_velocity] components of u; none: no advection
 *  diffusivity  [n_diffusivity] mu: one formula, or those of a symmetric tensor by rows; none: no
 *               diffusion
 *  capacity     c, a formula in x, y and z; text NULL: 1
 *  source       f; text NULL: 0
 *  conditions   [n_conditions] T = g, mu dT/dn = g or mu dT/dn + alpha T = g; elsewhere on the
 *               boundary mu dT/dn = 0. At nodes of several groups the last condition holds
 *  initial      T at t = 0, except at nodes of Dirichlet conditions; text NULL:
 *  initial_values  [n_nodes] the same; NULL: 0
 *
 *  Each step of length dt is split into advection, by an explicit Runge-Kutta scheme, and diffusion with f and g, by
 *  the theta scheme (one solve). f and g are evaluated at t + dt/2, as are coefficients that depend on t if
 *  operators are reassembled in every step; otherwise these are evaluated at t = 0. */
typedef struct weft_advection_diffusion_problem {
    const weft_space *space;
    const weft_expression *velocity, *diffusivity; /* their names are ignored, as are those of */
    weft_expression capacity, source, initial;
    int n_velocity, n_diffusivity; /* 0 or the dimension; 0, 1, or the dimension squared */
    const weft_condition *conditions;
    int n_conditions;
    const double *initial_values;
    /* of the diffusion steps, a kind; -1: Jacobi's. If operators are assembled in every step, it
     * remains that of the first */
    int preconditioner;
    const weft_hierarchy *hierarchy; /* for preconditioners that need one; may be NULL */
    int smoother_degree;             /* 0: a default */
    double dt, theta;                /* dt > 0, theta in [0, 1] */
    weft_splitting splitting;
    weft_runge_kutta runge_kutta;
    bool lumped; /* lumped mass matrix in both parts of a step */
    weft_reassemble reassemble;
    weft_assembly assembly; /* with edge, advection, which is not symmetric, uses csr */
    /* of each solve: |r| <= tolerance |b| over free nodes, r from the recurrence; 0 means 2^-52 */
    double tolerance;
    int max_iterations;
} weft_advection_diffusion_problem;

/** Whether an operator depends on t, by u, mu or alpha; whether they are assembled in every step. Neither needs
 *  the space. */
bool weft_advection_diffusion_moves(const weft_advection_diffusion_problem *problem);
bool weft_advection_diffusion_reassembles(const weft_advection_diffusion_problem *problem);
/** Steps of which lengths are stable, by the coefficients at t = 0. */
typedef struct weft_step_limits {
    /* dt times the largest |u| / h of a cell, and what it may be; NaN without advection */
    double cfl, cfl_limit;
    double
        dt_diffusion; /* up to this dt the diffusion is stable; INFINITY: always, as for theta >= 1/2 */
} weft_step_limits;
/** Check the coefficients' means over the cells at t = 0.
 *  out     on a device that computes nothing of coefficients that are numbers
 *  Errors  WEFT_ERROR_INPUT: u or mu is not finite, mu is negative, or not symmetric and positive
 *          definite (says where); and those of weft_form_run */
weft_status weft_advection_diffusion_check(weft_context *context,
                                           const weft_advection_diffusion_problem *problem,
                                           weft_step_limits *out, weft_error *error);

/** Why a run ended. */
typedef enum weft_step_outcome {
    WEFT_STEP_DONE,
    WEFT_STEP_NAN,       /* T has a value that is not finite */
    WEFT_STEP_BLOW_UP,   /* T has grown to a million times the given values */
    WEFT_STEP_ADVECTION, /* the solve for a Runge-Kutta slope did not converge */
    WEFT_STEP_DIFFUSION  /* the solve of a diffusion step did not converge */
} weft_step_outcome;
const char *weft_step_outcome_name(weft_step_outcome outcome);

/** State of a run. */
typedef struct weft_step_state {
    int64_t step; /* steps since t = 0 */
    double t;
    weft_step_outcome outcome;
    int advection[4];   /* iterations of the last step's solves; 0 beyond its stages */
    int diffusion;      /* likewise (Strang: of both solves) */
    int64_t iterations; /* of all solves since the stepper was made */
} weft_step_state;

typedef struct weft_advection_diffusion weft_advection_diffusion;
/** Compile the script of a step (fem/scripts/step_*.weft), make and assemble the operators, set T.
 *  context, problem  borrowed; must outlive the stepper
 *  out               caller's; weft_advection_diffusion_free
 *  Errors            WEFT_ERROR_SYNTAX, _TYPE (with a caret in the user's formula),
 *                    WEFT_ERROR_INPUT (T is not finite at t = 0; those of weft_bc_make),
 *                    WEFT_ERROR_UNSUPPORTED, _COMPILER, _DEVICE, _MEMORY; *out untouched */
weft_status weft_advection_diffusion_make(weft_context *context,
                                          const weft_advection_diffusion_problem *problem,
                                          weft_advection_diffusion **out, weft_error *error);
void weft_advection_diffusion_free(weft_advection_diffusion **ad);
/** Run up to n more steps. On devices with graph capture all n steps are one graph. The result does
 *  not depend on how steps are grouped into calls.
 *  state  on return; an outcome other than WEFT_STEP_DONE ends the run and is not an error */
weft_status weft_advection_diffusion_run(weft_advection_diffusion *ad, int64_t n,
                                         weft_step_state *state, weft_error *error);
/** Seconds that the steps so far have spent in applications of the operators, and in assembling them again, of which
 *  weft_advection_diffusion_run has measured both on devices whose steps the host launches (not where
 *  weft_device_captures); NaN elsewhere. A kernel that contains a product counts as one. */
typedef struct weft_step_times {
    double products, assembly;
    int64_t n_products, n_assemblies;
} weft_step_times;
weft_step_times weft_advection_diffusion_times(const weft_advection_diffusion *ad);
/** Print the step's script and plan, as weft_compilation_print. */
weft_status weft_advection_diffusion_print(const weft_advection_diffusion *ad, const char *stage,
                                           weft_text *out, weft_error *error);
/** T, [n_nodes] doubles. Borrowed. */
weft_memory *weft_advection_diffusion_field(const weft_advection_diffusion *ad);
/** The state that one step passes to the next, for checkpoints: lists of n_nodes doubles. A run
 *  that is resumed from them and the step number continues with bitwise identical results.
 *  names, lists  borrowed
 *  Returns the number of lists. */
enum { WEFT_ADVECTION_DIFFUSION_LISTS = 8 };
int weft_advection_diffusion_lists(const weft_advection_diffusion *ad,
                                   const char *names[WEFT_ADVECTION_DIFFUSION_LISTS],
                                   weft_memory *lists[WEFT_ADVECTION_DIFFUSION_LISTS]);
/** Set the number of steps done, after the lists of weft_advection_diffusion_lists were written. */
weft_status weft_advection_diffusion_resume(weft_advection_diffusion *ad, int64_t step,
                                            weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
