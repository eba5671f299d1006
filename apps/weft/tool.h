/** The command-line tool weft: one source file per subcommand. */
#pragma once

#include "apps/weft/options.h"
#include "forms/weft_ufl.h"
#include "fusion/cost/measured.h"
#include "fusion/tune/tuned.h"

/** A subcommand.
 *  argv    argv[0] is "weft NAME"
 *  code    the exit code, 0 before
 *  Errors  any; main prints them */
typedef weft_status weft_command(int argc, char **argv, const weft_monitor *monitor, int *code,
                                 weft_error *error);
weft_command weft_tool_fuse, weft_tool_explain, weft_tool_plan, weft_tool_library, weft_tool_new,
    weft_tool_test, weft_tool_compare, weft_tool_cache, weft_tool_calibrate, weft_tool_tuning,
    weft_tool_devices, weft_tool_ufl, weft_tool_gemm, weft_tool_run, weft_tool_tune_parameters;

/** weft calibrate --validate: parse the validation scripts to find their errors; then, per device,
 *  compare their predicted and measured times. (apps/weft/check.c) */
weft_status weft_tool_check_read(const weft_tool_options *options, weft_error *error);
weft_status weft_tool_check(const weft_tool_options *options, const weft_library *library,
                            weft_device *device, weft_tuning *tuning, weft_error *error);
/** weft calibrate --plot: write data files and gnuplot scripts for each script in a file of
 *  --validate --json to the directory --out, which is created, and run gnuplot if it is installed.
 *  (apps/weft/draw.c)
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_INPUT, WEFT_ERROR_IO, WEFT_ERROR_MEMORY; nothing is written
 *          if the input file is invalid
 *  Source  Fousek et al. 2011, figures 4 and 5 */
weft_status weft_tool_draw(const weft_tool_options *options, const weft_monitor *monitor,
                           weft_error *error);
/** Add the cost primitives of the validation scripts to a set. */
weft_status weft_tool_check_product_kernels(const weft_library *library, const weft_limits *limits,
                                            bool single, weft_cost_primitive_set *set,
                                            weft_error *error);

/** Several scripts, compiled as one. */
typedef struct weft_tool_scripts {
    weft_fragment fragments[9];
    char *texts[9];     /* of the fragments, malloc'd */
    weft_ufl *forms[9]; /* the form files that texts were made from, or NULL */
    int n;
} weft_tool_scripts;
/** Read scripts. If none of them returns anything (as in shipped building blocks), an additional
 *  fragment returns the values that no statement uses. (apps/weft/scripts.c)
 *  names    files, form files, shipped scripts, or "-" for stdin
 *  options  of form files; NULL: the default ones
 *  out      caller's; weft_tool_scripts_clear
 *  Errors  WEFT_ERROR_IO (lists the shipped scripts), WEFT_ERROR_INPUT, WEFT_ERROR_MEMORY, and
 *  those
 *          of the parser */
weft_status weft_tool_scripts_read(const char *const *names, int n, const weft_ufl_options *options,
                                   weft_tool_scripts *out, weft_error *error);
void weft_tool_scripts_clear(weft_tool_scripts *scripts);
/** Add the functions of form files to the library of a compilation, which the scripts must outlive. */
weft_status weft_tool_scripts_add(const weft_tool_scripts *scripts, weft_library *library,
                                  weft_error *error);

/** Make the library of the shipped functions and those of --kernels. */
weft_status weft_tool_library_make(const weft_tool_options *options, weft_library **out,
                                   weft_error *error);
/** Refuse a word; the error suggests the nearest of n names and lists all.
 *  what    for the message: "subcommand"
 *  Errors  WEFT_ERROR_USAGE */
weft_status weft_tool_refuse(const char *what, const char *word, const char *const *names, size_t n,
                             weft_error *error);

/** Data from the tuning database (apps/weft/tune.c). Start from {0}. */
typedef struct weft_tool_tuned {
    weft_tuning *tuning;
    weft_measured_costs *costs;
    weft_cost_source source;
    weft_tuned *parameters;
    weft_arena *arena;
    char identity[33], script[33];
} weft_tool_tuned;
/** Set the options' costs if the device was calibrated, and their cover if one is stored for the
 *  script.
 *  tuned   must outlive the compilation; weft_tool_tune_clear
 *  most    above 0: first measure that many covers, print the results to stderr, store the fastest
 *  Errors  WEFT_ERROR_UNSUPPORTED: most > 0, and the device is null or the script has loops or
 *          operators */
weft_status weft_tool_tune(weft_tool_tuned *tuned, weft_device *device, const weft_library *library,
                           const weft_tool_scripts *scripts, weft_compile_options *options,
                           int most, weft_error *error);
/** Log (level info) which data of the tuning database were used. */
void weft_tool_tune_log(const weft_tool_tuned *tuned, const weft_compile_options *options,
                        const weft_compilation *compilation, const weft_monitor *monitor);
/** Append whether times are measured or analytic. */
void weft_tool_tune_explain(const weft_compile_options *options,
                            const weft_compilation *compilation, weft_text *out);
void weft_tool_tune_clear(weft_tool_tuned *tuned);
/** The number of elements that a plan is made and measured for. */
int64_t weft_tool_elements(const weft_compile_options *options);

/** A user's function that is compared with its reference. */
typedef struct weft_tool_cross_check {
    const weft_library *library;
    weft_function_info info;
    weft_test_cases test_cases;
    weft_device *host; /* runs the references */
    weft_module *references;
    uint32_t seed;
    weft_device *emulated; /* the one of weft_tool_emulated_open; may be NULL */
} weft_tool_cross_check;
/** Result of one variant in one precision on one device. */
typedef struct weft_tool_outcome {
    double worst, tolerance; /* errors relative to the largest component of a result, or to 0.1 */
    weft_text failure;       /* the first failure; empty if there is none. Freed by the caller */
} weft_tool_outcome;
/** Open a device that has an H200's limits and runs GPU code on the host, thread by thread.
 *  (apps/weft/emulated.c)
 *  Errors  those of opening a host device; modules need g++ (WEFT_ERROR_COMPILER) */
weft_status weft_tool_emulated_open(const weft_device_options *options, weft_device **out,
                                    weft_error *error);
/** order  in which launches run the threads between barriers: 0 by number, 1 in reverse, 2 from both
 *         ends alternately */
void weft_tool_emulated_order(weft_device *device, int order);
/** Run every test case at 1, lanes - 1, lanes, lanes + 1 and 1003 elements; on the emulated device in
 *  each order of threads.
 *  (apps/weft/cross_check.c)
 *  Errors  those of compiling and of the devices. A difference is not an error: see out->failure */
weft_status weft_tool_try(const weft_tool_cross_check *test_case, weft_device *device, int variant,
                          bool single, weft_tool_outcome *out, weft_error *error);
/** Test the laws of a reduction's operator on random values; `out` gets a counterexample, or nothing.
 *  (apps/weft/laws.c)
 *  Errors  those of the host's device */
weft_status weft_tool_laws(const weft_tool_cross_check *check, weft_text *out, weft_error *error);

/** Append the resource usage of the plan's kernels on a GPU or null:h200, or the reason why it is
 *  unknown; for the host append nothing. (apps/weft/resources.c) */
weft_status weft_tool_resources(weft_device *device, const weft_compilation *compilation,
                                weft_text *out, weft_error *error);

/** Measure each kernel of a plan alone and store its time in the tuning database.
 *  (apps/weft/html.c)
 *  Errors  those of weft_search_kernels and of the database */
weft_status weft_tool_kernels_keep(weft_tool_tuned *tuned, weft_device *device,
                                   const weft_compilation *compilation,
                                   const weft_compile_options *options, weft_error *error);
/** Write the HTML report with the times stored by weft_tool_kernels_keep. Graphviz (dot) lays the
 *  graph out if it is installed.
 *  path    a file, or "-" for stdout
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_tool_html(const char *path, const weft_tool_tuned *tuned,
                           const weft_compilation *compilation, const weft_compile_options *options,
                           const weft_monitor *monitor, weft_error *error);
