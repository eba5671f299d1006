/** A problem on a mesh: a function u of a space, conditions on it, a form and a load.
 *
 *      In: these, and options. Out: u, with what was chosen to solve for it, and why. */
#pragma once

#include "fem/weft_bc.h"
#include "fem/weft_function.h"
#include "fem/weft_problem.h"

typedef struct weft_problem weft_problem;

/** What a solve was like. Pointers are borrowed from the problem until it is solved again or freed. */
typedef struct weft_problem_report {
    const weft_problem_choice *choice;
    const weft_cg_result *result; /* an outcome other than WEFT_CG_CONVERGED is not an error */
    double asymmetry;             /* |K - K^T| / |K|, as measured */
} weft_problem_report;

/** A problem without conditions, form and load.
 *  context, mesh  borrowed; must outlive the result
 *  element        of u, with so many components
 *  out            caller's; weft_problem_free
 *  Errors         those of weft_space_make; *out untouched */
weft_status weft_problem_make(weft_context *context, const weft_mesh *mesh,
                              weft_element_kind element, int components, weft_problem **out,
                              weft_error *error);
void weft_problem_free(weft_problem **problem);
/** The space of u, for forms. Borrowed. */
const weft_space *weft_problem_space(const weft_problem *problem);
/** Add a condition; where there is none, u = 0 on the whole boundary.
 *  condition  copied; its strings are borrowed and must outlive the problem
 *  Errors     WEFT_ERROR_MEMORY */
weft_status weft_problem_condition(weft_problem *problem, const weft_condition *condition,
                                   weft_error *error);
/** Set the form of the cells, with the local matrix K.
 *  form  borrowed with all that it refers to; must outlive the problem */
void weft_problem_form(weft_problem *problem, const weft_form *form);
/** Set the load int f phi_i over the cells, of a u with one component.
 *  f       a formula in x, y, z; borrowed, as is origin, which names it in messages */
void weft_problem_source(weft_problem *problem, const char *f, const char *origin);
/** Solve for u, from zero.
 *  options  borrowed; they are not changed, and must outlive the report
 *  Errors   WEFT_ERROR_USAGE: there is no form, or the matrix is not symmetric, as the requested method needs;
 *           WEFT_ERROR_INPUT: nothing fixes u; WEFT_ERROR_MEMORY: it does not fit; those of weft_bc_make,
 *           weft_bc_load_make, weft_operator_make and weft_solver_solve */
weft_status weft_problem_solve(weft_problem *problem, const weft_problem_options *options,
                               weft_problem_report *report, weft_error *error);
/** u after weft_problem_solve, [n_dofs] on the host; NULL before. Borrowed. */
const double *weft_problem_values(const weft_problem *problem);
