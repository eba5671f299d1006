/** Newton's method: options of a solve of r(u) = 0, and its report. */
#ifndef WEFT_NEWTON_H
#define WEFT_NEWTON_H

#include "fem/weft_solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How Newton's method ended. */
typedef enum weft_newton_outcome {
    WEFT_NEWTON_CONVERGED,
    WEFT_NEWTON_MAX_ITERATIONS,
    WEFT_NEWTON_NO_DESCENT, /* no step along du is better, and R is not as small as rounding */
    WEFT_NEWTON_NOT_SOLVED, /* a linear system */
    WEFT_NEWTON_NAN         /* R is not a number, at the start or after a whole step */
} weft_newton_outcome;
const char *weft_newton_outcome_name(weft_newton_outcome outcome);

typedef struct weft_newton_options {
    size_t size; /* sizeof(weft_newton_options) */
    /* > 0: for |r| over free dofs, relative to |r| with the reactions, or to the lesser of |r| at the
     * start and |diag K| |u| where that is greater */
    double tolerance;
    int iterations; /* at most, in each load step; >= 0 */
    int load_steps; /* >= 1: the loads and prescribed values of step i are i/load_steps of all */
} weft_newton_options;
/** 1e-10, 50 iterations, one load step. */
static inline weft_newton_options weft_newton_options_default(void) {
    weft_newton_options options;
    weft_options_clear(&options, sizeof options);
    options.tolerance = 1e-10;
    options.iterations = 50;
    options.load_steps = 1;
    return options;
}

/** One iteration: the norm of the residual at free dofs, the method and its iterations for the following step. */
typedef struct weft_problem_iteration {
    int step, iteration, linear_iterations;
    weft_method method;
    double residual; /* relative to scale */
    /* of the load step at its end: reactions, and the lesser of loads and |diag K| |u| */
    double scale;
    double damping; /* of the previous step; 1: undamped */
} weft_problem_iteration;

typedef struct weft_problem_newton_report {
    weft_problem_iteration *iterations; /* [n], malloc'd */
    int n;
    bool converged, to_rounding;
    weft_newton_outcome outcome; /* of the last load step */
} weft_problem_newton_report;

#ifdef __cplusplus
}
#endif
#endif
