/* Counts the points of quadrature rules. */
#include "forms/degree/degree.h"

#include "fem/weft_element.h"

int ufl_rule_points(ufl_integral_type type, const ufl_mesh *mesh, ufl_rule rule, int degree) {
    static const struct {
        weft_cell_type cell, facet;
    } cells[] = {[UFL_INTERVAL] = {WEFT_INTERVAL, WEFT_POINT},
                 [UFL_TRIANGLE] = {WEFT_TRIANGLE, WEFT_INTERVAL},
                 [UFL_QUADRILATERAL] = {WEFT_QUADRILATERAL, WEFT_INTERVAL},
                 [UFL_TETRAHEDRON] = {WEFT_TETRAHEDRON, WEFT_TRIANGLE},
                 [UFL_HEXAHEDRON] = {WEFT_HEXAHEDRON, WEFT_QUADRILATERAL},
                 [UFL_VERTEX] = {WEFT_POINT, WEFT_POINT}};
    static const weft_scheme schemes[] = {[UFL_RULE_DEFAULT] = WEFT_SCHEME_DEFAULT,
                                          [UFL_RULE_GAUSS_JACOBI] = WEFT_SCHEME_GAUSS_JACOBI,
                                          [UFL_RULE_GLL] = WEFT_SCHEME_GLL,
                                          [UFL_RULE_VERTEX] = WEFT_SCHEME_VERTEX};
    weft_quadrature made = {0};
    weft_cell_type cell = type == UFL_CELL              ? cells[mesh->cell].cell
                          : type == UFL_VERTEX_INTEGRAL ? WEFT_POINT
                                                        : cells[mesh->cell].facet;
    if (weft_quadrature_make(cell, schemes[rule], degree, &made, NULL) != WEFT_OK)
        return -1;
    int n = made.n;
    weft_quadrature_free(&made);
    return n;
}
