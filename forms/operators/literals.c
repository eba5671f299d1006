/* Numbers, zeros and terminals; what operators have in common. */
#include "forms/operators/private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ufl_describe(const ufl_node *node, char *out, size_t size) {
    char shape[160];
    if (ufl_is_condition(node)) {
        snprintf(out, size, "a condition");
        return out;
    }
    static const char *const words[] = {"a scalar", "a vector", "a matrix"};
    ufl_shape_text(node->shape, node->rank, shape, sizeof shape);
    int length = node->rank == 0 ? snprintf(out, size, "a scalar")
                                 : snprintf(out, size, "%s of shape %s",
                                            node->rank < 3 ? words[node->rank] : "a tensor", shape);
    if (node->n_free > 0 && length > 0 && (size_t)length < size)
        snprintf(out + length, size - (size_t)length, " with %d free %s", node->n_free,
                 node->n_free == 1 ? "index" : "indices");
    return out;
}

bool ufl_same_shape(const ufl_node *a, const ufl_node *b) {
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0);
}

bool ufl_same_free(const ufl_node *a, const ufl_node *b) {
    return a->n_free == b->n_free &&
           (a->n_free == 0 || memcmp(a->free, b->free, (size_t)a->n_free * sizeof *a->free) == 0);
}

bool ufl_want_true_scalar(ufl_graph *graph, const ufl_node *node, const char *what) {
    char words[256];
    if (ufl_is_true_scalar(node) && !ufl_is_condition(node))
        return true;
    ufl_fail(graph->context, WEFT_ERROR_SHAPE, "%s must be a scalar without free indices, not %s",
             what, ufl_describe(node, words, sizeof words));
    return false;
}

int ufl_merge_free(ufl_graph *graph, const ufl_node *a, const ufl_node *b, ufl_free_index *out,
                   int *repeated, int *n_repeated) {
    int i = 0, j = 0, n = 0;
    if (repeated)
        *n_repeated = 0;
    if (a->n_free + b->n_free > UFL_FREE_MAX) {
        ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
                 "an expression has more than %d free indices", UFL_FREE_MAX);
        return -1;
    }
    while (i < a->n_free || j < b->n_free) {
        if (j == b->n_free || (i < a->n_free && a->free[i].number < b->free[j].number)) {
            out[n++] = a->free[i++];
        } else if (i == a->n_free || b->free[j].number < a->free[i].number) {
            out[n++] = b->free[j++];
        } else {
            if (a->free[i].dimension != b->free[j].dimension) {
                ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                         "an index runs to %d in one operand and to %d in the other",
                         a->free[i].dimension, b->free[j].dimension);
                return -1;
            }
            if (repeated)
                repeated[(*n_repeated)++] = a->free[i].number;
            else
                out[n++] = a->free[i];
            ++i;
            ++j;
        }
    }
    return n;
}

const ufl_node *ufl_make_like(ufl_graph *graph, ufl_type type, int detail,
                              const ufl_node *const *operands, int n, const ufl_node *like) {
    const ufl_node made = {.type = type,
                           .detail = detail,
                           .operands = operands,
                           .n_operands = n,
                           .rank = like->rank,
                           .shape = like->shape,
                           .free = like->free,
                           .n_free = like->n_free};
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_make_scalar(ufl_graph *graph, ufl_type type, int detail,
                                const ufl_node *const *operands, int n) {
    const ufl_node made = {.type = type, .detail = detail, .operands = operands, .n_operands = n};
    return ufl_node_make(graph, &made);
}

/* ---- numbers ---- */

const ufl_node *ufl_int(ufl_graph *graph, int64_t value) {
    if (value == 0)
        return ufl_zero_scalar(graph);
    const ufl_node made = {.type = UFL_INT, .integer = value};
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_float(ufl_graph *graph, double value) {
    if (value == 0)
        return ufl_zero_scalar(graph);
    if (!isfinite(value))
        return ufl_fail(graph->context, WEFT_ERROR_TYPE, "a number of the expression is %s",
                        isnan(value) ? "not a number" : "infinite");
    const ufl_node made = {.type = UFL_FLOAT, .value = value};
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_zero(ufl_graph *graph, const int *shape, int rank, const ufl_free_index *free,
                         int n_free) {
    const ufl_node made = {
        .type = UFL_ZERO, .shape = shape, .rank = rank, .free = free, .n_free = n_free};
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_zero_scalar(ufl_graph *graph) {
    return ufl_zero(graph, NULL, 0, NULL, 0);
}

const ufl_node *ufl_zero_like(ufl_graph *graph, const ufl_node *node, const int *more, int n_more) {
    int shape[2 * UFL_RANK_MAX];
    if (!node)
        return NULL;
    if (node->rank + n_more > UFL_RANK_MAX)
        return ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED, "a tensor has more than %d axes",
                        UFL_RANK_MAX);
    for (int i = 0; i < node->rank; ++i)
        shape[i] = node->shape[i];
    for (int i = 0; i < n_more; ++i)
        shape[node->rank + i] = more[i];
    return ufl_zero(graph, shape, node->rank + n_more, node->free, node->n_free);
}

const ufl_node *ufl_identity(ufl_graph *graph, int n) {
    if (n < 1 || n > 100)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE, "Identity has 1 to 100 rows, not %d", n);
    const int shape[2] = {n, n};
    const ufl_node made = {.type = UFL_IDENTITY, .detail = n, .shape = shape, .rank = 2};
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_permutation(ufl_graph *graph, int n) {
    if (n < 2 || n > 4)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                        "PermutationSymbol has 2 to 4 axes, not %d", n);
    const int shape[4] = {n, n, n, n};
    const ufl_node made = {.type = UFL_PERMUTATION, .detail = n, .shape = shape, .rank = n};
    return ufl_node_make(graph, &made);
}

/* ---- terminals ---- */

const ufl_node *ufl_argument(ufl_graph *graph, const ufl_space *space, int number) {
    if (!space)
        return NULL;
    if (number < 0 || number > 7)
        return ufl_fail(graph->context, WEFT_ERROR_TYPE,
                        "the number of an Argument is 0 (test) or 1 (trial), not %d", number);
    const ufl_node made = {.type = UFL_ARGUMENT,
                           .detail = number,
                           .space = space,
                           .mesh = space->mesh,
                           .shape = space->element->shape,
                           .rank = space->element->rank};
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_coefficient(ufl_graph *graph, const ufl_space *space, int count) {
    if (!space)
        return NULL;
    const ufl_node made = {.type = UFL_COEFFICIENT,
                           .detail = count < 0 ? graph->n_coefficients : count,
                           .space = space,
                           .mesh = space->mesh,
                           .shape = space->element->shape,
                           .rank = space->element->rank};
    if (made.detail >= graph->n_coefficients)
        graph->n_coefficients = made.detail + 1;
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_constant(ufl_graph *graph, const ufl_mesh *mesh, const int *shape, int rank,
                             int count) {
    if (!mesh)
        return NULL;
    for (int i = 0; i < rank; ++i)
        if (shape[i] < 1 || shape[i] > 1000)
            return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                            "an axis of a Constant has 1 to 1000 components, not %d", shape[i]);
    const ufl_node made = {.type = UFL_CONSTANT,
                           .detail = count < 0 ? graph->n_constants : count,
                           .mesh = mesh,
                           .shape = shape,
                           .rank = rank};
    if (made.detail >= graph->n_constants)
        graph->n_constants = made.detail + 1;
    return ufl_node_make(graph, &made);
}

/* The shapes of geometric quantities, with g and t for the dimensions, s for t - 1, v and e for the
   number of vertices and edges of the cell, f for the number of edges of a facet. */
static const char *const shapes[UFL_N_QUANTITIES] = {
    [UFL_SPATIAL_COORDINATE] = "g",  [UFL_CELL_COORDINATE] = "t",
    [UFL_FACET_NORMAL] = "g",        [UFL_CELL_NORMAL] = "g",
    [UFL_JACOBIAN] = "gt",           [UFL_JACOBIAN_INVERSE] = "tg",
    [UFL_FACET_JACOBIAN] = "gs",     [UFL_FACET_JACOBIAN_INVERSE] = "sg",
    [UFL_CELL_VERTICES] = "vg",      [UFL_CELL_EDGE_VECTORS] = "eg",
    [UFL_FACET_EDGE_VECTORS] = "fg",
};

const ufl_node *ufl_geometry(ufl_graph *graph, ufl_quantity quantity, const ufl_mesh *mesh) {
    int shape[2];
    if (!mesh)
        return NULL;
    ufl_node made = {.type = UFL_GEOMETRY, .detail = (int)quantity, .mesh = mesh, .shape = shape};
    for (const char *c = shapes[quantity] ? shapes[quantity] : ""; *c; ++c) {
        int size = 0;
        switch (*c) {
        case 'g':
            size = mesh->gdim;
            break;
        case 't':
            size = mesh->tdim;
            break;
        case 's':
            size = mesh->tdim - 1;
            break;
        case 'v':
            size = ufl_cell_entities(mesh->cell, 0);
            break;
        case 'e':
            size = ufl_cell_entities(mesh->cell, 1);
            break;
        default:
            size = mesh->cell == UFL_TETRAHEDRON ? 3 : mesh->cell == UFL_HEXAHEDRON ? 4 : 0;
        }
        if (size == 0)
            return ufl_fail(graph->context, WEFT_ERROR_TYPE, "%s is not defined on a mesh of %ss",
                            ufl_quantity_name(quantity), ufl_cell_name(mesh->cell));
        shape[made.rank++] = size;
    }
    return ufl_node_make(graph, &made);
}
