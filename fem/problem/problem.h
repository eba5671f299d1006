/** A problem on a mesh: functions u of a space, conditions and constraints on them, forms and a load.
 *
 *      In: these, and options. Out: u, with the choices of its solve, and their reasons.
 *
 *  weft_problem_make and weft_problem_solve do everything; the programs call the steps between them. */
#pragma once

#include "fem/mesh/part.h"
#include "fem/precondition/coarse.h"
#include "fem/problem/assembled.h"
#include "fem/problem/balance.h"
#include "fem/problem/checks.h"
#include "fem/problem/declared.h"
#include "fem/problem/diffusion.h"
#include "fem/problem/inputs.h"
#include "fem/problem/names.h"
#include "fem/problem/newton.h"
#include "fem/problem/parts.h"
#include "fem/problem/probes.h"
#include "fem/problem/stated.h"
#include "fem/weft_bc.h"
#include "fem/weft_eigen.h"
#include "fem/weft_function.h"
#include "fem/weft_problem_ranks.h"

/** What the forms refer to, which is freed after them. */
typedef struct weft_problem_basis {
    void *user; /* NULL: nothing */
    void (*free)(void *user);
} weft_problem_basis;

/** The forms of u by domain (parts.c), and the texts that they come from. */
typedef struct weft_problem_forms {
    weft_problem_part *parts; /* [n_parts], malloc'd */
    int n_parts;
    const char *file; /* of their texts, for messages; borrowed, as are the names */
    const char *matrix, *vector, *mass; /* of values in the texts; NULL: there is none */
    const char *mass_name;              /* what messages call the mass; NULL: the texts' name */
    bool is_nonlinear;                  /* the vector is r(u) = 0, and the matrix its derivative */
    bool is_pencil;        /* matrix and mass are those of eigenvalues, not of steps in time */
    weft_memory *numbers;  /* of the function of each dof of a mixed u; NULL: not yet */
    int components;        /* rows of K for each node of the first set; 0: not known */
    weft_bound_form first; /* of the operator: that of the cells */
    weft_form *more;       /* [n_more] of the operator; malloc'd */
    int n_more;
    const char *source, *source_origin; /* of weft_problem_source, or NULL */
    bool is_diffusion;                  /* `first` is that of weft_problem_diffusion */
    weft_coarser coarser; /* the same forms for functions of a lower degree; {NULL}: not known */
} weft_problem_forms;

/** What steps in time set (steps.c). */
typedef struct weft_problem_steps {
    weft_memory *t;                 /* the input t; NULL: none */
    weft_memory *previous, *length; /* u at the start of a step, and its length; NULL: none */
    weft_transient_part *parts;     /* [n_parts], malloc'd */
    weft_transient_field fields[WEFT_FIELDS_MAX];
    weft_transient_problem settings; /* of the integration */
    double changed_at; /* the time at which the matrix proved not to be symmetric, or not to be
                          definite, so that the method changed; 0: none */
} weft_problem_steps;

/** Of a problem on the part of a rank. */
typedef struct weft_problem_ranks {
    /** The same problem on the whole mesh, which finds what its constraints relate and what nothing fixes. All ranks call it.
     *  out  borrowed; NULL on ranks besides the first */
    weft_status (*whole)(void *user, weft_problem **out, weft_error *error);
    void *user;
    /* of weft_problem_join (ranks.c): */
    weft_problem *joined;                /* the whole on the first rank, borrowed */
    bool is_prepared;                    /* it is, for the solve that runs; the same on all ranks */
    const weft_problem_options *options; /* of that solve */
    double solves, length;               /* with one matrix or similar ones; of steps in time */
} weft_problem_ranks;

struct weft_problem {
    weft_context *context; /* borrowed, as is mesh */
    const weft_mesh *mesh;
    weft_mesh *sorted; /* the mesh, where it was sorted for functions that need that; else NULL */
    const weft_hierarchy *hierarchy; /* of the mesh; NULL: no levels are kept */
    weft_fields fields;
    weft_inputs inputs; /* what forms read */
    weft_problem_names names;
    weft_problem_forms forms;
    weft_declared declared;        /* constraints and loads at points */
    weft_point_loads *point_loads; /* NULL: none */
    weft_assembled system;
    const double
        *more_load; /* [n_dofs] added to the load of a linear problem; borrowed; NULL: nothing */
    weft_problem_steps steps;
    weft_stated stated;
    weft_problem_newton_report newton;
    bool has_initial;       /* u was set by formulas, for messages */
    double expected_solves; /* with one matrix or similar ones; 0: 1 */
    double
        product_bytes; /* predicted memory traffic of a product with the matrix; NaN: not known */
    const char *how_to_fix; /* where nothing fixes u, for hints; NULL: a default */
    weft_problem_basis basis;
    weft_problem_ranks ranks;
};

/** Set the mesh of a problem that weft_problem_start has made. */
void weft_problem_set_mesh(weft_problem *problem, const weft_mesh *mesh);
/** Let the forms of the operator be those of the parts that have a matrix.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_problem_list_forms(weft_problem *problem, weft_error *error);
/** Choose a method for a symmetric matrix, unless another is requested. */
void weft_problem_presume_symmetric(weft_problem *problem);
/** Make the conditions, and choose the method by the symmetry of K, and preconditioner and assembly.
 *  solves  with one matrix or similar ones */
weft_status weft_problem_prepare(weft_problem *problem, const weft_problem_options *options,
                                 double solves, weft_error *error);

/* ---- in time (steps.c) ----------------------------------------------------------------------- */

/** Make the integrator of a problem whose method is chosen, with conditions and forms.
 *  settings  as for weft_problem_in_time, without defaults
 *  Errors    WEFT_ERROR_INPUT: the mass is not symmetric, as the requested method needs; those of weft_transient_make */
weft_status weft_problem_integrate(weft_problem *problem, const weft_transient_problem *settings,
                                   weft_transient **out, weft_error *error);
/** Of a scheme that the texts have: let u be that at the start of a step of this length. */
weft_status weft_problem_start_step(weft_problem *problem, double length, weft_error *error);

/* ---- the functions of u ------------------------------------------------------------------ */

/** weft_fields_count, and describe them. */
void weft_problem_count_fields(weft_problem *problem);
/** Set the spaces of the systems that `linear` solves. */
void weft_problem_describe(weft_problem *problem);

/** Choose the preconditioner and the assembly for the symmetry that is known now, and check that the problem fits into the
 *  device's memory, before spaces of degree 1 and inputs are made or later. (estimate.c)
 *  Errors  WEFT_ERROR_MEMORY: it does not fit */
weft_status weft_problem_choose(weft_problem *problem, weft_error *error);

/* ---- A u = b (system.c) ----------------------------------------------------------------- */

/** Make u and b, zeroed, and describe them. Warns of slender bodies with few cells through their thickness. */
weft_status weft_problem_vectors_make(weft_problem *problem, weft_error *error);
/** Make the operator of `form`, `more_forms` and Robin conditions, and assemble it. */
weft_status weft_problem_operator_make(weft_problem *problem, weft_error *error);
/** After weft_problem_operator_make: let other threads compile the kernels of the solve. */
void weft_problem_precompile(weft_problem *problem);
/** The system of the operator, b and u, in which values of Dirichlet conditions alone are given. */
weft_system weft_problem_system(const weft_problem *problem);
/** Solve A u = b with its constraints; u on the host. */
weft_status weft_problem_solve_system(weft_problem *problem, weft_error *error);
/** Set the form of the cells to that of -div(k grad u), of a scalar u of degree 1.
 *  Errors  those of weft_diffusion_form */
weft_status weft_problem_diffusion(weft_problem *problem, const char *k, const char *origin,
                                   weft_error *error);
/** After weft_problem_vectors_make and with the prescribed values in u: compute b, or compile the terms of a residual.
 *  Warns if nothing makes u differ from zero. */
weft_status weft_problem_load_make(weft_problem *problem, weft_error *error);
/** Give a problem on the same mesh the conditions and constraints of another, with values of zero and without fluxes, and its levels.
 *  from  its strings must outlive the problem */
weft_status weft_problem_hold(weft_problem *problem, const weft_problem *from, weft_error *error);
/** Is the solved problem linear, with a symmetric matrix that fixes u by itself, so that it is its own adjoint? */
bool weft_problem_is_self_adjoint(const weft_problem *problem);
/** Is there a constant of a component, or a motion, that nothing fixes in a solved problem? */
bool weft_problem_is_open(const weft_problem *problem);
/** Does a load [n_dofs] do work on what nothing fixes in a solved problem: constants of components, or motions? */
bool weft_problem_works_on_free(const weft_problem *problem, const double *load);
/** Solve A v = load once more, with v = 0 where u is prescribed, by the same preconditioner; u stays.
 *  load, out  [n_dofs] on the host
 *  result     without a history */
weft_status weft_problem_solve_again(weft_problem *problem, const double *load, double *out,
                                     weft_cg_result *result, weft_error *error);
/** Compute the load of a linear problem alone, for no prescribed values but zero.
 *  out  [n_dofs] on the host */
weft_status weft_problem_load_alone(weft_problem *problem, double *out, weft_error *error);
/** The same once more, of a problem that is bound, without conditions on fluxes: kernels stay for the next call.
 *  out  [n_dofs] on the host */
weft_status weft_problem_load_again(weft_problem *problem, double *out, weft_error *error);
/** Set the time of a problem that is bound with weft_bind_options.has_time. */
weft_status weft_problem_set_time(weft_problem *problem, double t, weft_error *error);
/** All that a solve needs but matrix and load: conditions, choices, and the vectors of a linear problem. What a solve before has made
 *  is freed. */
weft_status weft_problem_start_solve(weft_problem *problem, const weft_problem_options *options,
                                     double solves, weft_error *error);
/** The same of steps in time, from u.
 *  length  of the first step */
weft_status weft_problem_start_steps(weft_problem *problem, const weft_problem_options *options,
                                     double solves, double length, weft_error *error);
/** Free conditions and constraints. */
void weft_problem_clear_conditions(weft_problem *problem);
/** Of a problem of weft_problem_join: what its solve starts with, for the whole.
 *  length  of the first step in time */
void weft_problem_expect(weft_problem *part, const weft_problem_options *options, double solves,
                         double length);
/** The problem on the whole mesh; all ranks call it.
 *  out  borrowed; NULL on other ranks than the first */
weft_status weft_problem_find_whole(weft_problem *part, weft_problem **out, weft_error *error);
/** Let a problem be that of the part of a rank.
 *  ranks  copied */
void weft_problem_divide(weft_problem *problem, const weft_problem_ranks *ranks);
/** Cells that ranks need besides for the constraints of the whole problem, and for its integrals between cells. All ranks call it.
 *  whole   NULL on ranks besides the first, which has the problem with its spaces and conditions
 *  mesh    the whole
 *  out     caller's: free(list)
 *  Errors  those of weft_problem_constraints_make; WEFT_ERROR_MEMORY */
weft_status weft_problem_reach(weft_problem *whole, weft_comm *comm, const weft_mesh *mesh,
                               weft_part_cells *out, weft_error *error);
/** The same of a problem without constraints.
 *  problem  of each rank, whose forms are known
 *  out      caller's, also after an error: free(list) */
weft_status weft_problem_reach_behind(const weft_problem *problem, weft_comm *comm,
                                      const weft_mesh *mesh, weft_part_cells *out,
                                      weft_error *error);
/** Take over what the first rank has found that nothing fixes: modes, with constraints that pin them, or a mean. */
weft_status weft_problem_take_modes(weft_problem *problem, weft_error *error);
/** weft_problem_load_make, the operator, and what nothing fixes (weft_problem_check_fixed): all that a solve needs. */
weft_status weft_problem_assemble(weft_problem *problem, weft_error *error);
/** After weft_problem_assemble: solve the linear system, or r(u) = 0. The mean is zero of what nothing fixes.
 *  newton  NULL: the problem is linear
 *  Errors  WEFT_ERROR_INPUT: nothing fixes a constant, and the load has no solution for it; those of the solver */
weft_status weft_problem_compute(weft_problem *problem, const weft_newton_options *newton,
                                 weft_error *error);
/** The last step of weft_problem_eigenvalues, after the conditions, the choice and weft_problem_vectors_make, with the prescribed values in
 *  u. */
weft_status weft_problem_find_eigenvalues(weft_problem *problem, const weft_eigen_options *options,
                                          weft_eigen **out, weft_error *error);
/** Integrals of u by component, and the energy, on the host.
 *  integrals  [components]
 *  energy     NULL: not wanted */
weft_status weft_problem_measure(weft_problem *problem, double *integrals, double *energy,
                                 weft_error *error);

/* ---- constraints and modes (constraints.c, held.c) -------------------------------------------- */

/** Make the constraints that the problem was given, after the conditions.
 *  Errors  those of fem/weft_constraint.h; WEFT_ERROR_UNSUPPORTED: periodic sides of forms over facets between cells */
weft_status weft_problem_constraints_make(weft_problem *problem, weft_error *error);
/** The same of loads at points, before the load. */
weft_status weft_problem_point_loads_make(weft_problem *problem, weft_error *error);
/** Add the loads at points to b. */
weft_status weft_problem_point_loads_apply(weft_problem *problem, weft_error *error);
/** Is u one function with constraints or loads at points, whose modes have to be looked for? */
bool weft_problem_may_float(const weft_problem *problem);
/** The forms that hold a mode however soft they are beside that of the cells.
 *  out  [n], free() */
weft_status weft_problem_forms_alone(const weft_problem *problem, weft_form **out, int *n,
                                     weft_error *error);
/** Find what neither constraints nor the operator, which is there, fix. */
weft_status weft_problem_find_modes(weft_problem *problem, weft_error *error);
/** The same, of a problem without constraints: they are made only if something floats, or weak terms hold it.
 *  all_fixed  each component has Dirichlet values: only one of several parts may float
 *  n_parts    of the mesh */
weft_status weft_problem_find_floating(weft_problem *problem, bool all_fixed, int64_t *n_parts,
                                       weft_error *error);
/** Make what the energy and balances of a problem need, but no matrix: its solution comes from parts. */
weft_status weft_problem_assemble_lightly(weft_problem *problem, weft_error *error);
/** Move what reports say of the solve: the choice, and the results of the linear solver and of Newton's method. */
void weft_problem_move_results(weft_problem *part, weft_problem *whole);
/** Forget them. Loads at points stay. */
void weft_problem_clear_constraints(weft_problem *problem);
/** If there are dependent dofs, make `reduction`, and see that the operator stores a matrix. */
weft_status weft_problem_reduce(weft_problem *problem, weft_error *error);
/** Prepare the reduction of constraints, if there are any, and let u satisfy them. */
weft_status weft_problem_constrain(weft_problem *problem, weft_error *error);
/** After a solve: u on the host, without free modes. */
weft_status weft_problem_release(weft_problem *problem, weft_error *error);
