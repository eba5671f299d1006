/** The app poisson, in flow order:
 *
 *      options -> mesh -> ordering -> dofs -> data -> operator -> right-hand side -> CG
 *              -> errors -> output
 *
 *  It solves on a mesh of triangles or tetrahedra, with continuous piecewise linear u,
 *
 *      -div(k grad u) = f
 *      u = g                       on Dirichlet groups
 *      k du/dn = g                 on Neumann groups (g is the flux into the domain)
 *      k du/dn + alpha u = g       on Robin groups
 *      k du/dn = 0                 elsewhere on the boundary */
#pragma once

#include "apps/common/run.h"

/* ---- options (apps/poisson/options.c) -------------------------------------------------------- */

typedef struct poisson_options {
    app_run_options run;
    const char *source, *exact, *diffusivity; /* borrowed from argv; the last two may be NULL */
} poisson_options;

/** Read the command line. --help, --usage and --version print and exit.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status poisson_options_read(int argc, char **argv, poisson_options *out, weft_error *error);
void poisson_options_clear(poisson_options *options);

/* ---- the run ---------------------------------------------------------------------------- */

/** Everything of one run, in the order in which it is made. Free with poisson_clear. */
typedef struct poisson {
    const poisson_options *options; /* borrowed */
    app_run base;
    double product_bytes; /* predicted memory traffic of one operator application */
    double integral_u;
} poisson;

/** Compile every formula of the user only to find its errors, before a long run of the mesher.
 *  (apps/poisson/check.c)
 *  Errors  WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE with a caret in the user's text;
 *          WEFT_ERROR_IO: a result file cannot be written */
weft_status poisson_check(poisson *run, weft_error *error);
/** Choose the assembly unless the user has, and estimate the memory on the device.
 *  (apps/poisson/memory_estimate.c)
 *  Errors  WEFT_ERROR_MEMORY: it does not fit */
weft_status poisson_memory_estimate_make(poisson *run, weft_error *error);
/** Make the space and its boundary conditions. (apps/poisson/mesh.c)
 *  Errors  WEFT_ERROR_INPUT: no such group (lists those that exist), a probe with too many
 *          coordinates, a value that is not finite, a connected part without condition on u */
weft_status poisson_dofs_make(poisson *run, weft_error *error);
/** Make u with its boundary values, and b. (apps/poisson/data.c) */
weft_status poisson_data_make(poisson *run, weft_error *error);
/** Make and assemble the operator. (apps/poisson/data.c) */
weft_status poisson_operator_make(poisson *run, weft_error *error);
/** Compute b. If no condition fixes u, check that the problem is solvable. (apps/poisson/data.c) */
weft_status poisson_load_make(poisson *run, weft_error *error);
/** Compute errors, integral, energy and probe values. (apps/poisson/solve.c) */
weft_status poisson_measure(poisson *run, weft_error *error);
/** Write the result file, the report and JSON. (apps/poisson/report.c, apps/poisson/json.c) */
weft_status poisson_output_write(poisson *run, weft_error *error);
weft_status poisson_report_print(const poisson *run, weft_error *error);
weft_status poisson_json_write(const poisson *run, weft_error *error);
/** On the null device, print plans and the launches that would be made. (apps/poisson/null.c) */
weft_status poisson_plan_print(poisson *run, weft_error *error);

/** The form of the cells' operator: poisson.weft, or poisson_diffusivity.weft with the user's k.
 *  (apps/poisson/data.c) */
weft_status poisson_form_cells(const poisson *run, weft_bound_form *out, weft_error *error);
