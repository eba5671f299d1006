/** Weft fusion: measuring primitives on a device, and predicting from what was measured. Included
 *  by weft_fusion.h. The method is that of Filipovic et al. 2015, section 4.2: each primitive alone
 *  in a generated kernel, over ranges of what may stand round it. See docs/tuning.md. */
#ifndef WEFT_CALIBRATION_H
#define WEFT_CALIBRATION_H

#include "core/weft_tuning.h"
#include "fusion/cost/cost.h"
#include "fusion/weft_compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Routines without repetition. Their texts are in the arena. */
typedef struct weft_product_kernel_set {
    weft_arena *arena; /* borrowed */
    weft_cost_primitive *list;
    int n, capacity;
} weft_product_kernel_set;
/** Add one, copied, unless one of its name is there. Errors WEFT_ERROR_MEMORY */
weft_status weft_product_kernel_set_add(weft_product_kernel_set *set,
                                        const weft_cost_primitive *primitive, weft_error *error);
/** Add the loads, computes and stores of the library's functions (functions NULL: all, else those
 *  named), at up to two choices of sizes each, every variant; and gathers and accumulating stores
 *  of simplices.
 *  device  whose registers and shared memory are meant */
weft_status weft_product_kernel_set_library(weft_product_kernel_set *set,
                                            const weft_library *library, const weft_limits *limits,
                                            bool single, const char *const *functions,
                                            int n_functions, weft_error *error);

/** The points at which a primitive is measured, coarse ones first: all those of a level < k make a
 *  grid of their own. out[i].extra etc. Returns how many, at most `most`. */
typedef struct weft_calibration_point {
    weft_tuning_point at;
    int level; /* 0, 1, 2 */
} weft_calibration_point;
enum { WEFT_CALIBRATION_LEVELS = 3, WEFT_CALIBRATION_POINTS = 256 };
int weft_calibration_points(const weft_limits *limits, const weft_cost_primitive *primitive,
                            weft_calibration_point *out, int most);

typedef struct weft_calibration_options {
    double seconds; /* stop when they have passed; 0: 300 */
    bool again;     /* measure what is known again */
    const weft_monitor *monitor; /* told of the progress; NULL: the device's */
    /* what measures and what tells the time; NULL: the device and weft_clock. For tests. A measure
     * may answer WEFT_ERROR_UNSUPPORTED: the primitive cannot be measured. */
    weft_status (*measure)(void *user, const weft_cost_primitive *primitive,
                           const weft_tuning_point *at, double *seconds, weft_error *error);
    double (*clock)(void *user);
    void *user;
} weft_calibration_options;

typedef struct weft_calibration_result {
    int64_t n_points, n_known, n_measured, n_left; /* n_points = the sum of the others */
    int n_unsupported;                             /* primitives that cannot be measured */
    double seconds;
} weft_calibration_result;

/** Add the primitives of a script's kernels, as it is compiled for these limits. operators of
 *  options and all as for weft_compile. */
weft_status weft_product_kernel_set_script(weft_product_kernel_set *set,
                                           const weft_library *library, const weft_limits *limits,
                                           const weft_fragment *fragments, int n_fragments,
                                           const weft_compile_options *options, weft_error *error);

/** Measure a set of primitives on a device into the database, coarse points of all primitives
 *  before fine ones of any. What is known is left as it is; so who is stopped, at any time, goes on
 *  where he was. Progress goes to the device's monitor. Errors  WEFT_ERROR_UNSUPPORTED: null, where
 *  there is nothing to measure; those of device and database */
weft_status weft_calibrate(weft_device *device, const weft_library *library,
                           const weft_product_kernel_set *primitives, weft_tuning *tuning,
                           const weft_calibration_options *options, weft_calibration_result *out,
                           weft_error *error);

/* ---- the best covers, measured (fusion/tune/search.c) ------------------------------------------------------
 */

typedef struct weft_search_candidate {
    double predicted, measured; /* seconds of a run */
    const char *cover;          /* weft_compilation_cover */
    weft_kernel_prediction *parts;
    int n_parts;
    bool all_measured; /* every primitive of it was in the cost source */
} weft_search_candidate;

typedef struct weft_search_result {
    weft_search_candidate *candidates; /* in the order of their predictions; in the arena */
    int n, n_measured;         /* those that were looked at; the first of them that were run */
    int best;                  /* the fastest of those */
} weft_search_result;

typedef struct weft_search_options {
    int most;          /* covers */
    int spread;        /* besides, so many of the others among the best 300, at equal distances */
    bool all;          /* measure all of them, also those that cannot win any more */
    int64_t elements;  /* of an index set; 0: 10^6 */
    /* what measures, for tests; NULL: the device, on data of the search's own making */
    weft_status (*measure)(void *user, const weft_compilation *compilation, double *seconds,
                           weft_error *error);
    void *user;
} weft_search_options;

/** What is searched: as weft_compile takes it. Borrowed. */
typedef struct weft_search_script {
    const weft_library *library;
    const weft_fragment *fragments;
    int n_fragments;
    const weft_compile_options *options;
} weft_search_script;

/** Compile (several at once) and measure the best covers of a script, in the order of their
 *  predictions, until what is left cannot win: a cover whose prediction, were it as much too high
 * as the worst so far and a quarter more, is above the best time. Errors  WEFT_ERROR_UNSUPPORTED:
 * the script has loops or operators; those of compiling and running */
weft_status weft_search_covers(weft_device *device, const weft_search_script *script,
                               const weft_search_options *how, weft_arena *arena,
                               weft_search_result *out, weft_error *error);

/** Seconds of a launch of each kernel of a plan, [weft_compilation_kernels], over the elements
 * that it was made for, measured on the device. Errors  as weft_search_covers */
weft_status weft_search_kernels(weft_device *device, const weft_compilation *compilation,
                                double *seconds, weft_error *error);

/* ---- how good predictions are (fusion/tune/fit.c) ----------------------------------------------
 */

/** Seconds of a run by equation 3 and these terms. */
double weft_predict_kernels(const weft_kernel_prediction *parts, int n_parts, double elements,
                            const weft_cost_terms *terms);
/** Spearman's rank correlation, equal values sharing their mean rank; NAN where all of one are
 *  equal, or n < 2, or there is no memory. */
double weft_rank_correlation(const double *a, const double *b, int n);

typedef struct weft_search_case {
    weft_search_result result;
    int64_t elements;
} weft_search_case;

typedef struct weft_prediction_errors {
    double plain; /* mean of |predicted / measured - 1|, by equation 3 alone */
    double launch, overlap, barriers, latency_overlap, cache; /* with one term besides, at its
                                                                 best */
    double all;                                        /* with those that are used */
    weft_cost_terms terms;                             /* those */
} weft_prediction_errors;
/** Switch terms on where each lowers the error over all measured trials, beside the others, by half
 * a per cent at least. launch_seconds: measured; cache_bytes: of the device; 0: not to be tried. */
void weft_prediction_fit(const weft_search_case *cases, int n, double launch_seconds,
                         double cache_bytes, weft_prediction_errors *out);

#ifdef __cplusplus
}
#endif
#endif
