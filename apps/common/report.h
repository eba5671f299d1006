/** What a run has come to, on stdout and as JSON: solutions, plans, probes, seconds. */
#pragma once

#include "apps/common/run_options.h"

/* ---- solutions (apps/common/solution.c) ------------------------------------------------------------ */

/** What to look at where the matrix is not positive definite, where r.z vanishes, and where a value
 *  is no number. */
typedef struct app_cg_advice {
    const char *indefinite, *breakdown, *nan;
} app_cg_advice;

/** The line about conjugate gradients, on stdout. */
void app_cg_print(const weft_cg_result *cg);
/** That a solve has not converged, the residual reached and what to try, on stderr. */
void app_cg_complain(const char *program, const app_run_options *options, const weft_cg_result *cg,
                     const app_cg_advice *advice);
/** Is --output to be written? Warns where it is not, and where it holds no solution. */
bool app_output_wanted(const app_run_options *options, bool converged, const weft_monitor *monitor);
/** Iterations, outcome and residuals; null where nothing was solved. */
bool app_json_set_solution(json_t *root, const weft_cg_result *cg, bool solved);

/* ---- reports (apps/common/report.c) ---------------------------------------------------------------- */

typedef struct app_seconds {
    double mesh, order, plan, compile, assembly, solve, output; /* order is in mesh too */
    double measure, checkpoint;                                 /* of a run in time */
    double started; /* weft_clock() then; 0: not known */
} app_seconds;

void app_seconds_print(const app_seconds *seconds);
/** weft_clock less what the context has spent on planning and compiling, which count alone. */
double app_clock(const weft_context *context);
/** Some twenty of the iterations, the last among them: a page, however many there were. */
void app_history_print(const weft_cg_result *cg);
/** The same on one line, with some of the iterations. */
void app_history_line_print(const weft_cg_result *cg);
/** NaN without its sign, which says nothing. */
double app_strip_nan_sign(double value);
/** Was everything that stands on stdout written?  Errors  WEFT_ERROR_IO */
weft_status app_stdout_check(weft_error *error);
/** The lines about device and plan, on stdout; assembly and what follows it. */
void app_plan_print(const weft_context *context, weft_assembly assembly, const char *more);
/** name(X,Y) with its values [probes][components], NaN outside, a line each, on stdout. */
void app_probes_print(const app_probes *probes, const char *name, const double *values,
                      int components);
bool app_json_set_mesh(json_t *root, const weft_mesh *mesh);
bool app_json_set_plan(json_t *root, const weft_context *context, weft_assembly assembly);
/** A number for one component, else a list; NULL when memory is out. */
json_t *app_json_values(const double *values, int components);
/** values  as above; NULL: null for each */
bool app_json_set_probes(json_t *root, const app_probes *probes, const double *values,
                         int components);
bool app_json_set_history(json_t *root, const weft_cg_result *cg);
/** Peak of memory, and seconds; "total" is from the start until now. */
bool app_json_set_costs(json_t *root, const app_seconds *seconds);
