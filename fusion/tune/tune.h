/** Calibration and search: measuring cost primitives and whole covers on a device, and fitting the
 *  cost model to them. Included by weft_fusion.h.
 *  In:  primitives or a script, a device
 *  Out: times in the tuning database; measured covers; fitted terms
 *
 *  The method is that of Filipovic et al. 2015, section 4.2: each primitive is measured alone in a
 *  generated kernel, over a range of operating points. See docs/tuning.md. */
#ifndef WEFT_CALIBRATION_H
#define WEFT_CALIBRATION_H

#include "core/weft_tuning.h"
#include "fusion/cost/cost.h"
#include "fusion/weft_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A set of cost primitives with distinct names; all memory is in the arena. */
typedef struct weft_cost_primitive_set {
    weft_arena *arena; /* borrowed */
    weft_cost_primitive *list;
    int n;
} weft_cost_primitive_set;
/** Add a copy of a primitive unless the set has one of that name. Errors  WEFT_ERROR_MEMORY */
weft_status weft_cost_primitive_set_add(weft_cost_primitive_set *set,
                                        const weft_cost_primitive *primitive, weft_error *error);
/** Add the loads, computes and stores of the library's functions, every variant at up to two
 *  choices of sizes, and the indirect loads and accumulating stores of simplices.
 *  limits     of the device; GPUs also get the primitives in shared memory
 *  functions  [n_functions] names; NULL: all functions. The primitives of simplices are added only
 *             for NULL
 *  Errors     WEFT_ERROR_MEMORY */
weft_status weft_cost_primitive_set_library(weft_cost_primitive_set *set,
                                            const weft_library *library, const weft_limits *limits,
                                            bool single, const char *const *functions,
                                            int n_functions, weft_error *error);

/** A point at which a primitive is measured. For each k the points of levels 0 to k form a complete
 *  grid. */
typedef struct weft_calibration_point {
    weft_tuning_point at;
    int level; /* 0, 1, 2 */
} weft_calibration_point;
enum { WEFT_CALIBRATION_LEVELS = 3, WEFT_CALIBRATION_POINTS = 256 };
/** The points of a primitive, coarse levels first.
 *  out      caller's, [most]
 *  Returns  their number, at most `most` */
int weft_calibration_points(const weft_limits *limits, const weft_cost_primitive *primitive,
                            weft_calibration_point *out, int most);

typedef struct weft_calibration_options {
    size_t size;                 /* sizeof(weft_calibration_options) */
    double seconds;              /* time limit; 0: 300 */
    bool again;                  /* measure points again that are in the database */
    const weft_monitor *monitor; /* receives progress; NULL: the device's */
    /* For tests: replacements of the device and of weft_clock; NULL: those. `measure` may return
     * WEFT_ERROR_UNSUPPORTED: the primitive cannot be measured. */
    weft_status (*measure)(void *user, const weft_cost_primitive *primitive,
                           const weft_tuning_point *at, double *seconds, weft_error *error);
    double (*clock)(void *user);
    void *user;
} weft_calibration_options;
static inline weft_calibration_options weft_calibration_options_default(void) {
    weft_calibration_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

typedef struct weft_calibration_result {
    int64_t n_points, n_known, n_measured, n_left; /* n_points = the sum of the others */
    int n_unsupported;                             /* primitives that cannot be measured */
    double seconds;
} weft_calibration_result;

/** Add the primitives of a script's kernels.
 *  Parameters and errors as for weft_compile; options->costs is ignored */
weft_status weft_cost_primitive_set_script(weft_cost_primitive_set *set,
                                           const weft_library *library, const weft_limits *limits,
                                           const weft_fragment *fragments, int n_fragments,
                                           const weft_compile_options *options, weft_error *error);

/** Measure a set of primitives on a device into the database, coarse points of all primitives
 *  before fine ones of any. Existing entries are kept, so an interrupted calibration resumes where
 *  it stopped.
 *  Units   seconds per element
 *  Errors  WEFT_ERROR_UNSUPPORTED: the null device, where there is nothing to measure;
 *          those of device and database
 *  Source  Filipovic et al. 2015, section 4.2 */
weft_status weft_calibrate(weft_device *device, const weft_library *library,
                           const weft_cost_primitive_set *primitives, weft_tuning *tuning,
                           const weft_calibration_options *options, weft_calibration_result *out,
                           weft_error *error);

/* ---- measuring the best covers (fusion/tune/search.c) ---- */

/** A search with more scatter must not decide: another process used the machine. */
#define WEFT_SEARCH_SCATTER_MOST 0.1

typedef struct weft_search_candidate {
    double predicted, measured; /* seconds per run */
    const char *cover;          /* weft_compilation_cover */
    weft_kernel_prediction *parts;
    int n_parts;
    bool all_measured; /* the cost source knew all of its primitives */
} weft_search_candidate;

typedef struct weft_search_result {
    weft_search_candidate *candidates; /* [n] by prediction, best first; in the arena */
    int n, n_measured;                 /* covers compiled; the first n_measured of them were run */
    int best;                          /* index of the fastest measured one */
    double scatter; /* options.confirm: |last / least - 1| of the best's repeated measurements */
    weft_script_class script_class;
} weft_search_result;

typedef struct weft_search_options {
    size_t size; /* sizeof(weft_search_options) */
    int most;    /* maximum number of covers */
    int spread;  /* additional covers, evenly spaced among the rest of the best 300 */
    bool all;    /* measure all of them, including those that can no longer win */
    /* measure the best again until two times agree within WEFT_SEARCH_SCATTER_MOST, five times at most; sets result.scatter */
    bool confirm;
    int64_t elements; /* per index set; 0: 10^6 */
    /* Replacement of the measurement, such as one with the caller's own data; NULL: run on the
     * device with synthetic data. program: of the compilation; nothing is bound to it yet */
    weft_status (*measure)(void *user, const weft_compilation *compilation, weft_program *program,
                           double *seconds, weft_error *error);
    void *user;
} weft_search_options;
static inline weft_search_options weft_search_options_default(void) {
    weft_search_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

/** The script to search, as for weft_compile. Borrowed. */
typedef struct weft_search_script {
    const weft_library *library;
    const weft_fragment *fragments;
    int n_fragments;
    const weft_compile_options *options;
} weft_search_script;

/** Elements (2^k) for which a script moves four times the last-level cache. Errors: of compiling */
weft_status weft_search_elements(const weft_search_script *script, const weft_limits *limits,
                                 int64_t *out, weft_error *error);
/** Compile (several at once) and measure the best covers of a script, in order of prediction, until no remaining one can win:
 *      prediction / (1.25 * worst over-prediction so far) >= best measured time
 *  arena   owns the contents of *out
 *  Errors  WEFT_ERROR_UNSUPPORTED: the script has loops or operators; those of compiling and
 *          running */
weft_status weft_search_covers(weft_device *device, const weft_search_script *script,
                               const weft_search_options *how, weft_arena *arena,
                               weft_search_result *out, weft_error *error);

/** Measure each kernel of a plan on the device with synthetic data, at the number of elements that
 *  the plan was made for.
 *  seconds  caller's, [weft_compilation_kernels], per launch
 *  Errors   as weft_search_covers */
weft_status weft_search_kernels(weft_device *device, const weft_compilation *compilation,
                                double *seconds, weft_error *error);

/* ---- accuracy of predictions (fusion/tune/fit.c) ---- */

/** Predicted seconds of a run: equation 3 with these terms, summed over the kernels, and
 *  launches. */
double weft_predict_kernels(const weft_kernel_prediction *parts, int n_parts, double elements,
                            const weft_cost_terms *terms);
/** Spearman's rank correlation of a and b, [n]; ties share their mean rank. NAN if all values of a
 *  or b are equal, if n < 2, or if out of memory. */
double weft_rank_correlation(const double *a, const double *b, int n);

typedef struct weft_search_case {
    weft_search_result result;
    int64_t elements;
    int script; /* cases of one number are of one script, such as those of both precisions */
} weft_search_case;

/** Errors: mean of |predicted / measured - 1| over all covers that were run and whose primitives
 *  were all measured. */
typedef struct weft_prediction_errors {
    double plain;                                             /* equation 3 alone */
    double launch, overlap, barriers, latency_overlap, cache; /* with one fitted term */
    double all;                                               /* with the selected terms */
    weft_cost_terms terms;                                    /* the selected terms, fitted */
    /* with terms fitted to the scripts of even number for those of odd number, and the reverse; NAN:
       one of these parts has no such covers */
    double unseen;
} weft_prediction_errors;
/** Fit the terms of the cost model, and select those that each lower the error, given the others,
 *  by at least half a per cent. They are worth using only if unseen < plain.
 *  launch_seconds  measured; 0: do not try this term
 *  cache_bytes     of the device; 0: do not try this term */
void weft_prediction_fit(const weft_search_case *cases, int n, double launch_seconds,
                         double cache_bytes, weft_prediction_errors *out);

#ifdef __cplusplus
}
#endif
#endif
