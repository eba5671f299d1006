/* Makes elements: what all families have in common, after the functions of their rows. */
#include "fem/element/element.h"
#include "fem/base/invert.h"
#include "fem/element/family.h"
#include "fem/element/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void count_nodes(const weft_family_row *row, const weft_cell *cell, int degree,
                        weft_element *e) {
    row->count(cell, degree, e->located_nodes);
    e->n_nodes = 0;
    for (int dimension = 0; dimension <= cell->dimension; ++dimension)
        e->n_nodes += cell->n_entities[dimension] * e->located_nodes[dimension];
}

int weft_family_functions(weft_family family, weft_cell_type cell, int degree) {
    weft_element e = {0};
    const weft_family_row *row = weft_family_row_of(family);
    if (row)
        count_nodes(row, weft_cell_of(cell), degree, &e);
    return e.n_nodes;
}

/* "intervals, triangles" */
static void list_cells(const weft_family_row *row, weft_text *out) {
    int n = 0;
    for (int type = 0; type < WEFT_CELL_TYPES; ++type)
        if (row->cells >> type & 1)
            weft_text_add(out, "%s%s", n++ > 0 ? ", " : "", weft_cell_of(type)->plural);
}

static weft_status refuse_cell(const weft_family_row *row, const weft_cell *cell,
                               weft_error *error) {
    weft_text cells = {0};
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "there is no %s element on a %s",
                   row->about.words, cell->name);
    list_cells(row, &cells);
    if (!cells.failed)
        weft_error_hint(error, "it is for %s", cells.data);
    weft_text_free(&cells);
    return WEFT_ERROR_UNSUPPORTED;
}

static weft_status check(weft_family family, const weft_cell *cell, int degree, weft_error *error) {
    const weft_family_row *row = weft_family_row_of(family);
    int least = 0, most = 0, other = 0, end = 0;
    if (!row)
        return weft_error_set(error, WEFT_ERROR_USAGE, "there is no family of elements %d", family);
    if (!weft_family_degrees(family, cell->type, &least, &most))
        return refuse_cell(row, cell, error);
    if (!row->about.has_degree || (degree >= least && degree <= most))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "there is no %s element of degree %d on a %s",
                   row->about.words, degree, cell->name);
    const bool is_broken = degree == 0 &&
                           weft_family_degrees(row->about.broken, cell->type, &other, &end) &&
                           other == 0 && row->about.broken != family;
    weft_error_hint(error, "its degrees go from %d to %d%s%s", least, most,
                    is_broken ? "; the constant one is " : "",
                    is_broken ? weft_family_about(row->about.broken)->words : "");
    return WEFT_ERROR_UNSUPPORTED;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Coefficients C in the basis `span` with C V^T = I, where V[k][j] is functional k of function j of the basis. */
weft_status weft_element_make_functions_in(weft_element *e, const double *span, weft_error *error) {
    const weft_cell *cell = weft_cell_of(e->cell);
    const weft_functionals *f = &e->functionals;
    const size_t n = (size_t)e->n_nodes, size = (size_t)e->value_size,
                 m = (size_t)weft_orthonormal_count(cell, e->span_degree), width = m * size;
    double *transposed = calloc(n * n, sizeof *transposed), *row = calloc(m, sizeof *row);
    double *inverse = calloc(n * n, sizeof *inverse);
    e->coefficients = calloc(n * width, sizeof *e->coefficients);
    const bool enough = transposed && row && inverse && e->coefficients;
    for (size_t k = 0; k < n && enough; ++k)
        for (int t = f->first[k]; t < f->first[k + 1]; ++t) {
            weft_orthonormal_tabulate(cell, e->span_degree, e->span_vanishes, 0,
                                      f->points + f->point[t] * cell->dimension, row);
            for (size_t j = 0; j < n; ++j)
                for (size_t i = 0; i < (span ? width : 1); ++i)
                    transposed[j * n + k] += f->weights[(size_t)t * size + i / m] *
                                             (span ? span[j * width + i] * row[i % m] : row[j]);
        }
    if (enough) /* the functionals are unisolvent */
        (void)weft_invert(e->n_nodes, transposed, span ? inverse : e->coefficients, 0);
    for (size_t i = 0; i < n && enough && span; ++i)
        for (size_t j = 0; j < n; ++j)
            for (size_t k = 0; k < width; ++k)
                e->coefficients[i * width + k] += inverse[i * n + j] * span[j * width + k];
    free(transposed);
    free(inverse);
    free(row);
    return enough ? WEFT_OK : weft_out_of_memory(error, "the functions of an element");
}

/* The node of the line along each axis. */
static weft_status set_lattice(weft_element *e, weft_error *error) {
    const size_t n = (size_t)e->n_nodes * (size_t)weft_cell_of(e->cell)->dimension;
    const double *points = e->functionals.points;
    weft_status status = weft_element_make(e->family, WEFT_INTERVAL, e->degree, &e->line, error);
    if (status != WEFT_OK)
        return status;
    e->lattice = calloc(n, sizeof *e->lattice);
    if (!e->lattice)
        return weft_out_of_memory(error, "the nodes of an element");
    for (size_t i = 0; i < n; ++i)
        for (int j = 1; j < e->line->n_nodes; ++j)
            if (fabs(e->line->points[j] - points[i]) <
                fabs(e->line->points[e->lattice[i]] - points[i]))
                e->lattice[i] = j;
    return WEFT_OK;
}

weft_status weft_element_make_functions(weft_element *e, weft_error *error) {
    const weft_cell *cell = weft_cell_of(e->cell);
    if (cell->dimension == 0)
        return WEFT_OK;
    return cell->simplex ? weft_element_make_functions_in(e, NULL, error) : set_lattice(e, error);
}

weft_status weft_element_make(weft_family family, weft_cell_type type, int degree,
                              weft_element **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(type);
    weft_element *e = NULL;
    TRY(check(family, cell, degree, error));
    const weft_family_row *row = weft_family_row_of(family);
    e = calloc(1, sizeof *e);
    if (!e)
        TRY(weft_out_of_memory(error, "an element"));
    *e = (weft_element){.family = family,
                        .cell = type,
                        .degree = degree,
                        .value_size = row->about.is_vector ? cell->dimension : 1,
                        .map = row->about.map,
                        .lattice_degree = row->about.is_lattice ? degree : 0};
    count_nodes(row, cell, degree, e);
    TRY(row->make(e, error));
    TRY(weft_element_place_nodes(e, error));
    if (row->about.broken != family)
        memcpy(e->entity_nodes, e->located_nodes, sizeof e->entity_nodes);
    else
        e->entity_nodes[cell->dimension] = e->n_nodes;
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
    free((*element)->functionals.points);
    free((*element)->functionals.first);
    free((*element)->functionals.point);
    free((*element)->functionals.weights);
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

bool weft_element_is_same(const weft_element *a, const weft_element *b) {
    return a->family == b->family && a->degree == b->degree && a->cell == b->cell;
}

bool weft_element_has_vertices(const weft_element *element) {
    return element->is_pointwise && element->entity_nodes[0] == 1;
}

bool weft_element_is_on_vertices(const weft_element *element) {
    return weft_element_has_vertices(element) &&
           element->n_nodes == weft_cell_of(element->cell)->n_entities[0];
}

bool weft_element_is_constant(const weft_element *element) {
    return element->span_degree == 0 && !element->span_vanishes &&
           !weft_family_about(element->family)->at_points;
}

bool weft_element_is_shared(const weft_element *element) {
    const int *nodes = element->entity_nodes;
    int shared = 0;
    for (int dimension = 0; dimension < weft_cell_of(element->cell)->dimension; ++dimension)
        shared += nodes[dimension];
    return shared > 0;
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
    const int *located = element->located_nodes;
    int n = 0, vertices[8];
    weft_cell_entity(cell, dimension, entity, vertices);
    for (int lower = 0; lower <= dimension; ++lower)
        for (int i = 0; i < own->n_entities[lower]; ++i) {
            int local[8];
            const int n_local = weft_cell_entity(own, lower, i, local);
            for (int k = 0; k < n_local; ++k)
                local[k] = vertices[local[k]];
            const int first =
                first_node(cell, located, lower, find_entity(cell, lower, n_local, local));
            for (int k = 0; k < located[lower]; ++k)
                nodes[n++] = first + k;
        }
    return n;
}

static const int axis_vertex[2][3] = {{1, 2, 4}, {1, 2, 3}}; /* of products and simplices */

void weft_element_points_on(const weft_element *element, int dimension, int entity, int n,
                            const int *nodes, double *points) {
    const weft_cell *cell = weft_cell_of(element->cell);
    const int d = cell->dimension;
    int vertices[8];
    weft_cell_entity(cell, dimension, entity, vertices);
    for (int i = 0; i < n; ++i)
        for (int a = 0; a < dimension; ++a) {
            const double *x = element->points + nodes[i] * d;
            const double *start = cell->vertices[vertices[0]];
            const double *end = cell->vertices[vertices[axis_vertex[cell->simplex][a]]];
            double sum = 0;
            for (int axis = 0; axis < d; ++axis) {
                /* on simplices the barycentric coordinate of the end, else along the unit vector */
                const double along = cell->simplex ? end[axis] : end[axis] - start[axis];
                sum += along * (cell->simplex ? x[axis] : x[axis] - start[axis]);
            }
            points[i * dimension + a] = sum;
        }
}

/* The point at x, to 1e-9; -1: there is none. */
static int find_point(int n, int d, const double *points, const double *x) {
    for (int i = 0; i < n; ++i) {
        double distance = 0;
        for (int axis = 0; axis < d; ++axis)
            distance = fmax(distance, fabs(points[i * d + axis] - x[axis]));
        if (distance < 1e-9)
            return i;
    }
    return -1;
}

bool weft_points_permute(const weft_cell *cell, int n, const double *points, const int *vertices,
                         int *out) {
    const int d = cell->dimension;
    const double *origin = cell->vertices[vertices[0]];
    for (int i = 0; i < n; ++i) {
        double x[3];
        memcpy(x, origin, sizeof x);
        for (int a = 0; a < d; ++a) {
            const double *end = cell->vertices[vertices[axis_vertex[cell->simplex][a]]];
            for (int axis = 0; axis < d; ++axis)
                x[axis] += points[i * d + a] * (end[axis] - origin[axis]);
        }
        out[i] = find_point(n, d, points, x);
        if (out[i] < 0)
            return false;
    }
    return true;
}

bool weft_element_permute(const weft_element *element, const int *vertices, int *nodes) {
    return weft_points_permute(weft_cell_of(element->cell), element->n_nodes, element->points,
                               vertices, nodes);
}

weft_status weft_element_equispaced(const weft_element *element, double *points,
                                    weft_error *error) {
    int entity_nodes[4];
    if (element->lattice_degree == 0)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "equispaced nodes exist for Lagrange elements of degree 1 or more");
    if (weft_lagrange_nodes(weft_cell_of(element->cell), element->lattice_degree, false, points,
                            entity_nodes) < 0)
        return weft_out_of_memory(error, "the nodes of an element");
    return WEFT_OK;
}
