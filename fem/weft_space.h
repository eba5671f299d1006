/** Function spaces: the degrees of freedom (dofs) of a mesh for an element, and operations on
 *  functions of the space.
 *
 *      mesh, element, components -> space -> connectivity of cells and facets, coordinates
 *
 *  A space has nodes, one for each scalar basis function, and `components` dofs at each node: dof
 *  node * components + k is component k. Scripts see nodes (`connectivity dofs : cells ->
 *  nodes[..]`), solvers see dofs. docs/finite-elements.md describes how elements, spaces and
 *  conditions are made. */
#ifndef WEFT_SPACE_H
#define WEFT_SPACE_H

#include "fem/weft_element.h"
#include "fem/weft_operator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- vectors ---------------------------------------------------------------------------- */

/** Make a zero vector of n doubles on the host and a memory for it on the device, which uses the
 *  same storage where possible (weft_memory_wrap).
 *  values  caller's; free(), after the memory
 *  memory  caller's; weft_memory_free */
weft_status weft_vector_make(weft_device *device, int64_t n, double **values, weft_memory **memory,
                             weft_error *error);
/** Copy n doubles from the device to the host (pull) or back (push); no effect if both are the same
 *  storage. */
weft_status weft_vector_pull(const weft_memory *memory, double *values, int64_t n,
                             weft_error *error);
weft_status weft_vector_push(weft_memory *memory, const double *values, int64_t n,
                             weft_error *error);

/* ---- spaces ----------------------------------------------------------------------------- */

/** An element of a mesh's cells, see weft_element_make. */
typedef struct weft_element_kind {
    weft_family family;
    int degree;
} weft_element_kind;
/** Continuous, linear on simplices; its nodes are those of the mesh. */
static const weft_element_kind WEFT_ELEMENT_P1 = {WEFT_LAGRANGE, 1};

typedef struct weft_space weft_space;
/** Nodes of degree 2 and more are numbered by the lowest vertex of their edge, face or cell, and
 *  nodes on what cells share are one in all of them, for any order of the cells' vertices.
 *  device, mesh  borrowed; must outlive the space
 *  components    per node, at least 1
 *  out           caller's; weft_space_free
 *  Errors        WEFT_ERROR_USAGE (components), WEFT_ERROR_UNSUPPORTED (2^31 dofs; no such
 *                element), WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_space_make(weft_device *device, const weft_mesh *mesh, weft_element_kind element,
                            int components, weft_space **out, weft_error *error);
void weft_space_free(weft_space **space);

weft_device *weft_space_device(const weft_space *space);
const weft_mesh *weft_space_mesh(const weft_space *space);
const weft_element *weft_space_element(const weft_space *space);
int weft_space_components(const weft_space *space);
int64_t weft_space_nodes(const weft_space *space);
int64_t weft_space_dofs(const weft_space *space); /* nodes * components */
/** cells -> nodes. Borrowed. */
weft_connectivity *weft_space_cells(const weft_space *space);
/** The same list, [n_cells][nodes of the element]. Borrowed. A device that made it alone is read at the first call;
 *  NULL: no memory, or the device has failed. */
const int32_t *weft_space_cell_nodes(const weft_space *space);
/** Coordinates of the nodes, [nodes][dimension], in the mesh's unit. Borrowed. */
weft_memory *weft_space_coordinates(const weft_space *space);
/** Free the device's copies of coordinates and connectivity, if they take much of its memory
 *  (weft_connectivity_ranges). Whatever uses them next makes them again. */
void weft_space_evict(weft_space *space);
/** The same on the host. Borrowed; read and NULL as weft_space_cell_nodes. */
const double *weft_space_points(const weft_space *space);
/** The nodes as points of an index set `nodes`, at which formulas are evaluated. Borrowed. */
const weft_data_points *weft_space_data_points(const weft_space *space);
/** The distinct nodes on a group of facets (-1: the whole boundary), those of discontinuous
 *  elements too, in the cell of the facet; none for constants, bubbles and points of rules. Of a group
 *  of points, those of continuous elements.
 *  out     [*n] ascending, from weft_array_make; caller's; free()
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_space_group_nodes(const weft_space *space, int group, int32_t **out, int64_t *n,
                                   weft_error *error);

/** The facets of a group and their nodes. Initialise with {0}. */
typedef struct weft_space_facets {
    int64_t n;      /* facets */
    int width;      /* nodes per facet */
    int32_t *nodes; /* [n][width], in the order of the facet's element, vertices as the mesh has */
    weft_connectivity *dofs; /* facets -> nodes */
} weft_space_facets;
/** group   of facets; -1: the whole boundary
 *  out     weft_space_facets_free, also after an error
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_space_facets_make(const weft_space *space, int group, weft_space_facets *out,
                                   weft_error *error);
void weft_space_facets_free(weft_space_facets *facets);

/** Facets with all nodes of the cells on their sides, for facet integrals. Initialise with {0}. Each
 *  cell is reoriented: its vertices have an order in which the facet is weft_cell.base (the last
 *  coordinate is 0) and both cells have the same reference coordinates at each point of the facet.
 *  So one table serves all facets, all spaces reorient cells alike, and det J can have either sign. */
typedef struct weft_space_sides {
    int64_t n;
    int n_sides, width;          /* 1 or 2; nodes: n_sides times those of a cell */
    int32_t *nodes;              /* [n][n_sides][nodes of a cell] */
    int32_t *cells;              /* [n][n_sides] */
    weft_connectivity *dofs;     /* facets -> nodes */
    weft_connectivity *to_cells; /* facets -> cells */
} weft_space_sides;
/** The facets of a group that are on the boundary (-1: all), with one cell each.
 *  out     weft_space_sides_free, also after an error
 *  Errors  WEFT_ERROR_UNSUPPORTED (quadrature elements, except those of symmetric rules), WEFT_ERROR_MEMORY */
weft_status weft_space_exterior_make(const weft_space *space, int group, weft_space_sides *out,
                                     weft_error *error);
/** All facets of a group (-1: the boundary), with one cell each: of two that of the lower number; or those with one
 *  side in a group of cells (cells; -1: none), with that side. */
weft_status weft_space_one_side_make(const weft_space *space, int group, int cells,
                                     weft_space_sides *out, weft_error *error);
/** The facets of a group that are between two cells (-1: all); the side + (first) is the cell of the lower number. */
weft_status weft_space_interior_make(const weft_space *space, int group, weft_space_sides *out,
                                     weft_error *error);
/** The cells of a group of cells, as they are (not reoriented), for integrals over this group alone;
 *  n_sides is 1.
 *  group   its index in the mesh; a group of another dimension has no cells
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_space_group_cells_make(const weft_space *space, int group, weft_space_sides *out,
                                        weft_error *error);
void weft_space_sides_free(weft_space_sides *sides);

typedef enum weft_entities_kind {
    WEFT_ENTITIES_CELLS, /* of a group of cells, or all */
    WEFT_ENTITIES_EXTERIOR,
    WEFT_ENTITIES_INTERIOR
} weft_entities_kind;
/** The nodes, or dofs, of the cells on the sides of entities. Initialise with {0}. */
typedef struct weft_entity_dofs {
    weft_connectivity *connectivity; /* entities -> nodes; or dofs, if there are several spaces */
    int32_t *indices;                /* NULL: they are the space's, or on the device alone */
    bool is_own;                     /* otherwise the connectivity is borrowed from the space */
    struct weft_share *share;        /* of dofs of several spaces, on a part of a mesh; else NULL */
    unsigned char *marks;            /* of share */
} weft_entity_dofs;
/** Nodes of one space; or dofs of several spaces over one mesh: those of the first space (node * components + k),
 *  then those of the second... An entity has all of its side + in this order, then those of -.
 *  group   as weft_space_exterior_make; -1: all cells, the whole boundary
 *  flat    dofs although there is one space
 *  out     weft_entity_dofs_free, also after an error; before the spaces
 *  Errors  those of weft_space_exterior_make; WEFT_ERROR_USAGE (different meshes) */
weft_status weft_entity_dofs_make(const weft_space *const *spaces, int n, bool flat,
                                  weft_entities_kind kind, int group, weft_entity_dofs *out,
                                  weft_error *error);
void weft_entity_dofs_free(weft_entity_dofs *dofs);

/** Input of weft_assembly_choose for a symmetric operator on the space. */
weft_assembly_problem weft_space_problem(const weft_space *space, double applications);

/* ---- forms on a space ------------------------------------------------------------------- */

enum { WEFT_FORM_INPUTS = 128 };
enum { WEFT_FORM_EXPRESSIONS = 32, WEFT_FORM_PARAMETERS = 32, WEFT_FORM_CONNECTIVITIES = 32 };

/** A weft_form with storage for its bindings. Must not be moved after weft_form_start. */
typedef struct weft_bound_form {
    weft_form form;
    weft_form_input inputs[WEFT_FORM_INPUTS];
    weft_expression expressions[WEFT_FORM_EXPRESSIONS];
    weft_parameter parameters[WEFT_FORM_PARAMETERS];
    weft_form_connectivity connectivities[WEFT_FORM_CONNECTIVITIES];
} weft_bound_form;

/** Initialise a form without bindings. name, text and dofs are borrowed. */
void weft_form_start(const char *name, const char *text, weft_connectivity *dofs,
                     weft_bound_form *out);
/** Initialise a form from a shipped script (fem/scripts), with the space's coordinates bound to x
 *  and its dimension to d.
 *  dofs    weft_space_cells, weft_space_facets.dofs, or NULL for a form over nodes; borrowed
 *  Errors  WEFT_ERROR_INTERNAL (no such script) */
weft_status weft_form_ship(const weft_space *space, const char *script, weft_connectivity *dofs,
                           weft_bound_form *out, weft_error *error);
void weft_form_bind_input(weft_bound_form *form, const char *name, weft_memory *memory);
/** Bind a formula to an expression of the script; origin names it in messages. */
void weft_form_bind_expression(weft_bound_form *form, const char *name, const char *text,
                               const char *origin);
void weft_form_bind_parameter(weft_bound_form *form, const char *name, int value);
void weft_form_bind_connectivity(weft_bound_form *form, const char *name,
                                 weft_connectivity *connectivity);
/** Run a form that returns n <= 2 lists with one number per cell, and sum each list.
 *  names  [n] of the lists
 *  sums   [n] */
weft_status weft_form_sum(weft_context *context, const weft_bound_form *form, int64_t n_cells,
                          const char *const *names, int n, double *sums, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
