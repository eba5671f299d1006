/* The parts of a family that elements are made of. In: a row of the table. Out: points, functionals and
 * functions of an element. */
#pragma once

#include "fem/weft_element.h"

/** How the elements of a family are made. All but about, cells, count and make may be left out. */
typedef struct weft_family_row {
    weft_family_info about;
    unsigned cells; /* bit 1 << type for each type of cell that has elements */
    int least_degree, most_degree;
    /** Where the least degree depends on the cell. */
    int (*least_degree_on)(const weft_cell *cell);
    /** Nodes in the interior of each entity of dimension 0 .. 3, at their places.
     *  nodes  [4], zeros before the call */
    void (*count)(const weft_cell *cell, int degree, int nodes[4]);
    /** Fill in functionals, functions and what is not 0 of span and lattice. What it allocates is the
     *  element's, also after an error. */
    weft_status (*make)(weft_element *element, weft_error *error);
} weft_family_row;

enum { WEFT_CELLS_ALL = (1 << WEFT_CELL_TYPES) - 1 };

/** NULL: there is no such family, or it is known by name alone. */
const weft_family_row *weft_family_row_of(weft_family family);

/** Put the nodes at the mean of the points of their functionals. */
weft_status weft_element_place_nodes(weft_element *element, weft_error *error);

/* ---- for the function that makes an element ---------------------------------------------- */

/** Functionals with n_terms terms at n_points points, all zeros. */
weft_status weft_element_make_functionals(weft_element *element, int n_points, int n_terms,
                                          weft_error *error);
/** Functionals that are values at one point each; the points are zeros. */
weft_status weft_element_make_values(weft_element *element, weft_error *error);
/** The functions whose functionals are 1 and 0: on simplices among the polynomials up to span_degree
 *  (times the bubble, if span_vanishes), as many as nodes; on quadrilaterals and hexahedra products of
 *  those of the same family and degree on the interval. */
weft_status weft_element_make_functions(weft_element *element, weft_error *error);
/** The same among the functions with a basis, on a simplex.
 *  span  [n_nodes][value_size][polynomials up to span_degree] coefficients */
weft_status weft_element_make_functions_in(weft_element *element, const double *span,
                                           weft_error *error);
