/* Components of elements as functions of scalar elements, and the tables of these. */
#include "forms/lower/emit.h"

#include <math.h>
#include <string.h>

typedef struct part_list {
    ufl_context *context;
    ufl_part *list;
    int n;
} part_list;

static bool add_parts(part_list *parts, const ufl_element *element, int flat, int first,
                      int stride) {
    switch (element->kind) {
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
    default:
        parts->list[parts->n++] =
            (ufl_part){element->components ? element->components[flat] : element, first, stride};
        return true;
    }
}

int ufl_component_parts(ufl_context *context, const ufl_element *element, int flat,
                        ufl_part parts[UFL_PARTS_MAX]) {
    part_list list = {context, parts, 0};
    return add_parts(&list, element, flat, 0, 1) ? list.n : -1;
}

/* Renumber functions as basix.create_tp_element does: by their factors on each axis, the last axis fastest. */
static bool sort_lexicographically(ufl_context *context, const weft_element *element, int rows,
                                   double *values) {
    const int n = element->n_nodes, d = weft_cell_of(element->cell)->dimension;
    double *row = ufl_alloc(context, (size_t)n, sizeof *row);
    for (int k = 0; row && k < rows; ++k) {
        memcpy(row, values + k * n, (size_t)n * sizeof *row);
        for (int i = 0; i < n; ++i) {
            int to = 0;
            for (int a = 0; a < d; ++a)
                to = to * (element->degree + 1) + element->lattice[i * d + a];
            values[k * n + to] = row[i];
        }
    }
    return row != NULL;
}

/* A component of the functions of an element of vectors.
 *  values  [rows][n_functions][d], of which the first rows * n_functions get it */
static void pick_component(const ufl_element *scalar, int n, double *values) {
    const int d = ufl_cell_dimension(scalar->cell);
    for (int i = 0; i < n; ++i)
        values[i] = values[i * d + scalar->component - 1];
}

/* Tabulate an element of fem. nodes: NULL, or gets a copy of its nodes, [n][d]; dimensions: of the entities that they
 * are on. */
static int tabulate_simple(ufl_context *context, const ufl_element *scalar, int order, int n_points,
                           const double *points, double **out, double **nodes, int **dimensions) {
    const int d = ufl_cell_dimension(scalar->cell);
    weft_element *element = NULL;
    weft_error error = {0};
    int n = -1;
    weft_status status = weft_element_make(scalar->family, ufl_weft_cell(scalar->cell),
                                           scalar->degree, &element, &error);
    if (status == WEFT_OK) {
        n = element->n_nodes;
        const int rows = weft_derivative_count(d, order) * n_points;
        *out = ufl_alloc(context, (size_t)(rows * n * element->value_size), sizeof **out);
        status = *out ? weft_element_tabulate(element, order, n_points, points, *out, &error)
                      : WEFT_ERROR_MEMORY;
        if (status == WEFT_OK && scalar->component > 0)
            pick_component(scalar, rows * n, *out);
    }
    if (status == WEFT_OK && scalar->tensor_order && element->lattice &&
        !sort_lexicographically(context, element, weft_derivative_count(d, order) * n_points, *out))
        status = WEFT_ERROR_MEMORY;
    if (status == WEFT_OK && nodes) {
        const weft_cell *cell = weft_cell_of(ufl_weft_cell(scalar->cell));
        *nodes = ufl_alloc(context, (size_t)(n * d), sizeof **nodes);
        *dimensions = ufl_alloc(context, (size_t)n, sizeof **dimensions);
        if (!*nodes || !*dimensions)
            status = WEFT_ERROR_MEMORY;
        else {
            int i = 0;
            memcpy(*nodes, element->points, (size_t)(n * d) * sizeof **nodes);
            for (int k = 0; k <= d; ++k)
                for (int j = 0; j < cell->n_entities[k] * element->entity_nodes[k] && i < n; ++j)
                    (*dimensions)[i++] = k;
        }
    }
    weft_element_free(&element);
    if (status == WEFT_OK)
        return n;
    if (context->status == WEFT_OK)
        ufl_fail(context, status, "%s: %s", scalar->name, error.message);
    return -1;
}

bool ufl_solve_dense(double *V, int n, double *b, int m) {
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k; i < n; ++i)
            if (fabs(V[i * n + k]) > fabs(V[pivot * n + k]))
                pivot = i;
        if (fabs(V[pivot * n + k]) < 1e-10)
            return false;
        for (int j = 0; j < n; ++j) {
            const double swapped = V[k * n + j];
            V[k * n + j] = V[pivot * n + j];
            V[pivot * n + j] = swapped;
        }
        for (int j = 0; j < m; ++j) {
            const double swapped = b[k * m + j];
            b[k * m + j] = b[pivot * m + j];
            b[pivot * m + j] = swapped;
        }
        for (int i = 0; i < n; ++i) {
            const double factor = i == k ? 0 : V[i * n + k] / V[k * n + k];
            for (int j = k; j < n && factor != 0; ++j)
                V[i * n + j] -= factor * V[k * n + j];
            for (int j = 0; j < m && factor != 0; ++j)
                b[i * m + j] -= factor * b[k * m + j];
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j)
            b[i * m + j] /= V[i * n + i];
    return true;
}

/* The functions of all parts side by side at some points: [derivative][point][function]. With the nodes of all parts. */
typedef struct side_by_side {
    int n, *dimensions;
    double *values, *nodes;
} side_by_side;

static bool join_parts(ufl_context *context, const ufl_element *sum, int order, int n_points,
                       const double *points, side_by_side *out) {
    const int d = ufl_cell_dimension(sum->cell), count = weft_derivative_count(d, order) * n_points;
    int first = 0;
    out->n = sum->n_dofs;
    out->values = ufl_alloc(context, (size_t)(count * out->n), sizeof *out->values);
    out->nodes = ufl_alloc(context, (size_t)(out->n * d), sizeof *out->nodes);
    out->dimensions = ufl_alloc(context, (size_t)out->n, sizeof *out->dimensions);
    if (!out->values || !out->nodes || !out->dimensions)
        return false;
    for (int k = 0; k < sum->n_sub; ++k) {
        double *values = NULL, *nodes = NULL;
        int *dimensions = NULL;
        const int n = tabulate_simple(context, sum->sub[k], order, n_points, points, &values,
                                      &nodes, &dimensions);
        if (n < 0)
            return false;
        for (int i = 0; i < count; ++i)
            memcpy(out->values + i * out->n + first, values + i * n, (size_t)n * sizeof *values);
        memcpy(out->nodes + first * d, nodes, (size_t)(n * d) * sizeof *nodes);
        memcpy(out->dimensions + first, dimensions, (size_t)n * sizeof *dimensions);
        first += n;
    }
    return true;
}

/* A sum of elements as Basix has it: the functions that are 1 at one of the nodes of the parts and 0 at the others, in
 * the order of the entities that the nodes are on. */
static int tabulate_sum(ufl_context *context, const ufl_element *sum, int order, int n_points,
                        const double *points, double **out) {
    const int d = ufl_cell_dimension(sum->cell), count = weft_derivative_count(d, order) * n_points;
    side_by_side wanted = {0}, at_nodes = {0};
    if (!join_parts(context, sum, order, n_points, points, &wanted) ||
        !join_parts(context, sum, 0, sum->n_dofs, wanted.nodes, &at_nodes))
        return -1;
    const int n = sum->n_dofs;
    double *V = ufl_alloc(context, (size_t)(n * n), sizeof *V);
    double *b = ufl_alloc(context, (size_t)(n * count), sizeof *b);
    *out = ufl_alloc(context, (size_t)(n * count), sizeof **out);
    if (!V || !b || !*out)
        return -1;
    /* sum_j m_j(x) phi_k(x_j) = phi_k(x): row k, unknown j, a column for each point and derivative */
    for (int k = 0; k < n; ++k) {
        for (int j = 0; j < n; ++j)
            V[k * n + j] = at_nodes.values[j * n + k];
        for (int i = 0; i < count; ++i)
            b[k * count + i] = wanted.values[i * n + k];
    }
    if (!ufl_solve_dense(V, n, b, count)) {
        ufl_fail(context, WEFT_ERROR_UNSUPPORTED, "%s: nodes of the parts coincide", sum->name);
        return -1;
    }
    int to = 0;
    for (int dimension = 0; dimension <= d; ++dimension)
        for (int j = 0; j < n; ++j)
            if (wanted.dimensions[j] == dimension) {
                for (int i = 0; i < count; ++i)
                    (*out)[i * n + to] = b[j * count + i];
                ++to;
            }
    return n;
}

int ufl_tabulate(ufl_context *context, const ufl_element *scalar, int order, int n_points,
                 const double *points, double **out) {
    if (scalar->kind == UFL_ENRICHED)
        return tabulate_sum(context, scalar, order, n_points, points, out);
    return tabulate_simple(context, scalar, order, n_points, points, out, NULL, NULL);
}
