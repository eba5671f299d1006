/* Puts nodes in place of others; action, adjoint, energy norm. */
#include "forms/transform/private.h"

typedef struct replacement {
    ufl_map map;
    const ufl_node *const *from, *const *to;
    int n;
} replacement;

static const ufl_node *replaced(ufl_graph *graph, replacement *what, const ufl_node *node);

static const ufl_node *operand_replaced(ufl_graph *graph, void *user, const ufl_node *node, int i) {
    return replaced(graph, user, ufl_operand(node, i));
}

static const ufl_node *replaced(ufl_graph *graph, replacement *what, const ufl_node *node) {
    for (int i = 0; i < what->n; ++i)
        if (what->from[i] == node)
            return what->to[i];
    if (ufl_is_terminal(node))
        return node;
    const ufl_node *result = ufl_map_find(&what->map, node);
    if (result)
        return result;
    const ufl_node *few[3];
    const ufl_node **operands = ufl_map_operands(graph, node, few, operand_replaced, what);
    if (!operands)
        return NULL;
    return ufl_map_put(graph, &what->map, node, ufl_rebuild(graph, node, operands));
}

static bool has_coefficient_derivative(ufl_graph *graph, const ufl_node *node) {
    const ufl_node **found = NULL;
    return ufl_terminals(graph, &node, 1, UFL_COEFFICIENT_DERIVATIVE, &found) > 0;
}

static const ufl_node *replace_in(ufl_graph *graph, void *user, const ufl_node *node) {
    if (has_coefficient_derivative(graph, node))
        node = ufl_expand_expression(graph, node);
    return node ? replaced(graph, user, node) : NULL;
}

static bool check_pairs(ufl_graph *graph, const ufl_node *const *from, const ufl_node *const *to,
                        int n) {
    for (int i = 0; i < n; ++i) {
        if (!from[i] || !to[i])
            return false;
        bool same = from[i]->rank == to[i]->rank;
        for (int k = 0; same && k < from[i]->rank; ++k)
            same = from[i]->shape[k] == to[i]->shape[k];
        if (!same) {
            char a[160], b[160];
            ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                     "an expression of shape %s cannot replace one of shape %s",
                     ufl_shape_text(to[i]->shape, to[i]->rank, b, sizeof b),
                     ufl_shape_text(from[i]->shape, from[i]->rank, a, sizeof a));
            return false;
        }
    }
    return true;
}

const ufl_node *ufl_replace_nodes(ufl_graph *graph, const ufl_node *node,
                                  const ufl_node *const *from, const ufl_node *const *to, int n) {
    replacement what = {.from = from, .to = to, .n = n};
    return node && check_pairs(graph, from, to, n) ? replace_in(graph, &what, node) : NULL;
}

const ufl_form *ufl_replace(ufl_graph *graph, const ufl_form *form, const ufl_node *const *from,
                            const ufl_node *const *to, int n) {
    replacement what = {.from = from, .to = to, .n = n};
    return form && check_pairs(graph, from, to, n)
               ? ufl_map_integrands(graph, form, replace_in, &what)
               : NULL;
}

/* The arguments of a form with derivatives expanded; -1 and an error where there are not `wanted`. */
static int arguments_of(ufl_graph *graph, const ufl_form *form, int wanted, const char *what,
                        const ufl_node ***out) {
    int n = ufl_form_terminals(graph, form, UFL_ARGUMENT, out);
    if (n < 0 || (wanted > 0 ? n == wanted : n > 0))
        return n;
    ufl_fail(graph->context, WEFT_ERROR_TYPE, "%s expects a form with %s, this one has %d", what,
             wanted == 2 ? "a test and a trial function" : "an argument", n);
    return -1;
}

const ufl_form *ufl_action(ufl_graph *graph, const ufl_form *form, const ufl_node *coefficient) {
    const ufl_node **arguments = NULL;
    ufl_place place = graph->context->place;
    form = form ? ufl_expand_derivatives(graph, form) : NULL;
    graph->context->place = place;
    int n = form ? arguments_of(graph, form, 0, "action", &arguments) : -1;
    if (n < 0)
        return NULL;
    const ufl_node *last = arguments[n - 1];
    if (!coefficient)
        coefficient = ufl_coefficient(graph, last->space, -1);
    return ufl_replace(graph, form, &last, &coefficient, 1);
}

const ufl_form *ufl_adjoint(ufl_graph *graph, const ufl_form *form,
                            const ufl_node *const *arguments) {
    const ufl_node **old = NULL, *made[2];
    ufl_place place = graph->context->place;
    form = form ? ufl_expand_derivatives(graph, form) : NULL;
    graph->context->place = place;
    if (!form || arguments_of(graph, form, 2, "adjoint", &old) < 0)
        return NULL;
    made[0] = arguments ? arguments[1] : ufl_argument(graph, old[0]->space, old[1]->detail);
    made[1] = arguments ? arguments[0] : ufl_argument(graph, old[1]->space, old[0]->detail);
    if (!made[0] || !made[1])
        return NULL;
    if (made[0]->type != UFL_ARGUMENT || made[1]->type != UFL_ARGUMENT ||
        made[0]->space != old[0]->space || made[1]->space != old[1]->space ||
        made[1]->detail >= made[0]->detail)
        return ufl_fail(graph->context, WEFT_ERROR_TYPE,
                        "adjoint expects new arguments in the spaces of the trial and the test "
                        "function, in this order, with ascending numbers");
    return ufl_replace(graph, form, old, made, 2);
}

const ufl_form *ufl_energy_norm(ufl_graph *graph, const ufl_form *form,
                                const ufl_node *coefficient) {
    const ufl_node **arguments = NULL;
    ufl_place place = graph->context->place;
    form = form ? ufl_expand_derivatives(graph, form) : NULL;
    graph->context->place = place;
    if (!form || arguments_of(graph, form, 2, "energy_norm", &arguments) < 0)
        return NULL;
    if (arguments[0]->space != arguments[1]->space)
        return ufl_fail(graph->context, WEFT_ERROR_TYPE,
                        "energy_norm expects one space for the test and the trial function");
    if (!coefficient)
        coefficient = ufl_coefficient(graph, arguments[0]->space, -1);
    return ufl_action(graph, ufl_action(graph, form, coefficient), coefficient);
}
