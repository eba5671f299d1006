/** The app advection_diffusion, in flow order:
 *
 *      options -> problem -> checks -> mesh -> coefficients (positive definite, CFL) -> stepper -> restart
 *              -> steps, with output, checkpoints and measurements -> report, JSON
 *
 *  It solves on a mesh of triangles or tetrahedra, with continuous piecewise linear T,
 *
 *      c (dT/dt + u.grad T) = div(mu grad T) + f
 *      T = g                       on Dirichlet groups
 *      mu dT/dn = g                on Neumann groups
 *      mu dT/dn + alpha T = g      on Robin groups
 *      mu dT/dn = 0                elsewhere on the boundary */
#pragma once

#include "apps/common/history.h"
#include "apps/common/in_time.h"
#include "apps/common/ranks.h"
#include "fem/problem/state.h"

/* ---- options (apps/advection_diffusion/options.c, apps/advection_diffusion/texts.c) ---------- */

/** The formulas of one option: "EXPR,EXPR" or "E11,E12;E21,E22". */
typedef struct ad_formulas {
    int n, n_rows;           /* 0: not given */
    weft_expression list[9]; /* texts malloc'd; origin: the option's name; names NULL */
} ad_formulas;

typedef struct ad_options {
    app_run_options run;
    app_time_options files;
    const char *exact;                 /* borrowed from argv; NULL: none */
    char *initial, *source, *capacity; /* malloc'd; source and capacity NULL: none, 1 */
    ad_formulas velocity, diffusivity;
    double dt, theta;
    int steps;
    weft_reassemble reassemble;
    int splitting, runge_kutta; /* rows of the tables of weft_time.h */
    bool lumped, default_initial;
} ad_options;

/** Read the command line. --help, --usage and --version print and exit.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status ad_options_read(int argc, char **argv, ad_options *out, weft_error *error);
void ad_options_clear(ad_options *options);
/** Split text at commas, and rows at semicolons, outside parentheses.
 *  out     caller's; ad_formulas_clear
 *  Errors  WEFT_ERROR_USAGE: an empty part, too many parts, rows of different lengths */
weft_status ad_formulas_read(const char *option, const char *text, ad_formulas *out,
                             weft_error *error);
void ad_formulas_clear(ad_formulas *formulas);
/** Is every formula the number 0? */
bool ad_formulas_vanish(const ad_formulas *formulas);

/* ---- the run ---------------------------------------------------------------------------- */

/** State and measurements of T after a step. */
typedef struct ad_record {
    weft_step_state state;
    weft_field_measures measures;
    double *probes; /* [n_probes], NaN outside */
} ad_record;

/** The part of the mesh that a rank steps on, while the first one measures and writes on the whole. */
typedef struct ad_part {
    weft_comm *comm; /* borrowed; NULL: there is one rank, and no part */
    weft_context context;
    weft_mesh *mesh;
    weft_data *data;
    weft_space *space;
    weft_memory *T; /* of the whole, on the first rank */
} ad_part;

/** Everything of one run, in the order in which it is made. Free with ad_clear. */
typedef struct ad_run ad_run;
struct ad_run {
    const ad_options *options; /* borrowed */
    app_run base;
    ad_part part;
    ad_run *first; /* of the rank that runs in the calling thread */
    int n_ranks;   /* 0: the mesh was not divided */
    const char *rank_kind;
    weft_rank_share *shares; /* [n_ranks]; NULL: equal ones */
    double *values;          /* [n_nodes] T as last copied to the host */
    int64_t *probe_cells;    /* [n_probes], -1: outside */
    double (*probe_weights)[4];

    weft_step_limits limits;
    weft_advection_diffusion_problem problem;
    weft_advection_diffusion *stepper;
    weft_field_measure *measure;

    weft_series *series; /* the file of --output, open */
    app_history history; /* --history */

    weft_step_state state;
    int64_t first_step; /* of this process: 0, or that of the checkpoint */
    int64_t kept_step;  /* of the last checkpoint; first_step if there is none */
    int stopped;        /* the signal that requested the stop, or 0 */
    ad_record *records;
    int n_records;
};

/** Does this rank measure, write and print? */
bool ad_is_first(const ad_run *run);
/** Take the part of the mesh, where there are ranks. (apps/advection_diffusion/ranks.c) */
weft_status ad_part_take(ad_run *run, weft_error *error);
void ad_part_clear(ad_run *run);
/** What the stepper computes with: the part, or the whole. */
weft_context *ad_context(ad_run *run);
const weft_mesh *ad_mesh(const ad_run *run);
/** T on the device, of the whole mesh. */
weft_memory *ad_field(const ad_run *run);
/** Take the present T to it and to run->values; all ranks call it. */
weft_status ad_pull(ad_run *run, weft_error *error);

void ad_clear(ad_run *run);

/** Check file names and compile every formula of the user, before a long run of the mesher.
 *  (apps/advection_diffusion/check.c)
 *  Errors  WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE with a caret in the user's text; WEFT_ERROR_USAGE,
 *          WEFT_ERROR_IO: a file that cannot be written */
weft_status ad_check(ad_run *run, weft_error *error);
/** Fill in the problem from the options, but for what the mesh gives. (apps/advection_diffusion/problem.c) */
void ad_problem_set(ad_run *run);
/** Make the space, the conditions and the probes. (apps/advection_diffusion/problem.c)
 *  Errors  WEFT_ERROR_INPUT: no such group (lists those that exist), WEFT_ERROR_USAGE: formulas or
 *          probes for another dimension */
weft_status ad_dofs_make(ad_run *run, weft_error *error);
/** State the problem: run->base.statement. (apps/advection_diffusion/report.c) */
weft_status ad_state(ad_run *run, weft_error *error);
/** Check the coefficients, and warn of steps that are too long. (apps/advection_diffusion/problem.c)
 *  Errors  those of weft_advection_diffusion_check */
weft_status ad_coefficients_check(ad_run *run, weft_error *error);
/** The work of the steps, for the choice of the device; not known for runs with checkpoints, whose device must not depend on
 *  the number of steps. (apps/advection_diffusion/problem.c) */
app_work ad_work(const ad_run *run);
/** Choose the assembly; make the stepper and the measurements.
 *  (apps/advection_diffusion/problem.c) */
weft_status ad_stepper_make(ad_run *run, weft_error *error);
/** Run all steps, with output, checkpoints and records when due.
 *  (apps/advection_diffusion/solve.c) */
weft_status ad_solve(ad_run *run, weft_error *error);
/** Resume from the checkpoint of --restart. (apps/advection_diffusion/files.c)
 *  Errors  WEFT_ERROR_INPUT: not a checkpoint, damaged, or of another mesh, problem or version */
weft_status ad_restart(ad_run *run, weft_error *error);
/** The options of the time series of --output that are known before the mesh. */
weft_series_options ad_series_options(const ad_run *run);
/** Open the file of --output, append T from run->values, and write --checkpoint.
 *  (apps/advection_diffusion/files.c) */
weft_status ad_series_open(ad_run *run, weft_error *error);
weft_status ad_series_add(ad_run *run, weft_error *error);
weft_status ad_checkpoint_write(ad_run *run, weft_error *error);
/** Compile --derive, --integral and --extrema, of T. (apps/advection_diffusion/history.c)
 *  Errors  those of weft_derive_make */
weft_status ad_derive_make(ad_run *run, weft_error *error);
/** Append a row to --history; the first call opens the file. After --restart rows up to the present
 *  time are kept. */
weft_status ad_history_add(ad_run *run, weft_error *error);
/** T at probe i, from run->values; NaN outside. */
double ad_probe_value(const ad_run *run, int i);
/** Append a record of the current T. (apps/advection_diffusion/measure.c) */
weft_status ad_record_add(ad_run *run, weft_error *error);
/** Print the report; write JSON.
 *  (apps/advection_diffusion/report.c, apps/advection_diffusion/json.c) */
weft_status ad_report_print(const ad_run *run, weft_error *error);
weft_status ad_json_write(const ad_run *run, weft_error *error);
/** On the null device, print the script of a step and its plan. */
weft_status ad_plan_print(ad_run *run, weft_error *error);
