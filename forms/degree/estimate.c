/* Estimates polynomial degrees as UFL 2026.1.0 does or, if graph->part_degrees, UFL 2026.2.0. */
#include "forms/degree/degree.h"

/* Degrees are kept as node ids would be: a map from node to an integer literal would cost nodes, so
   they are stored with the node in a table of their own. */
typedef struct degree_table {
    ufl_graph *graph;
    int *degrees; /* by id; -1: not known yet */
    uint32_t n;
} degree_table;

static int degree_of(degree_table *table, const ufl_node *node);

/* Derivatives lower the degree on simplices alone. */
static int reduced(const ufl_node *node, int degree) {
    bool simplex = !node->mesh || ufl_cell_is_simplex(node->mesh->cell);
    return !simplex ? degree : degree > 0 ? degree - 1 : 0;
}

static int largest(degree_table *table, const ufl_node *node, int first) {
    int degree = 0;
    for (int i = first; i < node->n_operands; ++i) {
        int operand = degree_of(table, ufl_operand(node, i));
        degree = degree < operand ? operand : degree;
    }
    return degree;
}

static int bumped(int degree) { /* the heuristic for functions that are not polynomials */
    return degree > 0 ? degree + 2 : 0;
}

/* The number of components on the reference cell: symmetric tensors have one for each dof. */
static int reference_size(const ufl_element *element) {
    int size = 0;
    if (element->kind == UFL_MIXED)
        for (int i = 0; i < element->n_sub; ++i)
            size += reference_size(element->sub[i]);
    return element->kind == UFL_MIXED ? size : element->block_size;
}

/* The component of a function, not of its gradient or of one of its sides, has the degree of its part of
   a mixed space. Parts of parts count as one; so do all components of a function in UFL 2026.1. UFL
   counts components of the reference cell (UFL pull request 503, estimate_degrees.py, indexed). */
static int component(degree_table *table, const ufl_node *node) {
    const ufl_node *function = ufl_operand(node, 0);
    bool of_part = table->graph->part_degrees &&
                   (function->type == UFL_ARGUMENT || function->type == UFL_COEFFICIENT) &&
                   function->space->element->kind == UFL_MIXED && node->n_indices == 1 &&
                   node->indices[0] >= 0;
    const ufl_element *element = of_part ? function->space->element : NULL;
    for (int i = 0, end = 0; of_part && i < element->n_sub; ++i) {
        end += reference_size(element->sub[i]);
        if (node->indices[0] < end)
            return element->sub[i]->superdegree;
    }
    return degree_of(table, function);
}

static int estimate(degree_table *table, const ufl_node *node) {
    int degree = 0;
    switch (node->type) {
    case UFL_INDEXED:
        return component(table, node);
    case UFL_ARGUMENT:
    case UFL_COEFFICIENT:
        return node->space->element->superdegree;
    case UFL_GEOMETRY:
        if (node->detail == UFL_SPATIAL_COORDINATE)
            return node->mesh->coordinates->superdegree;
        if (node->detail == UFL_CELL_COORDINATE)
            return 1;
        return node->cell_constant ? 0 : node->mesh->coordinates->superdegree;
    case UFL_PRODUCT:
    case UFL_DIVISION:
    case UFL_INNER:
    case UFL_DOT:
    case UFL_OUTER:
    case UFL_CROSS:
        for (int i = 0; i < node->n_operands; ++i)
            degree += degree_of(table, ufl_operand(node, i));
        return degree;
    case UFL_POWER:
        degree = degree_of(table, ufl_operand(node, 0));
        if (ufl_operand(node, 1)->type == UFL_INT && ufl_operand(node, 1)->integer >= 0) {
            int64_t power = ufl_operand(node, 1)->integer;
            bool large = degree > 0 && power > 1000000 / degree;
            return large ? 1000000 : degree * (int)power;
        }
        return degree + 2;
    case UFL_MATH:
        return bumped(degree_of(table, ufl_operand(node, 0)));
    case UFL_BESSEL:
        return bumped(degree_of(table, ufl_operand(node, 1)));
    case UFL_ATAN2:
        return bumped(largest(table, node, 0));
    case UFL_CONDITIONAL:
        return largest(table, node, 1);
    case UFL_GRAD:
    case UFL_DIV:
    case UFL_NABLA_GRAD:
    case UFL_NABLA_DIV:
    case UFL_CURL:
        return reduced(node, degree_of(table, ufl_operand(node, 0)));
    case UFL_AVERAGE:
        return 0;
    default: /* sums, lists, extrema: the largest; wrappers and indices: that of the operand */
        return largest(table, node, 0);
    }
}

static int degree_of(degree_table *table, const ufl_node *node) {
    int degree = table->degrees[node->id];
    if (degree < 0) {
        degree = estimate(table, node);
        degree = degree > 1000000 ? 1000000 : degree;
        table->degrees[node->id] = degree;
    }
    return degree;
}

int ufl_estimate_degree(ufl_graph *graph, const ufl_node *node) {
    degree_table table = {.graph = graph, .n = graph->n_nodes};
    table.degrees = ufl_alloc(graph->context, table.n, sizeof *table.degrees);
    if (!table.degrees)
        return -1;
    for (uint32_t i = 0; i < table.n; ++i)
        table.degrees[i] = -1;
    return degree_of(&table, node);
}

int ufl_scaling_degree(ufl_integral_type type, const ufl_mesh *mesh) {
    int q = mesh->coordinates->degree, t = mesh->tdim;
    int entry = ufl_cell_is_simplex(mesh->cell) ? q - 1 : q; /* degree of an entry of J */
    if (mesh->affine || entry == 0)
        return 0;
    if (type == UFL_CELL && mesh->gdim == t)
        return t * entry;
    if (type != UFL_CELL && t <= (type == UFL_RIDGE ? 2 : 1))
        return 0;
    if (type == UFL_VERTEX_INTEGRAL)
        return 0;
    /* a pseudo-determinant: the root of a product of one or two columns with themselves */
    int columns = type == UFL_CELL ? t : type == UFL_RIDGE ? t - 2 : t - 1;
    return 2 * columns * entry + 2;
}
