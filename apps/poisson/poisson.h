/** The app poisson, a problem of apps/solve. It solves on a mesh of triangles or tetrahedra, with
 *  continuous piecewise linear u,
 *
 *      -div(k grad u) = f
 *      u = g                       on Dirichlet groups
 *      k du/dn = g                 on Neumann groups (g is the flux into the domain)
 *      k du/dn + alpha u = g       on Robin groups
 *      k du/dn = 0                 elsewhere on the boundary */
#pragma once

#include "apps/solve/solve.h"

/** Read the command line. --help, --usage and --version print and exit. (apps/poisson/options.c)
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status poisson_options_read(int argc, char **argv, solve_options *out, weft_error *error);
/** Print the plans of operator and load, on the null device. (apps/poisson/null.c) */
solve_step poisson_plan_print;
