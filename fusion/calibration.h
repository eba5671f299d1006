/** Weft fusion: measuring routines on a device, and predicting from what was measured. Included by
 *  weft_fusion.h. The method is that of Filipovic et al. 2015, section 4.2: each routine alone in a
 *  generated kernel, over ranges of what may stand round it. See docs/tuning.md. */
#ifndef WEFT_CALIBRATION_H
#define WEFT_CALIBRATION_H

#include "prediction.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_library weft_library;

/** Routines without repetition. Their texts are in the arena. */
typedef struct weft_routine_set {
    weft_arena *arena; /* borrowed */
    weft_cost_routine *list;
    int n, capacity;
} weft_routine_set;
/** Add one, copied, unless one of its name is there. Errors WEFT_ERROR_MEMORY */
weft_status weft_routine_set_add(weft_routine_set *set, const weft_cost_routine *routine,
                                 weft_error *error);
/** Add the loads, computes and stores of the library's functions (functions NULL: all, else those
 *  named), at up to two choices of sizes each, every variant; and gathers and accumulating stores
 *  of simplices.
 *  device  whose registers and shared memory are meant */
weft_status weft_routine_set_library(weft_routine_set *set, const weft_library *library,
                                     const weft_limits *limits, bool single,
                                     const char *const *functions, int n_functions,
                                     weft_error *error);

/** The points at which a routine is measured, coarse ones first: all those of a level < k make a
 *  grid of their own. out[i].extra etc. Returns how many, at most `most`. */
typedef struct weft_calibration_point {
    weft_tuning_point at;
    int level; /* 0, 1, 2 */
} weft_calibration_point;
enum { WEFT_CALIBRATION_LEVELS = 3, WEFT_CALIBRATION_POINTS = 256 };
int weft_calibration_points(const weft_limits *limits, const weft_cost_routine *routine,
                            weft_calibration_point *out, int most);

typedef struct weft_calibration_options {
    double seconds; /* stop when they have passed; 0: 300 */
    bool again;     /* measure what is known anew */
    /* what measures and what tells the time; NULL: the device and weft_clock. For tests. A measure
     * may answer WEFT_ERROR_UNSUPPORTED: the routine cannot be measured. */
    weft_status (*measure)(void *user, const weft_cost_routine *routine,
                           const weft_tuning_point *at, double *seconds, weft_error *error);
    double (*clock)(void *user);
    void *user;
} weft_calibration_options;

typedef struct weft_calibration_result {
    int64_t n_points, n_known, n_measured, n_left; /* n_points = the sum of the others */
    int n_unsupported;                             /* routines that cannot be measured */
    double seconds;
} weft_calibration_result;

/** Measure a set of routines on a device into the database, coarse points of all routines before
 *  fine ones of any. What is known is left as it is; so who is stopped, at any time, goes on where
 * he was. Progress goes to the device's monitor. Errors  WEFT_ERROR_UNSUPPORTED: null, where there
 * is nothing to measure; those of device and database */
weft_status weft_calibrate(weft_device *device, const weft_library *library,
                           const weft_routine_set *routines, weft_tuning *tuning,
                           const weft_calibration_options *options, weft_calibration_result *out,
                           weft_error *error);

/** The source of costs that has measured: psi by interpolation between measured points (linear in
 *  the logarithms), inside of their range alone. Where a point or a routine is outside it knows
 *  nothing, and the analytic source is asked. */
typedef struct weft_measured_costs weft_measured_costs;
/** All that the database has of a device. tuning and limits are borrowed for the call. */
weft_status weft_measured_costs_make(weft_tuning *tuning, const char *device,
                                     const weft_limits *limits, weft_measured_costs **out,
                                     weft_error *error);
void weft_measured_costs_free(weft_measured_costs **costs);
/** How many routines it knows. */
int weft_measured_costs_size(const weft_measured_costs *costs);
/** It must outlive the source's uses. */
weft_cost_source weft_measured_costs_source(weft_measured_costs *costs);

#ifdef __cplusplus
}
#endif
#endif
