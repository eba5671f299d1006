/* Components of elements as functions of scalar elements, and the tables of these. */
#include "forms/lower/private.h"

#include <string.h>

weft_cell_type ufl_weft_cell(ufl_cell_type cell) {
    static const weft_cell_type types[] = {
        [UFL_INTERVAL] = WEFT_INTERVAL,           [UFL_TRIANGLE] = WEFT_TRIANGLE,
        [UFL_QUADRILATERAL] = WEFT_QUADRILATERAL, [UFL_TETRAHEDRON] = WEFT_TETRAHEDRON,
        [UFL_HEXAHEDRON] = WEFT_HEXAHEDRON,       [UFL_VERTEX] = WEFT_POINT,
    };
    return types[cell];
}

typedef struct part_list {
    ufl_context *context;
    ufl_part *list;
    int n;
} part_list;

static bool add_parts(part_list *parts, const ufl_element *element, int flat, int first,
                      int stride) {
    switch (element->family) {
    case UFL_BLOCKED:
        return add_parts(parts, element->sub[0], 0,
                         first + stride * ufl_element_block(element, flat),
                         stride * element->block_size);
    case UFL_MIXED: {
        int dofs = 0;
        for (int i = 0; i < element->n_sub; ++i) {
            if (flat < element->sub[i]->value_size)
                return add_parts(parts, element->sub[i], flat, first + stride * dofs, stride);
            flat -= element->sub[i]->value_size;
            dofs += element->sub[i]->n_dofs;
        }
        return false;
    }
    case UFL_ENRICHED:
        /* Basix gives the sum a nodal basis of its own, so that its functions are not those of its parts. */
        return ufl_fail(parts->context, WEFT_ERROR_UNSUPPORTED,
                        "sums of elements (%s) are not compiled", element->name);
    default:
        parts->list[parts->n++] = (ufl_part){element, first, stride};
        return true;
    }
}

int ufl_component_parts(ufl_context *context, const ufl_element *element, int flat,
                        ufl_part parts[UFL_PARTS_MAX]) {
    part_list list = {context, parts, 0};
    return add_parts(&list, element, flat, 0, 1) ? list.n : -1;
}

int ufl_tabulate(ufl_context *context, const ufl_element *scalar, int order, int n_points,
                 const double *points, double **out) {
    static const weft_family families[] = {[UFL_LAGRANGE] = WEFT_LAGRANGE,
                                           [UFL_BUBBLE] = WEFT_BUBBLE,
                                           [UFL_REAL] = WEFT_REAL,
                                           [UFL_QUADRATURE] = WEFT_QUADRATURE};
    const int d = ufl_cell_dimension(scalar->cell);
    weft_element *element = NULL;
    weft_family family = families[scalar->family];
    if (family == WEFT_LAGRANGE && (scalar->discontinuous || scalar->degree == 0))
        family = WEFT_DISCONTINUOUS;
    if (scalar->tensor_order)
        return ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "elements with lexicographic numbering"),
               -1;
    weft_error error = {0};
    weft_status status =
        weft_element_make(family, ufl_weft_cell(scalar->cell), scalar->degree, &element, &error);
    int n = -1;
    if (status == WEFT_OK) {
        n = element->n_nodes;
        *out = ufl_alloc(context, (size_t)(weft_derivative_count(d, order) * n_points * n),
                         sizeof **out);
        status = *out ? weft_element_tabulate(element, order, n_points, points, *out, &error)
                      : WEFT_ERROR_MEMORY;
    }
    weft_element_free(&element);
    if (status == WEFT_OK)
        return n;
    ufl_fail(context, status, "%s: %s", scalar->name, error.message);
    return -1;
}
