/* Quadrature elements: values at the points of the default rule of a degree, and nowhere else. */
#include "fem/element/family.h"

#include <string.h>

static void count(const weft_cell *cell, int degree, int nodes[4]) {
    weft_quadrature rule = {0};
    if (weft_quadrature_make(cell->type, WEFT_SCHEME_DEFAULT, degree, &rule, NULL) == WEFT_OK)
        nodes[cell->dimension] = rule.n;
    weft_quadrature_free(&rule);
}

static weft_status make(weft_element *e, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_quadrature rule = {0};
    TRY(weft_quadrature_make(e->cell, WEFT_SCHEME_DEFAULT, e->degree, &rule, error));
    e->n_nodes = e->located_nodes[rule.dimension] = rule.n;
    TRY(weft_element_make_values(e, error));
    memcpy(e->functionals.points, rule.points,
           (size_t)(rule.n * rule.dimension) * sizeof *rule.points);
done:
    weft_quadrature_free(&rule);
    return status;
}

const weft_family_row weft_family_quadrature = {
    .about = {.words = "quadrature",
              .prefix = "Quadrature",
              .names = (const char *const[]){"Quadrature", "Quad", NULL},
              .broken = WEFT_QUADRATURE,
              .at_points = true,
              .has_degree = true},
    .cells = WEFT_CELLS_ALL,
    .most_degree = WEFT_QUADRATURE_DEGREE_MAX,
    .count = count,
    .make = make};
