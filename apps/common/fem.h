/** What apps that solve on a mesh share: the device, the memory estimate, scripts and checks of what
 *  the user has written; with the options and reports of apps/common. */
#pragma once

#include "apps/common/report.h"

/* ---- device (apps/common/device.c) ---------------------------------------------------------------- */

/** Open a device and the shipped functions, and fill the context of a run with them. Each is the
 * caller's, also on errors. */
weft_status app_device_open(const char *name, weft_plan_kind plan, const weft_monitor *monitor,
                            weft_device **device, weft_library **library, weft_context *context,
                            weft_error *error);

/* ---- assembly and memory (apps/common/memory_estimate.c)
 * -------------------------------------------------- */

/** What a run will hold on its device. */
typedef struct app_memory_estimate {
    bool plans_load; /* on a device that only records the right-hand side is made, too */
    weft_assembly_problem problem;
    int n_vectors;      /* over the dofs, solution and right-hand side among them */
    size_t input_bytes; /* of a script's inputs */
} app_memory_estimate;

/** The assembly that the options name, or the cheapest; logged with the figures. */
weft_status app_assembly_choose(weft_device *device, const app_run_options *options,
                                const weft_assembly_problem *problem, const weft_monitor *monitor,
                                weft_assembly *out, weft_error *error);
/** Say what a run will hold on the device, at most; refused where that cannot fit.
 *  Errors  WEFT_ERROR_MEMORY, with an assembly that needs less */
weft_status app_memory_estimate_check(weft_device *device, const app_memory_estimate *what,
                                      weft_assembly assembly, size_t *bytes, weft_error *error);
/** Log what was held at most beside what was estimated. */
void app_memory_estimate_compare(const weft_device *device, size_t estimated,
                                 const weft_monitor *monitor);

/* ---- scripts of the user's (apps/common/script.c) --------------------------------------------------- */

/** The text of a file, of a shipped script, or of stdin (-); a file wins over a shipped script of
 *  the same name. *text is malloc'd.  Errors  WEFT_ERROR_IO (lists what is shipped), _INPUT */
weft_status app_script_read(const char *name, char **text, weft_error *error);
/** Is there such a file or shipped script?  is_wanted: which shipped scripts are listed where not;
 *  NULL: all.  Errors  WEFT_ERROR_IO */
weft_status app_script_check(const char *name, bool (*is_wanted)(const char *text),
                             weft_error *error);

/* ---- checks (apps/common/check.c) ------------------------------------------------------------------ */

/** Compile formulas in x, y, z, and in t with_time, for nothing but their errors, so that a slip in
 * the last option is reported before an hour of meshing. expressions  names are set here Errors
 * WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE with a caret in the user's text */
weft_status app_expressions_check(const weft_library *library, const weft_limits *limits,
                                  bool with_time, weft_expression *expressions, int n,
                                  weft_error *error);
/** Are both names of one file? Not of "-", nor where one is NULL. */
bool app_is_same_file(const char *a, const char *b);
/** A result must not cost the user the geometry, mesh or script it came from, and its name ends in
 *  .vtkhdf. Any name may be NULL.
 *  Errors  WEFT_ERROR_USAGE */
weft_status app_outputs_check(const char *mesh, const char *output, const char *json,
                              weft_error *error);
