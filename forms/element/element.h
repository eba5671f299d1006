/** Descriptors of cells, finite elements, meshes and function spaces of form files.
 *  In: what a form file says. Out: immutable descriptors; equal elements and spaces are one object, so
 *  pointers compare. Nothing is tabulated here (fem/element does that from family, cell, degree). */
#pragma once

#include "fem/weft_element.h"
#include "forms/base/base.h"

typedef enum ufl_cell_type {
    UFL_INTERVAL,
    UFL_TRIANGLE,
    UFL_QUADRILATERAL,
    UFL_TETRAHEDRON,
    UFL_HEXAHEDRON,
    UFL_VERTEX
} ufl_cell_type;

const char *ufl_cell_name(ufl_cell_type cell);
int ufl_cell_dimension(ufl_cell_type cell);
/** fem's name of a cell. */
weft_cell_type ufl_weft_cell(ufl_cell_type cell);
bool ufl_cell_is_simplex(ufl_cell_type cell);
/** The number of entities of a dimension: vertices 0, edges 1, ... the cell itself. */
int ufl_cell_entities(ufl_cell_type cell, int dimension);
/** Find a cell by name. false if there is none. */
bool ufl_cell_find(const char *name, ufl_cell_type *out);

typedef enum ufl_element_kind {
    UFL_SIMPLE,  /* an element of fem, see weft_element_make */
    UFL_BLOCKED, /* vector, tensor or symmetric tensor of sub[0]; components interleaved */
    UFL_MIXED,   /* sub[0], sub[1], ...: values and dofs one after another */
    UFL_ENRICHED /* sum of scalar elements */
} ufl_element_kind;

typedef struct ufl_element {
    ufl_element_kind kind;
    weft_family family; /* of simple ones */
    ufl_cell_type cell;
    int degree;      /* as given; of a tree: the largest */
    int superdegree; /* UFL's embedded superdegree: what degree estimation counts */
    bool discontinuous;
    bool symmetric;     /* blocked: only the components i >= j have dofs, row by row */
    bool tensor_order;  /* dofs numbered lexicographically (basix.create_tp_element) */
    const char *scheme; /* quadrature elements: "default", "GLL", "vertex", "gauss_jacobi" */
    int n_sub;
    const struct ufl_element *const *sub;
    int rank, shape[UFL_RANK_MAX]; /* of the value */
    int value_size;                /* product of the shape */
    int block_size;                /* blocked: components with dofs; else 1 */
    int n_dofs;                    /* of one cell */
    /* of a simple element of vectors: component k of its functions on the reference cell, as a scalar element; else NULL */
    const struct ufl_element *const *components;
    int component;    /* of such a component: k + 1; 0: otherwise */
    const char *name; /* unique: "P2 triangle", "(2,) x P2 triangle" */
} ufl_element;

typedef struct ufl_mesh {
    const ufl_element *coordinates; /* blocked Lagrange element of shape (gdim,) */
    ufl_cell_type cell;
    int gdim, tdim;
    int number;    /* order of creation */
    int64_t id;    /* of a form object */
    bool straight; /* cells are given by their vertices */
    bool affine;   /* straight simplices */
} ufl_mesh;

typedef struct ufl_space {
    const ufl_mesh *mesh;
    const ufl_element *element;
} ufl_space;

/** All descriptors of a form file. */
typedef struct ufl_elements {
    ufl_context *context;
    const ufl_element **elements;
    const ufl_space **spaces;
    ufl_mesh **meshes, **legacy;
    int n_elements, n_spaces, n_meshes, n_legacy;
} ufl_elements;

/** A scalar element by one of the names of its family in the table of fem (weft_family_find).
 *  Errors  unknown family, with the nearest; families that Weft does not have, by name; cells and
 *          degrees that the family does not have */
const ufl_element *ufl_element_make(ufl_elements *elements, const char *family, ufl_cell_type cell,
                                    int degree, bool discontinuous);
const ufl_element *ufl_element_blocked(ufl_elements *elements, const ufl_element *sub,
                                       const int *shape, int rank, bool symmetric);
const ufl_element *ufl_element_mixed(ufl_elements *elements, const ufl_element *const *sub, int n);
const ufl_element *ufl_element_enriched(ufl_elements *elements, const ufl_element *const *sub,
                                        int n);
const ufl_element *ufl_element_quadrature(ufl_elements *elements, ufl_cell_type cell, int degree,
                                          const char *scheme);
/** Properties of the family of a simple element; none are true of others. */
const weft_family_info *ufl_element_about(const ufl_element *element);
/** A simple element of all polynomials of its degree, by values at the nodes of Lagrange's element in
 *  their usual order. */
bool ufl_element_is_lattice(const ufl_element *element);
/** A simple element of functions that are constant in each cell, with one dof there. */
bool ufl_element_is_constant(const ufl_element *element);
/** Are the gradients of its functions constant in each cell with an affine map? */
bool ufl_element_has_constant_gradients(const ufl_element *element);
/** The points at which a quadrature element has its values, in their order.
 *  out     weft_quadrature_free
 *  Errors  those of weft_quadrature_make */
weft_status ufl_element_rule(const ufl_element *element, weft_quadrature *out, weft_error *error);
/** Of a component of an element's value: the simple element of vectors that it belongs to, or NULL.
 *  component  gets its number in that element's value */
const ufl_element *ufl_element_vector(const ufl_element *element, int flat, int *component);
/** Are some of the simple elements that it is made of elements of vectors? */
bool ufl_element_has_vectors(const ufl_element *element);
/** The same Lagrange element with lexicographic dofs. */
const ufl_element *ufl_element_tensor_order(ufl_elements *elements, const ufl_element *element);
/** Is a quadrature element among the element and its parts? */
const ufl_element *ufl_element_find_quadrature(const ufl_element *element);
/** The component of sub[0] of a blocked element that component `flat` of the value shows:
 *  symmetric elements map (1, 0) to (0, 1). */
int ufl_element_block(const ufl_element *element, int flat);

/** A new mesh. */
const ufl_mesh *ufl_mesh_make(ufl_elements *elements, const ufl_element *coordinates);
/** The affine mesh of a cell that legacy form files imply: always the same one. */
const ufl_mesh *ufl_mesh_legacy(ufl_elements *elements, ufl_cell_type cell, int gdim);
const ufl_space *ufl_space_make(ufl_elements *elements, const ufl_mesh *mesh,
                                const ufl_element *element);
