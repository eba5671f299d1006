/** The parts of a run that all apps which solve on a mesh share, in the order of the steps:
 *
 *      device -> mesh -> space -> conditions -> operator -> solution
 *
 *  Each app adds its own data. */
#pragma once

#include "apps/common/balance.h"
#include "apps/common/choose_device.h"
#include "fem/problem/problem.h"
#include "fusion/setup/setup.h"

typedef struct app_run {
    const app_run_options *options; /* borrowed, as is monitor */
    const weft_monitor *monitor;    /* of app_messages_make */
    weft_device *device;
    weft_library *library;
    weft_context context;
    app_work work;                      /* for the choice of the device */
    char device_name[48];               /* that a rank opens; "": that of the options */
    char device_reason[APP_REASON_MAX]; /* why it was chosen */
    bool host_preferred; /* the device was chosen here, for small work or a feature */
    bool is_null;        /* the device computes nothing */
    weft_mesh *mesh;
    app_mesh_made mesh_made;
    weft_data *data; /* of the mesh, for formulas by group */
    weft_problem *problem;
    bool takes_any_cells; /* meshes of intervals, quadrilaterals and hexahedra too */
    app_seconds seconds;

    /* linear and nonlinear systems */
    app_pieces pieces; /* conditions by component */
    app_probes points; /* of the probes */
    /* that of the integrator, for reports; NULL: as above */
    const weft_preconditioner *preconditioner_in_time;
    double l2_error, h1_error, energy; /* NaN unless requested */
    weft_probes *probe_places;         /* where the probes are */
    double *probes;                    /* [probes][n_values], NaN outside */
    weft_derive *derive;               /* NULL: no derived quantities */
    weft_problem_balance balance;      /* with --reactions */
    const char *balance_note;          /* printed behind it; NULL: nothing */
    char *statement; /* the problem in words (apps/common/statement.h); malloc'd; NULL: not yet */
} app_run;

void app_run_clear(app_run *run);

/** Make an empty problem, which app_run_open does where it is not there.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status app_run_start(app_run *run, weft_error *error);
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
/** Make the space, unless there is one, and its boundary conditions.
 *  Errors  WEFT_ERROR_USAGE: a probe with too many coordinates; those of app_pieces_make and
 *          weft_bc_make */
weft_status app_run_space_make(app_run *run, int components, weft_error *error);
/** Set which levels of the mesh are kept for an automatic choice of multigrid: those of --refine, and
 *  those of a built-in mesh if multigrid is predicted to be fastest.
 *  mesh  a copy of the options' */
weft_status app_run_choose_levels(const app_run *run, app_mesh_options *mesh, weft_error *error);
/** Set the errors from their squares; warns if they are not finite. */
void app_run_set_errors(app_run *run, double l2_squared, double h1_squared);
weft_status app_run_measure_probes(app_run *run, weft_error *error);
/** Report on stderr that a solve has not converged, with its residual and what to try. (apps/common/solution.c) */
void app_cg_complain(const char *program, const app_run *run);
/** Give the constraints and loads of the options to the problem, after the mesh. (apps/common/constraints.c)
 *  n_values  components of u
 *  Errors    WEFT_ERROR_USAGE: more or fewer values than components, or coordinates than dimensions */
weft_status app_run_constraints_declare(app_run *run, int n_values, weft_error *error);
/** Whether --periodic is among the options. */
bool app_has_periodic(const app_run_options *options);
/** Whether there are others than point loads, which take the place of u = 0 on the boundary. */
bool app_has_constraints(const app_run_options *options);
void app_run_print_constraints(const app_run *run);
/** Add "dependent_dofs" and "free_modes", if there are constraints. */
bool app_run_json_constraints(json_t *root, const app_run *run);
/** Compile the derived quantities of the options, if there are any. (apps/common/derived.c)
 *  settings  of weft_problem_derive; projection is that of the options
 *  Errors    those of weft_problem_derive */
weft_status app_run_derive_make(app_run *run, const weft_derive_problem *settings,
                                weft_error *error);
/** Check the points and files of --line.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_IO */
weft_status app_run_lines_check(const app_run *run, weft_error *error);
/** Write the files of --line. (apps/common/lines.c) */
weft_status app_run_lines_write(const app_run *run, weft_error *error);
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
