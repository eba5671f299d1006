/* The classes of UFL, which the repr of a ufl.Form names instead of its functions. */
#include "forms/interpret/private.h"

#include <string.h>

/* Numbers of free indices in a repr are below this; new ones are made from here on. */
enum { REPR_INDICES = 1000000 };

static ufl_value binary(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0), *b = ufl_slot_node(call, 1);
    switch ((ufl_type)call->builtin->detail) {
    case UFL_SUM:
        return ufl_of_node(ufl_add(call->graph, a, b));
    case UFL_PRODUCT:
        return ufl_of_node(ufl_product(call->graph, a, b));
    case UFL_DIVISION:
        return ufl_of_node(ufl_divide(call->graph, a, b));
    case UFL_POWER:
        return ufl_of_node(ufl_power(call->graph, a, b));
    case UFL_MIN:
    case UFL_MAX:
        return ufl_of_node(ufl_extremum(call->graph, (ufl_type)call->builtin->detail, a, b));
    case UFL_AND:
    case UFL_OR:
        return ufl_of_node(ufl_logic(call->graph, (ufl_type)call->builtin->detail, a, b));
    case UFL_ATAN2:
        return ufl_of_node(ufl_atan2(call->graph, a, b));
    case UFL_VARIABLE_DERIVATIVE:
        return ufl_of_node(ufl_diff(call->graph, a, b));
    default:
        return ufl_of_node(ufl_tensor_binary(call->graph, (ufl_type)call->builtin->detail, a, b));
    }
}

static ufl_value unary(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    ufl_type type = (ufl_type)call->builtin->detail;
    if (type == UFL_ABS)
        return ufl_of_node(ufl_abs(call->graph, a));
    if (type == UFL_NOT)
        return ufl_of_node(ufl_logic(call->graph, type, a, NULL));
    if (type >= UFL_TRANSPOSED && type <= UFL_SYM)
        return ufl_of_node(ufl_tensor_unary(call->graph, type, a));
    return ufl_of_node(ufl_spatial(call->graph, type, a));
}

/* Conj, Real: expressions are real. */
static ufl_value itself(ufl_call *call) {
    return ufl_of_node(ufl_slot_node(call, 0));
}

static ufl_value math(ufl_call *call) {
    return ufl_of_node(
        ufl_math(call->graph, (ufl_function)call->builtin->detail, ufl_slot_node(call, 0)));
}

static ufl_value compare(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    return ufl_of_node(
        ufl_compare(call->graph, (ufl_comparison)call->builtin->detail, a, ufl_slot_node(call, 1)));
}

static ufl_value conditional(ufl_call *call) {
    const ufl_node *condition = ufl_slot_node(call, 0), *a = ufl_slot_node(call, 1);
    return ufl_of_node(ufl_conditional(call->graph, condition, a, ufl_slot_node(call, 2)));
}

static ufl_value bessel(ufl_call *call) {
    const ufl_node *order = ufl_slot_node(call, 0);
    return ufl_of_node(
        ufl_bessel(call->graph, call->builtin->detail, order, ufl_slot_node(call, 1)));
}

/* PositiveRestricted, NegativeRestricted, CellAvg, FacetAvg */
static ufl_value wrapper(ufl_call *call) {
    const ufl_node *a = ufl_slot_node(call, 0);
    int detail = call->builtin->detail;
    return ufl_of_node(detail == '+' || detail == '-' ? ufl_restrict(call->graph, a, detail)
                                                      : ufl_average(call->graph, a, detail));
}

/* ---- index notation ---- */

static ufl_value index_of(ufl_call *call) {
    int64_t number = 0;
    if (!ufl_slot_int(call, 0, &number))
        return ufl_nothing();
    if (number < 0 || number >= REPR_INDICES)
        return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                         "the index %lld of a form is not below %d", (long long)number,
                         REPR_INDICES);
    if (call->builtin->detail) /* FixedIndex */
        return ufl_of_int(number);
    if (call->graph->n_indices < REPR_INDICES)
        call->graph->n_indices = REPR_INDICES;
    return (ufl_value){.kind = UFL_K_INDEX, .integer = number};
}

static ufl_value multi_index(ufl_call *call) {
    return call->slots[0];
}

/* The entries of a MultiIndex in slot 1; their number or -1. */
static int slot_indices(ufl_call *call, int *out) {
    ufl_component components[UFL_RANK_MAX];
    int n = ufl_components(call->interpreter, call->slots[1], components);
    for (int i = 0; i < n; ++i)
        out[i] = components[i].kind == UFL_COMPONENT_FREE ? UFL_FREE(components[i].index)
                                                          : components[i].index;
    return n;
}

static ufl_value with_indices(ufl_call *call) {
    int indices[UFL_RANK_MAX];
    const ufl_node *a = ufl_slot_node(call, 0);
    int n = a ? slot_indices(call, indices) : -1;
    if (n < 0)
        return ufl_nothing();
    switch ((ufl_type)call->builtin->detail) {
    case UFL_INDEXED:
        return ufl_of_node(ufl_indexed(call->graph, a, indices, n));
    case UFL_COMPONENT_TENSOR:
        return ufl_of_node(ufl_as_tensor(call->graph, a, indices, n));
    default:
        if (n != 1 || indices[0] >= 0)
            return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "IndexSum has one free index");
        return ufl_of_node(ufl_index_sum(call->graph, a, UFL_FREE(indices[0])));
    }
}

/* Expressions among the rest of the arguments as an array; NULL and an error otherwise. */
static const ufl_node **rest_nodes(ufl_call *call) {
    const ufl_node **parts =
        ufl_alloc(call->interpreter->context, (size_t)call->n_rest, sizeof *parts);
    for (int i = 0; parts && i < call->n_rest; ++i) {
        parts[i] = ufl_to_node(call->interpreter, call->rest[i], "a component");
        if (!parts[i])
            return NULL;
    }
    return parts;
}

static ufl_value list_tensor(ufl_call *call) {
    const ufl_node **parts = rest_nodes(call);
    return parts ? ufl_of_node(ufl_list_tensor(call->graph, parts, call->n_rest)) : ufl_nothing();
}

/* ---- literals, variables, derivatives ---- */

static ufl_value number(ufl_call *call) {
    return ufl_of_node(ufl_slot_node(call, 0));
}

/* Zero(shape, free indices, their dimensions) */
static ufl_value zero(ufl_call *call) {
    int shape[UFL_RANK_MAX];
    ufl_free_index free[UFL_RANK_MAX];
    int rank = ufl_given(call, 0) ? ufl_slot_shape(call, 0, shape) : 0;
    ufl_value numbers = call->slots[1], sizes = call->slots[2];
    size_t n = numbers.kind == UFL_K_TUPLE ? numbers.list->n : 0;
    if (rank < 0)
        return ufl_nothing();
    if (n > UFL_RANK_MAX || (n > 0 && (sizes.kind != UFL_K_TUPLE || sizes.list->n != n)))
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                         "Zero expects a shape, free indices and their dimensions");
    for (size_t i = 0; i < n; ++i) {
        ufl_value index = numbers.list->items[i], size = sizes.list->items[i];
        bool fine = index.kind == UFL_K_INT && size.kind == UFL_K_INT && index.integer >= 0 &&
                    index.integer < REPR_INDICES && size.integer > 0 && size.integer < 10000 &&
                    (i == 0 || index.integer > free[i - 1].number);
        if (!fine)
            return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                             "the free indices of Zero are ascending ints");
        free[i] = (ufl_free_index){(int)index.integer, (int)size.integer};
    }
    return ufl_of_node(ufl_zero(call->graph, shape, rank, free, (int)n));
}

static ufl_value label(ufl_call *call) {
    return call->slots[0];
}

static ufl_value variable(ufl_call *call) {
    int64_t count = 0;
    const ufl_node *a = ufl_slot_node(call, 0);
    if (!a || !ufl_slot_int(call, 1, &count))
        return ufl_nothing();
    if (count < 0 || count > 1000000 || a->n_free > 0)
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                         "Variable expects an expression without free indices and a label");
    if (call->graph->n_labels <= count)
        call->graph->n_labels = (int)count + 1;
    const ufl_node made = {.type = UFL_VARIABLE,
                           .detail = (int)count,
                           .operands = &a,
                           .n_operands = 1,
                           .rank = a->rank,
                           .shape = a->shape};
    return ufl_of_node(ufl_node_make(call->graph, &made));
}

static ufl_value list_of(ufl_call *call) {
    return ufl_of_items(call->interpreter, UFL_K_TUPLE, call->rest, (size_t)call->n_rest);
}

/* CoefficientDerivative(integrand, ExprList(w...), ExprList(dw...), ExprMapping()) */
static ufl_value coefficient_derivative(ufl_call *call) {
    const ufl_node *w[UFL_ARGUMENTS_MAX], *dw[UFL_ARGUMENTS_MAX];
    const ufl_node *a = ufl_slot_node(call, 0);
    ufl_value from = call->slots[1], to = call->slots[2], rest = call->slots[3];
    bool lists = from.kind == UFL_K_TUPLE && to.kind == UFL_K_TUPLE && from.list->n == to.list->n &&
                 from.list->n <= UFL_ARGUMENTS_MAX;
    if (!a)
        return ufl_nothing();
    if (!lists || (rest.kind == UFL_K_TUPLE && rest.list->n > 0))
        return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                         "coefficient_derivatives of derivative are not supported");
    for (size_t i = 0; i < from.list->n; ++i) {
        w[i] = ufl_to_node(call->interpreter, from.list->items[i], "a coefficient");
        dw[i] = ufl_to_node(call->interpreter, to.list->items[i], "a direction");
        if (!w[i] || !dw[i])
            return ufl_nothing();
        if (w[i]->type != UFL_COEFFICIENT || w[i]->rank != dw[i]->rank)
            return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                             "CoefficientDerivative expects coefficients and directions");
    }
    return ufl_of_node(ufl_gateaux(call->graph, a, w, dw, (int)from.list->n));
}

/* ---- meshes, elements ---- */

/* Mesh(element, id): one id is one mesh. */
static ufl_value mesh(ufl_call *call) {
    ufl_value element = call->slots[0];
    int64_t id = 0;
    if (element.kind != UFL_K_ELEMENT || !ufl_slot_int(call, 1, &id))
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "Mesh expects an element and its id");
    const ufl_elements *elements = call->graph->elements;
    for (int i = 0; i < elements->n_meshes; ++i)
        if (elements->meshes[i]->coordinates == element.element && elements->meshes[i]->id == id)
            return ufl_of_mesh(elements->meshes[i]);
    ufl_mesh *made = (ufl_mesh *)ufl_mesh_make(call->graph->elements, element.element);
    if (made)
        made->id = id;
    return ufl_of_mesh(made);
}

/* Basix_element(P, triangle, 1, gll_warped, unset, discontinuous, float64, []) */
static ufl_value basix_element(ufl_call *call) {
    ufl_value element = ufl_module_get(call->interpreter, ufl_module_find("basix.ufl"), "element");
    return ufl_apply(call->interpreter, element, call->slots, 6, NULL);
}

static ufl_value mixed(ufl_call *call) {
    ufl_value function =
        ufl_module_get(call->interpreter, ufl_module_find("basix.ufl"), "mixed_element");
    ufl_value list = list_of(call);
    return list.kind ? ufl_apply(call->interpreter, function, &list, 1, NULL) : list;
}

static ufl_value blocked(ufl_call *call) {
    ufl_value function =
        ufl_module_get(call->interpreter, ufl_module_find("basix.ufl"), "blocked_element");
    return ufl_apply(call->interpreter, function, call->slots, call->slots[2].kind ? 3 : 2, NULL);
}

static ufl_value real_element(ufl_call *call) {
    ufl_value function =
        ufl_module_get(call->interpreter, ufl_module_find("basix.ufl"), "real_element");
    return ufl_apply(call->interpreter, function, call->slots, 1, NULL);
}

static ufl_value refused_element(ufl_call *call) {
    return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                     "%s elements of a form object are not supported: write the form as a file",
                     call->builtin->detail ? "custom and enriched" : "quadrature");
}

/* ---- forms ---- */

/* Integral(integrand, type, mesh, id, metadata, data) */
static ufl_value integral(ufl_call *call) {
    ufl_value measure = ufl_module_get(call->interpreter, ufl_module_find("ufl"), "Measure");
    static const char *const keywords[] = {NULL, "domain", "subdomain_id", "metadata"};
    const ufl_value arguments[4] = {call->slots[1], call->slots[2], call->slots[3], call->slots[4]};
    ufl_value made = ufl_apply(call->interpreter, measure, arguments, 4, keywords);
    return made.kind ? ufl_binary(call->interpreter, "*", call->slots[0], made) : made;
}

static ufl_value form(ufl_call *call) {
    const ufl_value *items = NULL;
    size_t n = 0;
    ufl_value sum = ufl_of_form(ufl_form_make(call->graph, NULL, 0));
    if (!ufl_iterate(call->interpreter, call->slots[0], &items, &n))
        return ufl_nothing();
    for (size_t i = 0; sum.kind && i < n; ++i)
        sum = ufl_binary(call->interpreter, "+", sum, items[i]);
    return sum;
}

const ufl_builtin ufl_repr_builtins[] = {
    {"Form", "integrals", form, 0},
    {"Integral",
     "integrand,integral_type,domain,subdomain_id,metadata=,subdomain_data=,"
     "extra_domain_integral_type_map=",
     integral, 0},
    {"Mesh", "element,id,cargo=", mesh, 0},
    {"Basix_element",
     "family,cell,degree,lagrange_variant,dpc_variant,discontinuous,dtype=,dof_ordering=",
     basix_element, 0},
    {"blocked_element_", "element,shape,symmetry=", blocked, 0},
    {"mixed_element", "*", mixed, 0},
    {"RealElement", "cell", real_element, 0},
    {"QuadratureElement", "*", refused_element, 0},
    {"custom_Basix_element", "*", refused_element, 1},
    {"Index", "count", index_of, 0},
    {"FixedIndex", "value", index_of, 1},
    {"MultiIndex", "indices", multi_index, 0},
    {"Indexed", "A,indices", with_indices, UFL_INDEXED},
    {"ComponentTensor", "A,indices", with_indices, UFL_COMPONENT_TENSOR},
    {"IndexSum", "A,index", with_indices, UFL_INDEX_SUM},
    {"ListTensor", "*", list_tensor, 0},
    {"Zero", "shape=,free_indices=,index_dimensions=", zero, 0},
    {"IntValue", "value", number, 0},
    {"FloatValue", "value", number, 0},
    {"Label", "count", label, 0},
    {"Variable", "expression,label", variable, 0},
    {"ExprList", "*", list_of, 0},
    {"ExprMapping", "*", list_of, 0},
    {"VariableDerivative", "f,v", binary, UFL_VARIABLE_DERIVATIVE},
    {"CoefficientDerivative", "f,w,v,derivatives=", coefficient_derivative, 0},
    {"Sum", "a,b", binary, UFL_SUM},
    {"Product", "a,b", binary, UFL_PRODUCT},
    {"Division", "a,b", binary, UFL_DIVISION},
    {"Power", "a,b", binary, UFL_POWER},
    {"MaxValue", "a,b", binary, UFL_MAX},
    {"MinValue", "a,b", binary, UFL_MIN},
    {"AndCondition", "a,b", binary, UFL_AND},
    {"OrCondition", "a,b", binary, UFL_OR},
    {"NotCondition", "a", unary, UFL_NOT},
    {"Conditional", "condition,a,b", conditional, 0},
    {"Inner", "a,b", binary, UFL_INNER},
    {"Dot", "a,b", binary, UFL_DOT},
    {"Outer", "a,b", binary, UFL_OUTER},
    {"Cross", "a,b", binary, UFL_CROSS},
    {"Atan2", "a,b", binary, UFL_ATAN2},
    {"Abs", "a", unary, UFL_ABS},
    {"Transposed", "A", unary, UFL_TRANSPOSED},
    {"Perp", "A", unary, UFL_PERP},
    {"Trace", "A", unary, UFL_TRACE},
    {"Determinant", "A", unary, UFL_DETERMINANT},
    {"Inverse", "A", unary, UFL_INVERSE},
    {"Cofactor", "A", unary, UFL_COFACTOR},
    {"Deviatoric", "A", unary, UFL_DEVIATORIC},
    {"Skew", "A", unary, UFL_SKEW},
    {"Sym", "A", unary, UFL_SYM},
    {"Grad", "f", unary, UFL_GRAD},
    {"Div", "f", unary, UFL_DIV},
    {"NablaGrad", "f", unary, UFL_NABLA_GRAD},
    {"NablaDiv", "f", unary, UFL_NABLA_DIV},
    {"Curl", "f", unary, UFL_CURL},
    {"Conj", "f", itself, 0},
    {"Real", "f", itself, 0},
    {"PositiveRestricted", "f", wrapper, '+'},
    {"NegativeRestricted", "f", wrapper, '-'},
    {"CellAvg", "f", wrapper, 'c'},
    {"FacetAvg", "f", wrapper, 'f'},
    {"EQ", "a,b", compare, UFL_EQ},
    {"NE", "a,b", compare, UFL_NE},
    {"LE", "a,b", compare, UFL_LE},
    {"GE", "a,b", compare, UFL_GE},
    {"LT", "a,b", compare, UFL_LT},
    {"GT", "a,b", compare, UFL_GT},
    {"Sqrt", "f", math, UFL_SQRT},
    {"Exp", "f", math, UFL_EXP},
    {"Ln", "f", math, UFL_LN},
    {"Cos", "f", math, UFL_COS},
    {"Sin", "f", math, UFL_SIN},
    {"Tan", "f", math, UFL_TAN},
    {"Cosh", "f", math, UFL_COSH},
    {"Sinh", "f", math, UFL_SINH},
    {"Tanh", "f", math, UFL_TANH},
    {"Acos", "f", math, UFL_ACOS},
    {"Asin", "f", math, UFL_ASIN},
    {"Atan", "f", math, UFL_ATAN},
    {"Erf", "f", math, UFL_ERF},
    {"BesselJ", "nu,f", bessel, 'J'},
    {"BesselY", "nu,f", bessel, 'Y'},
    {"BesselI", "nu,f", bessel, 'I'},
    {"BesselK", "nu,f", bessel, 'K'},
    {0}};

/* Words that are without quotes in the repr of elements of Basix. */
static const char *const words[] = {
    "P",       "Bubble",     "DPC",       "serendipity",  "RT",
    "N1E",     "N2E",        "BDM",       "Regge",        "CR",
    "bubble",  "gll_warped", "unset",     "legendre",     "float64",
    "float32", "equispaced", "gll_isaac", "gll_centroid", "chebyshev_warped",
    "HHJ",     "iso",        "Hermite",   "diagonal_gll", "chebyshev_isaac",
    NULL};

static ufl_value word(ufl_interpreter *interpreter, const char *name) {
    (void)interpreter;
    return ufl_of_text(name);
}

static const ufl_builtin *const tables[] = {ufl_repr_builtins, NULL};
const ufl_module_table ufl_repr_module = {"ufl.classes", tables, word, words};

char *ufl_repr_text(ufl_context *context, const char *text, size_t length) {
    static const char *const phrases[] = {"custom Basix element", "Basix element",
                                          "blocked element", "mixed element"};
    char *copy = ufl_copy(context, text, length);
    for (size_t i = 0; copy && i < sizeof phrases / sizeof phrases[0]; ++i)
        for (char *at = copy; (at = strstr(at, phrases[i]));) {
            size_t n = strlen(phrases[i]);
            for (size_t k = 0; k < n; ++k)
                at[k] = at[k] == ' ' ? '_' : at[k];
            if (phrases[i][0] == 'b' && at[n] == ' ')
                at[n] = '_'; /* blocked_element_( */
            at += n;
        }
    return copy;
}
