/** Function spaces: which degrees of freedom (dofs) a mesh has for an element, where they are, and
 *  what can be done with a function of the space.
 *
 *      mesh, element, components -> space -> connectivity of cells and facets, coordinates
 *
 *  A space has nodes, one for each scalar basis function, and `components` dofs at each node: dof
 *  node * components + k is component k. Scripts see nodes (`connectivity dofs : cells -> nodes[..]`),
 *  solvers see dofs. docs/finite-elements.md says how further elements, mixed spaces and grids of a
 *  hierarchy are added. */
#ifndef WEFT_SPACE_H
#define WEFT_SPACE_H

#include "fem/weft_operator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- vectors ---------------------------------------------------------------------------- */

/** n doubles of the caller's, zero, that the device uses in place where it can (weft_memory_wrap).
 *  Free the memory, then the values with free(). */
weft_status weft_vector_make(weft_device *device, int64_t n, double **values, weft_memory **memory,
                             weft_error *error);
/** Copy from the device to the values, or the other way; nothing is done where both are the same
 *  memory. */
weft_status weft_vector_pull(const weft_memory *memory, double *values, int64_t n,
                             weft_error *error);
weft_status weft_vector_push(weft_memory *memory, const double *values, int64_t n,
                             weft_error *error);

/* ---- spaces ----------------------------------------------------------------------------- */

typedef enum weft_element {
    WEFT_ELEMENT_P1 /* continuous, linear on simplices; its nodes are those of the mesh */
} weft_element;

typedef struct weft_space weft_space;
/** mesh  borrowed, as is the device; both must outlive the space
 *  components  of a node, at least 1
 *  Errors  WEFT_ERROR_USAGE (components), WEFT_ERROR_UNSUPPORTED (2^31 dofs), WEFT_ERROR_MEMORY */
weft_status weft_space_make(weft_device *device, const weft_mesh *mesh, weft_element element,
                            int components, weft_space **out, weft_error *error);
void weft_space_free(weft_space **space);

const weft_mesh *weft_space_mesh(const weft_space *space);
int weft_space_components(const weft_space *space);
int64_t weft_space_nodes(const weft_space *space);
int64_t weft_space_dofs(const weft_space *space); /* nodes * components */
/** Cells -> their nodes; borrowed. */
weft_connectivity *weft_space_cells(const weft_space *space);
/** Coordinates of the nodes, [nodes][dimension]; borrowed. */
weft_memory *weft_space_coordinates(const weft_space *space);
/** The distinct nodes on a group of facets (-1: the whole boundary), ascending; *out from
 *  weft_array_make, the caller's.  Errors WEFT_ERROR_MEMORY */
weft_status weft_space_group_nodes(const weft_space *space, int group, int32_t **out, int64_t *n,
                                   weft_error *error);

/** The facets of a group and their nodes. Start from {0}. */
typedef struct weft_space_facets {
    int64_t n;               /* facets */
    int width;               /* nodes of a facet */
    int32_t *nodes;          /* [n][width] */
    weft_connectivity *dofs; /* facets -> nodes */
} weft_space_facets;
/** Errors WEFT_ERROR_MEMORY; free in any case */
weft_status weft_space_facets_make(const weft_space *space, int group, weft_space_facets *out,
                                   weft_error *error);
void weft_space_facets_free(weft_space_facets *facets);

/** What the choice of an assembly depends on, for a symmetric operator on the space. */
weft_assembly_problem weft_space_problem(const weft_space *space, double applications);

/* ---- forms on a space ------------------------------------------------------------------- */

enum { WEFT_FORM_INPUTS = 32, WEFT_FORM_EXPRESSIONS = 32, WEFT_FORM_PARAMETERS = 32 };

/** A weft_form with room for what is bound to it. Must not move once it is started. */
typedef struct weft_bound_form {
    weft_form form;
    weft_form_input inputs[WEFT_FORM_INPUTS];
    weft_expression expressions[WEFT_FORM_EXPRESSIONS];
    weft_parameter parameters[WEFT_FORM_PARAMETERS];
} weft_bound_form;

/** Start a form from a text; borrowed. Nothing is bound. */
void weft_form_start(const char *name, const char *text, weft_connectivity *dofs,
                     weft_bound_form *out);
/** Start a form from a shipped script (fem/scripts), with the coordinates x and the dimension d of
 *  the space bound.
 *  dofs    of the space: weft_space_cells, the dofs of facets, or NULL for a form over nodes
 *  Errors  WEFT_ERROR_INTERNAL: no such script */
weft_status weft_form_ship(const weft_space *space, const char *script, weft_connectivity *dofs,
                           weft_bound_form *out, weft_error *error);
void weft_form_bind_input(weft_bound_form *form, const char *name, weft_memory *memory);
/** Bind text to an expression of the script; origin names it in messages. */
void weft_form_bind_expression(weft_bound_form *form, const char *name, const char *text,
                               const char *origin);
void weft_form_bind_parameter(weft_bound_form *form, const char *name, int value);
/** Run a form that returns n lists, at most two, of one number per cell, and sum them. */
weft_status weft_form_sum(weft_context *context, const weft_bound_form *form, int64_t n_cells,
                          const char *const *names, int n, double *sums, weft_error *error);

/* ---- functions of a space --------------------------------------------------------------- */

/** Is the formula a plain number, which needs no kernel? */
bool weft_formula_constant(const char *text, double *value);
/** Set WEFT_ERROR_INPUT: the formula is not finite at or near a node; returns it. */
weft_status weft_formula_refuse(const weft_space *space, const char *text, const char *origin,
                                int64_t node, weft_error *error);
/** A formula in x, y, z at the nodes. values [nodes] and memory are those of weft_vector_make.
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE with a caret in the formula; _COMPILER, _DEVICE, _MEMORY */
weft_status weft_space_evaluate(weft_context *context, const weft_space *space, const char *text,
                                const char *origin, weft_memory *memory, double *values,
                                weft_error *error);
/** Squared errors of a scalar function u against a formula: squares[0] is int (u - exact)^2,
 *  squares[1] int |grad u - grad exact|^2, by a rule of degree 5.
 *  u       [nodes], on the device
 *  origin  names the formula in messages; NULL: "exact"
 *  Errors  as weft_space_evaluate */
weft_status weft_space_errors(weft_context *context, const weft_space *space, weft_memory *u,
                              const char *exact, const char *origin, double squares[2],
                              weft_error *error);
/** Area or volume of the mesh. */
double weft_mesh_measure(const weft_mesh *mesh);
/** "(x, y)" or "(x, y, z)" for messages; returns out. */
const char *weft_point_text(const double *point, int dimension, char out[64]);

#ifdef __cplusplus
}
#endif
#endif
