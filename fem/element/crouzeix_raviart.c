/* Crouzeix and Raviart's elements: linear functions by their values at the centres of facets. */
#include "fem/element/family.h"

static void count(const weft_cell *cell, int degree, int nodes[4]) {
    (void)degree;
    nodes[cell->dimension - 1] = 1;
}

static weft_status make(weft_element *e, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(e->cell);
    const int d = cell->dimension;
    TRY(weft_element_make_values(e, error));
    for (int facet = 0; facet < e->n_nodes; ++facet) {
        int vertices[8];
        const int n = weft_cell_entity(cell, d - 1, facet, vertices);
        for (int k = 0; k < n * d; ++k)
            e->functionals.points[facet * d + k % d] += cell->vertices[vertices[k / d]][k % d] / n;
    }
    e->span_degree = 1;
    TRY(weft_element_make_functions(e, error));
done:
    return status;
}

const weft_family_row weft_family_crouzeix_raviart = {
    .about = {.words = "Crouzeix-Raviart",
              .prefix = "CR",
              .listed = "Crouzeix-Raviart (CR)",
              .names = (const char *const[]){"CR", "Crouzeix-Raviart", NULL},
              .broken = WEFT_FAMILY_NONE,
              .has_degree = true},
    .cells = 1 << WEFT_TRIANGLE | 1 << WEFT_TETRAHEDRON,
    .least_degree = 1,
    .most_degree = 1,
    .count = count,
    .make = make};
