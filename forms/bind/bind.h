/** UFL problems on a mesh.
 *
 *      In: a problem of a form file, a mesh, groups for its measures, values of its coefficients.
 *      Out: the fields of u, the spaces of coefficients, connectivities of each domain, bound forms.
 *
 *      spaces.c     the spaces of u and of coefficients
 *      measures.c   the cells or facets of each measure
 *      bind.c       all of it */
#pragma once

#include "fem/problem/problem.h"
#include "forms/weft_ufl.h"

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

/** All borrowed. Start from {0}. */
typedef struct weft_ufl_bind_options {
    const char *file; /* the form file, for messages */
    /* [n_measures]; a measure without one has the group of its number */
    const weft_ufl_measure *measures;
    int n_measures;
    const char
        *measure_option; /* how programs are given a measure, for hints; NULL: they are not */
    /* of weft_ufl_bind: [n_values]; u depends on t, the input t; the form of the mass, NULL: m or M */
    const weft_ufl_value *values;
    int n_values;
    bool in_time;
    const char *mass;
    /* of the mesh on the device, which a space takes over; NULL: none */
    struct weft_mesh_copies *copies;
} weft_ufl_bind_options;

/* ---- everything (bind.c) ----------------------------------------------------------------- */

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

/* ---- the spaces (spaces.c) ------------------------------------------------------------------- */

/** Make the fields of u and the sets of coefficients; problem->mesh is set.
 *  Errors  WEFT_ERROR_INPUT: a mesh of other cells; WEFT_ERROR_USAGE: it has curved cells, and the forms straight
 *          ones. WEFT_ERROR_UNSUPPORTED: more components or dofs than there can be */
weft_status weft_ufl_spaces_make(const weft_ufl_problem *ufl, const weft_ufl_bind_options *options,
                                 weft_problem *problem, weft_error *error);
/** Are the cells of the forms straight? */
bool weft_ufl_is_straight(const weft_ufl_problem *ufl);
/** The coordinates of the nodes of the geometry, the input x. */
weft_memory *weft_ufl_coordinates(const weft_ufl_problem *ufl, const weft_problem *problem);
/** A name as the file has it: in scripts some have a prefix. */
const char *weft_ufl_plain_name(const char *name);

/* ---- the domains (measures.c) ---------------------------------------------------------------- */

/** Errors  WEFT_ERROR_USAGE: a measure of the options that no integral has */
weft_status weft_ufl_check_measures(const weft_ufl_problem *ufl,
                                    const weft_ufl_bind_options *options, weft_error *error);
/** Make the connectivities of a part that its script has.
 *  out     [ufl->n_sets], malloc'd; weft_ufl_dofs_free, also after an error
 *  Errors  WEFT_ERROR_INPUT: no such group, or one without cells or facets */
weft_status weft_ufl_connect(const weft_ufl_problem *ufl, const weft_ufl_part *part,
                             const weft_compilation *compilation,
                             const weft_ufl_bind_options *options, const weft_problem *problem,
                             weft_entity_dofs **out, weft_error *error);
void weft_ufl_dofs_free(const weft_ufl_problem *ufl, weft_entity_dofs **dofs);
/** Start the form of a part: its connectivities, kernels and whether it adds couplings; without inputs.
 *  text  its script, perhaps with more statements */
void weft_ufl_form_start(const weft_ufl_problem *ufl, const weft_ufl_part *part, const char *file,
                         const char *text, const weft_entity_dofs *dofs, weft_bound_form *out);
