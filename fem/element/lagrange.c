/* Lagrange elements, continuous or not: all polynomials of a degree, given by values at the nodes of a
 * lattice (nodes.c); of degree 0 the constant, given by the value at the centre. */
#include "fem/element/family.h"
#include "fem/element/private.h"

static void count(const weft_cell *cell, int degree, int nodes[4]) {
    if (degree > 0)
        weft_lagrange_nodes(cell, degree, true, NULL, nodes);
    else
        nodes[cell->dimension] = 1;
}

static weft_status make(weft_element *e, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(e->cell);
    int nodes[4];
    TRY(weft_element_make_values(e, error));
    if (e->degree == 0)
        weft_cell_centre(cell, e->functionals.points);
    else if (weft_lagrange_nodes(cell, e->degree, true, e->functionals.points, nodes) < 0)
        TRY(weft_out_of_memory(error, "the nodes of an element"));
    e->span_degree = e->degree;
    TRY(weft_element_make_functions(e, error));
done:
    return status;
}

const weft_family_row weft_family_lagrange = {
    .about = {.words = "Lagrange",
              .prefix = "P",
              .listed = "Lagrange (P, Q)",
              .names = (const char *const[]){"Lagrange", "P", "CG", "Q", NULL},
              .broken = WEFT_DISCONTINUOUS,
              .is_lattice = true,
              .is_continuous = true,
              .has_degree = true},
    .cells = WEFT_CELLS_ALL,
    .least_degree = 1,
    .most_degree = WEFT_ELEMENT_DEGREE_MAX,
    .count = count,
    .make = make};

const weft_family_row weft_family_discontinuous = {
    .about = {.words = "discontinuous Lagrange",
              .prefix = "DG",
              .listed = "discontinuous Lagrange (DG)",
              .names = (const char *const[]){"Discontinuous Lagrange", "DG", "DP", "DQ",
                                             "Discontinuous P", NULL},
              .broken = WEFT_DISCONTINUOUS,
              .is_lattice = true,
              .has_degree = true},
    .cells = WEFT_CELLS_ALL,
    .most_degree = WEFT_ELEMENT_DEGREE_MAX,
    .count = count,
    .make = make};
