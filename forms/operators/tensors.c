/* Tensor algebra: inner, dot, transposed, det, ... which ufl_lower_algebra later expands. */
#include "forms/operators/private.h"

#include <stdio.h>
#include <string.h>

static const struct {
    ufl_type type;
    const char *name;
    bool square;     /* wants a square matrix without free indices */
    bool scalar_too; /* a scalar is allowed */
} unary[] = {
    {UFL_TRANSPOSED, "transpose", false, true},
    {UFL_PERP, "perp", false, false},
    {UFL_TRACE, "tr", false, false},
    {UFL_DETERMINANT, "det", true, true},
    {UFL_INVERSE, "inv", true, true},
    {UFL_COFACTOR, "cofac", true, false},
    {UFL_DEVIATORIC, "dev", true, false},
    {UFL_SKEW, "skew", true, false},
    {UFL_SYM, "sym", true, false},
};
enum { N_UNARY = sizeof unary / sizeof unary[0] };

/* Check the operand of unary[row]. */
static bool check_unary(ufl_graph *graph, int row, const ufl_node *a) {
    char words[256];
    const char *wanted = unary[row].type == UFL_PERP ? "a vector of shape (2,)"
                         : unary[row].square         ? "a square matrix without free indices"
                                                     : "a matrix";
    bool fits = unary[row].type == UFL_PERP ? a->rank == 1 && a->shape[0] == 2
                : unary[row].square ? a->rank == 2 && a->shape[0] == a->shape[1] && a->n_free == 0
                                    : a->rank == 2;
    if (!fits || ufl_is_condition(a))
        ufl_fail(graph->context, WEFT_ERROR_SHAPE, "%s expects %s, not %s", unary[row].name, wanted,
                 ufl_describe(a, words, sizeof words));
    return fits && !ufl_is_condition(a);
}

const ufl_node *ufl_tensor_unary(ufl_graph *graph, ufl_type type, const ufl_node *a) {
    int row = 0;
    if (!a)
        return NULL;
    while (row < N_UNARY && unary[row].type != type)
        ++row;
    if (a->rank == 0 && unary[row].scalar_too)
        return type == UFL_INVERSE ? ufl_divide(graph, ufl_int(graph, 1), a) : a;
    if (!check_unary(graph, row, a))
        return NULL;
    const int swapped[2] = {a->shape[a->rank - 1], a->shape[0]};
    ufl_node made = {.type = type,
                     .operands = &a,
                     .n_operands = 1,
                     .free = a->free,
                     .n_free = a->n_free,
                     .rank = a->rank,
                     .shape = type == UFL_TRANSPOSED ? swapped : a->shape};
    if (type == UFL_TRACE || type == UFL_DETERMINANT)
        made.rank = 0;
    if (ufl_is_zero(a)) {
        if (type == UFL_INVERSE || type == UFL_COFACTOR)
            return ufl_fail(graph->context, WEFT_ERROR_TYPE, "%s of a matrix of zeros",
                            unary[row].name);
        return ufl_zero(graph, made.shape, made.rank, made.free, made.n_free);
    }
    return ufl_node_make(graph, &made);
}

/* Check shapes; write the shape of the result and return its rank, or -1. */
static int binary_shape(ufl_graph *graph, ufl_type type, const ufl_node *a, const ufl_node *b,
                        int *shape) {
    char words[2][256];
    int rank = 0;
    const char *left = ufl_describe(a, words[0], sizeof words[0]);
    const char *right = ufl_describe(b, words[1], sizeof words[1]);
    switch (type) {
    case UFL_INNER:
        if (!ufl_same_shape(a, b)) {
            ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                     "inner expects two operands of one shape, not %s and %s", left, right);
            return -1;
        }
        return 0;
    case UFL_CROSS:
        if (a->rank != 1 || a->shape[0] != 3 || !ufl_same_shape(a, b)) {
            ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                     "cross expects two vectors of shape (3,), not %s and %s", left, right);
            return -1;
        }
        shape[0] = 3;
        return 1;
    case UFL_DOT:
        if (a->rank == 0 || b->rank == 0) {
            ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                     "dot expects two tensors or two scalars, not %s and %s", left, right);
            ufl_hint(graph->context, "a scalar times a tensor is written with *");
            return -1;
        }
        if (a->shape[a->rank - 1] != b->shape[0]) {
            ufl_fail(
                graph->context, WEFT_ERROR_SHAPE,
                "dot contracts the last axis of %s with the first of %s: expected equal sizes, "
                "found %d and %d",
                left, right, a->shape[a->rank - 1], b->shape[0]);
            return -1;
        }
        break;
    default:
        break;
    }
    int cut = type == UFL_DOT ? 1 : 0;
    if (a->rank + b->rank - 2 * cut > UFL_RANK_MAX) {
        ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED, "a tensor has more than %d axes",
                 UFL_RANK_MAX);
        return -1;
    }
    for (int i = 0; i < a->rank - cut; ++i)
        shape[rank++] = a->shape[i];
    for (int i = cut; i < b->rank; ++i)
        shape[rank++] = b->shape[i];
    return rank;
}

const ufl_node *ufl_tensor_binary(ufl_graph *graph, ufl_type type, const ufl_node *a,
                                  const ufl_node *b) {
    int shape[UFL_RANK_MAX], repeated[UFL_FREE_MAX], n_repeated = 0;
    ufl_free_index free[UFL_FREE_MAX];
    if (!a || !b)
        return NULL;
    if (ufl_is_condition(a) || ufl_is_condition(b))
        return ufl_fail(graph->context, WEFT_ERROR_TYPE, "a product of conditions");
    bool scalars = a->rank == 0 && b->rank == 0;
    if (scalars && type != UFL_CROSS)
        return ufl_multiply(graph, a, b);
    int rank = binary_shape(graph, type, a, b, shape);
    int n_free = rank < 0 ? -1 : ufl_merge_free(graph, a, b, free, repeated, &n_repeated);
    if (n_free < 0)
        return NULL;
    if (n_repeated > 0)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                        "a free index occurs in both operands of a product of tensors");
    if (ufl_is_zero(a) || ufl_is_zero(b))
        return ufl_zero(graph, shape, rank, free, n_free);
    if (type == UFL_OUTER && (a->rank == 0 || b->rank == 0))
        return ufl_multiply(graph, a, b);
    bool swap = type == UFL_INNER && b->id < a->id;
    const ufl_node *operands[2] = {swap ? b : a, swap ? a : b};
    const ufl_node made = {.type = type,
                           .operands = operands,
                           .n_operands = 2,
                           .shape = shape,
                           .rank = rank,
                           .free = free,
                           .n_free = n_free};
    return ufl_node_make(graph, &made);
}

static const ufl_node *component(ufl_graph *graph, const ufl_node *a, int i, int j) {
    const int indices[2] = {i, j};
    return ufl_index(graph, a, indices, a->rank);
}

static bool want_square(ufl_graph *graph, const ufl_node *a, const char *name, bool vector_too) {
    char words[256];
    if ((a->rank == 2 && a->shape[0] == a->shape[1] && a->shape[0] <= 100) ||
        (vector_too && a->rank == 1 && a->shape[0] <= 100))
        return true;
    ufl_fail(graph->context, WEFT_ERROR_SHAPE, "%s expects a %ssquare matrix, not %s", name,
             vector_too ? "vector or a " : "", ufl_describe(a, words, sizeof words));
    return false;
}

const ufl_node *ufl_diagonal(ufl_graph *graph, const ufl_node *a) {
    const ufl_node *rows[100], *row[100];
    if (!a || !want_square(graph, a, "diag", true))
        return NULL;
    int n = a->shape[0];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j)
            row[j] = i == j ? component(graph, a, i, i) : ufl_zero_scalar(graph);
        rows[i] = ufl_list_tensor(graph, row, n);
    }
    return ufl_list_tensor(graph, rows, n);
}

const ufl_node *ufl_diagonal_vector(ufl_graph *graph, const ufl_node *a) {
    const ufl_node *parts[100];
    if (!a || !want_square(graph, a, "diag_vector", false))
        return NULL;
    for (int i = 0; i < a->shape[0]; ++i)
        parts[i] = component(graph, a, i, i);
    return ufl_list_tensor(graph, parts, a->shape[0]);
}

const ufl_node *ufl_elementwise(ufl_graph *graph,
                                const ufl_node *(*operation)(ufl_graph *, const ufl_node *,
                                                             const ufl_node *),
                                const ufl_node *a, const ufl_node *b) {
    const ufl_node *parts[100];
    char words[2][256];
    if (!a || !b)
        return NULL;
    if (!ufl_same_shape(a, b) || (a->rank > 0 && a->shape[0] > 100))
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                        "an elementwise operation expects two operands of one shape, not %s and %s",
                        ufl_describe(a, words[0], sizeof words[0]),
                        ufl_describe(b, words[1], sizeof words[1]));
    if (a->rank == 0)
        return operation(graph, a, b);
    ufl_component at[2] = {{UFL_COMPONENT_FIXED, 0}, {UFL_COMPONENT_ELLIPSIS, 0}};
    int n = a->rank > 1 ? 2 : 1;
    for (int i = 0; i < a->shape[0]; ++i) {
        at[0].index = i;
        parts[i] = ufl_elementwise(graph, operation, ufl_getitem(graph, a, at, n),
                                   ufl_getitem(graph, b, at, n));
        if (!parts[i])
            return NULL;
    }
    return ufl_list_tensor(graph, parts, a->shape[0]);
}
