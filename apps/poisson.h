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

/* ---- options (poisson_options.c) -------------------------------------------------------- */

typedef enum poisson_kind { POISSON_DIRICHLET, POISSON_NEUMANN, POISSON_ROBIN } poisson_kind;

typedef enum poisson_ordering {
    POISSON_ORDERING_AUTO, /* meshes of Gmsh everywhere, all on a GPU: by bisection */
    POISSON_ORDERING_BISECTION,
    POISSON_ORDERING_METIS,
    POISSON_ORDERING_NONE
} poisson_ordering;

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
    int max_iterations, refine;
    poisson_ordering ordering;
    bool assembly_auto; /* assembly is to be chosen */
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

/* ---- the run ---------------------------------------------------------------------------- */

/** The facets that one Neumann or Robin condition holds on; empty for Dirichlet. */
typedef struct poisson_part {
    int32_t *facets; /* [n_facets][d] nodes */
    int64_t n_facets;
    weft_connectivity *dofs;
} poisson_part;

typedef struct poisson_seconds {
    double mesh, order, plan, compile, assembly, solve, output; /* order is in mesh too */
} poisson_seconds;

/** Everything of one run, in the order in which it is made. Free with poisson_clear. */
typedef struct poisson {
    const poisson_options *options; /* borrowed */
    app_messages *messages;         /* borrowed */
    weft_device *device;
    weft_library *library;
    weft_context context;
    bool is_null; /* the device computes nothing */

    weft_mesh *mesh;
    const char *ordered;      /* by what, or NULL */
    weft_connectivity *cells; /* cells -> nodes */
    poisson_part *parts;      /* [n_conditions] */
    int32_t *constrained;     /* Dirichlet nodes, ascending */
    int64_t n_constrained;
    bool pure_neumann; /* nothing fixes the constant */

    weft_memory *x, *u, *b;      /* coordinates, solution, right-hand side */
    double *u_values, *b_values; /* what u and b wrap */
    struct poisson_form *forms;  /* of the operator: cells, then one a Robin condition */
    int n_forms;
    weft_assembly assembly; /* of the options, or chosen */
    weft_operator *op;
    size_t foreseen_bytes; /* on the device, at most */

    weft_cg_result cg;
    double l2_error, h1_error, integral_u, energy; /* errors NaN without --exact */
    double *probes;                                /* [n_probes], NaN outside */
    poisson_seconds seconds;
} poisson;

void poisson_clear(poisson *run);

/** Compile and run every text of the user's for nothing but its errors, so that a slip in the last
 * option is reported before an hour of meshing. (poisson_check.c) Errors  WEFT_ERROR_SYNTAX,
 * WEFT_ERROR_TYPE with a caret in the user's text; WEFT_ERROR_IO: a result file cannot be written
 */
weft_status poisson_check(poisson *run, weft_error *error);
/** Read or make the mesh; order what Gmsh made, which is numbered at random. (poisson_mesh.c) */
weft_status poisson_mesh_make(poisson *run, weft_error *error);
/** Choose the assembly where the user has not, and say what the run will hold on the device;
 * refused where that cannot fit. (poisson_forecast.c) Errors  WEFT_ERROR_MEMORY */
weft_status poisson_forecast_make(poisson *run, weft_error *error);
/** Log what was held at most beside what was foreseen. */
void poisson_forecast_compare(const poisson *run);
/** Connectivities of cells and of the conditions' facets, constrained nodes. (poisson_mesh.c)
 *  Errors  WEFT_ERROR_INPUT: no such group (lists those that exist), a probe with too many
 * coordinates */
weft_status poisson_dofs_make(poisson *run, weft_error *error);
/** Find the parts of the mesh that do not touch, and set run->pure_neumann where nothing fixes u.
 * (poisson_parts.c) Errors  WEFT_ERROR_INPUT: one part of several is not fixed */
weft_status poisson_parts_check(poisson *run, weft_error *error);
/** Coordinates, u with its boundary values, room for b. (poisson_data.c)
 *  Errors  WEFT_ERROR_INPUT: a value is not finite (option and place) */
weft_status poisson_data_make(poisson *run, weft_error *error);
/** Make and assemble the operator. (poisson_data.c) */
weft_status poisson_operator_make(poisson *run, weft_error *error);
/** The area or volume of the mesh. */
double poisson_measure_of_mesh(const weft_mesh *mesh);
/** b, with its integrals checked where only they make the problem solvable. (poisson_load.c) */
weft_status poisson_load_make(poisson *run, weft_error *error);
/** Conjugate gradients; then the mean is taken off where the constant is free. (poisson_solve.c) */
weft_status poisson_solve(poisson *run, weft_error *error);
/** Errors, integral, energy and probes. (poisson_solve.c) */
weft_status poisson_measure(poisson *run, weft_error *error);
/** Write the result file; the report on stdout; JSON. (poisson_report.c, poisson_json.c) */
weft_status poisson_output_write(poisson *run, weft_error *error);
weft_status poisson_report_print(const poisson *run, weft_error *error);
/** The lines about the mesh, which the null device prints too. */
void poisson_mesh_print(const poisson *run);
weft_status poisson_json_write(const poisson *run, weft_error *error);
/** On the null device: plans and what would be launched, on stdout. (poisson_null.c) */
weft_status poisson_plan_print(poisson *run, weft_error *error);

/* ---- forms (poisson_form.c) ------------------------------------------------------------- */

/** A weft_form with room for what is bound to it. Must not move once it is made. */
typedef struct poisson_form {
    weft_form form;
    weft_form_input inputs[4];
    weft_expression expressions[2];
    weft_parameter parameters[2];
} poisson_form;

/** Start a form from a shipped script, with the nodes' coordinates x and the dimension d bound.
 *  Errors  WEFT_ERROR_INTERNAL: no such script */
weft_status poisson_form_make(const poisson *run, const char *script, weft_connectivity *dofs,
                              poisson_form *out, weft_error *error);
void poisson_form_input(poisson_form *form, const char *name, weft_memory *memory);
/** Bind text to an expression of the script; origin names it in messages. */
void poisson_form_expression(poisson_form *form, const char *name, const char *text,
                             const char *origin);
void poisson_form_parameter(poisson_form *form, const char *name, int value);
/** The form of the cells' operator: poisson.weft, or poisson_diffusivity.weft with the user's k. */
weft_status poisson_form_cells(const poisson *run, poisson_form *out, weft_error *error);
/** Is the text a plain number, which needs no kernel? */
bool poisson_constant(const char *text, double *value);
/** n doubles of the app's that the device uses in place where it can. */
weft_status poisson_array_make(const poisson *run, int64_t n, double **values, weft_memory **memory,
                               weft_error *error);
/** Bring what the device has written to the app's doubles, or the other way: nothing where both are
 *  the same memory. */
weft_status poisson_array_pull(const weft_memory *memory, double *values, int64_t n,
                               weft_error *error);
weft_status poisson_array_push(weft_memory *memory, const double *values, int64_t n,
                               weft_error *error);
/** Refuse an expression that is not finite at or near a node. */
weft_status poisson_refuse_value(const poisson *run, const char *origin, const char *text,
                                 int64_t node, weft_error *error);

#endif
