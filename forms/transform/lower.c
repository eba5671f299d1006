/* Writes tensor algebra and div, curl, ... in index notation. */
#include "forms/transform/private.h"

static int free_index(ufl_graph *graph) {
    return UFL_FREE(ufl_new_index(graph));
}

static const ufl_node *at2(ufl_graph *graph, const ufl_node *a, int i, int j) {
    const int indices[2] = {i, j};
    return ufl_index(graph, a, indices, 2);
}

static const ufl_node *at1(ufl_graph *graph, const ufl_node *a, int i) {
    return ufl_index(graph, a, &i, 1);
}

static const ufl_node *matrix(ufl_graph *graph, const ufl_node *scalar, int i, int j) {
    const int indices[2] = {i, j};
    return ufl_as_tensor(graph, scalar, indices, 2);
}

/* a.dx(i) of a scalar expression. */
static const ufl_node *partial(ufl_graph *graph, const ufl_node *a, int i) {
    const ufl_component component = {i < 0 ? UFL_COMPONENT_FREE : UFL_COMPONENT_FIXED,
                                     i < 0 ? UFL_FREE(i) : i};
    return ufl_dx(graph, a, &component, 1);
}

/* The determinant of the rows and columns that are listed, by the first row. */
static const ufl_node *minor(ufl_graph *graph, const ufl_node *a, const int *rows,
                             const int *columns, int n) {
    if (n == 1)
        return at2(graph, a, rows[0], columns[0]);
    const ufl_node *sum = NULL;
    for (int k = 0; k < n; ++k) {
        int rest[UFL_RANK_MAX], count = 0;
        for (int c = 0; c < n; ++c)
            if (c != k)
                rest[count++] = columns[c];
        const ufl_node *entry = at2(graph, a, rows[0], columns[k]);
        entry = k % 2 ? ufl_negate(graph, entry) : entry;
        const ufl_node *term = ufl_multiply(graph, entry, minor(graph, a, rows + 1, rest, n - 1));
        sum = sum ? ufl_add(graph, sum, term) : term;
        if (!sum)
            return NULL;
    }
    return sum;
}

enum { MATRIX_MAX = 4 };

static bool is_small(ufl_graph *graph, const ufl_node *a, const char *name) {
    if (a->shape[0] <= MATRIX_MAX)
        return true;
    ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
             "%s of a matrix with more than %d rows is not supported", name, MATRIX_MAX);
    return false;
}

static const ufl_node *determinant(ufl_graph *graph, const ufl_node *a) {
    static const int all[MATRIX_MAX] = {0, 1, 2, 3};
    return is_small(graph, a, "det") ? minor(graph, a, all, all, a->shape[0]) : NULL;
}

/* The matrix of (-1)^(i+j) minor(i, j), transposed for the adjugate. */
static const ufl_node *cofactors(ufl_graph *graph, const ufl_node *a, bool transposed) {
    const ufl_node *rows[MATRIX_MAX], *row[MATRIX_MAX];
    int n = a->shape[0];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            int r[MATRIX_MAX], c[MATRIX_MAX], n_r = 0, n_c = 0;
            for (int k = 0; k < n; ++k) {
                if (k != (transposed ? j : i))
                    r[n_r++] = k;
                if (k != (transposed ? i : j))
                    c[n_c++] = k;
            }
            row[j] = n == 1 ? ufl_int(graph, 1) : minor(graph, a, r, c, n - 1);
            row[j] = (i + j) % 2 ? ufl_negate(graph, row[j]) : row[j];
        }
        rows[i] = ufl_list_tensor(graph, row, n);
    }
    return ufl_list_tensor(graph, rows, n);
}

static const ufl_node *inverse(ufl_graph *graph, const ufl_node *a) {
    if (!is_small(graph, a, "inv"))
        return NULL;
    if (a->shape[0] == 1) {
        const ufl_node *entry = ufl_divide(graph, ufl_float(graph, 1), at2(graph, a, 0, 0));
        const ufl_node *row = ufl_list_tensor(graph, &entry, 1);
        return ufl_list_tensor(graph, &row, 1);
    }
    return ufl_divide(graph, cofactors(graph, a, true), determinant(graph, a));
}

/* A - tr(A)/n I by components. */
static const ufl_node *deviatoric(ufl_graph *graph, const ufl_node *a) {
    const ufl_node *rows[MATRIX_MAX], *row[MATRIX_MAX];
    int n = a->shape[0];
    if (!is_small(graph, a, "dev"))
        return NULL;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            if (i != j) {
                row[j] = at2(graph, a, i, j);
                continue;
            }
            row[j] = ufl_multiply(graph, ufl_float(graph, 1 - 1.0 / n), at2(graph, a, i, i));
            for (int k = 0; k < n; ++k)
                if (k != i)
                    row[j] = ufl_add(
                        graph, row[j],
                        ufl_multiply(graph, ufl_float(graph, -1.0 / n), at2(graph, a, k, k)));
        }
        rows[i] = ufl_list_tensor(graph, row, n);
    }
    return ufl_list_tensor(graph, rows, n);
}

/* (A_ij + sign A_ji) / 2 */
static const ufl_node *symmetric_part(ufl_graph *graph, const ufl_node *a, bool skew) {
    int i = free_index(graph), j = free_index(graph);
    const ufl_node *first = at2(graph, a, i, j), *second = at2(graph, a, j, i);
    const ufl_node *sum = skew ? ufl_subtract(graph, first, second) : ufl_add(graph, first, second);
    return matrix(graph, ufl_divide(graph, sum, ufl_int(graph, 2)), i, j);
}

/* a_i b_j - a_j b_i */
static const ufl_node *cross_part(ufl_graph *graph, const ufl_node *a, const ufl_node *b, int i,
                                  int j) {
    return ufl_subtract(graph, ufl_product(graph, at1(graph, a, i), at1(graph, b, j)),
                        ufl_product(graph, at1(graph, a, j), at1(graph, b, i)));
}

/* d a_j / dx_i - d a_i / dx_j */
static const ufl_node *curl_part(ufl_graph *graph, const ufl_node *a, int i, int j) {
    return ufl_subtract(graph, partial(graph, at1(graph, a, j), i),
                        partial(graph, at1(graph, a, i), j));
}

static const ufl_node *curl(ufl_graph *graph, const ufl_node *a) {
    const ufl_node *parts[3];
    if (a->rank == 0) {
        parts[0] = partial(graph, a, 1);
        parts[1] = ufl_negate(graph, partial(graph, a, 0));
        return ufl_list_tensor(graph, parts, 2);
    }
    if (a->shape[0] == 2)
        return curl_part(graph, a, 0, 1);
    parts[0] = curl_part(graph, a, 1, 2);
    parts[1] = curl_part(graph, a, 2, 0);
    parts[2] = curl_part(graph, a, 0, 1);
    return ufl_list_tensor(graph, parts, 3);
}

/* sum_i d a_(..., i) / dx_i, or of the first axis. */
static const ufl_node *divergence(ufl_graph *graph, const ufl_node *a, bool first) {
    int i = ufl_new_index(graph);
    ufl_component components[2] = {{UFL_COMPONENT_ELLIPSIS, 0}, {UFL_COMPONENT_FREE, i}};
    if (first || a->rank == 1) {
        components[0] = components[1];
        components[1].kind = UFL_COMPONENT_ELLIPSIS;
    }
    const ufl_node *row = ufl_getitem(graph, a, components, a->rank == 1 ? 1 : 2);
    const ufl_component direction = {UFL_COMPONENT_FREE, i};
    return ufl_dx(graph, row, &direction, 1);
}

static const ufl_node *nabla_grad(ufl_graph *graph, const ufl_node *a) {
    int indices[UFL_RANK_MAX + 1];
    if (a->rank == 0)
        return ufl_spatial(graph, UFL_GRAD, a);
    indices[0] = free_index(graph);
    const ufl_node *scalar = ufl_as_scalar(graph, a, indices + 1);
    return ufl_as_tensor(graph, partial(graph, scalar, indices[0]), indices, a->rank + 1);
}

/* Sum of products over all axes, the last and first axis, or none. */
static const ufl_node *product_of(ufl_graph *graph, ufl_type type, const ufl_node *a,
                                  const ufl_node *b) {
    int left[UFL_RANK_MAX], right[UFL_RANK_MAX], result[UFL_RANK_MAX], n = 0;
    for (int i = 0; i < a->rank; ++i)
        left[i] = free_index(graph);
    for (int i = 0; i < b->rank; ++i)
        right[i] = type == UFL_INNER           ? left[i]
                   : type == UFL_DOT && i == 0 ? left[a->rank - 1]
                                               : free_index(graph);
    if (type == UFL_DOT) {
        for (int i = 0; i + 1 < a->rank; ++i)
            result[n++] = left[i];
        for (int i = 1; i < b->rank; ++i)
            result[n++] = right[i];
    } else if (type == UFL_OUTER) {
        for (int i = 0; i < a->rank; ++i)
            result[n++] = left[i];
        for (int i = 0; i < b->rank; ++i)
            result[n++] = right[i];
    }
    const ufl_node *product = ufl_multiply(graph, ufl_index(graph, a, left, a->rank),
                                           ufl_index(graph, b, right, b->rank));
    return ufl_as_tensor(graph, product, result, n);
}

/* The node in index notation, its operands being so already. */
static const ufl_node *lowered(ufl_graph *graph, const ufl_node *node,
                               const ufl_node *const *operands) {
    const ufl_node *a = operands[0], *parts[3];
    int i = 0, j = 0;
    switch (node->type) {
    case UFL_TRANSPOSED:
        i = free_index(graph);
        j = free_index(graph);
        return matrix(graph, at2(graph, a, i, j), j, i);
    case UFL_TRACE:
        i = free_index(graph);
        return at2(graph, a, i, i);
    case UFL_DETERMINANT:
        return determinant(graph, a);
    case UFL_INVERSE:
        return inverse(graph, a);
    case UFL_COFACTOR:
        return is_small(graph, a, "cofac") ? cofactors(graph, a, false) : NULL;
    case UFL_DEVIATORIC:
        return deviatoric(graph, a);
    case UFL_SKEW:
    case UFL_SYM:
        return symmetric_part(graph, a, node->type == UFL_SKEW);
    case UFL_PERP:
        parts[0] = ufl_negate(graph, at1(graph, a, 1));
        parts[1] = at1(graph, a, 0);
        return ufl_list_tensor(graph, parts, 2);
    case UFL_CROSS:
        parts[0] = cross_part(graph, a, operands[1], 1, 2);
        parts[1] = cross_part(graph, a, operands[1], 2, 0);
        parts[2] = cross_part(graph, a, operands[1], 0, 1);
        return ufl_list_tensor(graph, parts, 3);
    case UFL_INNER:
    case UFL_DOT:
    case UFL_OUTER:
        return product_of(graph, node->type, a, operands[1]);
    case UFL_DIV:
    case UFL_NABLA_DIV:
        return divergence(graph, a, node->type == UFL_NABLA_DIV);
    case UFL_NABLA_GRAD:
        return nabla_grad(graph, a);
    case UFL_CURL:
        return curl(graph, a);
    default:
        return ufl_rebuild(graph, node, operands);
    }
}

/* What a derivative is taken by stays as it is. */
static const ufl_node *operand_lowered(ufl_graph *graph, void *user, const ufl_node *node, int i) {
    const bool stays = (node->type == UFL_COEFFICIENT_DERIVATIVE && i > 0) ||
                       (node->type == UFL_VARIABLE_DERIVATIVE && i == 1);
    return stays ? ufl_operand(node, i) : ufl_lower_algebra(graph, user, ufl_operand(node, i));
}

const ufl_node *ufl_lower_algebra(ufl_graph *graph, ufl_pass *pass, const ufl_node *node) {
    if (!node || ufl_is_terminal(node))
        return node;
    const ufl_node *result = ufl_map_find(&pass->map, node);
    if (result)
        return result;
    const ufl_node *few[3];
    const ufl_node **operands = ufl_map_operands(graph, node, few, operand_lowered, pass);
    if (!operands)
        return NULL;
    result = lowered(graph, node, operands);
    return ufl_map_put(graph, &pass->map, node, result);
}
