/** Form files and scripts on meshes.
 *
 *      In: a form file or a script, a mesh, groups for its measures, values of its inputs.
 *      Out: a problem to solve (fem/weft_problem.h). */
#ifndef WEFT_BIND_H
#define WEFT_BIND_H

#include "fem/weft_problem.h"
#include "forms/weft_ufl.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The group over which a measure such as "ds(2)" integrates. */
typedef struct weft_bind_measure {
    const char *name, *group;
    const char *origin; /* names it in messages */
} weft_bind_measure;

/** What forms are bound to. Lists are read during the call; strings and memories must outlive the problem. */
typedef struct weft_bind_options {
    size_t size; /* sizeof(weft_bind_options) */
    /* of the form file or script in messages; NULL: the name that it was read by */
    const char *file;
    /* [n_measures] of a form file; a measure without one has the group of its number */
    const weft_bind_measure *measures;
    int n_measures;
    /* [n_values], one for each coefficient and constant of the forms, or each input of the script */
    const weft_problem_value *values;
    int n_values;
    const weft_expression *expressions; /* [n_expressions]: bodies of expressions of a script */
    int n_expressions;
    const weft_parameter *parameters; /* [n_parameters] of a script, besides the dimension d */
    int n_parameters;
    /* u depends on the time t: there is a mass, or a scheme, which computes u at the end of a step of length dt from the
     * input `previous` */
    bool in_time;
    /* instead: formulas and an input t are those of a time that weft_problem_set_time sets, of a stationary problem */
    bool has_time;
    bool has_mass;    /* instead: a mass beside the matrix, for eigenvalues (fem/weft_eigen.h) */
    const char *mass; /* its name; NULL: m or M of a form file, M of a script, or a scheme */
    const char *previous; /* NULL: u_old */
    /* of a script: the names of its local matrix and vector; NULL: K, b or the residual r */
    const char *matrix, *vector;
    const char *sum;    /* a value of a script over the cells that is summed later; NULL: none */
    bool nonlinear;     /* the vector of a script is a residual, and the matrix its derivative */
    bool names_options; /* hints name the options of the program solve */
} weft_bind_options;
static inline weft_bind_options weft_bind_options_default(void) {
    weft_bind_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

/** Make the spaces, inputs and parts of an empty problem of weft_problem_start.
 *  ufl      must outlive the result, and the context's library, which gets its functions
 *  library  of the context; of this file alone, since functions of different files have the same names
 *  mesh     must outlive the problem; its cells are straight where those of the forms are
 *  problem  gets fields, sets, inputs and parts; to be freed also after an error
 *  Errors   WEFT_ERROR_INPUT: a mesh of other cells, no group of a measure, a group without cells or facets.
 *           WEFT_ERROR_USAGE: an unknown measure or value, a coefficient without values, a library that
 *           another file is bound with.
 *           Those of weft_ufl_problem_of, weft_compile and weft_problem_add_input */
weft_status weft_ufl_bind(weft_ufl *ufl, const weft_mesh *mesh, weft_library *library,
                          const weft_bind_options *options, weft_problem *problem,
                          weft_error *error);
/** The groups over which the parts of a UFL problem are integrated, as weft_ufl_bind takes them; of the options file, measures
 *  and names_options are read.
 *  groups  [ufl->n_parts], set to numbers in the mesh; -1: everywhere
 *  Errors  WEFT_ERROR_USAGE: a measure that no integral has; WEFT_ERROR_INPUT: there is no such group */
weft_status weft_ufl_find_groups(const weft_ufl_problem *ufl, const weft_mesh *mesh,
                                 const weft_bind_options *options, int *groups, weft_error *error);
/** The same as weft_ufl_bind with a script, which computes a local matrix of functions of degree 1 on triangles or tetrahedra, and adds a
 *  vector to the nodes (docs/tutorial-new-element.md). u = 0 on the whole boundary where there is no condition.
 *  text    copied; `return` statements are left out
 *  Errors  those of weft_compile, with file, line and column; WEFT_ERROR_INPUT: no matrix, mass or residual, or one of
 *          another shape, a reserved name; WEFT_ERROR_USAGE as above */
weft_status weft_script_bind(const char *text, const weft_mesh *mesh,
                             const weft_bind_options *options, weft_problem *problem,
                             weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
