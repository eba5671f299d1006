/** The families of finite elements: one table, fem/element/families.c, which fem and forms read.
 *
 *      a name of UFL, Basix or Weft -> family -> its properties
 *
 *  docs/finite-elements.md says how to add a family. */
#ifndef WEFT_FAMILY_H
#define WEFT_FAMILY_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A row of the table. Code names some of them; weft_family_find returns all. */
typedef int weft_family;
enum {
    WEFT_FAMILY_NONE = -1,
    WEFT_LAGRANGE,      /* continuous; nodes at warped Gauss-Lobatto-Legendre points (gll_warped) */
    WEFT_DISCONTINUOUS, /* the same functions and nodes, all in the interior; degree 0: constant */
    WEFT_BUBBLE,     /* polynomials of the degree that vanish on the boundary; equispaced nodes */
    WEFT_QUADRATURE, /* values at the points of the symmetric rule of the degree */
    WEFT_REAL,       /* the constant 1, one dof for the whole mesh */
    WEFT_CROUZEIX_RAVIART,      /* linear, by values at the centres of facets */
    WEFT_NEDELEC,               /* vectors with continuous tangential components, first kind */
    WEFT_NEDELEC_SECOND,        /* all polynomials of the degree */
    WEFT_RAVIART_THOMAS,        /* vectors with continuous normal components */
    WEFT_BREZZI_DOUGLAS_MARINI, /* all polynomials of the degree */
    WEFT_NEDELEC_BROKEN,        /* these four with all dofs in the interior */
    WEFT_NEDELEC_SECOND_BROKEN,
    WEFT_RAVIART_THOMAS_BROKEN,
    WEFT_BREZZI_DOUGLAS_MARINI_BROKEN
};

/** How functions on a cell follow from f on the reference cell, with the Jacobian J of the cell. */
typedef enum weft_map {
    WEFT_MAP_IDENTITY,     /* f */
    WEFT_MAP_COVARIANT,    /* J^-T f: tangential components are kept */
    WEFT_MAP_CONTRAVARIANT /* J f / det J: normal components are kept */
} weft_map;

/** Properties of a family. Constants all. */
typedef struct weft_family_info {
    const char *words;  /* in messages: "discontinuous Lagrange" */
    const char *prefix; /* of the names of its elements: "DG" of "DG1 triangle" */
    const char *listed; /* in lists of what there is: "discontinuous Lagrange (DG)"; NULL: prefix */
    /* by which files ask for it, the one that UFL reports first; NULL ends */
    const char *const *names;
    /* the same functions in each cell, which share no dofs with others: this family where that is
     * so already; WEFT_FAMILY_NONE */
    weft_family broken;
    weft_map map;
    bool
        is_vector; /* values of functions are vectors, with a component for each axis of the cell */
    bool is_continuous; /* functions of a space have one value at each point of a facet */
    bool is_lattice;    /* all polynomials of the degree, by values at Lagrange's nodes */
    bool is_global;     /* all cells have the same dofs */
    bool at_points;     /* functions have values at the points of the functionals alone */
    bool has_degree;    /* otherwise every degree asks for the same element */
} weft_family_info;

/** NULL: there is no such family. */
const weft_family_info *weft_family_about(weft_family family);
/** The family that has this name.
 *  out     untouched if Weft has none
 *  Returns whether it has one */
bool weft_family_find(const char *name, weft_family *out);
/** The rows of the table: families that Weft has, then those that it knows by name alone, of which only
 *  words and names are set.
 *  all     with those
 *  Returns their number */
int weft_family_count(bool all);

#ifdef __cplusplus
}
#endif
#endif
