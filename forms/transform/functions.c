/* Derivatives of the mathematical functions. */
#include "forms/transform/private.h"

#include <math.h>

static const ufl_node *number(ufl_graph *graph, double value) {
    return ufl_float(graph, value);
}

static const ufl_node *call(ufl_graph *graph, ufl_function function, const ufl_node *a) {
    return ufl_math(graph, function, a);
}

/* 1 - f**2, or 1 + f**2 */
static const ufl_node *one_with_square(ufl_graph *graph, const ufl_node *f, bool minus) {
    const ufl_node *square = ufl_power(graph, f, ufl_int(graph, 2));
    return minus ? ufl_subtract(graph, number(graph, 1), square)
                 : ufl_add(graph, number(graph, 1), square);
}

/* 2 cosh f / (cosh 2f + 1) */
static const ufl_node *sech(ufl_graph *graph, const ufl_node *f) {
    const ufl_node *twice = ufl_multiply(graph, number(graph, 2), f);
    const ufl_node *denominator = ufl_add(graph, call(graph, UFL_COSH, twice), number(graph, 1));
    return ufl_divide(graph, ufl_multiply(graph, number(graph, 2), call(graph, UFL_COSH, f)),
                      denominator);
}

static const ufl_node *of_function(ufl_graph *graph, const ufl_node *o, const ufl_node *fp) {
    const ufl_node *f = ufl_operand(o, 0), *rest = NULL;
    switch ((ufl_function)o->detail) {
    case UFL_SQRT:
        return ufl_divide(graph, fp, ufl_multiply(graph, ufl_int(graph, 2), o));
    case UFL_EXP:
        return ufl_multiply(graph, fp, o);
    case UFL_LN:
        return ufl_divide(graph, fp, f);
    case UFL_COS:
        return ufl_multiply(graph, fp, ufl_negate(graph, call(graph, UFL_SIN, f)));
    case UFL_SIN:
        return ufl_multiply(graph, fp, call(graph, UFL_COS, f));
    case UFL_TAN: /* 2 f' / (cos 2f + 1) */
        rest = call(graph, UFL_COS, ufl_multiply(graph, number(graph, 2), f));
        rest = ufl_add(graph, rest, number(graph, 1));
        return ufl_divide(graph, ufl_multiply(graph, number(graph, 2), fp), rest);
    case UFL_COSH:
        return ufl_multiply(graph, fp, call(graph, UFL_SINH, f));
    case UFL_SINH:
        return ufl_multiply(graph, fp, call(graph, UFL_COSH, f));
    case UFL_TANH:
        return ufl_multiply(graph, fp, ufl_power(graph, sech(graph, f), ufl_int(graph, 2)));
    case UFL_ACOS:
        return ufl_divide(graph, ufl_negate(graph, fp),
                          call(graph, UFL_SQRT, one_with_square(graph, f, true)));
    case UFL_ASIN:
        return ufl_divide(graph, fp, call(graph, UFL_SQRT, one_with_square(graph, f, true)));
    case UFL_ATAN:
        return ufl_divide(graph, fp, one_with_square(graph, f, false));
    case UFL_ERF: /* 2 / sqrt(pi) exp(-f^2) */
        rest = ufl_negate(graph, ufl_power(graph, f, ufl_int(graph, 2)));
        rest = ufl_multiply(graph, number(graph, 2 / sqrt(3.14159265358979323846)),
                            call(graph, UFL_EXP, rest));
        return ufl_multiply(graph, fp, rest);
    default:
        return ufl_fail(graph->context, WEFT_ERROR_INTERNAL, "a function without a derivative");
    }
}

/* (g f' - f g') / (f^2 + g^2) */
static const ufl_node *of_atan2(ufl_graph *graph, const ufl_node *o, const ufl_node *fp,
                                const ufl_node *gp) {
    const ufl_node *f = ufl_operand(o, 0), *g = ufl_operand(o, 1), *two = ufl_int(graph, 2);
    const ufl_node *numerator =
        ufl_subtract(graph, ufl_multiply(graph, g, fp), ufl_multiply(graph, f, gp));
    return ufl_divide(graph, numerator,
                      ufl_add(graph, ufl_power(graph, f, two), ufl_power(graph, g, two)));
}

/* J0' = -J1, Jn' = (J(n-1) - J(n+1)) / 2; the same for Y; I0' = I1, In' = (I(n-1) + I(n+1)) / 2;
   K0' = -K1, Kn' = -(K(n-1) + K(n+1)) / 2 */
static const ufl_node *of_bessel(ufl_graph *graph, const ufl_node *o, const ufl_node *fp) {
    const ufl_node *order = ufl_operand(o, 0), *f = ufl_operand(o, 1), *one = ufl_int(graph, 1);
    int kind = o->detail;
    const ufl_node *result = NULL;
    if (ufl_is_zero(order)) {
        result = ufl_bessel(graph, kind, one, f);
        result = kind == 'I' ? result : ufl_negate(graph, result);
    } else {
        const ufl_node *below = ufl_bessel(graph, kind, ufl_subtract(graph, order, one), f);
        const ufl_node *above = ufl_bessel(graph, kind, ufl_add(graph, order, one), f);
        bool sum = kind == 'I' || kind == 'K';
        result = sum ? ufl_add(graph, below, above) : ufl_subtract(graph, below, above);
        result = ufl_multiply(graph, number(graph, kind == 'K' ? -0.5 : 0.5), result);
    }
    return ufl_multiply(graph, result, fp);
}

const ufl_node *ufl_differentiate_function(ufl_graph *graph, const ufl_node *node,
                                           const ufl_node *const *d) {
    return node->type == UFL_MATH    ? of_function(graph, node, d[0])
           : node->type == UFL_ATAN2 ? of_atan2(graph, node, d[0], d[1])
                                     : of_bessel(graph, node, d[1]);
}
