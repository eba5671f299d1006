/** Newton's method for the residual of a problem, in load steps.
 *
 *      In: options; the vectors of the parts, which make r(u). Out: u, and how each iteration went. */
#pragma once

#include "fem/solve/newton.h"
#include "fem/weft_problem.h"

/** Iterations that are usual, in a load step or a step in time. */
enum { WEFT_NEWTON_USUAL = 4 };

void weft_problem_newton_clear(weft_problem_newton_report *report);

/** Solve r(u) = 0 from the present u, to be found in problem->newton. It is not an error that the method does not converge. After
 *  weft_problem_vectors_compile, weft_problem_check_forms and weft_problem_operator_make.
 *  Errors  WEFT_ERROR_INPUT: a tangent is not symmetric, as requested options need; the load has a part in free modes;
 *          those of weft_solver_solve */
weft_status weft_problem_newton(weft_problem *problem, const weft_newton_options *options,
                                weft_error *error);
