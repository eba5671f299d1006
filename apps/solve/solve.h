/** The programs solve and poisson, in flow order:
 *
 *      options -> script -> mesh -> ordering -> memory estimate -> dofs -> inputs -> operator
 *              -> right-hand side -> Krylov method, or Newton's -> errors -> output
 *
 *  They differ in a solve_program. solve solves the problem of a user's script: K u = b with a local matrix K and a vector b, or with
 *  --nonlinear r(u) = 0 with the derivative K. The number of components of u per node follows from
 *  the size of K. Conditions are given per component:
 *
 *      u_k = g_k                   on Dirichlet groups
 *      flux (traction) = g_k       on Neumann groups: adds int g_k v_k to b
 *      flux + alpha u_k = g_k      on Robin groups */
#pragma once

#include "apps/common/ranks.h"
#include "apps/common/run.h"
#include "apps/solve/eigen.h"
#include "apps/solve/time.h"
#include "forms/bind/bind.h"
#include "forms/weft_gradient.h"

/* ---- options (apps/solve/options.c) ---------------------------------------------------------- */

enum {
    SOLVE_COMPONENTS_MAX = 8,
    SOLVE_VALUES_MAX = WEFT_VALUES_MAX,
    SOLVE_KERNELS_MAX = 8,
    SOLVE_ALIASES_MAX = 2,
    SOLVE_CONTROLS_MAX = 16
};

/** NAME=TEXT of --input, --define or --param; NAME@GROUP=TEXT of the same NAME are joined. */
typedef struct solve_binding {
    char *name, *value; /* malloc'd */
    int number;         /* of --param */
    char origin[96];    /* "--input f", for messages */
} solve_binding;

typedef struct solve_bindings {
    solve_binding *list;
    int n;
} solve_bindings;

typedef struct solve_options {
    app_run_options run;
    /* borrowed from argv; may be NULL. script: of solve only */
    int degree; /* of a shipped form file */
    const char *script, *matrix, *vector, *exact, *sum;
    bool over_time;             /* the functional is integrated over time */
    int checkpoints;            /* steps that are stored for the gradient; 0: a default */
    const char *gradient, *wrt; /* a functional of a form file, and names of controls with commas */
    char *source, *diffusivity; /* malloc'd; of poisson; may be NULL */
    bool default_source;        /* of poisson */
    const char *kernels[SOLVE_KERNELS_MAX];
    int n_kernels;
    solve_bindings inputs, defines, sets, measures;
    weft_ufl_degrees degrees; /* of the integrals of a form file */
    const char *initial;      /* u at the start, one formula per component; NULL: 0 */
    bool nonlinear;
    weft_newton_options newton;
    const char *mass; /* its name, in time and for eigenvalues; NULL: m or M */
    solve_eigen_options eigen;
    solve_time_options time;
} solve_options;

/** Read the command line of solve. --help, --usage and --version print and exit.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status solve_options_read(int argc, char **argv, solve_options *out, weft_error *error);
void solve_options_clear(solve_options *options);

/* ---- problems --------------------------------------------------------------------------- */

typedef struct solve solve;
/** A step of a run that depends on the problem. */
typedef weft_status solve_step(solve *run, weft_error *error);

/** What differs between the programs. Steps that may be NULL have nothing to do then. */
typedef struct solve_program {
    const char *name;
    /** Read the command line. --help, --usage and --version print and exit.
     *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
    weft_status (*options_read)(int argc, char **argv, solve_options *out, weft_error *error);
    void (*state)(const solve *run, weft_text *out); /* the equation and its data, in words */
    solve_step *form_make;                           /* fill in base.problem->form and check it */
    solve_step *plan_print; /* print the plans of scripts, on the null device */
    /** Set the names of coefficients for formulas; returns their number; NULL: none. */
    int (*name_coefficients)(const solve *run, weft_derive_alias out[SOLVE_ALIASES_MAX]);
    bool prints_history; /* a few residuals of CG in every report */
} solve_program;
/** Run a program. Returns its exit code. (apps/solve/run.c) */
int solve_main(const solve_program *problem, int argc, char **argv);

/* ---- the run -------------------------------------------------------------------------------- */

/** The user's script or form file (apps/solve/script.c). */
typedef struct solve_script {
    weft_ufl *ufl;                   /* the form file, or NULL */
    const weft_ufl_problem *problem; /* of it */
    weft_bind_options binding;       /* with these lists, malloc'd: */
    weft_problem_value *values;
    weft_expression *expressions;
    weft_parameter *parameters;
    weft_bind_measure *measures;
    bool is_assumed; /* a shipped form file, for cells that may not be those of the mesh */
} solve_script;

/** The derivatives of --gradient (apps/solve/gradient.c). */
typedef struct solve_control {
    char *name, *path; /* malloc'd; path NULL: no file has it */
    weft_gradient_of of;
    double norm, least, greatest; /* of a function: in L2; of its values */
} solve_control;
typedef struct solve_gradient {
    weft_gradient *made; /* NULL: not asked for */
    double value;
    solve_control list[SOLVE_CONTROLS_MAX];
    int n;
} solve_gradient;

/** Everything of one run, in the order in which it is made. */
struct solve {
    const solve_program *program; /* borrowed, as is options */
    const solve_options *options;
    app_run base;
    weft_comm *comm;  /* of the ranks, borrowed; NULL: there is one */
    weft_mesh *whole; /* where base.mesh is the part of a rank */
    app_mesh_made whole_made;
    solve *
        all; /* the same problem on the whole mesh, of the first rank; NULL: not yet, or this one */
    solve *first; /* of the rank that runs in the calling thread */
    weft_ranks_report ranks;
    solve_script script;
    int components; /* per node */
    char **exact;   /* [components], or NULL */
    weft_derive_alias aliases[SOLVE_ALIASES_MAX];
    solve_time time;
    double sum; /* NaN unless requested */
    solve_gradient gradient;
    weft_eigen *eigen; /* of --eigenvalues; NULL: not there */
    double integral_u[SOLVE_VALUES_MAX];
    double errors[2][SOLVE_VALUES_MAX]; /* in L2 and H1, by component; with --exact */
};

/** The steps of solve (apps/solve/script.c, report.c).
 *  Errors  script_read: those of the parser; WEFT_ERROR_INPUT: no matrix or vector is defined.
 *          script_try, script_fit: those of the compiler.
 *          form_make: WEFT_ERROR_INPUT: the matrix is not symmetric, as the requested method needs */
solve_step solve_script_read, solve_script_try, solve_script_fit, solve_form_make, solve_plan_print;
void solve_script_clear(solve *run);
/** Is this the name of a form file that is shipped with Weft, and of no file? (apps/solve/shipped.c) */
bool solve_is_shipped_form(const char *name);
/** Read it for the cells of the mesh, or of the mesh's name.
 *  is_assumed  neither is known: read it again when the mesh is there */
weft_status solve_shipped_form_read(const solve *run, const weft_ufl_options *options,
                                    weft_ufl **out, bool *is_assumed, weft_error *error);
/** Refuse --degree for others. */
weft_status solve_shipped_form_check(const solve_options *options, weft_error *error);

/** Compute the derivatives, and write those with respect to functions beside the result. */
solve_step solve_gradient_compute;
void solve_gradient_clear(solve *run);
/** Has the problem, or the last step, converged? (apps/solve/report.c) */
bool solve_is_solved(const solve *run);
/** Is there a gradient whose systems have not converged? */
bool solve_gradient_is_wrong(const solve *run);
void solve_gradient_print(const solve *run);
bool solve_gradient_json(json_t *root, const solve *run);

/** Run the steps: from the script to the report of the first rank. (apps/solve/run.c) */
weft_status solve_run_steps(solve *run, weft_error *error);
/** Make spaces, conditions, vectors and inputs of the problem, and its form. */
weft_status solve_problem_make(solve *run, weft_error *error);
/** Write the problem in words for reports, and compile the derived quantities. */
weft_status solve_show_make(solve *run, weft_error *error);
void solve_run_clear(solve *run);
/* apps/solve/ranks.c */
/** Run the steps on all ranks, or once.
 *  processes  of mpirun; NULL: none
 *  Errors     those of the first rank that has failed by itself */
weft_status solve_on_ranks(solve *run, weft_comm *processes, weft_error *error);
/** Let base.mesh be the part of this rank; nothing where there is one rank. */
weft_status solve_take_part(solve *run, weft_error *error);
/** Make the run on the whole mesh, without a matrix; nothing but on the first of several ranks. */
weft_status solve_whole_make(solve *run, weft_error *error);
/** The run that has results: that on the whole mesh. */
solve *solve_shown(solve *run);
/** Take the present u to it; all ranks call it. */
weft_status solve_whole_update(solve *run, weft_error *error);
/** Continue with the solution on the whole mesh, on the first rank; the others only send theirs. */
weft_status solve_join_parts(solve *run, weft_error *error);
/** Free the run on the whole mesh. */
void solve_whole_free(solve *run);
/** A line of the report, and the object `ranks` of JSON, if there are ranks. The latter is false where memory is short. */
void solve_ranks_print(const solve *run);
bool solve_ranks_json(const solve *run, json_t *root);

/** Compile every formula of the options to find its errors, and check the output files.
 *  (apps/solve/check.c) */
weft_status solve_check(solve *run, weft_error *error);
/** Compute errors, integrals, energy and probe values. (apps/solve/measure.c) */
weft_status solve_measure(solve *run, weft_error *error);
/** Compile the derived quantities, before the solution. (apps/solve/measure.c) */
weft_status solve_derive_make(solve *run, weft_error *error);
/** Compute derived quantities and the balance of a stationary problem. (apps/solve/measure.c) */
weft_status solve_derive(solve *run, weft_error *error);
/** The balance of the last step; all ranks call it, after solve_join_parts. (apps/solve/measure.c) */
weft_status solve_balance_in_time(solve *run, weft_error *error);
/** Write the result file, the report and JSON. (apps/solve/report.c, apps/solve/json.c) */
weft_status solve_output_write(solve *run, weft_error *error);
weft_status solve_report_print(const solve *run, weft_error *error);
weft_status solve_json_write(const solve *run, weft_error *error);
/** On the null device, print the plans and the number of launches. */
weft_status solve_null_print(solve *run, weft_error *error);
