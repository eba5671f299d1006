/** u: functions of spaces on a mesh, with their values.
 *
 *      In: the fields of a problem and u on the host. Out: integrals, errors, values in cells. */
#pragma once

#include "fem/weft_bc.h"
#include "fem/weft_function.h"
#include "fem/weft_problem_results.h"

/** A function that is part of u: u itself, or one of those of a mixed space. */
typedef struct weft_problem_field {
    weft_space *space;
    weft_bc *bc;
    int first_value; /* of its components among those of u */
    int64_t first_dof;
    bool is_enrichment; /* its terms are added to those of the field before, as bubbles */
} weft_problem_field;

/** All borrowed from a problem. */
typedef struct weft_solution {
    weft_context *context;
    const weft_mesh *mesh;
    const weft_problem_field *fields; /* [n_fields] */
    int n_fields, n_values;           /* n_values: components of all */
    const double *values;             /* [n_dofs] */
    weft_memory *memory;              /* the same on the device; NULL: not there */
    const char *name;                 /* "u", or that of the form file */
} weft_solution;
weft_solution weft_problem_solution(const weft_problem *problem);

/** The field of a component of u. */
const weft_problem_field *weft_solution_field(const weft_solution *u, int value);
/** The values of field i [n_dofs] as a term of a sum of functions, in which those of enrichments have their part.
 *  out     caller's; free()
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_solution_term(const weft_solution *u, int i, double **out, weft_error *error);
/** The integral of component k, with its enrichments. */
weft_status weft_solution_integral(const weft_solution *u, int k, double *out, weft_error *error);
/** The squared errors of component k in L2 and in the H1 seminorm.
 *  exact   a formula in x, y, z and t
 *  origin  names it in messages */
weft_status weft_solution_errors(const weft_solution *u, int k, const char *exact,
                                 const char *origin, double t, double squares[2],
                                 weft_error *error);
/** All components at points of cells.
 *  out  [n][n_values]; NaN where there is no cell */
weft_status weft_solution_evaluate(const weft_solution *u, const weft_cell_points *at, double *out,
                                   weft_error *error);
/** The sums of a vector [n_dofs] by component of u, which are its products with the constant 1.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_solution_sum(const weft_solution *u, const double *vector,
                              double out[WEFT_VALUES_MAX], weft_error *error);
