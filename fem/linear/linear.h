/** Solves the linear systems of a problem.
 *
 *      In: a system; the options; known properties of the matrix.
 *      Out: the solution; the method and the preconditioner that were used, and why; how the iteration went. */
#pragma once

#include "fem/linear/memory.h"
#include "fem/weft_constraint.h"
#include "fem/weft_problem_results.h"

/** Tolerances for |K - K^T| / |K|: rounding in a symmetric matrix; in a tangent at any u, whose terms may cancel. */
#define WEFT_SYMMETRIC 1e-12
#define WEFT_SYMMETRIC_TANGENT 1e-10

/** All pointers are borrowed, except those said to be owned. Start from the borrowed members and
 *  weft_problem_choice_start; weft_linear_clear. */
typedef struct weft_linear {
    weft_context *context;
    const weft_problem_options *options;
    const weft_mesh *mesh;
    const weft_hierarchy *hierarchy; /* of the mesh; NULL: no levels are kept */
    const weft_space *const *spaces; /* [n_spaces] of u, several if it is mixed */
    int n_spaces;
    const struct weft_transient_open *open; /* [n_open] constants that the equations leave open */
    int n_open;
    int32_t pins[WEFT_VALUES_MAX]; /* a free dof of each, at which factorizations fix it */
    bool needs_matrix;             /* constraints: C^T A C is made of it */
    bool project_mean;             /* see weft_cg_options */
    bool solves_once;              /* one system, from the initial guess zero */
    bool minres_if_indefinite;     /* what the automatic choice does if CG finds that; not in
                                      Newton's method, where the state is then unstable as a rule */
    bool
        is_saddle; /* of a mixed space, whose preconditioner by parts is best as a triangular one */
    /* the forms of `coarsened` for functions of a lower degree; NULL: not known */
    const struct weft_coarser *coarser;
    const weft_operator *coarsened;
    weft_problem_choice choice;
    weft_preconditioner *preconditioner;                     /* owned; NULL: none but Jacobi's */
    bool preconditioner_is_general, preconditioner_projects; /* see weft_preconditioner_problem */
    weft_solver *solver; /* owned; of weft_linear_repeat; NULL: not yet */
    weft_cg_result cg;   /* of the last solve; its history is owned */
    char forms[33];      /* see weft_problem_memory */
    double
        times; /* iterations by Jacobi's preconditioner over predicted ones, measured before; or 1 */
    double took;     /* the same in this run, where that was known to be too many; 0: not yet */
    bool has_warned; /* of a mixed system that is left to Jacobi's */
    double precondition_seconds; /* set-up of preconditioners, besides Jacobi's */
    double solve_seconds;        /* of the last solve, besides these */
} weft_linear;
void weft_linear_clear(weft_linear *linear);

/** Is u, like the functions of the hierarchy's meshes, linear on straight triangles or tetrahedra, with their nodes? */
bool weft_linear_is_on_levels(const weft_linear *linear);
/** Dofs of u. */
int64_t weft_linear_dofs(const weft_linear *linear);
/** Choose preconditioner and assembly unless the options do, by predicted time among those whose memory
 *  fits, and estimate the memory on the device; for GMRES BiCGStab, if its basis does not fit. (fem/linear/choose.c)
 *  Errors  WEFT_ERROR_MEMORY: it does not fit */
weft_status weft_linear_choose(weft_linear *linear, const weft_problem_memory *what,
                               weft_error *error);
/** The kind of the preconditioner lu. (fem/linear/factorise.c) */
int weft_linear_lu(void);
/** Whether WEFT_AUTO may factorise the matrix: small enough, on the host, where a library is found.
 *  out  what it is predicted to cost */
bool weft_linear_may_factorise(const weft_linear *linear, int64_t n_nodes, int components,
                               weft_factorization_cost *out);
/** Why WEFT_AUTO takes Jacobi's preconditioner without a prediction; NULL: it predicts.
 *  is_definite     the matrix is symmetric, or its symmetric part can precondition it
 *  lowers_degrees  weft_assembly_problem */
const char *weft_linear_jacobi_because(const weft_problem_options *options, weft_method method,
                                       bool is_definite, bool lowers_degrees);
/** Whether multigrid is predicted to be the fastest for a symmetric problem of degree 1 on a mesh of triangles or tetrahedra
 *  that is not made yet, so that its levels are worth making.
 *  solves   with one matrix or similar ones; 0: 1
 *  Errors   those of weft_speeds_read */
weft_status weft_linear_levels_pay(const weft_linear *linear, int dimension, int64_t n_nodes,
                                   double solves, bool *out, weft_error *error);
/** Refuse what several ranks do not compute: assemblies, preconditioners, methods.
 *  Errors  WEFT_ERROR_UNSUPPORTED */
weft_status weft_linear_check_ranks(const weft_linear *linear, weft_error *error);
/** Set the method: that of the options, or CG for a symmetric matrix and for others GMRES, or
 *  BiCGStab if the basis of GMRES does not fit into memory.
 *  is_mixed    u has several functions
 *  asymmetry   |K - K^T| / |K|, for the reason */
void weft_linear_choose_method(weft_linear *linear, bool is_symmetric, bool is_mixed,
                               double asymmetry);
/** The value of max_iterations, or a default for the size of the mesh. */
int weft_linear_iterations_limit(const weft_problem_options *options, const weft_mesh *mesh);
/** The options of a solve by the method, without a preconditioner. */
weft_cg_options weft_linear_options(const weft_linear *linear, const weft_system *system);
/** Cycles of full multigrid on each level with which a solve by the present choice starts; 0: none. */
int weft_linear_full_cycles(const weft_linear *linear);
/** Make the preconditioner that was chosen, or adapt it to new values of the operator. If it was chosen automatically and refuses the
 *  matrix, factorise that, or drop it: Jacobi's takes its place, and `preconditioner` is NULL. */
weft_status weft_linear_precondition(weft_linear *linear, const weft_system *system,
                                     weft_error *error);
/** Solve A u = b by the method. If GMRES stagnates with the default number of iterations between restarts, it continues
 *  with more of them, if their basis fits into a quarter of the free memory. If a preconditioner that was chosen
 *  automatically breaks the method down, Jacobi's follows; if CG was chosen and finds the matrix indefinite, MINRES
 *  follows, where minres_if_indefinite allows it.
 *  whole      A u = b
 *  reduction  of its constraints, after weft_reduction_update: C^T A C is solved; NULL: none
 *  guess      [n_dofs] u of `whole` on the host, for a second solve
 *  used       the options of the last solve */
weft_status weft_linear_solve(weft_linear *linear, const weft_system *whole,
                              weft_reduction *reduction, const double *guess, weft_cg_options *used,
                              weft_error *error);
/** For repeated solves with one operator, after its values have changed: C^T A C, the preconditioner, and a solver. */
weft_status weft_linear_update(weft_linear *linear, const weft_system *whole,
                               weft_reduction *reduction, weft_error *error);
/** Solve A u = b by these, with what follows weft_linear_solve's failures.
 *  options  changed by what follows
 *  guess    [n_dofs] set to u of `whole`, for a second solve */
weft_status weft_linear_repeat(weft_linear *linear, const weft_system *whole,
                               weft_reduction *reduction, weft_cg_options *options,
                               weft_memory *guess, weft_error *error);
/** The operator will be another one: free solver and preconditioner. */
void weft_linear_reset(weft_linear *linear);
/** With the option tune: store the speeds of the last solve in the tuning database, if it was large, and the iterations by
 *  Jacobi's preconditioner, if they were not as predicted. (fem/linear/speeds.c)
 *  Errors  those of weft_tuning_set */
weft_status weft_linear_store_speeds(const weft_linear *linear, weft_error *error);
