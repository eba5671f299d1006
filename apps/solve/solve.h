/** The app solve, in flow order:
 *
 *      options -> script -> mesh -> ordering -> dofs -> inputs -> operator -> right-hand side
 *              -> CG, or Newton's method -> errors -> output
 *
 *  It solves the problem of a user's script: K u = b with a local matrix K and a vector b, or with
 *  --nonlinear r(u) = 0 with the derivative K. The number of components of u per node follows from
 *  the size of K. Conditions are given per component:
 *
 *      u_k = g_k                   on Dirichlet groups
 *      flux (traction) = g_k       on Neumann groups: adds int g_k v_k to b
 *      flux + alpha u_k = g_k      on Robin groups */
#pragma once

#include "apps/common/run.h"

/* ---- options (apps/solve/options.c) ---------------------------------------------------------- */

enum { SOLVE_COMPONENTS_MAX = 8, SOLVE_KERNELS_MAX = 8 };

/** NAME=TEXT of --input, --define or --param. */
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
    const char *script, *matrix, *vector, *exact, *sum; /* borrowed from argv; all but
                                                           script may be NULL */
    const char *kernels[SOLVE_KERNELS_MAX];
    int n_kernels;
    solve_bindings inputs, defines, sets;
    bool nonlinear;
    double newton_tolerance;
    int newton_iterations, load_steps;
} solve_options;

/** Read the command line. --help, --usage and --version print and exit.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status solve_options_read(int argc, char **argv, solve_options *out, weft_error *error);
void solve_options_clear(solve_options *options);

/* ---- the run -------------------------------------------------------------------------------- */

/** The parts of the user's script (apps/solve/script.c). */
typedef struct solve_script {
    char *text;                    /* malloc'd; without its return statements */
    weft_text cells;               /* the same, followed by K = MATRIX */
    weft_compilation *compilation; /* of the text; owns the names */
    const char *matrix, *vector;   /* vector NULL: there is none */
    const char *action;            /* Kv, or NULL */
    bool has_d, has_u, has_load;   /* parameter d, inputs u and load */
    int components;
} solve_script;

/** An input field of the script, bound to a formula (apps/solve/inputs.c). */
typedef struct solve_input {
    const char *name;
    double *values;
    weft_memory *memory;
} solve_input;

/** One Newton iteration: norms of the residual at free dofs, CG iterations for the following
 *  step. */
typedef struct solve_iteration {
    int step, iteration, cg_iterations;
    double residual; /* relative to scale */
    double scale;    /* the largest norm of r over all dofs in the load step, reactions included */
    double damping;  /* of the previous step; 1: undamped */
} solve_iteration;

/** Everything of one run, in the order in which it is made. Free with solve_clear. */
typedef struct solve {
    const solve_options *options; /* borrowed */
    app_run base;
    solve_script script;
    int components;             /* per node */
    int64_t n_dofs;             /* nodes * components */
    char **exact;               /* [components], or NULL */
    weft_memory *load;          /* the load factor */
    double load_value;
    double *flux; /* [n_dofs] of Neumann and Robin conditions, at full load; NULL: none */
    weft_compilation *vector_compilation; /* of the script's vector */
    weft_program *vector_program;
    solve_input *inputs;
    int n_inputs;
    weft_symmetry *symmetry; /* of the form of the cells */
    double asymmetry;        /* the largest found */
    weft_operator *robin;    /* of the Robin forms alone, with --nonlinear */
    solve_iteration *iterations; /* [n_iterations] */
    int n_iterations;
    bool newton_converged, newton_to_rounding;
    double sum; /* NaN unless requested */
    double integral_u[SOLVE_COMPONENTS_MAX];
} solve;

void solve_clear(solve *run);

/** Read the script; needs no device. (apps/solve/script.c)
 *  Errors  those of the parser; WEFT_ERROR_INPUT: it defines no matrix or vector */
weft_status solve_script_read(solve *run, weft_error *error);
/** Check that the script compiles; needs no mesh.
 *  Errors  those of the compiler */
weft_status solve_script_try(solve *run, weft_error *error);
/** Compile the script for the mesh, and determine its components and names. */
weft_status solve_script_fit(solve *run, weft_error *error);
void solve_script_clear(solve_script *script);
/** Compile every formula of the options to find its errors, and check the output files.
 *  (apps/solve/check.c) */
weft_status solve_check(solve *run, weft_error *error);
/** Make the space and its boundary conditions. (apps/solve/dofs.c) */
weft_status solve_dofs_make(solve *run, weft_error *error);
/** Make u, b, and the script's inputs. (apps/solve/inputs.c) */
weft_status solve_data_make(solve *run, weft_error *error);
/** Fill in the form of the cells: the script with its inputs, parameters and expressions.
 *  (apps/solve/forms.c) */
void solve_form_cells(solve *run, weft_bound_form *out);
/** Make the operator; choose its assembly unless the user has.
 *  Errors  WEFT_ERROR_INPUT: the matrix is not symmetric, or no condition fixes u */
weft_status solve_operator_make(solve *run, weft_error *error);
/** Check that the tangent at the current u is symmetric.
 *  Errors  WEFT_ERROR_INPUT: it is not */
weft_status solve_tangent_check(solve *run, int step, int iteration, weft_error *error);
/** Make the fluxes of conditions and the program of the script's vector. (apps/solve/load.c) */
weft_status solve_load_make(solve *run, weft_error *error);
/** Compute b: the script's vector for the current u, plus factor * fluxes. */
weft_status solve_vector_make(solve *run, double factor, weft_error *error);
/** Solve K u = b. (apps/solve/linear.c) */
weft_status solve_linear(solve *run, weft_error *error);
/** Solve r(u) = 0. (apps/solve/newton.c) */
weft_status solve_newton(solve *run, weft_error *error);
/** Compute errors, integrals, energy and probe values. (apps/solve/measure.c) */
weft_status solve_measure(solve *run, weft_error *error);
/** Write the result file, the report and JSON. (apps/solve/report.c, apps/solve/json.c) */
weft_status solve_output_write(solve *run, weft_error *error);
weft_status solve_report_print(const solve *run, weft_error *error);
weft_status solve_json_write(const solve *run, weft_error *error);
/** On the null device, print the launches that would be made. (apps/solve/report.c) */
weft_status solve_plan_print(solve *run, weft_error *error);
