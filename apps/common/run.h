/** The parts of a run that all apps which solve on a mesh share, in the order of the steps:
 *
 *      device -> mesh -> space -> conditions -> operator -> solution
 *
 *  Each app adds its own data. */
#pragma once

#include "apps/common/balance.h"
#include "apps/common/choose_device.h"
#include "apps/common/places.h"
#include "fem/problem/linear.h"
#include "fusion/setup/setup.h"

/** A function that is part of u: u itself, or one of those of a mixed space. */
typedef struct app_field {
    weft_space *space;
    weft_bc *bc;
    int first_value; /* of its components among those of u */
    int64_t first_dof;
    bool is_enrichment; /* its terms are added to those of the field before, as bubbles */
} app_field;
enum { APP_FIELDS_MAX = 16 };

typedef struct app_run {
    const app_run_options *options; /* borrowed, as is messages */
    app_messages *messages;
    weft_device *device;
    weft_library *library;
    weft_context context;
    app_work work;                      /* for the choice of the device */
    char device_reason[APP_REASON_MAX]; /* why it was chosen */
    bool host_preferred; /* the device was chosen here, for its little work or what it needs */
    bool is_null;        /* the device computes nothing */
    weft_mesh *mesh;
    app_mesh_made mesh_made;
    weft_data *data;   /* of the mesh, for formulas by group */
    weft_space *space; /* of the first field */
    app_field fields[APP_FIELDS_MAX];
    const weft_space *spaces[APP_FIELDS_MAX]; /* [n_fields] of the fields */
    int n_fields, n_values;                   /* fields; components of u in all of them */
    int64_t n_dofs;
    bool takes_any_cells; /* meshes of intervals, quadrilaterals and hexahedra too */
    bool is_natural;      /* without a condition, the flux is zero on the boundary, not u */
    app_seconds seconds;

    /* linear and nonlinear systems */
    app_pieces pieces;          /* conditions by component */
    app_probes points;          /* of the probes */
    weft_bc *bc;                /* of the first field, with the conditions on all fluxes */
    const int32_t *constrained; /* dofs, ascending; borrowed from bc, or */
    int32_t *own_constrained;   /* of several fields; malloc'd */
    int64_t n_constrained;
    weft_memory *u, *b;          /* solution, right-hand side */
    double *u_values, *b_values; /* the arrays that u and b wrap */
    weft_bound_form form;        /* of the cells */
    weft_form *more_forms;       /* [n_more_forms] of the operator; malloc'd */
    int n_more_forms;
    weft_operator *op;
    weft_linear linear; /* solves systems; has the choices */
    const weft_preconditioner
        *preconditioner_in_time;       /* that of the integrator, for reports; NULL: as above */
    double expected_solves;            /* with one matrix or similar ones; 0: 1 */
    double l2_error, h1_error, energy; /* NaN unless requested */
    app_places probe_places;           /* where the probes are */
    double *probes;                    /* [probes][n_values], NaN outside */
    weft_constraints *constraints;     /* NULL: none, and nothing floats */
    weft_free_modes modes;
    bool modes_are_pinned;         /* those that weak terms hold too */
    double *rest;                  /* u without these; NULL: there are none */
    weft_point_loads *point_loads; /* NULL: none */
    weft_reduction *reduction;     /* NULL: no dependent dofs */
    weft_derive *derive;           /* NULL: no derived quantities */
    char *statement;     /* what was solved (apps/common/statement.h); malloc'd; NULL: not yet */
    app_balance balance; /* of --reactions */
} app_run;

void app_run_clear(app_run *run);

/** Open the device and the library. Where the device is for the program to choose (weft_device_is_automatic), it is the host
 *  for little work, as predicted by `work`, and otherwise that of weft_device_open. */
weft_status app_run_open(app_run *run, weft_error *error);
/** Why the report says that the program chose the device; NULL: it did not. */
const char *app_run_device_reason(const app_run *run);
/** Set device, library, context, device_reason and host_preferred. (apps/common/device.c)
 *  Errors  those of weft_device_open and weft_fem_library_make */
weft_status app_device_open(app_run *run, weft_error *error);
/** Check that --output and --json can be written.
 *  Errors  WEFT_ERROR_IO */
weft_status app_run_files_check(const app_run *run, weft_error *error);
/** Read or make the mesh, refine and order it. */
weft_status app_run_mesh_make(app_run *run, weft_error *error);
/** Make the operator of `form`, `more_forms` and Robin conditions, and assemble it. */
weft_status app_run_operator_make(app_run *run, weft_error *error);
/** Is u linear on triangles or tetrahedra, with the nodes of the mesh? */
bool app_run_is_linear(const app_run *run);
/** Make the space, unless there is one, and its boundary conditions.
 *  Errors  WEFT_ERROR_USAGE: a probe with too many coordinates; those of app_pieces_make and
 *          weft_bc_make */
weft_status app_run_space_make(app_run *run, int components, weft_error *error);
/** Make u one function of the space, unless fields are there; set n_fields, n_values and n_dofs.
 *  (apps/common/fields.c) */
void app_run_fields_count(app_run *run);
/** The values of field i [n_dofs] as a term of a sum of functions, in which those of enrichments have their part.
 *  out     to be freed
 *  Errors  WEFT_ERROR_MEMORY */
weft_status app_run_field_term(const app_run *run, int i, double **out, weft_error *error);
/** Make the boundary conditions of all fields from `pieces`. (apps/common/fields.c)
 *  Errors  those of weft_bc_make */
weft_status app_run_conditions_make(app_run *run, weft_error *error);
/** Set the dofs of Dirichlet conditions to factor times their values; u [n_dofs]. */
void app_run_set_conditions(const app_run *run, double factor, double *u);
/** The field of a component of u, or of a dof. */
const app_field *app_run_field_of_value(const app_run *run, int value);
const app_field *app_run_field_of_dof(const app_run *run, int64_t dof);
/** Tell run->linear what mesh and spaces the systems are of. */
void app_run_describe(app_run *run);
/** Make u and b, zeroed, and describe them. */
weft_status app_run_vectors_make(app_run *run, weft_error *error);
/** Set which levels of the mesh are kept for an automatic choice of multigrid: those of --refine, and
 *  those of a built-in mesh if multigrid is predicted to be fastest.
 *  mesh  a copy of the options' */
weft_status app_run_choose_levels(const app_run *run, app_mesh_options *mesh, weft_error *error);
/** Choose preconditioner and assembly unless the user has, by predicted time among those whose memory
 *  fits, and estimate the memory on the device.
 *  Errors  WEFT_ERROR_MEMORY: it does not fit */
weft_status app_run_memory_estimate(app_run *run, const weft_problem_memory *what,
                                    weft_error *error);
/** With --tune: store the speeds of the last solve in the tuning database. */
weft_status app_run_store_speeds(const app_run *run, weft_error *error);
/** After app_run_operator_make: let other threads compile the kernels of app_run_solve. */
void app_run_solve_ahead(app_run *run);
/** Solve A u = b with its constraints (fem/problem/linear.h). */
weft_status app_run_solve(app_run *run, weft_error *error);
/** After app_run_solve: if CG with a preconditioner of Weft's own took more iterations than is usual,
 *  and the matrix shows why (fem/sparse/couplings.h), log a warning with advice. op is what was solved. Needs the matrix on
 *  the host; says nothing for operators without one, and for small ones. */
void app_cg_advise(const app_run *run, weft_operator *op);
/** Subtract the mean from a scalar u, given its integral. */
weft_status app_run_remove_mean(app_run *run, double integral, weft_error *error);
/** Set the errors from their squares; warns if they are not finite. */
void app_run_set_errors(app_run *run, double l2_squared, double h1_squared);
weft_status app_run_measure_probes(app_run *run, weft_error *error);
/** How many times as long as thick the body is of which u is a displacement; 1: u is none. (apps/common/slender.c) */
double app_slenderness(const app_run *run);
/** Bodies that are longer bend so easily that their matrices are badly conditioned. */
#define APP_SLENDER 10
/** Warn where linear elements are too stiff for the shape of the body. */
void app_slender_warn(const app_run *run);
/** Report on stderr that a solve has not converged, with its residual and what to try. (apps/common/solution.c) */
void app_cg_complain(const char *program, const app_run *run, const app_cg_advice *advice);
/** What to try where a linear system took too many iterations, or rounding has spoiled its preconditioner. */
const char *app_cg_advice_of(const app_run *run, weft_cg_outcome outcome);
/** values = A u of the solution, without what rounding leaves of stiff terms in modes that weak ones hold.
 *  scratch  [n_dofs] on the device */
weft_status app_run_product(app_run *run, weft_memory *scratch, double *values, weft_error *error);
/** Of a run that continues from a checkpoint: let what is automatic be as it was. (apps/common/resume.c)
 *  path    of the checkpoint; NULL: no effect
 *  Errors  those of weft_checkpoint_problem; the preconditioner is not known */
weft_status app_resume_choices(const char *path, weft_problem_options *options, weft_error *error);
/** Make the constraints of the options, if there are any. (apps/common/constraints.c)
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_INPUT: those of fem/weft_constraint.h */
weft_status app_run_constraints_make(app_run *run, weft_error *error);
/** The forms that hold a mode however soft they are beside that of the cells.
 *  out  [n], free() */
weft_status app_run_forms_alone(const app_run *run, weft_form **out, int *n, weft_error *error);
/** Find what neither constraints nor the operator, which is there, fix. */
weft_status app_run_modes_find(app_run *run, weft_error *error);
/** The same, of a problem without constraints: they are made only if something floats, or weak terms hold it.
 *  all_fixed  each component has Dirichlet values: only one of several parts may float
 *  n_parts    of the mesh */
weft_status app_run_floating_find(app_run *run, bool all_fixed, int64_t *n_parts,
                                  weft_error *error);
/** After app_run_release: the amounts of modes that weak terms hold. u is without them before, and the balanced b
 *  becomes the load again. (apps/common/held.c)
 *  options  of the solve */
weft_status app_run_hold(app_run *run, const weft_cg_options *options, weft_error *error);
/** Make the loads of --point-load, if there are any. */
weft_status app_run_point_loads_make(app_run *run, weft_error *error);
/** If there are dependent dofs, make `reduction`, and see that the operator stores a matrix. */
weft_status app_run_reduce(app_run *run, weft_error *error);
/** Whether --periodic is among the options. */
bool app_has_periodic(const app_run_options *options);
bool app_has_point_loads(const app_run_options *options);
/** Whether there are others than point loads, which take the place of u = 0 on the boundary. */
bool app_has_constraints(const app_run_options *options);
/** The system of the operator, b and u, in which values of Dirichlet conditions alone are given. */
weft_system app_run_system(const app_run *run);
/** Prepare the reduction of constraints, if there are any, and let u satisfy them. */
weft_status app_run_constrain(app_run *run, weft_error *error);
/** After a solve: u on the host, without free modes. */
weft_status app_run_release(app_run *run, weft_error *error);
void app_run_constraints_clear(app_run *run);
void app_run_print_constraints(const app_run *run);
/** Add "dependent_dofs" and "free_modes", if there are constraints. */
bool app_run_json_constraints(json_t *root, const app_run *run);
/** Compile the derived quantities of the options, if there are any. (apps/common/derived.c)
 *  problem  projection is that of the options
 *  Errors   those of weft_derive_make */
weft_status app_run_derive_make(app_run *run, const weft_derive_problem *problem,
                                weft_error *error);
/** Check the points and files of --line.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_IO */
weft_status app_run_lines_check(const app_run *run, weft_error *error);
/** Write the files of --line. (apps/common/lines.c) */
weft_status app_run_lines_write(const app_run *run, weft_error *error);
/** Write u and the derived fields to --output. (apps/common/result.c) */
weft_status app_run_result_write(const app_run *run, weft_error *error);
/** Print integrals, extrema and the balance to stdout. */
void app_run_print_derived(const app_run *run);
/** Add "derived" and the balance. */
bool app_run_json_derived(json_t *root, const app_run *run);
/** Record the time of planning and compiling, and log the peak memory next to its estimate. */
void app_run_finish(app_run *run);

/** Print the errors against --exact to stdout, if it was given. */
void app_run_print_errors(const app_run *run, const char *exact);
/** Print the preconditioner's line, and its levels if the output is verbose. */
void app_run_print_preconditioner(const app_run *run);
/** Add "preconditioner" and, besides Jacobi's, "preconditioner_report". */
bool app_run_json_preconditioner(json_t *root, const app_run *run);
/** Print the end of a report: probes, times, memory, and the output file if it was written. */
weft_status app_run_print_end(const app_run *run, bool is_solved, weft_error *error);
/** Print launches and memory of a run on the null device.
 *  up_to  the last step of the run
 *  more   how to see more */
void app_run_print_null(const app_run *run, const char *up_to, const char *more);
/** Write --json.
 *  root    taken over
 *  fine    false if making root ran out of memory
 *  Errors  WEFT_ERROR_MEMORY, WEFT_ERROR_IO */
weft_status app_run_write_json(const app_run *run, json_t *root, bool fine, weft_error *error);
