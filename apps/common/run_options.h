/** The options shared by apps that solve on a mesh: values and tables. */
#pragma once

#include "apps/common/conditions.h"
#include "apps/common/constraints.h"
#include "apps/common/derived.h"
#include "apps/common/lines.h"
#include "apps/common/mesh.h"
#include "apps/common/option_table.h"
#include "fem/weft_problem.h"

/** Values of the options. Texts are borrowed from argv. */
typedef struct app_run_options {
    app_mesh_options mesh;
    const char *device, *output, *json; /* output and json may be NULL */
    weft_problem_options solver;
    bool keep_unconverged; /* write the output even without convergence */
    weft_plan_kind plan;
    int exchange;       /* of GPUs of ranks: 1: by the host */
    const char *shares; /* of ranks; NULL: equal ones, or as predicted */
    int ranks;          /* that solve together, of solve and poisson; 0: one, on the whole mesh */
    app_verbosity verbosity;
    app_conditions conditions;
    app_probes probes;
    const char *problem_file; /* NULL: none */
    weft_arena *texts;        /* of it */
    app_derived_options derived;
    app_constraints constraints;
    app_lines lines;
} app_run_options;

/** Tables of these options; the conditions' are the app's own. app_reading_options is of
 *  weft_mesh_options, the others of app_run_options. All programs that solve take app_program_options. */
extern const app_option app_program_options[], app_mesh_options_table[], app_reading_options[],
    app_solver_options[], app_ranks_options[], app_derivation_options[], app_derive_options[],
    app_constraint_options[], app_result_options[];
/** What reads --assembly and --preconditioner (into app_run_options), --dirichlet, --neumann and --robin (into
 *  app_conditions) and --probe (into app_probes). */
app_option_read app_read_assembly, app_read_preconditioner, app_read_condition, app_read_probe;
#define APP_CONDITION(type, kind) APP_BY(app_read_condition, type, run.conditions), .low = (kind)
/** Help that the apps share. */
#define APP_DEVICE_NAMES                                                                           \
    "host, host:THREADS, host:THREADS:SET (sse2, avx2, avx512 or neon), cuda, or null (plans, "    \
    "but computes nothing)"
#define APP_ENVIRONMENT_HELP                                                                       \
    "Environment: WEFT_LOG=error|warning|info|debug, WEFT_DEVICE, WEFT_CACHE=on|read|off, "        \
    "WEFT_KEEP=FOLDER, WEFT_INSTRUCTIONS=SET, CC."

app_run_options app_run_options_default(void);
/** Parse --assembly: a name or alias of an assembly, or the word `other`.
 *  other, is_other  may be NULL; *is_other is set to whether the text is `other`, and *out is unchanged then
 *  Errors           WEFT_ERROR_USAGE, which lists the names */
weft_status app_parse_assembly(const char *text, const char *other, bool *is_other,
                               weft_assembly *out, weft_error *error);
/** Parse --preconditioner: 0 none, 1 jacobi, 2 auto, then the kinds of weft_preconditioner.
 *  Errors  WEFT_ERROR_USAGE, which lists the names */
weft_status app_parse_preconditioner(const char *option, const char *text, int *out,
                                     weft_error *error);
void app_run_options_clear(app_run_options *options);
/** Print nothing but errors, or nothing but JSON? */
bool app_is_silent(const app_run_options *options);
