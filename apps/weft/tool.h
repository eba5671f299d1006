/** The tool weft: one file a subcommand. */
#pragma once

#include "apps/weft/options.h"
#include "fusion/cost/measured.h"
#include "fusion/tune/tune.h"

/** A subcommand. argv[0] is "weft NAME"; the exit code goes to *code, which is 0 before.
 *  Errors  any; main prints them */
typedef weft_status weft_command(int argc, char **argv, app_messages *messages, int *code,
                                 weft_error *error);
weft_command weft_tool_fuse, weft_tool_explain, weft_tool_plan, weft_tool_library, weft_tool_new,
    weft_tool_test, weft_tool_compare, weft_tool_cache, weft_tool_calibrate, weft_tool_tuning,
    weft_tool_devices;

/** weft calibrate --validate: read the scripts for the errors of their text; then, on one device, run
 *  them. (apps/weft/check.c) */
weft_status weft_tool_check_read(const weft_tool_options *options, weft_error *error);
weft_status weft_tool_check(const weft_tool_options *options, const weft_library *library,
                            weft_device *device, weft_tuning *tuning, weft_error *error);
/** weft calibrate --plot: for each script of what --validate has written, a data file and scripts for
 *  gnuplot of figures 4 and 5 of Fousek et al. 2011, into the folder --out, which is made; drawn
 *  where gnuplot is installed. Nothing is written where the file is refused. (apps/weft/draw.c)
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_INPUT, WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_tool_draw(const weft_tool_options *options, const weft_monitor *monitor,
                           weft_error *error);
/** Add the primitives of the scripts that are kept for it. */
weft_status weft_tool_check_product_kernels(const weft_library *library, const weft_limits *limits,
                                            bool single, weft_product_kernel_set *set,
                                            weft_error *error);

/** Several scripts, read one after the other as one. */
typedef struct weft_tool_scripts {
    weft_fragment fragments[9];
    char *texts[9]; /* theirs, malloc'd */
    int n;
} weft_tool_scripts;
/** Read files, shipped scripts, or "-" for stdin. Where nothing is returned, which is so of shipped
 * pieces, what no statement uses is returned, by a fragment of its own. (apps/weft/scripts.c) Errors
 * WEFT_ERROR_IO (lists the shipped scripts), WEFT_ERROR_INPUT, WEFT_ERROR_MEMORY; what the parser
 * says of them */
weft_status weft_tool_scripts_read(const char *const *names, int n, weft_tool_scripts *out,
                                   weft_error *error);
void weft_tool_scripts_clear(weft_tool_scripts *scripts);

/** The shipped functions, and those of --kernels. */
weft_status weft_tool_library_make(const weft_tool_options *options, weft_library **out,
                                   weft_error *error);
/** Refuse a word with the nearest of n names and the whole list. what: "subcommand". */
weft_status weft_tool_refuse(const char *what, const char *word, const char *const *names, size_t n,
                             weft_error *error);

/** What the tuning database says (apps/weft/tune.c). Start from {0}. */
typedef struct weft_tool_tuned {
    weft_tuning *tuning;
    weft_measured_costs *costs;
    weft_cost_source source;
    weft_arena *arena;
    char identity[33], script[33];
} weft_tool_tuned;
/** Set the options' costs, where the device was calibrated, and cover, where one is remembered for
 *  the script. most > 0: measure that many covers first, print what came of it to stderr, and
 * remember the best. tuned must outlive the compilation. Errors  WEFT_ERROR_UNSUPPORTED: most > 0,
 * and the device is null, or the script has loops or operators */
weft_status weft_tool_tune(weft_tool_tuned *tuned, weft_device *device, const weft_library *library,
                           const weft_tool_scripts *scripts, weft_compile_options *options,
                           int most, weft_error *error);
/** Log (level info) what of it was used. */
void weft_tool_tune_log(const weft_tool_tuned *tuned, const weft_compile_options *options,
                        const weft_compilation *compilation, const app_messages *messages);
/** Say whether times are measured or analytic. */
void weft_tool_tune_explain(const weft_compile_options *options,
                            const weft_compilation *compilation, weft_text *out);
void weft_tool_tune_clear(weft_tool_tuned *tuned);
/** The elements that a plan is made and measured for. */
int64_t weft_tool_elements(const weft_compile_options *options);

/** A function of the user's that is run against its reference. */
typedef struct weft_tool_cross_check {
    const weft_library *library;
    weft_function_info info;
    weft_test_cases test_cases;
    weft_device *host; /* runs the references */
    weft_module *references;
    uint32_t seed;
} weft_tool_cross_check;
/** What came of one variant in one precision on one device. */
typedef struct weft_tool_outcome {
    double worst, tolerance; /* errors relative to the largest component of a result, or to 0.1 */
    weft_text failure;       /* the first one; empty where all agree. The caller's to free */
} weft_tool_outcome;
/** Run every trial at 1, lanes - 1, lanes, lanes + 1 and 1003 elements. (apps/weft/cross_check.c)
 *  Errors  those of compiling and of the devices; a difference is none: see out->failure */
weft_status weft_tool_try(const weft_tool_cross_check *test_case, weft_device *device, int variant,
                          bool single, weft_tool_outcome *out, weft_error *error);

/** For a GPU or null:h200: add what the compiled plan's kernels take of it, or why that is not
 * known; for the host nothing. (apps/weft/resources.c) */
weft_status weft_tool_resources(weft_device *device, const weft_compilation *compilation,
                                weft_text *out, weft_error *error);

/** Measure each kernel of a plan alone and keep that in the tuning database. (apps/weft/html.c)
 *  Errors  those of weft_search_kernels and of the database */
weft_status weft_tool_kernels_keep(weft_tool_tuned *tuned, weft_device *device,
                                   const weft_compilation *compilation,
                                   const weft_compile_options *options, weft_error *error);
/** weft_compilation_html, with what weft_tool_kernels_keep has kept, into a file; - is stdout. dot of
 *  Graphviz lays the graph out where it is installed.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_tool_html(const char *path, const weft_tool_tuned *tuned,
                           const weft_compilation *compilation, const weft_compile_options *options,
                           app_messages *messages, weft_error *error);
