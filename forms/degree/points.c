/* Makes quadrature rules of integrals, and counts their points. */
#include "forms/degree/degree.h"

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
