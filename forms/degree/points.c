/* Makes quadrature rules of integrals, and counts their points. */
#include "forms/degree/degree.h"

weft_cell_type ufl_weft_cell(ufl_cell_type cell) {
    static const weft_cell_type types[] = {
        [UFL_INTERVAL] = WEFT_INTERVAL,           [UFL_TRIANGLE] = WEFT_TRIANGLE,
        [UFL_QUADRILATERAL] = WEFT_QUADRILATERAL, [UFL_TETRAHEDRON] = WEFT_TETRAHEDRON,
        [UFL_HEXAHEDRON] = WEFT_HEXAHEDRON,       [UFL_VERTEX] = WEFT_POINT,
    };
    return types[cell];
}

weft_family ufl_weft_family(const ufl_element *scalar) {
    static const weft_family families[] = {[UFL_LAGRANGE] = WEFT_LAGRANGE,
                                           [UFL_BUBBLE] = WEFT_BUBBLE,
                                           [UFL_REAL] = WEFT_REAL,
                                           [UFL_QUADRATURE] = WEFT_QUADRATURE};
    if (scalar->family == UFL_LAGRANGE && (scalar->discontinuous || scalar->degree == 0))
        return WEFT_DISCONTINUOUS;
    return families[scalar->family];
}

weft_status ufl_rule_make(ufl_integral_type type, const ufl_mesh *mesh, ufl_rule rule, int degree,
                          weft_quadrature *out, weft_error *error) {
    static const weft_scheme schemes[] = {[UFL_RULE_DEFAULT] = WEFT_SCHEME_DEFAULT,
                                          [UFL_RULE_GAUSS_JACOBI] = WEFT_SCHEME_GAUSS_JACOBI,
                                          [UFL_RULE_GLL] = WEFT_SCHEME_GLL,
                                          [UFL_RULE_VERTEX] = WEFT_SCHEME_VERTEX};
    const weft_cell_type cell = ufl_weft_cell(mesh->cell);
    const weft_cell_type over = type == UFL_CELL              ? cell
                                : type == UFL_VERTEX_INTEGRAL ? WEFT_POINT
                                                              : weft_cell_of(cell)->facet;
    return weft_quadrature_make(over, schemes[rule], degree, out, error);
}

int ufl_rule_points(ufl_integral_type type, const ufl_mesh *mesh, ufl_rule rule, int degree) {
    weft_quadrature made = {0};
    if (ufl_rule_make(type, mesh, rule, degree, &made, NULL) != WEFT_OK)
        return -1;
    const int n = made.n;
    weft_quadrature_free(&made);
    return n;
}
