/** Reports of a run, on stdout and as JSON: solutions, plans, probes, times. The app_json_set
 *  functions return false if memory is out. */
#pragma once

#include "apps/common/run_options.h"

/* ---- solutions (apps/common/solution.c) ------------------------------------------------------ */

/** Print the line about the solution to stdout, and the reason for a method other than CG. */
void app_cg_print(weft_method method, const char *reason, const weft_cg_result *cg);
/** Should --output be written? Warns if not, and if it will not hold a converged solution. */
bool app_output_wanted(const app_run_options *options, bool converged, const weft_monitor *monitor);
/** Add iterations, outcome and residuals; null unless solved. */
bool app_json_set_solution(json_t *root, const weft_cg_result *cg, bool solved);

/* ---- reports (apps/common/report.c) ---------------------------------------------------------- */

typedef struct app_seconds {
    double mesh, order, plan, compile, assembly, solve, output; /* mesh includes order */
    double precondition; /* set-up of a preconditioner, besides Jacobi's, which `solve` excludes */
    double start;        /* until the mesh is made or read: the device, a script */
    double
        measure; /* integrals, errors, derived quantities; of stationary runs also checks of the solution */
    double checkpoint; /* of time-dependent runs */
    /* parts of `solve` in time-dependent runs: in products, and in assembling operators again; NaN: not known */
    double products, reassembly;
    double started; /* weft_clock at the start; 0: unknown */
} app_seconds;

void app_seconds_print(const app_seconds *seconds);
/** Print the residuals of about twenty iterations, including the last. */
void app_history_print(const weft_cg_result *cg);
/** Print the residuals of a few iterations on one line. */
void app_history_line_print(const weft_cg_result *cg);
/** The value, but NaN without its (meaningless) sign. */
double app_strip_nan_sign(double value);
/** Print "HEAD  1, 2, 3", without an end of the line. */
void app_values_print(const char *head, const double *values, int n);
/** Flush stdout and check that everything was written.
 *  Errors  WEFT_ERROR_IO */
weft_status app_stdout_check(weft_error *error);
/** Print the lines about device and plan to stdout.
 *  device_reason  why the device was chosen by the program; NULL: it was not
 *  more           text after the assembly */
void app_plan_print(const weft_context *context, const char *device_reason, weft_assembly assembly,
                    const char *more);
/** Print one line "name(X,Y) = ..." per probe to stdout.
 *  values  [n_probes][components]; NaN outside */
void app_probes_print(const app_probes *probes, const char *name, const double *values,
                      int components);
bool app_json_set_mesh(json_t *root, const weft_mesh *mesh);
bool app_json_set_plan(json_t *root, const weft_context *context, const char *device_reason,
                       weft_assembly assembly);
/** A number for one component, else a list; NULL if memory is out. */
json_t *app_json_values(const double *values, int components);
/** values  [n_probes][components]; NULL: null for each probe */
bool app_json_set_probes(json_t *root, const app_probes *probes, const double *values,
                         int components);
bool app_json_set_history(json_t *root, const weft_cg_result *cg);
/** Add peak memory and times; "total" is from the start until now, and the others but "order" are its parts.
 *  in_time  a time-dependent run, with times of checkpoints */
bool app_json_set_costs(json_t *root, const weft_device *device, const app_seconds *seconds,
                        bool in_time);
