/* The geometry of a cell as scalar expressions: Jacobian, normal, sizes. */
#include "core/base/fault.h"
#include "forms/lower/private.h"

#include <math.h>

static int vertex(ufl_lowering *l, int v, int i) {
    const int n = l->mesh->coordinates->sub[0]->n_dofs;
    return ufl_scalar_leaf(&l->scalars, SCALAR_VERTEX, v + l->side * n, i, -1, true);
}

static int square(ufl_lowering *l, int a) {
    return ufl_scalar_multiply(&l->scalars, a, a);
}

static int difference(ufl_lowering *l, int v, int w, int i) {
    return ufl_scalar_subtract(&l->scalars, vertex(l, v, i), vertex(l, w, i));
}

int ufl_jacobian(ufl_lowering *l, int i, int j) {
    if (l->jacobian[l->side][i][j] < 0)
        l->jacobian[l->side][i][j] =
            l->mesh->affine ? difference(l, j + 1, 0, i)
                            : ufl_scalar_leaf(&l->scalars, SCALAR_JACOBIAN, i, j, l->side, false);
    return l->jacobian[l->side][i][j];
}

int ufl_jacobian_gradient(ufl_lowering *l, int i, int j, int k) {
    int powers[3] = {0};
    ++powers[j];
    ++powers[k];
    return l->mesh->affine
               ? ufl_scalar_number(&l->scalars, 0)
               : ufl_scalar_leaf(&l->scalars, SCALAR_CURVATURE, i,
                                 weft_derivative_index(l->mesh->tdim, powers), l->side, false);
}

/* sum_i J_ia J_ib, the metric of cells that are not as high-dimensional as the space. */
static int metric(ufl_lowering *l, int a, int b) {
    int sum = ufl_scalar_number(&l->scalars, 0);
    for (int i = 0; i < l->mesh->gdim; ++i)
        sum = ufl_scalar_add(
            &l->scalars, sum,
            ufl_scalar_multiply(&l->scalars, ufl_jacobian(l, i, a), ufl_jacobian(l, i, b)));
    return sum;
}

/* det J^T J, of one or two columns. */
static int metric_determinant(ufl_lowering *l) {
    ufl_scalars *s = &l->scalars;
    if (l->mesh->tdim == 1)
        return metric(l, 0, 0);
    return ufl_scalar_subtract(s, ufl_scalar_multiply(s, metric(l, 0, 0), metric(l, 1, 1)),
                               ufl_scalar_multiply(s, metric(l, 0, 1), metric(l, 0, 1)));
}

/* (J^T J)^-1 J^T */
static int pseudo_inverse(ufl_lowering *l, int i, int j) {
    ufl_scalars *s = &l->scalars;
    const int other = 1 - i;
    int above = ufl_jacobian(l, j, i);
    if (l->mesh->tdim == 2)
        above =
            ufl_scalar_subtract(s, ufl_scalar_multiply(s, metric(l, other, other), above),
                                ufl_scalar_multiply(s, metric(l, 0, 1), ufl_jacobian(l, j, other)));
    return ufl_scalar_divide(s, above, metric_determinant(l));
}

/* A minor of the Jacobian without row i and column j, with its sign. */
static int cofactor(ufl_lowering *l, int i, int j) {
    ufl_scalars *s = &l->scalars;
    const int d = l->mesh->tdim;
    if (d == 1)
        return ufl_scalar_number(s, 1);
    if (d == 2) {
        const int one = ufl_jacobian(l, 1 - i, 1 - j);
        return (i + j) % 2 ? ufl_scalar_multiply(s, ufl_scalar_number(s, -1), one) : one;
    }
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return ufl_scalar_subtract(
        s, ufl_scalar_multiply(s, ufl_jacobian(l, i1, j1), ufl_jacobian(l, i2, j2)),
        ufl_scalar_multiply(s, ufl_jacobian(l, i1, j2), ufl_jacobian(l, i2, j1)));
}

int ufl_jacobian_determinant(ufl_lowering *l) {
    if (l->determinant[l->side] < 0) {
        const bool square = l->mesh->gdim == l->mesh->tdim;
        int sum = square ? ufl_scalar_number(&l->scalars, 0)
                         : ufl_scalar_function(&l->scalars, "sqrt", metric_determinant(l));
        for (int j = 0; square && j < l->mesh->tdim; ++j)
            sum = ufl_scalar_add(
                &l->scalars, sum,
                ufl_scalar_multiply(&l->scalars, ufl_jacobian(l, 0, j), cofactor(l, 0, j)));
        if (l->acts && !l->mesh->affine)
            sum = ufl_scalar_leaf(&l->scalars, SCALAR_DETERMINANT, sum, -1, -1, false);
        l->determinant[l->side] = sum;
    }
    return l->determinant[l->side];
}

int ufl_jacobian_reciprocal(ufl_lowering *l) {
    const int determinant = ufl_jacobian_determinant(l);
    if (!l->collects)
        return ufl_scalar_divide(&l->scalars, ufl_scalar_number(&l->scalars, 1), determinant);
    const int reciprocal = ufl_scalar_function(&l->scalars, "reciprocal", determinant);
    l->scalars.collected = reciprocal + 1;
    return reciprocal;
}

int ufl_jacobian_adjugate(ufl_lowering *l, int i, int j) {
    return cofactor(l, j, i);
}

int ufl_jacobian_inverse(ufl_lowering *l, int i, int j) {
    if (l->inverse[l->side][i][j] < 0 && l->mesh->gdim != l->mesh->tdim)
        l->inverse[l->side][i][j] = pseudo_inverse(l, i, j);
    if (l->inverse[l->side][i][j] < 0) {
        const int reciprocal = ufl_jacobian_reciprocal(l);
        l->inverse[l->side][i][j] = ufl_scalar_multiply(&l->scalars, reciprocal, cofactor(l, j, i));
    }
    return l->inverse[l->side][i][j];
}

static int root_of_squares(ufl_lowering *l, const int *parts, int n) {
    int sum = ufl_scalar_number(&l->scalars, 0);
    for (int i = 0; i < n; ++i)
        sum = ufl_scalar_add(&l->scalars, sum, square(l, parts[i]));
    return ufl_scalar_function(&l->scalars, "sqrt", sum);
}

/* The outer normal of a facet of the reference cell, of length 1, and the facet's measure relative to
 * that of its own reference cell. */
static double reference_normal(const weft_cell *cell, int facet, double normal[3]) {
    int v[8];
    const int d = cell->dimension, n = weft_cell_entity(cell, d - 1, facet, v);
    double e[2][3] = {{0}}, inner[3] = {0}, centre[3] = {0}, length = 0, side = 0;
    for (int c = 0; c < d; ++c) {
        for (int i = 0; i < d - 1; ++i)
            e[i][c] = cell->vertices[v[i + 1]][c] - cell->vertices[v[0]][c];
        for (int i = 0; i < n; ++i)
            centre[c] += cell->vertices[v[i]][c] / n;
        for (int i = 0; i < cell->n_entities[0]; ++i)
            inner[c] += cell->vertices[i][c] / cell->n_entities[0];
    }
    if (d == 1)
        normal[0] = 1;
    else if (d == 2)
        normal[0] = e[0][1], normal[1] = -e[0][0];
    else
        for (int c = 0; c < 3; ++c)
            normal[c] =
                e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3];
    for (int c = 0; c < d; ++c) {
        length += normal[c] * normal[c];
        side += normal[c] * (centre[c] - inner[c]);
    }
    length = sqrt(length);
    for (int c = 0; c < d; ++c)
        normal[c] *= (side < 0 ? -1 : 1) / length;
    return length;
}

/* Component i of K^T n, the normal of the facet before it gets length 1. */
static int mapped_normal(ufl_lowering *l, const double *normal, int i) {
    int sum = ufl_scalar_number(&l->scalars, 0);
    for (int r = 0; r < l->mesh->tdim; ++r)
        sum = ufl_scalar_add(&l->scalars, sum,
                             ufl_scalar_multiply(&l->scalars,
                                                 ufl_scalar_number(&l->scalars, normal[r]),
                                                 ufl_jacobian_inverse(l, r, i)));
    return sum;
}

static int normal_length(ufl_lowering *l, const double *normal) {
    int parts[3];
    for (int i = 0; i < l->mesh->gdim; ++i)
        parts[i] = mapped_normal(l, normal, i);
    return root_of_squares(l, parts, l->mesh->gdim);
}

int ufl_weight_scale(ufl_lowering *l) {
    if (l->scale < 0) {
        ufl_scalars *s = &l->scalars;
        const int side = l->side;
        l->side = 0;
        int scale = ufl_scalar_function(s, "abs", ufl_jacobian_determinant(l));
        if (l->facets[l->side] >= 0) {
            /* Nanson: the facet's area is |det J| |K^T n| times that in the reference cell. On surfaces in
             * space, too: det (J^T J) n.(J^T J)^-1 n is the square of the length of J t, t normal to n. */
            double normal[3] = {0};
            const double length = reference_normal(weft_cell_of(ufl_weft_cell(l->mesh->cell)),
                                                   l->facets[l->side], normal);
            scale = ufl_scalar_multiply(s, ufl_scalar_number(s, length),
                                        ufl_scalar_multiply(s, scale, normal_length(l, normal)));
            if (l->mesh->tdim == 1) /* a point has measure 1 */
                scale = ufl_scalar_number(s, 1);
        }
        l->side = side;
        l->scale = scale;
    }
    return l->scale;
}

int ufl_scale_collected(ufl_lowering *l, int weight, int factor) {
    ufl_scalars *s = &l->scalars;
    int rest = -1;
    const int power = ufl_scalar_collected(s, factor, &rest), collected = s->collected;
    s->collected = 0;
    int scale = weight;
    if (power == 0)
        scale = ufl_scalar_multiply(s, weight,
                                    ufl_scalar_function(s, "abs", ufl_jacobian_determinant(l)));
    else {
        const int reciprocal = collected - 1;
        scale = ufl_scalar_multiply(
            s, weight,
            ufl_scalar_function(s, power == 1 ? "sign" : "abs",
                                power == 1 ? ufl_jacobian_determinant(l) : reciprocal));
        for (int k = 2; k < power; ++k)
            scale = ufl_scalar_multiply(s, scale, reciprocal);
    }
    const int result = ufl_scalar_is(s, rest, 1) ? scale : ufl_scalar_multiply(s, scale, rest);
    s->collected = collected;
    return result;
}

static int edge_length(ufl_lowering *l, int v, int w) {
    int parts[3];
    for (int i = 0; i < l->mesh->gdim; ++i)
        parts[i] = difference(l, v, w, i);
    return root_of_squares(l, parts, l->mesh->gdim);
}

/* The shortest ("min") or longest ("max") distance of vertices of an entity: along its edges, or of any
 * two of its vertices. */
static int extreme_length(ufl_lowering *l, const char *which, const int *v, int n,
                          bool edges_only) {
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(l->mesh->cell));
    int result = -1;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) {
            bool edge = !edges_only;
            for (int k = 0; k < cell->n_entities[1] && !edge; ++k)
                edge = (cell->edges[k][0] == v[i] && cell->edges[k][1] == v[j]) ||
                       (cell->edges[k][0] == v[j] && cell->edges[k][1] == v[i]);
            if (edge) {
                const int length = edge_length(l, v[j], v[i]);
                result =
                    result < 0 ? length : ufl_scalar_function2(&l->scalars, which, result, length);
            }
        }
    return result;
}

/* Of the circle or sphere through the vertices of a simplex. */
static int circumradius(ufl_lowering *l) {
    ufl_scalars *s = &l->scalars;
    const int volume = ufl_scalar_function(s, "abs", ufl_jacobian_determinant(l));
    if (l->mesh->tdim == 1)
        return ufl_scalar_multiply(s, ufl_scalar_number(s, 0.5), volume);
    if (l->mesh->tdim == 2) /* a b c / (4 area) = a b c / (2 |det J|) */
        return ufl_scalar_divide(
            s,
            ufl_scalar_multiply(s, edge_length(l, 1, 2),
                                ufl_scalar_multiply(s, edge_length(l, 0, 2), edge_length(l, 0, 1))),
            ufl_scalar_multiply(s, ufl_scalar_number(s, 2), volume));
    /* With products of opposite edges p, q, r: sqrt(t (t-p) (t-q) (t-r)) / (6 volume), t half their sum */
    const int products[3] = {ufl_scalar_multiply(s, edge_length(l, 2, 3), edge_length(l, 0, 1)),
                             ufl_scalar_multiply(s, edge_length(l, 1, 3), edge_length(l, 0, 2)),
                             ufl_scalar_multiply(s, edge_length(l, 1, 2), edge_length(l, 0, 3))};
    int t = ufl_scalar_number(s, 0);
    for (int k = 0; k < 3; ++k)
        t = ufl_scalar_add(s, t, ufl_scalar_multiply(s, ufl_scalar_number(s, 0.5), products[k]));
    int area = t;
    for (int k = 0; k < 3; ++k)
        area = ufl_scalar_multiply(s, area, ufl_scalar_subtract(s, t, products[k]));
    return ufl_scalar_divide(s, ufl_scalar_function(s, "sqrt", area), volume);
}

/* Component i of edge e of a facet, in the order of the facet's own edges; of the cell where facet < 0. As
 * in FFCx edges point from their second vertex to their first. */
static int edge_vector(ufl_lowering *l, int facet, int e, int i) {
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(l->mesh->cell));
    int v[8], edge[8];
    if (facet < 0)
        return difference(l, cell->edges[e][0], cell->edges[e][1], i);
    weft_cell_entity(cell, cell->dimension - 1, facet, v);
    weft_cell_entity(weft_cell_of(cell->facet), 1, e, edge);
    return difference(l, v[edge[0]], v[edge[1]], i);
}

/* d x_i / d s_k, by coordinate k of the facet's own reference cell. */
static int facet_jacobian(ufl_lowering *l, int i, int k) {
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(l->mesh->cell));
    int v[8], sum = ufl_scalar_number(&l->scalars, 0);
    weft_cell_entity(cell, cell->dimension - 1, l->facets[l->side], v);
    for (int j = 0; j < cell->dimension; ++j)
        sum = ufl_scalar_add(
            &l->scalars, sum,
            ufl_scalar_multiply(&l->scalars,
                                ufl_scalar_number(&l->scalars, cell->vertices[v[k + 1]][j] -
                                                                   cell->vertices[v[0]][j]),
                                ufl_jacobian(l, i, j)));
    return sum;
}

int ufl_quantity_scalar(ufl_lowering *l, const ufl_node *node, const int *component) {
    ufl_scalars *s = &l->scalars;
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(l->mesh->cell));
    const ufl_quantity quantity = (ufl_quantity)node->detail;
    int v[8] = {0}, n = 0;
    double normal[3] = {0};
    switch (quantity) {
    case UFL_SPATIAL_COORDINATE:
        return ufl_scalar_leaf(s, SCALAR_COORDINATE, component[0], -1, -1, false);
    case UFL_JACOBIAN:
        return ufl_jacobian(l, component[0], component[1]);
    case UFL_JACOBIAN_INVERSE:
        return ufl_jacobian_inverse(l, component[0], component[1]);
    case UFL_JACOBIAN_DETERMINANT:
        return ufl_jacobian_determinant(l);
    case UFL_FACET_NORMAL:
        if (l->facets[l->side] < 0)
            break;
        reference_normal(cell, l->facets[l->side], normal);
        for (int i = 0; i < 3 && l->side == 1 && weft_fault("normal_rotated"); ++i)
            normal[i] = -normal[i];
        return ufl_scalar_divide(s, mapped_normal(l, normal, component[0]),
                                 normal_length(l, normal));
    case UFL_CELL_VERTICES:
        return vertex(l, component[0], component[1]);
    case UFL_CELL_EDGE_VECTORS:
        return edge_vector(l, -1, component[0], component[1]);
    case UFL_FACET_EDGE_VECTORS:
        if (l->facets[l->side] < 0 || cell->dimension < 3)
            break;
        return edge_vector(l, l->facets[l->side], component[0], component[1]);
    case UFL_FACET_JACOBIAN:
        if (l->facets[l->side] < 0)
            break;
        return facet_jacobian(l, component[0], component[1]);
    case UFL_FACET_JACOBIAN_DETERMINANT:
        if (l->facets[l->side] < 0)
            break;
        return ufl_weight_scale(l);
    case UFL_CELL_VOLUME:
        if (!l->mesh->affine)
            break;
        return ufl_scalar_multiply(s, ufl_scalar_number(s, cell->measure),
                                   ufl_scalar_function(s, "abs", ufl_jacobian_determinant(l)));
    case UFL_FACET_AREA:
        if (!l->mesh->affine || l->facets[l->side] < 0)
            break;
        return ufl_scalar_multiply(s, ufl_scalar_number(s, weft_cell_of(cell->facet)->measure),
                                   ufl_weight_scale(l));
    case UFL_CIRCUMRADIUS:
        if (!l->mesh->affine)
            break;
        return circumradius(l);
    case UFL_CELL_DIAMETER:
    case UFL_MIN_CELL_EDGE_LENGTH:
    case UFL_MAX_CELL_EDGE_LENGTH:
        n = weft_cell_entity(cell, cell->dimension, 0, v);
        return extreme_length(l, quantity == UFL_MIN_CELL_EDGE_LENGTH ? "min" : "max", v, n,
                              quantity != UFL_CELL_DIAMETER);
    case UFL_MIN_FACET_EDGE_LENGTH:
    case UFL_MAX_FACET_EDGE_LENGTH:
        if (l->facets[l->side] < 0 || cell->dimension < 2)
            break;
        n = weft_cell_entity(cell, cell->dimension - 1, l->facets[l->side], v);
        return extreme_length(l, quantity == UFL_MIN_FACET_EDGE_LENGTH ? "min" : "max", v, n, true);
    default:
        break;
    }
    ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED, "%s is not supported in an integral over %s of %s",
             ufl_quantity_name(quantity), l->facets[l->side] < 0 ? "cells" : "facets",
             ufl_cell_name(l->mesh->cell));
    return -1;
}
