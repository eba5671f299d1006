/** The app advection_diffusion, in flow order:
 *
 *      options -> checks -> mesh -> nodes that are kept -> initial values -> coefficients (positive
 *      definite? CFL) -> stepper -> restart -> steps, with output, checkpoints and measures between
 *      -> report, JSON
 *
 *  It solves dT/dt + u.grad T = div(mu grad T) on a mesh of triangles or tetrahedra with continuous
 *  piecewise linear T, T = g on Dirichlet groups, mu dT/dn = 0 elsewhere on the boundary. */
#pragma once

#include "apps/common/run.h"

/* ---- options (apps/advection_diffusion/options.c, apps/advection_diffusion/texts.c) -------------------- */

typedef enum ad_reassemble {
    AD_REASSEMBLE_AUTO, /* in every step where a coefficient depends on t */
    AD_REASSEMBLE_ONCE,
    AD_REASSEMBLE_EVERY_STEP
} ad_reassemble;

/** The formulas of one option: "EXPR,EXPR" or "E11,E12;E21,E22". */
typedef struct ad_formulas {
    int n, n_rows;           /* 0: not given */
    weft_expression list[9]; /* texts malloc'd, origin the option's name; names NULL */
} ad_formulas;

typedef struct ad_options {
    app_run_options run;                                /* conditions are Dirichlet's alone */
    const char *initial, *exact, *checkpoint, *restart; /* borrowed from argv; NULL: none */
    ad_formulas velocity, diffusivity;
    double dt, theta;
    int steps, output_every, checkpoint_every; /* every 0: at the end */
    ad_reassemble reassemble;
    weft_splitting splitting;
    bool lumped, overwrite;
} ad_options;

/** Read the command line. --help, --usage and --version print and exit.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status ad_options_read(int argc, char **argv, ad_options *out, weft_error *error);
void ad_options_clear(ad_options *options);
/** Split at commas, and rows at semicolons, outside parentheses.
 *  Errors  WEFT_ERROR_USAGE: an empty part, more than fit, rows of different lengths */
weft_status ad_formulas_read(const char *option, const char *text, ad_formulas *out,
                             weft_error *error);
void ad_formulas_clear(ad_formulas *formulas);
/** Does a formula use t? */
bool ad_uses_time(const char *text);
/** Are all of them the number 0? */
bool ad_formulas_vanish(const ad_formulas *formulas);

/* ---- the run ---------------------------------------------------------------------------- */

/** What is known of T after some step. */
typedef struct ad_record {
    weft_step_state state;
    weft_field_measures measures;
    double *probes; /* [n_probes], NaN outside */
} ad_record;

/** Everything of one run, in the order in which it is made. Free with ad_clear. */
typedef struct ad_run {
    const ad_options *options; /* borrowed */
    app_run base;
    weft_dirichlet_nodes *dirichlet; /* [n_conditions], nodes ours */
    double *initial;          /* [n_nodes] */
    double *values;           /* [n_nodes] T as the host last saw it */
    int64_t *probe_cells;     /* [n_probes], -1: outside */
    double (*probe_weights)[4];

    double cfl, cfl_limit; /* NaN without advection */
    weft_advection_diffusion_problem problem;
    weft_advection_diffusion *stepper;
    weft_field_measure *measure;

    weft_series *series; /* the file of --output, open */

    weft_step_state state;
    int64_t first_step; /* of this process: 0, or that of the checkpoint */
    int64_t kept_step;  /* of the last checkpoint; first_step where there is none */
    int stopped;        /* the signal that asked to stop, or 0 */
    ad_record *records;
    int n_records, record_capacity;
} ad_run;

void ad_clear(ad_run *run);

/** Names and every formula of the user's, before an hour of meshing. (apps/advection_diffusion/check.c)
 *  Errors  WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE with a caret in the user's text; WEFT_ERROR_USAGE,
 *          WEFT_ERROR_IO: a file that cannot be written */
weft_status ad_check(ad_run *run, weft_error *error);
/** The space, the nodes of the conditions, probes. (apps/advection_diffusion/mesh.c)
 *  Errors  WEFT_ERROR_INPUT: no such group (lists those that exist), WEFT_ERROR_USAGE: formulas or
 *          probes for another dimension */
weft_status ad_dofs_make(ad_run *run, weft_error *error);
/** T at the time 0. (apps/advection_diffusion/data.c)  Errors  WEFT_ERROR_INPUT: not finite (place) */
weft_status ad_initial_make(ad_run *run, weft_error *error);
/** mu is positive definite, u and mu are finite; the CFL number, with a warning above the limit.
 *  (apps/advection_diffusion/coefficients.c)  Errors  WEFT_ERROR_INPUT (place, eigenvalues) */
weft_status ad_coefficients_check(ad_run *run, weft_error *error);
/** Choose the assembly; make stepper and measures. (apps/advection_diffusion/solve.c) */
weft_status ad_stepper_make(ad_run *run, weft_error *error);
/** All steps, with what is due between them. (apps/advection_diffusion/solve.c) */
weft_status ad_solve(ad_run *run, weft_error *error);
/** Go on from --restart. (apps/advection_diffusion/files.c)
 *  Errors  WEFT_ERROR_INPUT: no checkpoint, of another mesh, problem or version, damaged */
weft_status ad_restart(ad_run *run, weft_error *error);
/** The options of the series of --output as far as they are known before the mesh. */
weft_series_options ad_series_options(const ad_run *run);
/** Open the file of --output; add T, as run->values has it; write --checkpoint. */
weft_status ad_series_open(ad_run *run, weft_error *error);
weft_status ad_series_add(ad_run *run, weft_error *error);
weft_status ad_checkpoint_write(ad_run *run, weft_error *error);
/** A line of the records for T as it is now. (apps/advection_diffusion/measure.c) */
weft_status ad_record_add(ad_run *run, weft_error *error);
/** The report on stdout; JSON. (apps/advection_diffusion/report.c, apps/advection_diffusion/json.c) */
weft_status ad_report_print(const ad_run *run, weft_error *error);
weft_status ad_json_write(const ad_run *run, weft_error *error);
/** On the null device: the script of a step and its plan, on stdout. */
weft_status ad_plan_print(ad_run *run, weft_error *error);

/* ---- errors (apps/advection_diffusion/data.c) ---------------------------------------------------- */

/** Refuse an expression that is not finite at a point. */
weft_status ad_refuse_value(const char *origin, const char *text, const double *point,
                            int dimension, double t, weft_error *error);
