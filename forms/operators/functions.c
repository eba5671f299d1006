/* Mathematical functions, conditions, and wrappers of expressions. */
#include "forms/operators/private.h"

#include <math.h>
#include <stdio.h>

static double (*const functions[UFL_N_FUNCTIONS])(double) = {
    [UFL_SQRT] = sqrt, [UFL_EXP] = exp,   [UFL_LN] = log,    [UFL_COS] = cos,   [UFL_SIN] = sin,
    [UFL_TAN] = tan,   [UFL_COSH] = cosh, [UFL_SINH] = sinh, [UFL_TANH] = tanh, [UFL_ACOS] = acos,
    [UFL_ASIN] = asin, [UFL_ATAN] = atan, [UFL_ERF] = erf};

static bool is_literal(const ufl_node *a) {
    return ufl_is_number(a) || (ufl_is_zero(a) && ufl_is_true_scalar(a));
}

const ufl_node *ufl_math(ufl_graph *graph, ufl_function function, const ufl_node *a) {
    char what[64];
    snprintf(what, sizeof what, "the argument of %s", ufl_function_name(function));
    if (!a || !ufl_want_true_scalar(graph, a, what))
        return NULL;
    if (is_literal(a)) {
        double value = functions[function](ufl_number(a));
        if (!isfinite(value)) {
            bool complex = function == UFL_SQRT || function == UFL_LN;
            return ufl_fail(graph->context, WEFT_ERROR_TYPE, "%s(%g) is not a real number%s",
                            ufl_function_name(function), ufl_number(a),
                            complex ? ", and Weft has no complex numbers" : "");
        }
        return ufl_float(graph, value);
    }
    return ufl_make_scalar(graph, UFL_MATH, (int)function, &a, 1);
}

const ufl_node *ufl_atan2(ufl_graph *graph, const ufl_node *a, const ufl_node *b) {
    if (!a || !b || !ufl_want_true_scalar(graph, a, "the first argument of atan2") ||
        !ufl_want_true_scalar(graph, b, "the second argument of atan2"))
        return NULL;
    if (is_literal(a) && is_literal(b))
        return ufl_float(graph, atan2(ufl_number(a), ufl_number(b)));
    const ufl_node *operands[2] = {a, b};
    return ufl_make_scalar(graph, UFL_ATAN2, 0, operands, 2);
}

const ufl_node *ufl_bessel(ufl_graph *graph, int kind, const ufl_node *order, const ufl_node *a) {
    if (!order || !a || !ufl_want_true_scalar(graph, order, "the order of a Bessel function") ||
        !ufl_want_true_scalar(graph, a, "the argument of a Bessel function"))
        return NULL;
    if (order->type != UFL_INT && !is_literal(order))
        return ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
                        "the order of a Bessel function must be a number");
    const ufl_node *operands[2] = {order, a};
    return ufl_make_scalar(graph, UFL_BESSEL, kind, operands, 2);
}

const ufl_node *ufl_extremum(ufl_graph *graph, ufl_type min_or_max, const ufl_node *a,
                             const ufl_node *b) {
    const char *name =
        min_or_max == UFL_MIN ? "an argument of min_value" : "an argument of max_value";
    if (!a || !b || !ufl_want_true_scalar(graph, a, name) || !ufl_want_true_scalar(graph, b, name))
        return NULL;
    const ufl_node *operands[2] = {a, b};
    return ufl_make_scalar(graph, min_or_max, 0, operands, 2);
}

const ufl_node *ufl_compare(ufl_graph *graph, ufl_comparison comparison, const ufl_node *a,
                            const ufl_node *b) {
    if (!a || !b || !ufl_want_true_scalar(graph, a, "the left side of a comparison") ||
        !ufl_want_true_scalar(graph, b, "the right side of a comparison"))
        return NULL;
    const ufl_node *operands[2] = {a, b};
    return ufl_make_scalar(graph, UFL_COMPARE, (int)comparison, operands, 2);
}

static bool want_condition(ufl_graph *graph, const ufl_node *a, const char *what) {
    char words[256];
    if (ufl_is_condition(a))
        return true;
    ufl_fail(graph->context, WEFT_ERROR_TYPE, "%s must be a condition, not %s", what,
             ufl_describe(a, words, sizeof words));
    ufl_hint(graph->context, "write a comparison, such as lt(x[0], 0.5)");
    return false;
}

const ufl_node *ufl_logic(ufl_graph *graph, ufl_type type, const ufl_node *a, const ufl_node *b) {
    const char *what = type == UFL_AND  ? "an operand of And"
                       : type == UFL_OR ? "an operand of Or"
                                        : "the operand of Not";
    if (!a || (type != UFL_NOT && !b) || !want_condition(graph, a, what) ||
        (type != UFL_NOT && !want_condition(graph, b, what)))
        return NULL;
    const ufl_node *operands[2] = {a, b};
    return ufl_make_scalar(graph, type, 0, operands, type == UFL_NOT ? 1 : 2);
}

const ufl_node *ufl_conditional(ufl_graph *graph, const ufl_node *condition, const ufl_node *a,
                                const ufl_node *b) {
    char words[2][256];
    if (!condition || !a || !b)
        return NULL;
    if (a == b)
        return a;
    if (!want_condition(graph, condition, "the first argument of conditional"))
        return NULL;
    if (!ufl_same_shape(a, b) || !ufl_same_free(a, b))
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                        "the values of a conditional differ in shape or free indices: %s and %s",
                        ufl_describe(a, words[0], sizeof words[0]),
                        ufl_describe(b, words[1], sizeof words[1]));
    const ufl_node *operands[3] = {condition, a, b};
    return ufl_make_like(graph, UFL_CONDITIONAL, 0, operands, 3, a);
}

const ufl_node *ufl_sign(ufl_graph *graph, const ufl_node *a) {
    const ufl_node *zero = ufl_zero_scalar(graph);
    const ufl_node *other = ufl_conditional(graph, ufl_compare(graph, UFL_LT, a, zero),
                                            ufl_int(graph, -1), ufl_int(graph, 1));
    return ufl_conditional(graph, ufl_compare(graph, UFL_EQ, a, zero), zero, other);
}

const ufl_node *ufl_variable(ufl_graph *graph, const ufl_node *a) {
    if (!a)
        return NULL;
    if (a->n_free > 0)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                        "the expression of a variable has free indices");
    return ufl_make_like(graph, UFL_VARIABLE, graph->n_labels++, &a, 1, a);
}

const ufl_node *ufl_restrict(ufl_graph *graph, const ufl_node *a, int side) {
    if (!a)
        return NULL;
    if (ufl_is_zero(a) || ufl_is_number(a) || a->type == UFL_IDENTITY || a->type == UFL_PERMUTATION)
        return a;
    if (ufl_is_condition(a))
        return ufl_fail(graph->context, WEFT_ERROR_TYPE,
                        "a condition cannot be restricted: restrict its operands");
    return ufl_make_like(graph, UFL_RESTRICTED, side, &a, 1, a);
}

const ufl_node *ufl_average(ufl_graph *graph, const ufl_node *a, int kind) {
    if (!a)
        return NULL;
    if (ufl_is_zero(a) || ufl_is_number(a) || a->type == UFL_IDENTITY || a->type == UFL_PERMUTATION)
        return a;
    return ufl_make_like(graph, UFL_AVERAGE, kind, &a, 1, a);
}

const ufl_node *ufl_jump(ufl_graph *graph, const ufl_node *v, const ufl_node *n) {
    if (!v)
        return NULL;
    if (!v->mesh)
        return ufl_zero_like(graph, v, NULL, 0);
    const ufl_node *plus = ufl_restrict(graph, v, '+'), *minus = ufl_restrict(graph, v, '-');
    if (!n)
        return ufl_subtract(graph, plus, minus);
    const ufl_node *n_plus = ufl_restrict(graph, n, '+'), *n_minus = ufl_restrict(graph, n, '-');
    if (v->rank == 0)
        return ufl_add(graph, ufl_multiply(graph, plus, n_plus),
                       ufl_multiply(graph, minus, n_minus));
    return ufl_add(graph, ufl_tensor_binary(graph, UFL_DOT, plus, n_plus),
                   ufl_tensor_binary(graph, UFL_DOT, minus, n_minus));
}
