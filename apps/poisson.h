/** The app poisson, in flow order:
 *
 *      options -> mesh -> ordering -> dofs -> data -> operator -> right-hand side -> CG -> errors
 * -> output
 *
 *  It solves -div(k grad u) = f on a mesh of triangles or tetrahedra with continuous piecewise
 * linear u, and u = g                          on Dirichlet groups k du/dn = g on Neumann groups (g
 * is the flux into the domain) k du/dn + alpha u = g          on Robin groups k du/dn = 0 elsewhere
 * on the boundary */
#ifndef POISSON_H
#define POISSON_H

#include "app_support.h"
#include "weft_fem.h"

/* ---- options (poisson_options.c)
 * ----------------------------------------------------------------- */

typedef enum poisson_kind { POISSON_DIRICHLET, POISSON_NEUMANN, POISSON_ROBIN } poisson_kind;

/** One --dirichlet, --neumann or --robin. */
typedef struct poisson_condition {
    poisson_kind kind;
    char *group, *value, *alpha; /* malloc'd; alpha of Robin only */
    char origin[192];            /* "--dirichlet left", for messages */
} poisson_condition;

typedef struct poisson_probe {
    const char *text; /* as given; borrowed from argv */
    double point[3];
    int n; /* coordinates given */
} poisson_probe;

typedef struct poisson_options {
    const char *mesh, *source, *exact,
        *diffusivity;                   /* borrowed from argv; exact and diffusivity may be NULL */
    const char *device, *output, *json; /* output and json may be NULL */
    double size, tolerance;
    int max_iterations;
    weft_assembly assembly;
    weft_plan_kind plan;
    bool jacobi;
    app_verbosity verbosity;
    poisson_condition *conditions;
    int n_conditions;
    poisson_probe *probes;
    int n_probes;
} poisson_options;

/** Read the command line. --help, --usage and --version print and exit.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status poisson_options_read(int argc, char **argv, poisson_options *out, weft_error *error);
void poisson_options_clear(poisson_options *options);

#endif
