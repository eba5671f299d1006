/* Sums, products, quotients and powers. */
#include "forms/operators/private.h"

#include <math.h>

/* Operands of commutative operators: numbers first, then in order of creation. */
static void sort_pair(const ufl_node **pair) {
    bool swap = ufl_is_number(pair[1])   ? !ufl_is_number(pair[0])
                : ufl_is_number(pair[0]) ? false
                                         : pair[1]->id < pair[0]->id;
    if (swap) {
        const ufl_node *first = pair[0];
        pair[0] = pair[1];
        pair[1] = first;
    }
}

/* int op int stays int where that does not overflow, as in Python. */
static const ufl_node *fold(ufl_graph *graph, const ufl_node *a, const ufl_node *b,
                            char operation) {
    int64_t result = 0;
    if (a->type == UFL_INT && b->type == UFL_INT) {
        bool overflow = operation == '+' ? __builtin_add_overflow(a->integer, b->integer, &result)
                                         : __builtin_mul_overflow(a->integer, b->integer, &result);
        if (!overflow)
            return ufl_int(graph, result);
    }
    return ufl_float(graph, operation == '+' ? ufl_number(a) + ufl_number(b)
                                             : ufl_number(a) * ufl_number(b));
}

/* Operands of arithmetic are values, not conditions. */
static bool is_value(ufl_graph *graph, const ufl_node *a, const char *what) {
    if (!ufl_is_condition(a))
        return true;
    ufl_fail(graph->context, WEFT_ERROR_TYPE, "%s must be an expression, not a condition", what);
    ufl_hint(graph->context, "write conditional(condition, value, other value)");
    return false;
}

const ufl_node *ufl_add(ufl_graph *graph, const ufl_node *a, const ufl_node *b) {
    char words[2][256];
    if (!a || !b || !is_value(graph, a, "a term of a sum") ||
        !is_value(graph, b, "a term of a sum"))
        return NULL;
    if (!ufl_same_shape(a, b))
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE, "cannot add %s and %s",
                        ufl_describe(a, words[0], sizeof words[0]),
                        ufl_describe(b, words[1], sizeof words[1]));
    if (!ufl_same_free(a, b))
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                        "the terms of a sum have different free indices: %s and %s",
                        ufl_describe(a, words[0], sizeof words[0]),
                        ufl_describe(b, words[1], sizeof words[1]));
    if (ufl_is_zero(a))
        return b;
    if (ufl_is_zero(b))
        return a;
    if (ufl_is_number(a) && ufl_is_number(b))
        return fold(graph, a, b, '+');
    const ufl_node *pair[2] = {a, b};
    sort_pair(pair);
    return ufl_make_like(graph, UFL_SUM, 0, pair, 2, a);
}

const ufl_node *ufl_negate(ufl_graph *graph, const ufl_node *a) {
    return ufl_multiply(graph, ufl_int(graph, -1), a);
}

const ufl_node *ufl_subtract(ufl_graph *graph, const ufl_node *a, const ufl_node *b) {
    return ufl_add(graph, a, ufl_negate(graph, b));
}

const ufl_node *ufl_product(ufl_graph *graph, const ufl_node *a, const ufl_node *b) {
    ufl_free_index free[UFL_FREE_MAX];
    char words[2][256];
    if (!a || !b || !is_value(graph, a, "a factor") || !is_value(graph, b, "a factor"))
        return NULL;
    if (a->rank > 0 || b->rank > 0)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE, "cannot multiply %s and %s",
                        ufl_describe(a, words[0], sizeof words[0]),
                        ufl_describe(b, words[1], sizeof words[1]));
    int n_free = ufl_merge_free(graph, a, b, free, NULL, NULL);
    if (n_free < 0)
        return NULL;
    if (ufl_is_zero(a) || ufl_is_zero(b))
        return ufl_zero(graph, NULL, 0, free, n_free);
    if (ufl_is_number(a) && ufl_is_number(b))
        return fold(graph, a, b, '*');
    if (ufl_is_number(a) && ufl_number(a) == 1)
        return b;
    if (ufl_is_number(b) && ufl_number(b) == 1)
        return a;
    const ufl_node *pair[2] = {a, b};
    sort_pair(pair);
    const ufl_node made = {
        .type = UFL_PRODUCT, .operands = pair, .n_operands = 2, .free = free, .n_free = n_free};
    return ufl_node_make(graph, &made);
}

/* A zero of the shape of a product: the axes of a without the last `cut`, then those of b without the
   first `cut`. */
static const ufl_node *zero_product(ufl_graph *graph, const ufl_node *a, const ufl_node *b, int cut,
                                    const ufl_free_index *free, int n_free) {
    int shape[2 * UFL_RANK_MAX], rank = 0;
    for (int i = 0; i < a->rank - cut; ++i)
        shape[rank++] = a->shape[i];
    for (int i = cut; i < b->rank; ++i)
        shape[rank++] = b->shape[i];
    return ufl_zero(graph, shape, rank, free, n_free);
}

/* a.b of a matrix a and a matrix or vector b in index notation. */
static const ufl_node *contract(ufl_graph *graph, const ufl_node *a, const ufl_node *b) {
    char words[2][256];
    if (a->shape[1] != b->shape[0])
        return ufl_fail(
            graph->context, WEFT_ERROR_SHAPE, "cannot multiply %s and %s: %d columns, %d %s",
            ufl_describe(a, words[0], sizeof words[0]), ufl_describe(b, words[1], sizeof words[1]),
            a->shape[1], b->shape[0], b->rank == 1 ? "components" : "rows");
    int k = ufl_new_index(graph), i = UFL_FREE(ufl_new_index(graph));
    int j = UFL_FREE(ufl_new_index(graph));
    const int left[2] = {i, UFL_FREE(k)}, right[2] = {UFL_FREE(k), j}, both[2] = {i, j};
    const ufl_node *product =
        ufl_multiply(graph, ufl_index(graph, a, left, 2), ufl_index(graph, b, right, b->rank));
    return ufl_as_tensor(graph, product, both, b->rank);
}

const ufl_node *ufl_multiply(ufl_graph *graph, const ufl_node *a, const ufl_node *b) {
    ufl_free_index free[UFL_FREE_MAX];
    int repeated[UFL_FREE_MAX], n_repeated = 0, indices[UFL_RANK_MAX];
    char words[2][256];
    if (!a || !b || !is_value(graph, a, "a factor") || !is_value(graph, b, "a factor"))
        return NULL;
    int n_free = ufl_merge_free(graph, a, b, free, repeated, &n_repeated);
    if (n_free < 0)
        return NULL;
    const ufl_node *product = NULL;
    if (a->rank == 0 && b->rank == 0) {
        product = ufl_product(graph, a, b);
    } else if (a->rank == 0 || b->rank == 0) {
        const ufl_node *scalar = a->rank == 0 ? a : b, *tensor = a->rank == 0 ? b : a;
        if (ufl_is_zero(a) || ufl_is_zero(b))
            return ufl_zero(graph, tensor->shape, tensor->rank, free, n_free);
        product = ufl_product(graph, scalar, ufl_as_scalar(graph, tensor, indices));
        product = ufl_as_tensor(graph, product, indices, tensor->rank);
    } else if (a->rank == 2 && (b->rank == 1 || b->rank == 2)) {
        if (n_repeated > 0)
            return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                            "an index is repeated in a product of matrices");
        if (ufl_is_zero(a) || ufl_is_zero(b))
            return zero_product(graph, a, b, 1, free, n_free);
        return contract(graph, a, b);
    } else {
        ufl_fail(graph->context, WEFT_ERROR_SHAPE, "cannot multiply %s and %s with *",
                 ufl_describe(a, words[0], sizeof words[0]),
                 ufl_describe(b, words[1], sizeof words[1]));
        return ufl_hint(graph->context, "write inner(a, b), dot(a, b) or outer(a, b)");
    }
    for (int i = 0; i < n_repeated && product; ++i)
        product = ufl_index_sum(graph, product, repeated[i]);
    return product;
}

const ufl_node *ufl_divide(ufl_graph *graph, const ufl_node *a, const ufl_node *b) {
    if (!a || !b || !is_value(graph, a, "a numerator") ||
        !ufl_want_true_scalar(graph, b, "a denominator"))
        return NULL;
    if (ufl_is_zero(b))
        return ufl_fail(graph->context, WEFT_ERROR_TYPE, "division by zero");
    if (a->rank > 0) {
        int indices[UFL_RANK_MAX];
        const ufl_node *scalar = ufl_as_scalar(graph, a, indices);
        return ufl_as_tensor(graph, ufl_divide(graph, scalar, b), indices, a->rank);
    }
    if (ufl_is_zero(a) || (ufl_is_number(b) && ufl_number(b) == 1))
        return a;
    if (ufl_is_number(a) && ufl_is_number(b))
        return ufl_float(graph, ufl_number(a) / ufl_number(b));
    const ufl_node *operands[2] = {a, b};
    return ufl_make_like(graph, UFL_DIVISION, 0, operands, 2, a);
}

/* base**exponent of integers without rounding, as Python has it; false where it overflows. */
static bool integer_power(int64_t base, int64_t exponent, int64_t *out) {
    int64_t result = 1;
    for (int64_t i = 0; i < exponent; ++i) {
        if (__builtin_mul_overflow(result, base, &result))
            return false;
        if (result == 0 || (base >= -1 && base <= 1 && i > 2))
            break;
    }
    if (base == -1)
        result = exponent % 2 ? -1 : 1;
    *out = base == 1 ? 1 : result;
    return true;
}

const ufl_node *ufl_power(ufl_graph *graph, const ufl_node *a, const ufl_node *b) {
    if (!a || !b)
        return NULL;
    if (a->rank > 0 && ufl_is_number(b) && ufl_number(b) == 2)
        return ufl_tensor_binary(graph, UFL_INNER, a, a);
    if (!ufl_want_true_scalar(graph, a, "the base of a power") ||
        !ufl_want_true_scalar(graph, b, "an exponent"))
        return NULL;
    if (ufl_is_number(a) && ufl_is_number(b)) {
        int64_t power = 0;
        if (a->type == UFL_INT && b->type == UFL_INT && b->integer >= 0 &&
            integer_power(a->integer, b->integer, &power))
            return ufl_int(graph, power);
        if (ufl_number(a) < 0 && ufl_number(b) != floor(ufl_number(b)))
            return ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
                            "%g ** %g is a complex number, which Weft does not have", ufl_number(a),
                            ufl_number(b));
        return ufl_float(graph, pow(ufl_number(a), ufl_number(b)));
    }
    if (ufl_is_zero(b))
        return ufl_int(graph, 1);
    if (ufl_is_zero(a) && ufl_is_number(b)) {
        if (ufl_number(b) < 0)
            return ufl_fail(graph->context, WEFT_ERROR_TYPE, "0 to a negative power");
        return a;
    }
    if (ufl_is_number(b) && ufl_number(b) == 1)
        return a;
    const ufl_node *operands[2] = {a, b};
    return ufl_make_scalar(graph, UFL_POWER, 0, operands, 2);
}

const ufl_node *ufl_abs(ufl_graph *graph, const ufl_node *a) {
    if (!a || !is_value(graph, a, "the argument of abs"))
        return NULL;
    if (ufl_is_zero(a) || a->type == UFL_ABS)
        return a;
    if (a->type == UFL_INT)
        return a->integer == INT64_MIN ? ufl_float(graph, fabs(ufl_number(a)))
                                       : ufl_int(graph, a->integer < 0 ? -a->integer : a->integer);
    if (a->type == UFL_FLOAT)
        return ufl_float(graph, fabs(a->value));
    return ufl_make_like(graph, UFL_ABS, 0, &a, 1, a);
}
