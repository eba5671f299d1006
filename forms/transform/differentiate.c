/* Carries out the derivatives that an expression contains. */
#include "forms/transform/private.h"

static bool same_directions(const ufl_node *a, const ufl_node *b) {
    if (a->n_operands != b->n_operands)
        return false;
    for (int i = 1; i < a->n_operands; ++i)
        if (ufl_operand(a, i) != ufl_operand(b, i))
            return false;
    return true;
}

/* The rules for a derivative node, found among those of the pass or added to them. */
static ufl_ruleset *rules_for(ufl_graph *graph, ufl_pass *pass, const ufl_node *node) {
    ufl_ruleset made = {0};
    if (node->type == UFL_GRAD) {
        made.kind = UFL_BY_SPACE;
        made.rank = 1;
        made.shape[0] = node->shape[node->rank - 1];
    } else if (node->type == UFL_VARIABLE_DERIVATIVE) {
        made.kind = UFL_BY_VARIABLE;
        made.variable = ufl_operand(node, 1);
        made.rank = made.variable->rank;
        if (2 * made.rank > UFL_RANK_MAX)
            return ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
                            "a variable has at most %d axes", UFL_RANK_MAX / 2);
        for (int i = 0; i < made.rank; ++i)
            made.shape[i] = made.variable->shape[i];
    } else {
        made.kind = UFL_BY_COEFFICIENT;
        made.direction = node;
    }
    for (ufl_ruleset *rules = pass->rulesets; rules; rules = rules->next)
        if (rules->kind == made.kind &&
            (made.kind == UFL_BY_SPACE      ? rules->shape[0] == made.shape[0]
             : made.kind == UFL_BY_VARIABLE ? rules->variable == made.variable
                                            : same_directions(rules->direction, node)))
            return rules;
    ufl_ruleset *rules = ufl_alloc(graph->context, 1, sizeof *rules);
    if (!rules)
        return NULL;
    *rules = made;
    rules->next = pass->rulesets;
    pass->rulesets = rules;
    return rules;
}

const ufl_node **ufl_map_operands(ufl_graph *graph, const ufl_node *node, const ufl_node *few[3],
                                  ufl_operand_map *map, void *user) {
    const ufl_node **operands = few;
    if (node->n_operands > 3)
        operands = ufl_alloc(graph->context, (size_t)node->n_operands, sizeof *operands);
    if (!operands)
        return NULL;
    for (int i = 0; i < node->n_operands; ++i) {
        operands[i] = map(graph, user, node, i);
        if (!operands[i])
            return NULL;
    }
    graph->context->place = node->place;
    return operands;
}

static const ufl_node *operand_applied(ufl_graph *graph, void *user, const ufl_node *node, int i) {
    return ufl_apply_derivatives(graph, user, ufl_operand(node, i));
}

const ufl_node *ufl_apply_derivatives(ufl_graph *graph, ufl_pass *pass, const ufl_node *node) {
    if (!node || ufl_is_terminal(node))
        return node;
    const ufl_node *result = ufl_map_find(&pass->map, node);
    if (result)
        return result;
    if (node->type == UFL_GRAD || node->type == UFL_VARIABLE_DERIVATIVE ||
        node->type == UFL_COEFFICIENT_DERIVATIVE) {
        result = ufl_apply_derivatives(graph, pass, ufl_operand(node, 0));
        graph->context->place = node->place;
        ufl_ruleset *rules = result ? rules_for(graph, pass, node) : NULL;
        result = rules ? ufl_differentiate(graph, rules, result) : NULL;
        return ufl_map_put(graph, &pass->map, node, result);
    }
    const ufl_node *few[3];
    const ufl_node **operands = ufl_map_operands(graph, node, few, operand_applied, pass);
    if (!operands)
        return NULL;
    return ufl_map_put(graph, &pass->map, node, ufl_rebuild(graph, node, operands));
}

const ufl_form *ufl_map_integrands(ufl_graph *graph, const ufl_form *form, ufl_integrand_map *map,
                                   void *user) {
    if (!form)
        return NULL;
    ufl_integral *integrals =
        ufl_alloc(graph->context, (size_t)form->n_integrals, sizeof *integrals);
    if (!integrals)
        return NULL;
    int n = 0;
    ufl_place place = graph->context->place;
    for (int i = 0; i < form->n_integrals; ++i) {
        integrals[n] = form->integrals[i];
        integrals[n].integrand = map(graph, user, integrals[n].integrand);
        if (!integrals[n].integrand)
            return NULL;
        n += !ufl_is_zero(integrals[n].integrand);
    }
    graph->context->place = place;
    const ufl_form *made = ufl_form_make(graph, integrals, n);
    if (made)
        ((ufl_form *)made)->place = form->place;
    return made;
}

typedef struct expansion {
    ufl_pass lower, derivatives;
} expansion;

static const ufl_node *expand(ufl_graph *graph, void *user, const ufl_node *node) {
    expansion *passes = user;
    return ufl_apply_derivatives(graph, &passes->derivatives,
                                 ufl_lower_algebra(graph, &passes->lower, node));
}

const ufl_node *ufl_expand_expression(ufl_graph *graph, const ufl_node *node) {
    expansion passes = {0};
    return expand(graph, &passes, node);
}

const ufl_form *ufl_expand_derivatives(ufl_graph *graph, const ufl_form *form) {
    expansion passes = {0};
    return ufl_map_integrands(graph, form, expand, &passes);
}
