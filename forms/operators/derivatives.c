/* Derivatives that a form file writes, not yet expanded; rebuilding nodes with other operands. */
#include "forms/operators/private.h"

#include <string.h>

static const char *spatial_name(ufl_type type) {
    switch (type) {
    case UFL_GRAD:
        return "grad";
    case UFL_DIV:
        return "div";
    case UFL_NABLA_GRAD:
        return "nabla_grad";
    case UFL_NABLA_DIV:
        return "nabla_div";
    default:
        return "curl";
    }
}

/* The shape of a spatial derivative; returns its rank, or -1 and an error. */
static int spatial_shape(ufl_graph *graph, ufl_type type, const ufl_node *a, int *shape) {
    char words[256];
    int rank = 0, n = a->rank, gdim = a->mesh ? a->mesh->gdim : 0;
    const char *described = ufl_describe(a, words, sizeof words);
    if (a->rank + 1 > UFL_RANK_MAX) {
        ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED, "a tensor has more than %d axes",
                 UFL_RANK_MAX);
        return -1;
    }
    switch (type) {
    case UFL_NABLA_GRAD:
        shape[rank++] = gdim;
        for (int i = 0; i < n; ++i)
            shape[rank++] = a->shape[i];
        return rank;
    case UFL_GRAD:
        for (int i = 0; i < n; ++i)
            shape[rank++] = a->shape[i];
        shape[rank++] = gdim;
        return rank;
    case UFL_CURL:
        if (n > 1 || (n == 1 && a->shape[0] != 2 && a->shape[0] != 3) || (n == 0 && gdim != 2) ||
            (n == 1 && a->mesh && gdim != a->shape[0])) {
            ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                     "curl expects a scalar in the plane or a vector of as many components as the "
                     "mesh has dimensions, 2 or 3, not %s on a mesh of dimension %d",
                     described, gdim);
            return -1;
        }
        shape[0] = n == 0 ? 2 : 3;
        return n == 1 && a->shape[0] == 2 ? 0 : 1;
    default: /* div, nabla_div */
        if (n == 0 || (a->mesh && a->shape[type == UFL_DIV ? n - 1 : 0] != gdim)) {
            ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                     "%s expects a vector or tensor whose %s axis has %d components, not %s",
                     spatial_name(type), type == UFL_DIV ? "last" : "first", gdim, described);
            if (n == 0)
                ufl_hint(graph->context, "the derivatives of a scalar are grad(f)");
            return -1;
        }
        for (int i = type == UFL_DIV ? 0 : 1; i < (type == UFL_DIV ? n - 1 : n); ++i)
            shape[rank++] = a->shape[i];
        return rank;
    }
}

const ufl_node *ufl_spatial(ufl_graph *graph, ufl_type type, const ufl_node *a) {
    int shape[UFL_RANK_MAX];
    if (!a)
        return NULL;
    if (ufl_is_condition(a))
        return ufl_fail(graph->context, WEFT_ERROR_TYPE, "%s of a condition", spatial_name(type));
    bool needs_dimension = type == UFL_GRAD || type == UFL_NABLA_GRAD;
    if (!a->mesh && (needs_dimension || !a->cell_constant)) {
        ufl_fail(graph->context, WEFT_ERROR_TYPE,
                 "%s of an expression without a mesh: it has no coordinates to differentiate by",
                 spatial_name(type));
        return ufl_hint(graph->context, "multiply numbers by a Constant, or drop the term");
    }
    if (!needs_dimension && a->n_free > 0)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE, "%s of an expression with free indices",
                        spatial_name(type));
    int rank = spatial_shape(graph, type, a, shape);
    if (rank < 0)
        return NULL;
    if (a->cell_constant)
        return ufl_zero(graph, shape, rank, a->free, a->n_free);
    const ufl_node made = {.type = type,
                           .operands = &a,
                           .n_operands = 1,
                           .shape = shape,
                           .rank = rank,
                           .free = a->free,
                           .n_free = a->n_free};
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_dx(ufl_graph *graph, const ufl_node *a, const ufl_component *components,
                       int n) {
    ufl_component all[UFL_RANK_MAX + 1] = {{UFL_COMPONENT_ELLIPSIS, 0}};
    if (n < 1 || n > UFL_RANK_MAX)
        return ufl_fail(graph->context, WEFT_ERROR_TYPE, "dx expects 1 to %d directions, not %d",
                        UFL_RANK_MAX, n);
    for (int i = 0; i < n; ++i) {
        a = ufl_spatial(graph, UFL_GRAD, a);
        all[i + 1] = components[i];
    }
    return a && a->rank == n ? ufl_getitem(graph, a, components, n)
                             : ufl_getitem(graph, a, all, n + 1);
}

const ufl_node *ufl_diff(ufl_graph *graph, const ufl_node *a, const ufl_node *v) {
    int shape[2 * UFL_RANK_MAX];
    if (!a || !v)
        return NULL;
    if (v->type == UFL_GEOMETRY && v->detail == UFL_SPATIAL_COORDINATE)
        return ufl_spatial(graph, UFL_GRAD, a);
    if (v->type != UFL_VARIABLE && v->type != UFL_COEFFICIENT) {
        ufl_fail(graph->context, WEFT_ERROR_TYPE,
                 "diff expects a variable, a coefficient or the spatial coordinate as its second "
                 "argument");
        return ufl_hint(graph->context, "write F = variable(F) before the expressions that use F");
    }
    if (a->rank + v->rank > UFL_RANK_MAX)
        return ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED, "a tensor has more than %d axes",
                        UFL_RANK_MAX);
    if (ufl_is_terminal(a) && a != v)
        return ufl_zero_like(graph, a, v->shape, v->rank);
    for (int i = 0; i < a->rank; ++i)
        shape[i] = a->shape[i];
    for (int i = 0; i < v->rank; ++i)
        shape[a->rank + i] = v->shape[i];
    const ufl_node *operands[2] = {a, v};
    const ufl_node made = {.type = UFL_VARIABLE_DERIVATIVE,
                           .operands = operands,
                           .n_operands = 2,
                           .shape = shape,
                           .rank = a->rank + v->rank,
                           .free = a->free,
                           .n_free = a->n_free};
    return ufl_node_make(graph, &made);
}

const ufl_node *ufl_gateaux(ufl_graph *graph, const ufl_node *a, const ufl_node *const *w,
                            const ufl_node *const *dw, int n) {
    if (!a)
        return NULL;
    const ufl_node **operands = ufl_alloc(graph->context, 2 * (size_t)n + 1, sizeof *operands);
    if (!operands)
        return NULL;
    operands[0] = a;
    for (int i = 0; i < n; ++i) {
        if (!w[i] || !dw[i])
            return NULL;
        operands[1 + i] = w[i];
        operands[1 + n + i] = dw[i];
    }
    return ufl_make_like(graph, UFL_COEFFICIENT_DERIVATIVE, 0, operands, 2 * n + 1, a);
}

/* The same for tensor algebra and derivatives, which lowering removes. */
static const ufl_node *rebuild_compound(ufl_graph *graph, const ufl_node *node,
                                        const ufl_node *const *operands) {
    const ufl_node *a = operands[0], *b = node->n_operands > 1 ? operands[1] : NULL;
    switch (node->type) {
    case UFL_INNER:
    case UFL_OUTER:
    case UFL_DOT:
    case UFL_CROSS:
        return ufl_tensor_binary(graph, node->type, a, b);
    case UFL_TRANSPOSED:
    case UFL_PERP:
    case UFL_TRACE:
    case UFL_DETERMINANT:
    case UFL_INVERSE:
    case UFL_COFACTOR:
    case UFL_DEVIATORIC:
    case UFL_SKEW:
    case UFL_SYM:
        return ufl_tensor_unary(graph, node->type, a);
    case UFL_GRAD:
    case UFL_DIV:
    case UFL_NABLA_GRAD:
    case UFL_NABLA_DIV:
    case UFL_CURL:
        if (!a->mesh) /* a constant that was put in place of a function */
            return ufl_zero(graph, node->shape, node->rank, node->free, node->n_free);
        return ufl_spatial(graph, node->type, a);
    case UFL_VARIABLE_DERIVATIVE:
        return ufl_diff(graph, a, b);
    case UFL_COEFFICIENT_DERIVATIVE:
        return ufl_gateaux(graph, a, operands + 1, operands + 1 + node->n_operands / 2,
                           node->n_operands / 2);
    default:
        return node;
    }
}

const ufl_node *ufl_rebuild(ufl_graph *graph, const ufl_node *node,
                            const ufl_node *const *operands) {
    const ufl_node *a = node->n_operands > 0 ? operands[0] : NULL;
    const ufl_node *b = node->n_operands > 1 ? operands[1] : NULL;
    bool same = true;
    for (int i = 0; i < node->n_operands; ++i) {
        if (!operands[i])
            return NULL;
        same = same && operands[i] == node->operands[i];
    }
    if (same)
        return node;
    switch (node->type) {
    case UFL_INDEXED:
        return ufl_indexed(graph, a, node->indices, node->n_indices);
    case UFL_COMPONENT_TENSOR:
        return ufl_as_tensor(graph, a, node->indices, node->n_indices);
    case UFL_LIST_TENSOR:
        return ufl_list_tensor(graph, operands, node->n_operands);
    case UFL_INDEX_SUM:
        return ufl_index_sum(graph, a, UFL_FREE(node->indices[0]));
    case UFL_SUM:
        return ufl_add(graph, a, b);
    case UFL_PRODUCT:
        return ufl_product(graph, a, b);
    case UFL_DIVISION:
        return ufl_divide(graph, a, b);
    case UFL_POWER:
        return ufl_power(graph, a, b);
    case UFL_ABS:
        return ufl_abs(graph, a);
    case UFL_MATH:
        return ufl_math(graph, (ufl_function)node->detail, a);
    case UFL_ATAN2:
        return ufl_atan2(graph, a, b);
    case UFL_BESSEL:
        return ufl_bessel(graph, node->detail, a, b);
    case UFL_MIN:
    case UFL_MAX:
        return ufl_extremum(graph, node->type, a, b);
    case UFL_COMPARE:
        return ufl_compare(graph, (ufl_comparison)node->detail, a, b);
    case UFL_AND:
    case UFL_OR:
    case UFL_NOT:
        return ufl_logic(graph, node->type, a, b);
    case UFL_CONDITIONAL:
        return ufl_conditional(graph, a, b, operands[2]);
    case UFL_VARIABLE:
        return ufl_make_like(graph, UFL_VARIABLE, node->detail, operands, 1, a);
    case UFL_RESTRICTED:
        return ufl_restrict(graph, a, node->detail);
    case UFL_AVERAGE:
        return ufl_average(graph, a, node->detail);
    default:
        return ufl_is_terminal(node) ? node : rebuild_compound(graph, node, operands);
    }
}
