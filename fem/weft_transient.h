/** Time integration of any form.
 *
 *      In: forms with mass and stiffness, or a residual; conditions; an initial field
 *      Out: the field after each step */
#ifndef WEFT_TRANSIENT_H
#define WEFT_TRANSIENT_H

#include "fem/weft_point_load.h"
#include "fem/weft_solver.h"
#include "fem/weft_time_scheme.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One of the forms whose sum the problem is, over the cells, or some of them, or facets. Names of
 *  values of its script; NULL: it has none. */
typedef struct weft_transient_part {
    const weft_form *form;
    /* local matrices K and M; the list b or r that it accumulates */
    const char *matrix, *mass, *vector;
    /* What messages call the mass, and the name of an input; NULL: the script's. */
    const char *mass_name;
    const char *(*input_name)(const char *input);
} weft_transient_part;

/** Inputs of the forms that depend on time. */
typedef struct weft_transient_inputs {
    weft_memory *const *memories; /* [n] */
    int n;
    weft_status (*set)(void *user, double t,
                       weft_error *error); /* compute them at time t; NULL: none */
    void *user;
} weft_transient_inputs;

/** How the systems are solved. */
typedef struct weft_transient_solver {
    weft_method method;
    weft_assembly assembly;
    int preconditioner; /* a kind; -1: none but Jacobi's */
} weft_transient_solver;
/** A choice that is made again while the steps go. */
typedef struct weft_transient_choice {
    /** Called before a matrix that depends on time, u, the step before or its length is assembled for a method that needs
     *  a symmetric one; sets *solver, what the steps use now, for another matrix. NULL: the choice stays. */
    weft_status (*choose)(void *user, double t, weft_transient_solver *solver, weft_error *error);
    /** Called if a linear system proved not to be definite, with the method that solves the steps from then on. NULL: such
     *  a system is not solved. */
    void (*found)(void *user, double t, weft_method method, const char *reason);
    void *user;
    int next, next_after; /* see weft_problem_choice */
} weft_transient_choice;
/** A function of a mixed space, with its Dirichlet conditions. */
typedef struct weft_transient_field {
    const weft_space *space;
    weft_bc *bc;
} weft_transient_field;
enum { WEFT_TRANSIENT_FIELDS_MAX = 16 };
/** The dofs first, first + step, ... below last of a component that is determined only up to a constant, as
 *  the pressure of an enclosed flow: loads are made compatible with this, and its mean is arbitrary. */
typedef struct weft_transient_open {
    int64_t first, last, step;
} weft_transient_open;

/** The problem
 *
 *      M du/dt + K(t) u = b(t)        or, if it is nonlinear,        M du/dt + r(u, t) = 0,
 *
 *  K the derivative of r, with the conditions of bc, whose fluxes and alpha belong to b, K and r. All
 *  pointers are borrowed and must outlive the weft_transient.
 *
 *  or, if no part has a mass, the equation K u = b, or r(u) = 0, of the script's own scheme for u at
 *  the end of a step, in which `previous` and `length` are u at its start and its length.
 *
 *  Scripts may have an input `t`, the time, and those of a nonlinear problem an input `u`. M depends on
 *  neither. What depends on t is computed in each stage of each step, the rest once. */
typedef struct weft_transient_problem {
    const weft_space *space;
    weft_bc *bc;
    /* [n_fields] of a mixed space, whose dofs stand one function after another; the first has `space` and
     * `bc`, others no conditions on the flux. NULL: u is in `space` */
    const weft_transient_field *fields;
    int n_fields;
    const weft_transient_open *open; /* [n_open] */
    int n_open;
    weft_constraints *constraints;    /* of bc; u satisfies them after each stage. NULL: none */
    weft_point_loads *point_loads;    /* of bc, as fluxes; NULL: none */
    const weft_transient_part *parts; /* [n_parts] */
    int n_parts;
    bool is_nonlinear;
    weft_time_scheme scheme;
    double theta; /* in (0, 1] */
    double start, end;
    /* Of the error at the end, relative to the largest |u| = sqrt(u.M u), for weft_transient_advance: the errors
     * that the steps make add up to it. 0: steps of given lengths */
    double tolerance;
    double dt; /* with a tolerance: the length of the first step that is tried */
    /* Steps are recorded, for gradients (forms/weft_gradient.h): up to so many are stored, of more the state at as many, from
     * which others are made again. 0: they are not */
    int64_t checkpoints;
    double newton_tolerance; /* of fem/solve/newton.h, in each stage */
    int newton_iterations;   /* at most, in each stage */
    /* [n_dofs]; at first the initial values, except those of Dirichlet dofs; where they do not satisfy the
     * constraints, the nearest values that do, weighted by the mass */
    weft_memory *u;
    /* Of own schemes, [n_dofs] and one double, which scripts have as inputs; set here; NULL: the parts have a mass */
    weft_memory *previous, *length;
    weft_memory *time; /* what is bound to the input t, one double; set here */
    weft_transient_inputs moving;
    weft_assembly assembly, mass_assembly; /* with constraints: that store a matrix */
    /* of each linear system; the preconditioner is made here. Iterations: -1: by the size of the mesh */
    weft_cg_options solver;
    int preconditioner;              /* a kind; -1: none but Jacobi's */
    bool is_exchangeable;            /* Jacobi's takes its place if it refuses the matrix */
    const weft_hierarchy *hierarchy; /* for those that need one; may be NULL */
    int smoother_degree;             /* 0: a default */
    const char *petsc_options;       /* of weft_problem_options */
    weft_transient_choice choice;
} weft_transient_problem;

typedef enum weft_transient_outcome {
    WEFT_TRANSIENT_DONE,
    WEFT_TRANSIENT_SOLVER, /* a linear system was not solved; see solver */
    WEFT_TRANSIENT_NEWTON, /* Newton's method has not converged */
    WEFT_TRANSIENT_STEP    /* no step is short enough for the tolerance */
} weft_transient_outcome;

/** State of a run. */
typedef struct weft_transient_state {
    int64_t step; /* steps since the start */
    double t, dt; /* the time, and the length of the last step */
    weft_transient_outcome outcome;
    weft_cg_outcome solver; /* of the last solve */
    int iterations;         /* of the linear solves of the last step */
    int newton;             /* iterations of Newton's method of the last step */
    int64_t all_iterations, all_newton;
    int64_t n_rejected; /* steps that were made again, shorter */
    double error;       /* with a tolerance: estimate for the last step, relative */
} weft_transient_state;

/** max |M - M^T| / max |M| over the local mass matrices: 0 up to rounding if M is symmetric. */
weft_status weft_transient_asymmetry(weft_context *context, const weft_transient_problem *problem,
                                     double *out, weft_error *error);

typedef struct weft_transient weft_transient;
/** Compile all programs, assemble the operators and set the Dirichlet values of u.
 *  context  borrowed; must outlive the result
 *  out      caller's; weft_transient_free
 *  Errors   those of weft_operator_make, weft_bc_apply, weft_reduction_fill and weft_preconditioner_make;
 *           WEFT_ERROR_USAGE (no such scheme or theta; constraints, and an assembly that stores no matrix); *out untouched */
weft_status weft_transient_make(weft_context *context, const weft_transient_problem *problem,
                                weft_transient **out, weft_error *error);
void weft_transient_free(weft_transient **transient);
/** Make one step of length dt.
 *  state  on return; an outcome other than WEFT_TRANSIENT_DONE leaves u as it was, and is not an error
 *  Errors WEFT_ERROR_USAGE (dt is not positive), those of weft_solver_solve. After one, as WEFT_ERROR_CANCELLED, u is as it was,
 *         and the step can be made again */
weft_status weft_transient_step(weft_transient *transient, double dt, weft_transient_state *state,
                                weft_error *error);

/** What preconditions the steps; NULL before the first one, and with Jacobi's preconditioner. The integrator's. */
const weft_preconditioner *weft_transient_preconditioner(const weft_transient *transient);
/** Seconds that the steps so far have spent in assembling the operator; NaN on a device that computes nothing. */
double weft_transient_assembly_seconds(const weft_transient *transient);
/** With a tolerance: make one step of a length that the error allows, and that does not end after `until`.
 *  Steps that are too long, or that cannot be solved, are made again with shorter ones. Errors likewise. */
weft_status weft_transient_advance(weft_transient *transient, double until,
                                   weft_transient_state *state, weft_error *error);

/** The equation of the last step: M du/dt + sum weights (K u - b)(t), 0 where nothing is prescribed. */
typedef struct weft_transient_terms {
    int n; /* 0: no step has been made */
    double weights[2], t[2];
    weft_memory *u[2]; /* borrowed until the next step */
} weft_transient_terms;
/** storage: M du/dt; 0 of own schemes. r: K u - b or r(u) at t, which stays set; b: loads or fluxes. */
weft_status weft_transient_balance(weft_transient *transient, weft_memory *storage,
                                   weft_transient_terms *out, weft_error *error);
weft_status weft_transient_residual(weft_transient *transient, double t, weft_memory *u,
                                    weft_memory *r, weft_memory *b, weft_error *error);

enum { WEFT_TRANSIENT_LISTS = 6, WEFT_TRANSIENT_NUMBERS = 12 };
/** The lists that one step passes to the next, [n_dofs]; borrowed, others after the next step. Returns their number. */
int weft_transient_lists(const weft_transient *transient, const char *names[WEFT_TRANSIENT_LISTS],
                         weft_memory *memories[WEFT_TRANSIENT_LISTS]);
/** The numbers that one step passes to the next. */
void weft_transient_numbers(const weft_transient *transient, double out[WEFT_TRANSIENT_NUMBERS]);
/** Go on from the numbers, and from lists that have been written into the memories. Steps are bitwise those
 *  after weft_transient_forget in the run that they are from. */
weft_status weft_transient_resume(weft_transient *transient,
                                  const double numbers[WEFT_TRANSIENT_NUMBERS],
                                  weft_transient_state *state, weft_error *error);
/** Set up operator and preconditioner again in the next step: an adapted one keeps parts made for another matrix. */
void weft_transient_forget(weft_transient *transient);

#ifdef __cplusplus
}
#endif
#endif
