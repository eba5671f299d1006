/* The operators of UFL as functions that a form file calls. */
#include "forms/interpret/private.h"

#include <string.h>

static ufl_value unary_tensor(ufl_call *call) {
    return ufl_of_node(
        ufl_tensor_unary(call->graph, (ufl_type)call->builtin->detail, ufl_slot_node(call, 0)));
}

static ufl_value binary_tensor(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    return ufl_of_node(
        ufl_tensor_binary(call->graph, (ufl_type)call->builtin->detail, a, ufl_slot_node(call, 1)));
}

static ufl_value outer(ufl_call *call) {
    const ufl_node *product = NULL;
    for (int i = 0; i < call->n_rest; ++i) {
        const ufl_node *next =
            ufl_to_node(call->interpreter, call->rest[i], "an argument of outer");
        product = i == 0 ? next : ufl_tensor_binary(call->graph, UFL_OUTER, product, next);
        if (!product)
            return ufl_nothing();
    }
    return product ? ufl_of_node(product)
                   : ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "outer of nothing");
}

static ufl_value spatial(ufl_call *call) {
    return ufl_of_node(
        ufl_spatial(call->graph, (ufl_type)call->builtin->detail, ufl_slot_node(call, 0)));
}

static ufl_value math(ufl_call *call) {
    return ufl_of_node(
        ufl_math(call->graph, (ufl_function)call->builtin->detail, ufl_slot_node(call, 0)));
}

static ufl_value atan2_of(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    return ufl_of_node(ufl_atan2(call->graph, a, ufl_slot_node(call, 1)));
}

static ufl_value bessel(ufl_call *call) {
    const ufl_node *order = ufl_slot_node(call, 0);
    return ufl_of_node(
        ufl_bessel(call->graph, call->builtin->detail, order, ufl_slot_node(call, 1)));
}

static ufl_value extremum(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    return ufl_of_node(
        ufl_extremum(call->graph, (ufl_type)call->builtin->detail, a, ufl_slot_node(call, 1)));
}

static ufl_value compare(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    return ufl_of_node(
        ufl_compare(call->graph, (ufl_comparison)call->builtin->detail, a, ufl_slot_node(call, 1)));
}

static ufl_value logic(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    bool is_not = call->builtin->detail == UFL_NOT;
    return ufl_of_node(ufl_logic(call->graph, (ufl_type)call->builtin->detail, a,
                                 is_not ? NULL : ufl_slot_node(call, 1)));
}

static ufl_value conditional(ufl_call *call) {
    const ufl_node *condition = ufl_slot_node(call, 0), *a = ufl_slot_node(call, 1);
    return ufl_of_node(ufl_conditional(call->graph, condition, a, ufl_slot_node(call, 2)));
}

/* Functions of one expression without further arguments. */
static ufl_value one(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    switch (call->builtin->detail) {
    case 0:
        return ufl_of_node(ufl_sign(call->graph, a));
    case 1:
        return ufl_of_node(ufl_variable(call->graph, a));
    case 2:
        return ufl_of_node(ufl_diagonal(call->graph, a));
    case 3:
        return ufl_of_node(ufl_diagonal_vector(call->graph, a));
    case 4: /* avg */
        return ufl_of_node(ufl_multiply(call->graph, ufl_float(call->graph, 0.5),
                                        ufl_add(call->graph, ufl_restrict(call->graph, a, '+'),
                                                ufl_restrict(call->graph, a, '-'))));
    case 5:
        return ufl_of_node(ufl_average(call->graph, a, 'c'));
    case 6:
        return ufl_of_node(ufl_average(call->graph, a, 'f'));
    case 7:
        return ufl_of_node(ufl_abs(call->graph, a));
    default: /* real, conj: expressions are real; as_ufl */
        return ufl_of_node(a);
    }
}

static ufl_value imag(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    return a ? ufl_of_node(ufl_zero_like(call->graph, a, NULL, 0)) : ufl_nothing();
}

static ufl_value jump(ufl_call *call) {
    const ufl_node *v = ufl_slot_node(call, 0);
    bool has_normal = ufl_given(call, 1);
    const ufl_node *n = has_normal ? ufl_slot_node(call, 1) : NULL;
    return has_normal && !n ? ufl_nothing() : ufl_of_node(ufl_jump(call->graph, v, n));
}

static ufl_value elementwise(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0), *b = ufl_slot_node(call, 1);
    return ufl_of_node(ufl_elementwise(call->graph,
                                       call->builtin->detail == 0   ? ufl_multiply
                                       : call->builtin->detail == 1 ? ufl_divide
                                                                    : ufl_power,
                                       a, b));
}

/* Nested lists as a tensor of lists. */
static const ufl_node *list_tensor(ufl_interpreter *interpreter, ufl_value value, int depth) {
    if (value.kind != UFL_K_LIST && value.kind != UFL_K_TUPLE)
        return ufl_to_node(interpreter, value, "a component");
    if (depth >= UFL_RANK_MAX) {
        ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "a tensor has more than %d axes",
                  UFL_RANK_MAX);
        return NULL;
    }
    size_t n = value.list->n;
    const ufl_node **parts = ufl_alloc(interpreter->context, n, sizeof *parts);
    for (size_t i = 0; parts && i < n; ++i) {
        parts[i] = list_tensor(interpreter, value.list->items[i], depth + 1);
        if (!parts[i])
            return NULL;
    }
    return parts ? ufl_list_tensor(interpreter->graph, parts, (int)n) : NULL;
}

/* as_tensor, as_vector, as_matrix: of lists, or of a scalar with free indices. detail: the rank that
   is wanted, 0 for any. */
static ufl_value as_tensor(ufl_call *call) {
    int indices[UFL_RANK_MAX];
    const ufl_node *made = NULL;
    int wanted = call->builtin->detail;
    if (ufl_given(call, 1)) {
        int n = ufl_free_indices(call->interpreter, call->slots[1], indices);
        const ufl_node *a = n < 0 ? NULL : ufl_slot_node(call, 0);
        made = ufl_as_tensor(call->graph, a, indices, n);
    } else if (call->slots[0].kind == UFL_K_NODE) {
        made = call->slots[0].node;
    } else if (call->slots[0].kind == UFL_K_LIST || call->slots[0].kind == UFL_K_TUPLE) {
        made = list_tensor(call->interpreter, call->slots[0], 0);
    } else {
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                         "%s expects a list or an expression, not %s", call->builtin->name,
                         ufl_kind_words(call->slots[0]));
    }
    if (made && wanted > 0 && made->rank != wanted)
        return ufl_wrong(call->interpreter, WEFT_ERROR_SHAPE, "%s makes a tensor of %d %s, not %d",
                         call->builtin->name, wanted, wanted == 1 ? "axis" : "axes", made->rank);
    return ufl_of_node(made);
}

static ufl_value identity(ufl_call *call) {
    int64_t n = 0;
    if (!ufl_slot_int(call, 0, &n))
        return ufl_nothing();
    n = n < -1 || n > 1000 ? -1 : n;
    return ufl_of_node(call->builtin->detail ? ufl_permutation(call->graph, (int)n)
                                             : ufl_identity(call->graph, (int)n));
}

static ufl_value zero(ufl_call *call) {
    int shape[UFL_RANK_MAX], rank = 0;
    if (call->n_rest == 1 && call->rest[0].kind == UFL_K_TUPLE) {
        call->slots[0] = call->rest[0];
        rank = ufl_slot_shape(call, 0, shape);
    } else {
        for (; rank < call->n_rest && rank < UFL_RANK_MAX; ++rank)
            shape[rank] = call->rest[rank].kind == UFL_K_INT ? (int)call->rest[rank].integer : 0;
    }
    for (int i = 0; i < rank; ++i)
        if (shape[i] < 1 || shape[i] > 1000)
            return ufl_wrong(call->interpreter, WEFT_ERROR_SHAPE, "zero expects sizes above 0");
    return rank < 0 ? ufl_nothing() : ufl_of_node(ufl_zero(call->graph, shape, rank, NULL, 0));
}

/* unit_vector(i, d), unit_matrix(i, j, d) */
static const ufl_node *unit(ufl_graph *graph, int64_t i, int64_t j, int64_t d) {
    const ufl_node *parts[10];
    if (d < 1 || d > 10 || i < 0 || i >= d || j >= d)
        return ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                        "a unit vector has 1 to 10 components, and its index is one of them");
    for (int64_t k = 0; k < d; ++k) {
        parts[k] = j < 0 ? ufl_int(graph, k == i) : k == i ? unit(graph, j, -1, d) : NULL;
        if (j >= 0 && k != i) {
            const int shape = (int)d;
            parts[k] = ufl_zero(graph, &shape, 1, NULL, 0);
        }
    }
    return ufl_list_tensor(graph, parts, (int)d);
}

static ufl_value unit_tensor(ufl_call *call) {
    int64_t numbers[3] = {0, -1, 0};
    int n = call->builtin->detail;
    for (int k = 0; k < n; ++k)
        if (!ufl_slot_int(call, k, &numbers[k == n - 1 ? 2 : k]))
            return ufl_nothing();
    if (n == 3 && numbers[1] < 0)
        numbers[0] = -1;
    return ufl_of_node(unit(call->graph, numbers[0], numbers[1], numbers[2]));
}

static ufl_value unit_vectors(ufl_call *call) {
    int64_t d = 0;
    ufl_value made = ufl_of_items(call->interpreter, UFL_K_TUPLE, NULL, 0);
    if (!made.kind || !ufl_slot_int(call, 0, &d))
        return ufl_nothing();
    for (int64_t i = 0; i < (d < 1 ? 1 : d); ++i) {
        const ufl_node *vector = unit(call->graph, i, -1, d);
        if (!vector || !ufl_append(call->interpreter, made.list, ufl_of_node(vector)))
            return ufl_nothing();
    }
    return made;
}

static ufl_value index_of(ufl_call *call) {
    return (ufl_value){.kind = UFL_K_INDEX, .integer = ufl_new_index(call->graph)};
}

static ufl_value indices_of(ufl_call *call) {
    int64_t n = 0;
    ufl_value made = ufl_of_items(call->interpreter, UFL_K_TUPLE, NULL, 0);
    if (!made.kind || !ufl_slot_int(call, 0, &n))
        return ufl_nothing();
    for (int64_t i = 0; i < n && i < UFL_RANK_MAX; ++i)
        if (!ufl_append(call->interpreter, made.list, index_of(call)))
            return ufl_nothing();
    return made;
}

static ufl_value rank_of(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    if (!a || call->builtin->detail)
        return a ? ufl_attribute(call->interpreter, ufl_of_node(a), "ufl_shape") : ufl_nothing();
    return ufl_of_int(a->rank);
}

static ufl_value directional(ufl_call *call) {
    ufl_component components[UFL_RANK_MAX];
    const ufl_node *f = ufl_slot_node(call, 0);
    ufl_value list = ufl_of_items(call->interpreter, UFL_K_TUPLE, call->rest, (size_t)call->n_rest);
    int n = f && list.kind ? ufl_components(call->interpreter, list, components) : -1;
    return n < 0 ? ufl_nothing() : ufl_of_node(ufl_dx(call->graph, f, components, n));
}

static ufl_value normal_derivative(ufl_call *call) {
    const ufl_node *f = ufl_slot_node(call, 0);
    if (!f)
        return ufl_nothing();
    if (f->cell_constant)
        return ufl_of_node(ufl_zero_like(call->graph, f, NULL, 0));
    const ufl_mesh *mesh = ufl_to_mesh(call->interpreter, ufl_of_node(f));
    return ufl_of_node(ufl_tensor_binary(call->graph, UFL_DOT,
                                         ufl_spatial(call->graph, UFL_GRAD, f),
                                         ufl_geometry(call->graph, UFL_FACET_NORMAL, mesh)));
}

const ufl_builtin ufl_algebra_builtins[] = {
    {"inner", "a,b", binary_tensor, UFL_INNER},
    {"dot", "a,b", binary_tensor, UFL_DOT},
    {"cross", "a,b", binary_tensor, UFL_CROSS},
    {"outer", "*", outer, 0},
    {"transpose", "A", unary_tensor, UFL_TRANSPOSED},
    {"perp", "v", unary_tensor, UFL_PERP},
    {"tr", "A", unary_tensor, UFL_TRACE},
    {"det", "A", unary_tensor, UFL_DETERMINANT},
    {"inv", "A", unary_tensor, UFL_INVERSE},
    {"cofac", "A", unary_tensor, UFL_COFACTOR},
    {"dev", "A", unary_tensor, UFL_DEVIATORIC},
    {"skew", "A", unary_tensor, UFL_SKEW},
    {"sym", "A", unary_tensor, UFL_SYM},
    {"diag", "A", one, 2},
    {"diag_vector", "A", one, 3},
    {"elem_mult", "A,B", elementwise, 0},
    {"elem_div", "A,B", elementwise, 1},
    {"elem_pow", "A,B", elementwise, 2},
    {"grad", "f", spatial, UFL_GRAD},
    {"div", "f", spatial, UFL_DIV},
    {"nabla_grad", "f", spatial, UFL_NABLA_GRAD},
    {"nabla_div", "f", spatial, UFL_NABLA_DIV},
    {"curl", "f", spatial, UFL_CURL},
    {"rot", "f", spatial, UFL_CURL},
    {"Dx", "f,*", directional, 0},
    {"Dn", "f", normal_derivative, 0},
    {"sqrt", "f", math, UFL_SQRT},
    {"exp", "f", math, UFL_EXP},
    {"ln", "f", math, UFL_LN},
    {"cos", "f", math, UFL_COS},
    {"sin", "f", math, UFL_SIN},
    {"tan", "f", math, UFL_TAN},
    {"cosh", "f", math, UFL_COSH},
    {"sinh", "f", math, UFL_SINH},
    {"tanh", "f", math, UFL_TANH},
    {"acos", "f", math, UFL_ACOS},
    {"asin", "f", math, UFL_ASIN},
    {"atan", "f", math, UFL_ATAN},
    {"erf", "f", math, UFL_ERF},
    {"atan2", "f,g", atan2_of, 0},
    {"atan_2", "f,g", atan2_of, 0},
    {"bessel_J", "nu,f", bessel, 'J'},
    {"bessel_Y", "nu,f", bessel, 'Y'},
    {"bessel_I", "nu,f", bessel, 'I'},
    {"bessel_K", "nu,f", bessel, 'K'},
    {"max_value", "a,b", extremum, UFL_MAX},
    {"min_value", "a,b", extremum, UFL_MIN},
    {"eq", "a,b", compare, UFL_EQ},
    {"ne", "a,b", compare, UFL_NE},
    {"le", "a,b", compare, UFL_LE},
    {"ge", "a,b", compare, UFL_GE},
    {"lt", "a,b", compare, UFL_LT},
    {"gt", "a,b", compare, UFL_GT},
    {"And", "a,b", logic, UFL_AND},
    {"Or", "a,b", logic, UFL_OR},
    {"Not", "a", logic, UFL_NOT},
    {"conditional", "condition,true_value,false_value", conditional, 0},
    {"sign", "f", one, 0},
    {"variable", "e", one, 1},
    {"avg", "v", one, 4},
    {"cell_avg", "f", one, 5},
    {"facet_avg", "f", one, 6},
    {"conj", "f", one, 8},
    {"conjugate", "f", one, 8},
    {"real", "f", one, 8},
    {"as_ufl", "f", one, 8},
    {"imag", "f", imag, 0},
    {"jump", "v,n=", jump, 0},
    {"as_tensor", "expressions,indices=", as_tensor, 0},
    {"as_vector", "expressions,index=", as_tensor, 1},
    {"as_matrix", "expressions,indices=", as_tensor, 2},
    {"Identity", "n", identity, 0},
    {"PermutationSymbol", "n", identity, 1},
    {"zero", "*", zero, 0},
    {"unit_vector", "i,d", unit_tensor, 2},
    {"unit_matrix", "i,j,d", unit_tensor, 3},
    {"unit_vectors", "d", unit_vectors, 0},
    {"Index", "count=", index_of, 0},
    {"indices", "n", indices_of, 0},
    {"rank", "f", rank_of, 0},
    {"shape", "f", rank_of, 1},
    {0}};
