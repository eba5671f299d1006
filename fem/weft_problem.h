/** How a problem on a mesh is solved.
 *
 *      In: options, which are never changed. Out: the choices, and their reasons. */
#ifndef WEFT_PROBLEM_H
#define WEFT_PROBLEM_H

#include "fem/weft_bc.h"
#include "fem/weft_newton.h"
#include "fem/weft_solver.h"
#include "fem/weft_transient.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In place of a method, an assembly or a preconditioner: WEFT_AUTO lets the library choose. The others are
 *  preconditioners besides the kinds of weft_preconditioner, which are numbered from 0. */
enum { WEFT_AUTO = -3, WEFT_NO_PRECONDITIONER = -2, WEFT_JACOBI = -1 };

typedef struct weft_problem_options {
    size_t size;        /* sizeof(weft_problem_options) */
    int method;         /* a weft_method; WEFT_AUTO: by symmetry and definiteness */
    int assembly;       /* a weft_assembly; WEFT_AUTO: the fastest as predicted */
    int preconditioner; /* a kind, or one of the above; WEFT_AUTO: the fastest whose memory fits */
    /* the preconditioner that WEFT_AUTO chose in the run that is continued, which is taken
     * again; WEFT_AUTO: none */
    int earlier;
    int smoother_degree;       /* of chebyshev and multigrid, 1 to 6; 0: the preconditioner's own */
    int restart;               /* of GMRES; 0: 30 */
    double tolerance;          /* of weft_cg_options */
    bool until_discretisation; /* full multigrid, instead of the tolerance */
    int max_iterations;        /* -1: by the size of the mesh */
    int tune; /* plans to measure for each script; also stores measured speeds; 0: none */
    /* of the preconditioner petsc, in PETSc's syntax, as "-pc_type lu"; NULL: none. Borrowed */
    const char *petsc_options;
} weft_problem_options;
static inline weft_problem_options weft_problem_options_default(void) {
    weft_problem_options options;
    weft_options_clear(&options, sizeof options);
    options.method = options.assembly = options.preconditioner = options.earlier = WEFT_AUTO;
    options.tolerance = 1e-8;
    options.max_iterations = -1;
    return options;
}

#define WEFT_CHOICE_REASON 200
/** What the options leave open as it was chosen, at first or after a failure; the rest as it was requested. */
typedef struct weft_problem_choice {
    weft_method method;
    weft_assembly assembly;
    int preconditioner;      /* a kind, WEFT_JACOBI or WEFT_NO_PRECONDITIONER */
    int restart;             /* of GMRES; 0: 30 */
    bool basis_is_too_large; /* of GMRES for the memory: BiCGStab takes its place */
    size_t bytes;            /* estimated, of the device's memory, at most; 0: no estimate */
    double expected;         /* iterations of a solve by CG; 0: not predicted */
    int next, next_after;    /* a kind that follows a solve by CG of so many iterations; 0: none */
    char method_reason[WEFT_CHOICE_REASON], preconditioner_reason[WEFT_CHOICE_REASON];
} weft_problem_choice;
/** The choice before anything is known: the requested one, or CG and Jacobi's preconditioner. */
weft_problem_choice weft_problem_choice_start(const weft_problem_options *options);

/** The method that WEFT_AUTO stands for with an operator of forms, outside a problem, and why.
 *  asymmetry  |K - K^T| / |K|: the greatest of weft_form_asymmetry
 *  is_mixed   the operator is of several functions
 *  out        gets method and method_reason */
void weft_method_choose(double asymmetry, bool is_mixed, weft_problem_choice *out);

/* ---- problems ------------------------------------------------------------------------------ */

/** Functions u of spaces on a mesh, with conditions, forms and a load. */
typedef struct weft_problem weft_problem;

/** Where the values of an input come from: a formula for each component, or a list. */
typedef struct weft_input_source {
    const char *text, *origin; /* origin names the formulas in messages */
    const char *shown;         /* the name in messages; NULL: that in the script */
    const char *file;          /* of the forms, for messages; may be NULL */
    bool in_time;              /* t in the formulas is the time of the problem */
    weft_memory *memory;       /* instead of text: the values, borrowed */
} weft_input_source;

/** The values of an input by its name, in a form file that of a coefficient or constant. */
typedef struct weft_problem_value {
    const char *name;
    weft_input_source source; /* shown, file and in_time are set by what takes it */
} weft_problem_value;

/** What a solve was like. Pointers are borrowed from the problem until it is solved again or freed. */
typedef struct weft_problem_report {
    const weft_problem_choice *choice;
    const weft_cg_result *result; /* an outcome other than WEFT_CG_CONVERGED is not an error */
    double asymmetry;             /* |K - K^T| / |K|, as measured */
    /* NULL: the problem is linear. One that has not converged is not an error */
    const weft_problem_newton_report *newton;
} weft_problem_report;

/** A problem without conditions, form and load.
 *  context, mesh  borrowed; must outlive the result
 *  element        of u, with so many components
 *  out            caller's; weft_problem_free
 *  Errors         those of weft_space_make; *out untouched */
weft_status weft_problem_make(weft_context *context, const weft_mesh *mesh,
                              weft_element_kind element, int components, weft_problem **out,
                              weft_error *error);
/** The same without a mesh and a space, which are set later.
 *  options  of solves; borrowed
 *  Errors   WEFT_ERROR_MEMORY */
weft_status weft_problem_start(weft_context *context, const weft_problem_options *options,
                               weft_problem **out, weft_error *error);
void weft_problem_free(weft_problem **problem);
/** The space of u, for forms. Borrowed. */
const weft_space *weft_problem_space(const weft_problem *problem);
/** The spaces of the functions of u, one, or those of a mixed space in the order of their dofs.
 *  out      set to [number], borrowed from the problem
 *  Returns  their number */
int weft_problem_spaces(const weft_problem *problem, const weft_space *const **out);
/** Dofs of u in all of them. */
int64_t weft_problem_dofs(const weft_problem *problem);
/** Add a condition. Where there is none, u = 0 on the whole boundary, or, of form files, no flux.
 *  condition  copied; its strings are borrowed and must outlive the problem
 *  Errors     WEFT_ERROR_MEMORY
 *  Constraints and loads at points: fem/weft_problem_constraints.h */
weft_status weft_problem_condition(weft_problem *problem, const weft_condition *condition,
                                   weft_error *error);
/** Set the form of the cells, with the local matrix K. Where it says no number of components, it has those of u.
 *  form  copied; what it refers to is borrowed and must outlive the problem. NULL: there is none */
void weft_problem_form(weft_problem *problem, const weft_form *form);
/** Set the load int f phi_i over the cells, of a u with one component.
 *  f       a formula in x, y, z; borrowed, as is origin, which names it in messages */
void weft_problem_source(weft_problem *problem, const char *f, const char *origin);
/** Give the levels of the mesh to preconditioners that need them, and to the choice of one.
 *  hierarchy  borrowed; must outlive the problem. Its finest mesh is the problem's; NULL: there are none */
void weft_problem_set_hierarchy(weft_problem *problem, const weft_hierarchy *hierarchy);
/** Set u where Newton's method or an integration in time starts, on the host, to formulas, one for each component.
 *  origin  names them in messages
 *  Errors  WEFT_ERROR_USAGE: the problem has no u yet, or more or fewer components; those of weft_space_evaluate */
weft_status weft_problem_set_initial(weft_problem *problem, const char *text, const char *origin,
                                     weft_error *error);
/** The same to values [weft_problem_dofs].
 *  Errors  WEFT_ERROR_USAGE: the problem has no u yet */
weft_status weft_problem_set_values(weft_problem *problem, const double *values, weft_error *error);
/** Solve for u, from zero.
 *  options  borrowed; they are not changed, and must outlive the report
 *  Errors   WEFT_ERROR_USAGE: there is no form; WEFT_ERROR_INPUT: the matrix is not symmetric, as the requested method
 *           needs, or not finite, a script's product is another one, or nothing fixes u; WEFT_ERROR_MEMORY: it does
 *           not fit; those of weft_bc_make, weft_bc_load_make, weft_operator_make and weft_solver_solve */
weft_status weft_problem_solve(weft_problem *problem, const weft_problem_options *options,
                               weft_problem_report *report, weft_error *error);
/** Solve r(u) = 0 by Newton's method, from the values that u has: zero, those of weft_problem_set_initial, or those of the
 *  solve before.
 *  options, newton  borrowed; they are not changed, and options must outlive the report
 *  Errors           WEFT_ERROR_USAGE: there is no residual, or newton is out of range; those of weft_problem_newton,
 *                   weft_problem_check_forms and weft_problem_check_fixed */
weft_status weft_problem_solve_nonlinear(weft_problem *problem, const weft_problem_options *options,
                                         const weft_newton_options *newton,
                                         weft_problem_report *report, weft_error *error);
/** Copy u from the device, as after a step in time; solves do it. Components that a constant can be added to get the mean 0.
 *  values  set to weft_problem_values */
weft_status weft_problem_pull(weft_problem *problem, const double **values, weft_error *error);
/** u after weft_problem_solve, [n_dofs] on the host; NULL before. Borrowed. */
const double *weft_problem_values(const weft_problem *problem);
/** u on the device, [n_dofs]; NULL before the first solve of a linear problem. Borrowed until the next solve. */
weft_memory *weft_problem_u(const weft_problem *problem);

/** Begin to integrate a problem with a mass, from the present u_values (weft_problem_set_initial), once.
 *  options   of solves; borrowed
 *  settings  scheme, start, end, dt and tolerance; theta, Newton's tolerance and iterations: 0 for the usual ones; the
 *            others are set here
 *  out       caller's; weft_transient_free, before the problem
 *  Errors    WEFT_ERROR_USAGE: it has neither a mass nor a scheme of its own; those of
 *            weft_problem_solve and weft_transient_make */
weft_status weft_problem_in_time(weft_problem *problem, const weft_problem_options *options,
                                 const weft_transient_problem *settings, weft_transient **out,
                                 weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
