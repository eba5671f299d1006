/* Makes elements: nodes, and the coefficients of their functions in an orthonormal basis. */
#include "fem/base/invert.h"
#include "fem/element/private.h"
#include "fem/weft_element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const family_names[] = {"Lagrange", "discontinuous Lagrange", "bubble",
                                           "quadrature", "Real"};

/* Whether the functions of this family are given by nodal values. */
static bool is_nodal(weft_family family) {
    return family == WEFT_LAGRANGE || family == WEFT_DISCONTINUOUS || family == WEFT_BUBBLE;
}

/* The least degree that has nodes. */
static int least_degree(weft_family family, const weft_cell *cell) {
    if (family == WEFT_BUBBLE)
        return cell->simplex ? cell->dimension + 1 : 2;
    return family == WEFT_LAGRANGE;
}

static weft_status check_degree(weft_family family, const weft_cell *cell, int degree,
                                weft_error *error) {
    const int least = least_degree(family, cell);
    const int most =
        family == WEFT_QUADRATURE ? WEFT_QUADRATURE_DEGREE_MAX : WEFT_ELEMENT_DEGREE_MAX;
    if (family == WEFT_REAL || (degree >= least && degree <= most))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "there is no %s element of degree %d on a %s",
                   family_names[family], degree, cell->name);
    weft_error_hint(error, "its degrees go from %d to %d%s", least, most,
                    family == WEFT_LAGRANGE && degree == 0
                        ? "; the constant one is discontinuous Lagrange"
                        : "");
    return WEFT_ERROR_UNSUPPORTED;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Allocate points for n_nodes. */
static weft_status make_points(weft_element *e, weft_error *error) {
    const size_t d = (size_t)weft_cell_of(e->cell)->dimension;
    e->points = calloc((size_t)e->n_nodes * d + 1, sizeof *e->points);
    return e->points ? WEFT_OK : weft_out_of_memory(error, "the nodes of an element");
}

/* The nodes at the points of the default rule. */
static weft_status take_rule(weft_element *e, weft_error *error) {
    weft_quadrature rule;
    weft_status status =
        weft_quadrature_make(e->cell, WEFT_SCHEME_DEFAULT, e->degree, &rule, error);
    if (status != WEFT_OK)
        return status;
    e->n_nodes = rule.n;
    e->points = rule.points;
    rule.points = NULL;
    weft_quadrature_free(&rule);
    return WEFT_OK;
}

static weft_status set_nodes(weft_element *e, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(e->cell);
    const int d = cell->dimension;
    int entity_nodes[4] = {0};
    if (e->family == WEFT_QUADRATURE) {
        TRY(take_rule(e, error));
    } else if (e->family == WEFT_REAL || e->degree == 0) {
        e->n_nodes = 1;
        TRY(make_points(e, error));
        for (int axis = 0; axis < d; ++axis)
            e->points[axis] = cell->simplex ? 1.0 / (d + 1) : 0.5;
    } else if (e->family == WEFT_BUBBLE) {
        e->n_nodes = weft_interior_nodes(cell, e->degree, false, NULL);
        TRY(make_points(e, error));
        weft_interior_nodes(cell, e->degree, false, e->points);
    } else {
        e->n_nodes = weft_lagrange_nodes(cell, e->degree, true, NULL, entity_nodes);
        TRY(make_points(e, error));
        if (weft_lagrange_nodes(cell, e->degree, true, e->points, entity_nodes) < 0)
            TRY(weft_out_of_memory(error, "the nodes of an element"));
    }
    if (e->family == WEFT_LAGRANGE)
        memcpy(e->entity_nodes, entity_nodes, sizeof entity_nodes);
    else
        e->entity_nodes[d] = e->n_nodes;
done:
    return status;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Degree of the orthonormal polynomials that span the functions (before the factor of bubbles). */
static int span_degree(const weft_element *e) {
    return e->family == WEFT_BUBBLE ? e->degree - weft_cell_of(e->cell)->dimension - 1 : e->degree;
}

/* Coefficients C with C V^T = I, where V[k][j] is polynomial j at node k. */
static weft_status set_coefficients(weft_element *e, weft_error *error) {
    const weft_cell *cell = weft_cell_of(e->cell);
    const size_t n = (size_t)e->n_nodes;
    double *transposed = calloc(n * n, sizeof *transposed), *row = calloc(n, sizeof *row);
    e->coefficients = calloc(n * n, sizeof *e->coefficients);
    const bool enough = transposed && row && e->coefficients;
    for (size_t k = 0; k < n && enough; ++k) {
        weft_orthonormal_tabulate(cell, span_degree(e), e->family == WEFT_BUBBLE, 0,
                                  e->points + k * (size_t)cell->dimension, row);
        for (size_t j = 0; j < n; ++j)
            transposed[j * n + k] = row[j];
    }
    if (enough) /* the nodes are unisolvent */
        (void)weft_invert(e->n_nodes, transposed, e->coefficients, 0);
    free(transposed);
    free(row);
    return enough ? WEFT_OK : weft_out_of_memory(error, "the functions of an element");
}

/* Quadrilaterals and hexahedra: the node of the line along each axis. */
static weft_status set_lattice(weft_element *e, weft_error *error) {
    const size_t n = (size_t)e->n_nodes * (size_t)weft_cell_of(e->cell)->dimension;
    weft_status status = weft_element_make(e->family, WEFT_INTERVAL, e->degree, &e->line, error);
    if (status != WEFT_OK)
        return status;
    e->lattice = calloc(n, sizeof *e->lattice);
    if (!e->lattice)
        return weft_out_of_memory(error, "the nodes of an element");
    for (size_t i = 0; i < n; ++i)
        for (int j = 1; j < e->line->n_nodes; ++j)
            if (fabs(e->line->points[j] - e->points[i]) <
                fabs(e->line->points[e->lattice[i]] - e->points[i]))
                e->lattice[i] = j;
    return WEFT_OK;
}

weft_status weft_element_make(weft_family family, weft_cell_type type, int degree,
                              weft_element **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(type);
    weft_element *e = NULL;
    TRY(check_degree(family, cell, degree, error));
    e = calloc(1, sizeof *e);
    if (!e)
        TRY(weft_out_of_memory(error, "an element"));
    *e = (weft_element){.family = family, .cell = type, .degree = degree};
    TRY(set_nodes(e, error));
    if (is_nodal(family) && !cell->simplex)
        TRY(set_lattice(e, error));
    else if (is_nodal(family) && cell->dimension > 0)
        TRY(set_coefficients(e, error));
    *out = e;
    e = NULL;
done:
    weft_element_free(&e);
    return status;
}

void weft_element_free(weft_element **element) {
    if (!element || !*element)
        return;
    weft_element_free(&(*element)->line);
    free((*element)->points);
    free((*element)->lattice);
    free((*element)->coefficients);
    free(*element);
    *element = NULL;
}

/* ---- nodes of entities ----------------------------------------------------------------------- */

/* First of the nodes in the interior of an entity, for so many nodes in each entity. */
static int first_node(const weft_cell *cell, const int entity_nodes[4], int dimension, int entity) {
    int first = entity * entity_nodes[dimension];
    for (int lower = 0; lower < dimension; ++lower)
        first += cell->n_entities[lower] * entity_nodes[lower];
    return first;
}

int weft_element_first_node(const weft_element *element, int dimension, int entity) {
    return first_node(weft_cell_of(element->cell), element->entity_nodes, dimension, entity);
}

/* The entity of the cell with these vertices; the cell's lists and these ascend. */
static int find_entity(const weft_cell *cell, int dimension, int n, const int *vertices) {
    for (int entity = 0; entity < cell->n_entities[dimension]; ++entity) {
        int own[8];
        if (weft_cell_entity(cell, dimension, entity, own) == n &&
            memcmp(own, vertices, (size_t)n * sizeof *own) == 0)
            return entity;
    }
    return -1;
}

int weft_element_entity_closure(const weft_element *element, int dimension, int entity,
                                int *nodes) {
    const weft_cell *cell = weft_cell_of(element->cell);
    const weft_cell *own = weft_cell_of(weft_cell_entity_type(cell, dimension));
    int n = 0, vertices[8], entity_nodes[4];
    if ((element->family != WEFT_LAGRANGE && element->family != WEFT_DISCONTINUOUS) ||
        element->degree == 0)
        return 0;
    weft_lagrange_nodes(cell, element->degree, true, NULL, entity_nodes);
    weft_cell_entity(cell, dimension, entity, vertices);
    for (int lower = 0; lower <= dimension; ++lower)
        for (int i = 0; i < own->n_entities[lower]; ++i) {
            int local[8];
            const int n_local = weft_cell_entity(own, lower, i, local);
            for (int k = 0; k < n_local; ++k)
                local[k] = vertices[local[k]];
            const int first =
                first_node(cell, entity_nodes, lower, find_entity(cell, lower, n_local, local));
            for (int k = 0; k < entity_nodes[lower]; ++k)
                nodes[n++] = first + k;
        }
    return n;
}

/* The node at x, to 1e-9; -1: there is none. */
static int find_node(const weft_element *e, int d, const double *x) {
    for (int i = 0; i < e->n_nodes; ++i) {
        double distance = 0;
        for (int axis = 0; axis < d; ++axis)
            distance = fmax(distance, fabs(e->points[i * d + axis] - x[axis]));
        if (distance < 1e-9)
            return i;
    }
    return -1;
}

bool weft_element_permute(const weft_element *element, const int *vertices, int *nodes) {
    static const int axis_vertex[2][3] = {{1, 2, 4}, {1, 2, 3}};
    const weft_cell *cell = weft_cell_of(element->cell);
    const int d = cell->dimension;
    const double *origin = cell->vertices[vertices[0]];
    for (int i = 0; i < element->n_nodes; ++i) {
        double x[3];
        memcpy(x, origin, sizeof x);
        for (int a = 0; a < d; ++a) {
            const double *end = cell->vertices[vertices[axis_vertex[cell->simplex][a]]];
            for (int axis = 0; axis < d; ++axis)
                x[axis] += element->points[i * d + a] * (end[axis] - origin[axis]);
        }
        nodes[i] = find_node(element, d, x);
        if (nodes[i] < 0)
            return false;
    }
    return true;
}

weft_status weft_element_equispaced(const weft_element *element, double *points,
                                    weft_error *error) {
    int entity_nodes[4];
    if ((element->family != WEFT_LAGRANGE && element->family != WEFT_DISCONTINUOUS) ||
        element->degree == 0)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "equispaced nodes exist for Lagrange elements of degree 1 or more");
    if (weft_lagrange_nodes(weft_cell_of(element->cell), element->degree, false, points,
                            entity_nodes) < 0)
        return weft_out_of_memory(error, "the nodes of an element");
    return WEFT_OK;
}
