/** What is checked before a solve: the symmetry of the matrix, by which the method is chosen, and what fixes u.
 *
 *      In: a problem with its forms, or its operator. Out: choices, modes that are left open, or an error. */
#pragma once

#include "fem/linear/linear.h"
#include "fem/weft_transient.h"

/* ---- symmetry (symmetry.c) --------------------------------------------------------------- */

/** Measure the asymmetry of the matrix of all forms, and choose the method by it; in time at a u that varies, if it is
 *  nonlinear. Compare the product of a script with its matrix.
 *  Errors  WEFT_ERROR_INPUT: it is not symmetric, as requested options need, not finite, or another product */
weft_status weft_problem_check_forms(weft_problem *problem, weft_error *error);
/** Choose the method again at the present values of all inputs.
 *  where   " at ...", for messages */
weft_status weft_problem_choose_method(weft_problem *problem, const char *where, weft_error *error);
/** The same for the tangent at the present u. If the operator's format is for symmetric matrices only, another one is
 *  made. */
weft_status weft_problem_check_tangent(weft_problem *problem, int step, int iteration,
                                       weft_error *error);

/* ---- what fixes u (fixed.c) --------------------------------------------------------------- */

/** Make the constraints, and find what nothing fixes: modes, open components of a mixed u, or the constant of a scalar, for which
 *  linear.project_mean is set. After the operator.
 *  Errors  WEFT_ERROR_INPUT: a constant that can be added to u, or that rounding would spoil */
weft_status weft_problem_check_fixed(weft_problem *problem, weft_error *error);

/** Of a problem whose constant nothing fixes: does b sum to zero?
 *  Errors  WEFT_ERROR_INPUT: it does not */
weft_status weft_problem_check_balance(const weft_problem *problem, weft_error *error);
