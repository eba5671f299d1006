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
#include "forms/weft_bind.h"

struct weft_mesh_copies;

/* ---- the spaces (spaces.c) ------------------------------------------------------------------- */

/** Make the fields of u and the sets of coefficients; problem->mesh is set.
 *  copies  of the mesh on the device, which a space takes over; NULL: none
 *  Errors  WEFT_ERROR_INPUT: a mesh of other cells; WEFT_ERROR_USAGE: it has curved cells, and the forms straight
 *          ones. WEFT_ERROR_UNSUPPORTED: more components or dofs than there can be */
weft_status weft_ufl_spaces_make(const weft_ufl_problem *ufl, const weft_ufl_bind_options *options,
                                 struct weft_mesh_copies *copies, weft_problem *problem,
                                 weft_error *error);
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
/** Say what a part of the problem is: its text, what it has, and its domain. */
void weft_ufl_part_start(const weft_ufl_part *ufl, weft_problem_part *out);
void weft_ufl_dofs_free(const weft_ufl_problem *ufl, weft_entity_dofs **dofs);
/** Start the form of a part: its connectivities, kernels and whether it adds couplings; without inputs.
 *  text  its script, perhaps with more statements */
void weft_ufl_form_start(const weft_ufl_problem *ufl, const weft_ufl_part *part, const char *file,
                         const char *text, const weft_entity_dofs *dofs, weft_bound_form *out);
