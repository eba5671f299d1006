/** Finite elements on reference cells: topology, nodes, tabulation and quadrature.
 *
 *      cell type -> reference cell;  family, cell, degree -> element;  points -> tables
 *      cell type, scheme, degree -> points and weights
 *
 *  Numbering, nodes and the order of derivatives are those of Basix 0.11, so that tensors can be
 *  compared with those of FFCx entry by entry:
 *
 *      2          2---3      y         edges   triangle (1,2) (0,2) (0,1)
 *      |\         |   |      |                 tetrahedron (2,3) (1,3) (1,2) (0,3) (0,2) (0,1)
 *      0-1        0---1      o- x              others: ascending pairs of vertices
 *
 *  Vertices are the origin and the unit vectors on simplices, and all 0/1 tuples with x fastest on
 *  quadrilaterals and hexahedra. Nodes stand on vertices, then edges, faces and the interior. On an
 *  entity they run along its first axis first; the axes are its first vertex to its second, to its
 *  third (and to its fifth on a hexahedron). */
#ifndef WEFT_ELEMENT_H
#define WEFT_ELEMENT_H

#include "core/weft_core.h"
#include "fem/weft_family.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reference cells -------------------------------------------------------------------- */

typedef enum weft_cell_type {
    WEFT_POINT,
    WEFT_INTERVAL,
    WEFT_TRIANGLE,
    WEFT_TETRAHEDRON,
    WEFT_QUADRILATERAL,
    WEFT_HEXAHEDRON,
    WEFT_CELL_TYPES
} weft_cell_type;

typedef struct weft_cell {
    const char *name; /* "triangle" */
    const char *plural;
    weft_cell_type type, facet; /* facet: type of the entities of dimension d - 1 */
    int dimension;              /* d */
    bool simplex;               /* otherwise a tensor product of intervals; see weft_cell_of */
    int n_entities[4];          /* vertices, edges, faces, volumes */
    int base;                   /* the facet on which the last coordinate is 0 */
    double measure;             /* 1/d! or 1 */
    const double (*vertices)[3];
    const signed char (*edges)[2]; /* [n_entities[1]][2] */
    const signed char (*faces)[4]; /* [n_entities[2]][3 or 4] */
} weft_cell;

/** The reference cell of a type. Points and intervals count as simplices. */
const weft_cell *weft_cell_of(weft_cell_type type);
/** The cell with this name, or NULL. */
const weft_cell *weft_cell_by_name(const char *name);
/** Vertices of an entity.
 *  vertices  [n], n returned: 1 to 8 */
int weft_cell_entity(const weft_cell *cell, int dimension, int entity, int vertices[8]);
/** The centre of a cell, [d]. */
void weft_cell_centre(const weft_cell *cell, double *out);
/** Type of the entities of this dimension, at most d. */
weft_cell_type weft_cell_entity_type(const weft_cell *cell, int dimension);

/* ---- elements --------------------------------------------------------------------------- */

enum { WEFT_ELEMENT_DEGREE_MAX = 12 };

/** Degrees of the elements of a family on a cell; false: it has none there. */
bool weft_family_degrees(weft_family family, weft_cell_type cell, int *least, int *most);
/** Number of functions of such an element. */
int weft_family_functions(weft_family family, weft_cell_type cell, int degree);

/** What makes numbers of a function f on the reference cell, one for each dof:
 *  number i = sum over its terms t and components k of weights[t][k] f_k(points[point[t]]) */
typedef struct weft_functionals {
    int n_points;
    double *points;  /* [n_points][d] */
    int *first;      /* [n_nodes + 1]: the terms of number i are first[i] .. first[i + 1] - 1 */
    int *point;      /* [terms] */
    double *weights; /* [terms][value_size] */
} weft_functionals;

/** An element: n nodes, one for each function and its functional, which is 1 for this function and 0
 *  for the others. Free with weft_element_free. */
typedef struct weft_element {
    weft_family family;
    weft_cell_type cell;
    int degree;
    int value_size; /* components of the functions */
    weft_map map;
    int n_nodes;
    int entity_nodes[4];  /* nodes in the interior of each entity of dimension 0 .. 3, as shared */
    int located_nodes[4]; /* the same, as they are placed */
    weft_functionals functionals;
    double *points;     /* [n_nodes][d]: nodes are at the mean of their functional's points */
    bool is_pointwise;  /* functional i is the value at points[i] */
    int lattice_degree; /* of all polynomials of this degree, by values at Lagrange's nodes; or 0 */
    struct weft_element *line; /* the element of the interval, on quadrilaterals and hexahedra */
    int *lattice;    /* [n_nodes][d]: function i is the product of functions lattice[i] of line */
    int span_degree; /* of the orthonormal polynomials of which functions consist, */
    bool span_vanishes;   /* each times the bubble, so that they vanish on the boundary */
    double *coefficients; /* [n_nodes][value_size][polynomials]; NULL with a line, or constants */
} weft_element;

/** family, cell, degree   degree 0 to WEFT_ELEMENT_DEGREE_MAX (Lagrange from 1, bubbles from the
 *                         least degree that has one; quadrature: that of the rule)
 *  out     caller's; weft_element_free
 *  Errors  WEFT_ERROR_UNSUPPORTED (no such element; names the degrees or cells), WEFT_ERROR_MEMORY; *out
 *          untouched
 *  Source  Warburton 2006, J. Eng. Math. 56, 247 (warping with the blend 4 a b / (1 - (a - b)^2)
 *          on each pair of barycentric coordinates a, b); Dubiner 1991 (orthonormal basis) */
weft_status weft_element_make(weft_family family, weft_cell_type cell, int degree,
                              weft_element **out, weft_error *error);
void weft_element_free(weft_element **element);
/** First of the nodes in the interior of an entity; the others follow it. */
int weft_element_first_node(const weft_element *element, int dimension, int entity);
/** Nodes on an entity and its boundary, in the order of the vertices, edges... of its own type, so that tables
 *  of the Lagrange element of that type fit where the nodes are a lattice.
 *  nodes   [n], n returned: at most element->n_nodes */
int weft_element_entity_closure(const weft_element *element, int dimension, int entity, int *nodes);
/** The nodes are the vertices of the cell: those of a space are the nodes of its mesh. */
bool weft_element_is_on_vertices(const weft_element *element);
/** A node at each vertex of the cell is the value there. */
bool weft_element_has_vertices(const weft_element *element);
/** The functions are constant in each cell. */
bool weft_element_is_constant(const weft_element *element);
/** Cells share nodes of the element on their facets, edges or vertices. */
bool weft_element_is_shared(const weft_element *element);
/** The functionals of one element of all functions of another one of the same cell.
 *  table   [n_nodes of to][n_nodes of from], caller's
 *  Errors  WEFT_ERROR_USAGE (other sizes of values; `from` has no values there), WEFT_ERROR_MEMORY */
weft_status weft_element_interpolate(const weft_element *from, const weft_element *to,
                                     double *table, weft_error *error);
/** The functionals of a function with these values at their points, [n_points][value_size].
 *  out     [n_nodes] */
void weft_element_apply(const weft_element *element, const double *values, double *out);
/** The nodes in the same order with equispaced points instead of warped ones.
 *  points  [n_nodes][d]
 *  Errors  WEFT_ERROR_USAGE (not a Lagrange element of degree 1 or more), WEFT_ERROR_MEMORY */
weft_status weft_element_equispaced(const weft_element *element, double *points, weft_error *error);
/** Where the nodes are in a cell whose vertices are listed in another order.
 *  vertices  [v], a symmetry of the cell: vertex i of the new list is vertex vertices[i] of the old
 *  nodes     [n_nodes]: node i of the new cell is node nodes[i] of the old
 *  Returns false if that maps a node onto none, as for points of an asymmetric rule */
bool weft_element_permute(const weft_element *element, const int *vertices, int *nodes);

/** Number of partial derivatives of orders 0 to `order` in d variables: (order+d)! / (order! d!). */
int weft_derivative_count(int d, int order);
/** Position of the derivative d^(p+q+r) / dx^p dy^q dz^r, powers [d], in a table:
 *
 *      d = 1   p
 *      d = 2   (p+q)(p+q+1)/2 + q                          1, x, y, xx, xy, yy
 *      d = 3   (p+q+r)(p+q+r+1)(p+q+r+2)/6 + (q+r)(q+r+1)/2 + r     1, x, y, z, xx, xy, xz, yy... */
int weft_derivative_index(int d, const int *powers);
/** Tabulate all functions and their derivatives by reference coordinates.
 *  order   highest order of derivatives, 0 to 8
 *  points  [n_points][d], inside the cell or not
 *  values  [weft_derivative_count(d, order)][n_points][n_nodes][value_size], caller's
 *  Errors  WEFT_ERROR_USAGE: another order; a quadrature element at other points than its own, or
 *          with derivatives. WEFT_ERROR_MEMORY
 *  Error of rounding: 1e-13 of the greatest value up to degree 8 */
weft_status weft_element_tabulate(const weft_element *element, int order, int n_points,
                                  const double *points, double *values, weft_error *error);

/* ---- quadrature ------------------------------------------------------------------------- */

typedef enum weft_scheme {
    WEFT_SCHEME_DEFAULT, /* symmetric on triangles up to degree 20 and on tetrahedra up to 18; else the next */
    WEFT_SCHEME_GAUSS_JACOBI, /* degree / 2 + 1 points a direction, collapsed on simplices */
    WEFT_SCHEME_GLL,          /* Gauss-Lobatto-Legendre, (degree + 4) / 2 a direction */
    WEFT_SCHEME_VERTEX        /* the vertices with equal weights, exact for degree 1 */
} weft_scheme;

enum { WEFT_QUADRATURE_DEGREE_MAX = 100 };

typedef struct weft_quadrature {
    int n, dimension;
    double *points;  /* [n][dimension]; inside the cell */
    double *weights; /* [n]; positive; their sum is the measure of the cell */
} weft_quadrature;

/** A rule that integrates polynomials up to the degree exactly (total degree on simplices, in each
 *  variable on quadrilaterals and hexahedra), except WEFT_SCHEME_VERTEX, whose degree is ignored.
 *  On a point: one point of weight 1.
 *  Layout  tensor and collapsed products: last axis fastest. Collapsed: x = a (1 - b)(1 - c),
 *          y = b (1 - c), z = c
 *  out     weft_quadrature_free
 *  Errors  WEFT_ERROR_USAGE (degree), WEFT_ERROR_UNSUPPORTED (GLL on a triangle or tetrahedron),
 *          WEFT_ERROR_MEMORY; *out untouched
 *  Source  Stroud 1971, section 2.8; Karniadakis and Sherwin 2005, appendix B; symmetric rules:
 *          fem/element/symmetric.c */
weft_status weft_quadrature_make(weft_cell_type cell, weft_scheme scheme, int degree,
                                 weft_quadrature *out, weft_error *error);
void weft_quadrature_free(weft_quadrature *rule);

#ifdef __cplusplus
}
#endif
#endif
