/* Form operators: derivative, action, lhs, replace, ... */
#include "forms/interpret/private.h"

#include <string.h>

enum { FUNCTIONS_MAX = 1000 };

/* Expressions of a list, or one expression. Returns their number or -1. */
static int nodes_of(ufl_interpreter *interpreter, ufl_value value, const char *what,
                    const ufl_node ***out) {
    const ufl_value *items = &value;
    size_t n = 1;
    if (value.kind == UFL_K_LIST || value.kind == UFL_K_TUPLE) {
        items = value.list->items;
        n = value.list->n;
    }
    if (n > FUNCTIONS_MAX) {
        ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "more than %d functions", FUNCTIONS_MAX);
        return -1;
    }
    *out = ufl_alloc(interpreter->context, n, sizeof **out);
    for (size_t i = 0; *out && i < n; ++i) {
        (*out)[i] = ufl_to_node(interpreter, items[i], what);
        if (!(*out)[i])
            return -1;
    }
    return *out ? (int)n : -1;
}

static ufl_value derivative(ufl_call *call) {
    const ufl_node **w = NULL, **dw = NULL;
    ufl_directions directions = {0};
    directions.n_w = nodes_of(call->interpreter, call->slots[1], "the coefficient", &w);
    if (directions.n_w < 0)
        return ufl_nothing();
    if (ufl_given(call, 2)) {
        directions.n_dw = nodes_of(call->interpreter, call->slots[2], "the direction", &dw);
        if (directions.n_dw < 0)
            return ufl_nothing();
    }
    if (ufl_given(call, 3) && call->slots[3].kind == UFL_K_DICT && call->slots[3].list->n > 0)
        return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                         "coefficient_derivatives of derivative are not supported");
    if (directions.n_w == 1 && w[0]->type == UFL_GEOMETRY)
        return ufl_wrong(
            call->interpreter, WEFT_ERROR_UNSUPPORTED,
            "derivatives with respect to the coordinates (shape derivatives) are not supported");
    directions.w = w;
    directions.dw = dw;
    if (call->slots[0].kind == UFL_K_NODE)
        return ufl_of_node(
            ufl_derivative_expression(call->graph, call->slots[0].node, &directions));
    return ufl_of_form(ufl_derivative(call->graph, ufl_slot_form(call, 0), &directions));
}

static ufl_value diff(ufl_call *call) {
    const ufl_node *v = ufl_slot_node(call, 1);
    if (call->slots[0].kind == UFL_K_FORM)
        return ufl_of_form(ufl_diff_form(call->graph, call->slots[0].form, v));
    return ufl_of_node(ufl_diff(call->graph, ufl_slot_node(call, 0), v));
}

/* action, energy_norm */
static ufl_value action(ufl_call *call) {
    const ufl_form *form = ufl_slot_form(call, 0);
    bool given = ufl_given(call, 1);
    const ufl_node *w = given && form ? ufl_slot_node(call, 1) : NULL;
    if (given && !w)
        return ufl_nothing();
    return ufl_of_form(call->builtin->detail ? ufl_energy_norm(call->graph, form, w)
                                             : ufl_action(call->graph, form, w));
}

static ufl_value adjoint(ufl_call *call) {
    const ufl_form *form = ufl_slot_form(call, 0);
    const ufl_node **arguments = NULL;
    if (ufl_given(call, 1) &&
        nodes_of(call->interpreter, call->slots[1], "a new argument", &arguments) != 2)
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE, "adjoint expects two new arguments");
    return ufl_of_form(ufl_adjoint(call->graph, form, arguments));
}

/* lhs, rhs, functional, system */
static ufl_value part(ufl_call *call) {
    const ufl_form *form = ufl_slot_form(call, 0);
    ufl_value both[2];
    switch (call->builtin->detail) {
    case 0:
        return ufl_of_form(ufl_lhs(call->graph, form));
    case 1:
        return ufl_of_form(ufl_rhs(call->graph, form));
    case 2:
        return ufl_of_form(ufl_functional(call->graph, form));
    default:
        both[0] = ufl_of_form(ufl_lhs(call->graph, form));
        both[1] = ufl_of_form(ufl_rhs(call->graph, form));
        return both[0].kind && both[1].kind ? ufl_of_items(call->interpreter, UFL_K_TUPLE, both, 2)
                                            : ufl_nothing();
    }
}

static ufl_value replace(ufl_call *call) {
    if (call->slots[1].kind != UFL_K_DICT)
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                         "replace expects a dictionary {old: new}, not %s",
                         ufl_kind_words(call->slots[1]));
    size_t n = call->slots[1].list->n / 2;
    const ufl_node **from = ufl_alloc(call->interpreter->context, n, sizeof *from);
    const ufl_node **to = ufl_alloc(call->interpreter->context, n, sizeof *to);
    if (!from || !to)
        return ufl_nothing();
    for (size_t i = 0; i < n; ++i) {
        const ufl_value *pair = &call->slots[1].list->items[2 * i];
        from[i] = ufl_to_node(call->interpreter, pair[0], "what is replaced");
        to[i] = ufl_to_node(call->interpreter, pair[1], "the replacement");
        if (!from[i] || !to[i])
            return ufl_nothing();
    }
    if (call->slots[0].kind == UFL_K_NODE)
        return ufl_of_node(ufl_replace_nodes(call->graph, call->slots[0].node, from, to, (int)n));
    return ufl_of_form(ufl_replace(call->graph, ufl_slot_form(call, 0), from, to, (int)n));
}

static ufl_value parts_value(ufl_interpreter *interpreter, const ufl_node *function) {
    const ufl_node **parts = NULL;
    int n = ufl_split(interpreter->graph, function, &parts);
    ufl_value made = n < 0 ? ufl_nothing() : ufl_of_items(interpreter, UFL_K_TUPLE, NULL, 0);
    for (int i = 0; made.kind && i < n; ++i)
        if (!ufl_append(interpreter, made.list, ufl_of_node(parts[i])))
            return ufl_nothing();
    return made;
}

static ufl_value split(ufl_call *call) {
    return parts_value(call->interpreter, ufl_slot_node(call, 0));
}

/* diff(L, v) - action(diff(a, v), u) */
static ufl_value sensitivity(ufl_call *call) {
    const ufl_form *a = ufl_slot_form(call, 0), *load = ufl_slot_form(call, 2);
    const ufl_node *u = ufl_slot_node(call, 1), *v = ufl_slot_node(call, 3);
    if (!a || !load || !u || !v)
        return ufl_nothing();
    const ufl_form *change = ufl_action(call->graph, ufl_diff_form(call->graph, a, v), u);
    return ufl_of_form(ufl_form_add(call->graph, ufl_diff_form(call->graph, load, v),
                                    ufl_form_scale(call->graph, ufl_int(call->graph, -1), change)));
}

static ufl_value expand(ufl_call *call) {
    if (call->slots[0].kind == UFL_K_NODE)
        return ufl_of_node(ufl_expand_expression(call->graph, call->slots[0].node));
    return ufl_of_form(ufl_expand_derivatives(call->graph, ufl_slot_form(call, 0)));
}

/* ---- functions in spaces ---- */

/* Argument, TestFunction, TrialFunction; detail: the number, -1 from the second argument. */
static ufl_value argument(ufl_call *call) {
    int64_t number = call->builtin->detail;
    if (number < 0 && !ufl_slot_int(call, 1, &number))
        return ufl_nothing();
    if (ufl_given(call, number < 0 ? 2 : 1) && call->builtin->detail >= 0)
        return ufl_wrong(call->interpreter, WEFT_ERROR_UNSUPPORTED,
                         "parts of arguments (MixedFunctionSpace) are not supported");
    return ufl_of_node(ufl_argument(call->graph, ufl_to_space(call->interpreter, call->slots[0]),
                                    number < 0 || number > 100 ? -1 : (int)number));
}

static ufl_value arguments(ufl_call *call) {
    ufl_value value = argument(call);
    return value.kind ? parts_value(call->interpreter, value.node) : value;
}

static ufl_value coefficient(ufl_call *call) {
    int64_t count = -1;
    if (ufl_given(call, 1) && (!ufl_slot_int(call, 1, &count) || count < 0 || count > 1000000))
        return ufl_wrong(call->interpreter, WEFT_ERROR_TYPE,
                         "the count of a Coefficient is an int from 0 to 1000000");
    const ufl_node *made =
        ufl_coefficient(call->graph, ufl_to_space(call->interpreter, call->slots[0]), (int)count);
    if (!made || !call->builtin->detail)
        return ufl_of_node(made);
    return parts_value(call->interpreter, made);
}

/* Constant(mesh, shape); detail: VectorConstant 1, TensorConstant 2 */
static ufl_value constant(ufl_call *call) {
    int shape[UFL_RANK_MAX], rank = 0, detail = call->builtin->detail;
    int64_t count = -1;
    const ufl_mesh *mesh = ufl_to_mesh(call->interpreter, call->slots[0]);
    if (!mesh)
        return ufl_nothing();
    if (ufl_given(call, 1))
        rank = ufl_slot_shape(call, 1, shape);
    else
        for (; rank < detail; ++rank)
            shape[rank] = mesh->gdim;
    if (rank < 0 || (ufl_given(call, 2) && !ufl_slot_int(call, 2, &count)))
        return ufl_nothing();
    return ufl_of_node(ufl_constant(call->graph, mesh, shape, rank,
                                    count < 0 || count > 1000000 ? -1 : (int)count));
}

static ufl_value geometry(ufl_call *call) {
    return ufl_of_node(ufl_geometry(call->graph, (ufl_quantity)call->builtin->detail,
                                    ufl_to_mesh(call->interpreter, call->slots[0])));
}

const ufl_builtin ufl_calculus_builtins[] = {
    {"derivative", "form,coefficient,argument=,coefficient_derivatives=", derivative, 0},
    {"diff", "f,v", diff, 0},
    {"action", "form,coefficient=,derivatives_expanded=", action, 0},
    {"energy_norm", "form,coefficient=", action, 1},
    {"adjoint", "form,reordered_arguments=,derivatives_expanded=", adjoint, 0},
    {"lhs", "form", part, 0},
    {"rhs", "form", part, 1},
    {"functional", "form", part, 2},
    {"system", "form", part, 3},
    {"replace", "form,mapping", replace, 0},
    {"split", "f", split, 0},
    {"sensitivity_rhs", "a,u,L,v", sensitivity, 0},
    {"expand_derivatives", "form", expand, 0},
    {"Argument", "space,number,part=", argument, -1},
    {"TestFunction", "space,part=", argument, 0},
    {"TrialFunction", "space,part=", argument, 1},
    {"Arguments", "space,number,part=", arguments, -1},
    {"TestFunctions", "space", arguments, 0},
    {"TrialFunctions", "space", arguments, 1},
    {"Coefficient", "space,count=", coefficient, 0},
    {"Coefficients", "space,count=", coefficient, 1},
    {"Constant", "domain,shape=,count=", constant, 0},
    {"VectorConstant", "domain,dim=,count=", constant, 1},
    {"TensorConstant", "domain,shape=,count=", constant, 2},
    {"SpatialCoordinate", "domain", geometry, UFL_SPATIAL_COORDINATE},
    {"CellCoordinate", "domain", geometry, UFL_CELL_COORDINATE},
    {"FacetNormal", "domain", geometry, UFL_FACET_NORMAL},
    {"CellNormal", "domain", geometry, UFL_CELL_NORMAL},
    {"Jacobian", "domain", geometry, UFL_JACOBIAN},
    {"JacobianDeterminant", "domain", geometry, UFL_JACOBIAN_DETERMINANT},
    {"JacobianInverse", "domain", geometry, UFL_JACOBIAN_INVERSE},
    {"FacetJacobian", "domain", geometry, UFL_FACET_JACOBIAN},
    {"FacetJacobianDeterminant", "domain", geometry, UFL_FACET_JACOBIAN_DETERMINANT},
    {"FacetJacobianInverse", "domain", geometry, UFL_FACET_JACOBIAN_INVERSE},
    {"CellVolume", "domain", geometry, UFL_CELL_VOLUME},
    {"Circumradius", "domain", geometry, UFL_CIRCUMRADIUS},
    {"CellDiameter", "domain", geometry, UFL_CELL_DIAMETER},
    {"FacetArea", "domain", geometry, UFL_FACET_AREA},
    {"MinCellEdgeLength", "domain", geometry, UFL_MIN_CELL_EDGE_LENGTH},
    {"MaxCellEdgeLength", "domain", geometry, UFL_MAX_CELL_EDGE_LENGTH},
    {"MinFacetEdgeLength", "domain", geometry, UFL_MIN_FACET_EDGE_LENGTH},
    {"MaxFacetEdgeLength", "domain", geometry, UFL_MAX_FACET_EDGE_LENGTH},
    {"CellVertices", "domain", geometry, UFL_CELL_VERTICES},
    {"CellEdgeVectors", "domain", geometry, UFL_CELL_EDGE_VECTORS},
    {"FacetEdgeVectors", "domain", geometry, UFL_FACET_EDGE_VECTORS},
    {0}};
