/** UFL problems on meshes.
 *
 *      In: a form file, a mesh, groups for its measures, values of its coefficients.
 *      Out: a problem to solve (fem/weft_problem.h). */
#ifndef WEFT_BIND_H
#define WEFT_BIND_H

#include "fem/weft_problem.h"
#include "forms/weft_ufl.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The group over which a measure such as "ds(2)" integrates. */
typedef struct weft_ufl_measure {
    const char *name, *group;
    const char *origin; /* names it in messages */
} weft_ufl_measure;

/** The values of a coefficient or constant by its name in the file. */
typedef struct weft_ufl_value {
    const char *name;
    weft_input_source source; /* shown, file and in_time are set here */
} weft_ufl_value;

/** Lists are read while weft_ufl_bind runs; strings and memories must outlive the problem. */
typedef struct weft_ufl_bind_options {
    size_t size; /* sizeof(weft_ufl_bind_options) */
    /* of the form file in messages; NULL: the name that it was read by */
    const char *file;
    /* [n_measures]; a measure without one has the group of its number */
    const weft_ufl_measure *measures;
    int n_measures;
    /* the option of a program that gives a measure, for hints; NULL: there is none */
    const char *measure_option;
    /* [n_values], one for each coefficient and constant of the forms */
    const weft_ufl_value *values;
    int n_values;
    bool in_time;     /* u depends on the time t, and the file has the form of a mass */
    const char *mass; /* its name; NULL: m or M */
} weft_ufl_bind_options;
static inline weft_ufl_bind_options weft_ufl_bind_options_default(void) {
    weft_ufl_bind_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

/** Make the spaces, inputs and parts of an empty problem of weft_problem_start.
 *  ufl      must outlive the result, and the context's library, which gets its functions
 *  mesh     must outlive the problem; its cells are straight where those of the forms are
 *  problem  gets fields, sets, inputs and parts; to be freed also after an error
 *  Errors   WEFT_ERROR_INPUT: a mesh of other cells, no group of a measure, a group without cells or facets.
 *           WEFT_ERROR_USAGE: an unknown measure or value, a coefficient without values.
 *           Those of weft_ufl_problem_of, weft_compile and weft_problem_add_input */
weft_status weft_ufl_bind(weft_ufl *ufl, const weft_mesh *mesh, weft_library *library,
                          const weft_ufl_bind_options *options, weft_problem *problem,
                          weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
