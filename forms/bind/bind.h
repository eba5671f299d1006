/** Form files and scripts on a mesh.
 *
 *      In: a problem of a form file, or a script, a mesh, groups for its measures, values of its inputs.
 *      Out: the fields of u, the spaces of coefficients, connectivities of each domain, bound forms.
 *
 *      forms.c      the problem of a form file
 *      script.c     the problem of a script: its names, and their shapes
 *      spaces.c     the spaces of u and of coefficients
 *      measures.c   the cells or facets of each measure
 *      given.c      the text of what is given by name
 *      coarse.c     the matrix for functions of a lower degree, for multigrid
 *      bind.c       the steps, in order */
#pragma once

#include "fem/problem/problem.h"
#include "forms/weft_bind.h"

struct weft_mesh_copies;

/** What the forms of a problem refer to. */
typedef struct weft_binding {
    weft_problem *problem;
    const weft_bind_options *options; /* borrowed until weft_bind_finish */
    weft_ufl *file;                   /* borrowed; NULL: a script */
    const weft_ufl_problem *ufl;      /* of the file */
    weft_entity_dofs **dofs;          /* [n_parts][n_sets], of ufl */
    int *groups;                      /* [n_parts] of the mesh; -1: everywhere */
    char *text;                       /* of the script, malloc'd */
    weft_problem_value *values; /* those of the options, and of the file's for others; malloc'd */
    int n_values;
} weft_binding;

/* ---- the steps, in order (bind.c) ------------------------------------------------------------ */

/** Name the matrix, the vector and the mass of a problem, and make its parts, without a mesh or a device.
 *  options  borrowed until weft_bind_finish
 *  problem  owns the result (weft_problem_basis)
 *  Errors   WEFT_ERROR_INPUT: there is none of these; those of weft_ufl_problem_of and of the parser */
weft_status weft_bind_form_file(weft_ufl *ufl, const weft_bind_options *options,
                                weft_problem *problem, weft_error *error);
weft_status weft_bind_script(const char *text, const weft_bind_options *options,
                             weft_problem *problem, weft_error *error);
/** Forget parts and names. */
void weft_bind_clear(weft_problem *problem);
/** Compile the parts for problem->mesh, and make spaces and connectivities of a form file, or check the shapes of a
 *  script; set the components. Warns of a linear form that is not part of the problem.
 *  copies  of the mesh on the device, which a space takes over; NULL: none */
weft_status weft_bind_mesh(weft_problem *problem, struct weft_mesh_copies *copies,
                           weft_error *error);
/** Let a curved mesh have straight cells where those of the forms are, with a warning.
 *
 *  Decision  docs/decisions/0057-forms-decide-what-cells-are-like.md */
void weft_bind_straighten(const weft_problem *problem, weft_mesh *mesh);
/** After weft_problem_vectors_make and weft_problem_make_inputs: bind the forms, and make those of the operator. */
weft_status weft_bind_finish(weft_problem *problem, weft_error *error);

/** Has a compiled text this name? Sets *out. */
bool weft_bind_find(const weft_compilation *compilation, const char *name, weft_name_info *out);
/** Keep the text of what is given by name, for a run that continues (given.c).
 *  Errors  WEFT_ERROR_MEMORY; those of weft_memory_read */
weft_status weft_bind_state(const weft_binding *binding, weft_error *error);
/** The problem of the form file; NULL: it is a script. */
const weft_ufl_problem *weft_bind_ufl(const weft_problem *problem);

/* ---- form files (forms.c) -------------------------------------------------------------------- */

/** What weft_bind_form_file does.
 *
 *  Decision  docs/decisions/0048-form-files-are-natural.md */
weft_status weft_ufl_name_parts(weft_ufl *ufl, weft_binding *binding, weft_error *error);

/* ---- scripts (script.c) ---------------------------------------------------------------------- */

weft_status weft_bind_name_script(const char *text, weft_binding *binding, weft_error *error);
/** Check the shapes of the values of a compiled script.
 *  Errors  WEFT_ERROR_INPUT */
weft_status weft_bind_check_script(const weft_binding *binding, weft_error *error);

/* ---- the spaces (spaces.c) ------------------------------------------------------------------- */

/** Make the fields of u and the sets of coefficients.
 *  copies  of the mesh on the device, which a space takes over; NULL: none
 *  Errors  WEFT_ERROR_INPUT: a mesh of other cells; WEFT_ERROR_USAGE: it has curved cells, and the forms straight
 *          ones. WEFT_ERROR_UNSUPPORTED: more components or dofs than there can be */
weft_status weft_ufl_spaces_make(const weft_binding *binding, struct weft_mesh_copies *copies,
                                 weft_error *error);
/** Are the cells of the forms straight? */
bool weft_ufl_is_straight(const weft_ufl_problem *ufl);

/* ---- the domains (measures.c) ---------------------------------------------------------------- */

/** Is a measure such as "ds(2)" that of an integral? */
bool weft_ufl_has_measure(const weft_ufl_problem *ufl, const char *measure);
/** Make the connectivities of all parts that their scripts have: binding->dofs.
 *  Errors  those of weft_ufl_find_groups; WEFT_ERROR_INPUT: a group without cells or facets */
weft_status weft_ufl_connect(weft_binding *binding, weft_error *error);
/** Let the problem's preconditioners have the matrix for functions of lower degrees (coarse.c).
 *
 *  Decision  docs/decisions/0065-multigrid-without-a-matrix.md */
void weft_ufl_offer_coarse(weft_binding *binding);
/** Start the form of a part: its connectivities, kernels and whether it adds couplings; without inputs. */
void weft_ufl_form_start(const weft_binding *binding, int part, weft_bound_form *out);
