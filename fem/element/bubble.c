/* Bubbles: the polynomials of a degree that vanish on the boundary of the cell, given by values at
 * equispaced nodes in its interior. */
#include "fem/element/family.h"
#include "fem/element/private.h"

static int least_degree(const weft_cell *cell) {
    return cell->simplex ? cell->dimension + 1 : 2;
}

static void count(const weft_cell *cell, int degree, int nodes[4]) {
    nodes[cell->dimension] = weft_interior_nodes(cell, degree, false, NULL);
}

static weft_status make(weft_element *e, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(e->cell);
    TRY(weft_element_make_values(e, error));
    weft_interior_nodes(cell, e->degree, false, e->functionals.points);
    e->span_degree = e->degree - cell->dimension - 1;
    e->span_vanishes = true;
    TRY(weft_element_make_functions(e, error));
done:
    return status;
}

const weft_family_row weft_family_bubble = {
    .about = {.words = "bubble",
              .prefix = "Bubble",
              .names = (const char *const[]){"Bubble", "B", "bubble", NULL},
              .broken = WEFT_BUBBLE,
              .is_continuous = true,
              .has_degree = true},
    .cells = WEFT_CELLS_ALL,
    .least_degree_on = least_degree,
    .most_degree = WEFT_ELEMENT_DEGREE_MAX,
    .count = count,
    .make = make};
