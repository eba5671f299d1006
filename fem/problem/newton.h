/** Newton's method for the residual of a problem, in load steps.
 *
 *      In: options; the vectors of the parts, which make r(u). Out: u, and how each iteration went. */
#pragma once

#include "fem/solve/newton.h"

typedef struct weft_newton_options {
    double tolerance; /* of fem/solve/newton.h */
    int iterations;   /* at most, in each load step */
    int load_steps;   /* the loads and prescribed values of step i are i/load_steps of all */
} weft_newton_options;

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
void weft_problem_newton_clear(weft_problem_newton_report *report);

/** 1e-10, 50 iterations, one load step. */
weft_newton_options weft_newton_options_default(void);

struct weft_problem;

/** Solve r(u) = 0 from the present u, to be found in problem->newton. A method that does not converge is no error. After
 *  weft_problem_vectors_compile, weft_problem_check_symmetry and weft_problem_operator_make.
 *  Errors  WEFT_ERROR_INPUT: a tangent is not symmetric, as requested options need; the load has a part in free modes;
 *          those of weft_solver_solve */
weft_status weft_problem_newton(struct weft_problem *problem, const weft_newton_options *options,
                                weft_error *error);
