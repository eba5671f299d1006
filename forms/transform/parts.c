/* Takes the terms with a number of arguments out of a form: lhs, rhs, functional. */
#include "forms/transform/private.h"

/* The part of an expression that has arguments among `wanted` alone. What a part provides is the
   member `arguments` of its node. */
typedef struct part_pass {
    ufl_map map;
    unsigned wanted;
} part_pass;

static const ufl_node *part_of(ufl_graph *graph, part_pass *pass, const ufl_node *node);

static void *refuse(ufl_graph *graph, const ufl_node *node, const char *message) {
    graph->context->place = node->place;
    return ufl_fail(graph->context, WEFT_ERROR_TYPE, "%s", message);
}

/* Of the terms that provide no more than what is wanted, those that provide most. */
static const ufl_node *part_of_sum(ufl_graph *graph, part_pass *pass, const ufl_node *node) {
    const ufl_node *parts[2], *kept = NULL;
    for (int i = 0; i < 2; ++i) {
        parts[i] = part_of(graph, pass, ufl_operand(node, i));
        if (!parts[i])
            return NULL;
    }
    for (int i = 0; i < 2; ++i) {
        if (ufl_is_zero(parts[i]) || (parts[i]->arguments & ~pass->wanted))
            continue;
        if (!kept) {
            kept = parts[i];
        } else if (kept->arguments == parts[i]->arguments) {
            return ufl_rebuild(graph, node, parts);
        } else if ((kept->arguments & parts[i]->arguments) == kept->arguments) {
            kept = parts[i];
        } else if ((kept->arguments & parts[i]->arguments) != parts[i]->arguments) {
            return refuse(graph, node,
                          "the terms of this sum have different arguments: one part has the test "
                          "function and the other the trial function alone");
        }
    }
    return kept ? kept : ufl_zero_like(graph, node, NULL, 0);
}

static const ufl_node *part_of_list(ufl_graph *graph, part_pass *pass, const ufl_node *node) {
    unsigned most = 0;
    const ufl_node **parts = ufl_alloc(graph->context, (size_t)node->n_operands, sizeof *parts);
    if (!parts)
        return NULL;
    for (int i = 0; i < node->n_operands; ++i) {
        parts[i] = part_of(graph, pass, ufl_operand(node, i));
        if (!parts[i])
            return NULL;
        most |= parts[i]->arguments;
    }
    for (int i = 0; i < node->n_operands; ++i)
        if (!ufl_is_zero(parts[i]) && parts[i]->arguments != most)
            return refuse(graph, node, "the components of this list have different arguments");
    return ufl_rebuild(graph, node, parts);
}

static const ufl_node *part_of_operator(ufl_graph *graph, part_pass *pass, const ufl_node *node) {
    const ufl_node *parts[2];
    switch (node->type) {
    case UFL_SUM:
        return part_of_sum(graph, pass, node);
    case UFL_LIST_TENSOR:
        return part_of_list(graph, pass, node);
    case UFL_DIVISION:
    case UFL_PRODUCT:
        if (node->type == UFL_DIVISION && ufl_operand(node, 1)->arguments)
            return refuse(graph, node, "an argument in a denominator");
        for (int i = 0; i < 2; ++i) {
            parts[i] = part_of(graph, pass, ufl_operand(node, i));
            if (!parts[i])
                return NULL;
            if (ufl_is_zero(parts[i]) || (parts[i]->arguments & ~pass->wanted))
                return ufl_zero_like(graph, node, NULL, 0);
        }
        return ufl_rebuild(graph, node, parts);
    case UFL_GRAD:
    case UFL_RESTRICTED:
    case UFL_AVERAGE:
    case UFL_VARIABLE:
    case UFL_INDEXED:
    case UFL_INDEX_SUM:
    case UFL_COMPONENT_TENSOR:
        parts[0] = part_of(graph, pass, ufl_operand(node, 0));
        if (!parts[0])
            return NULL;
        return ufl_is_zero(parts[0]) ? ufl_zero_like(graph, node, NULL, 0)
                                     : ufl_rebuild(graph, node, parts);
    default:
        graph->context->place = node->place;
        return ufl_fail(graph->context, WEFT_ERROR_TYPE,
                        "%s of an argument: forms are linear in their arguments",
                        node->type == UFL_MATH ? ufl_function_name((ufl_function)node->detail)
                                               : ufl_type_name(node->type));
    }
}

static const ufl_node *part_of(ufl_graph *graph, part_pass *pass, const ufl_node *node) {
    if (node->arguments == 0)
        return node;
    if (node->type == UFL_ARGUMENT)
        return node->arguments & ~pass->wanted ? ufl_zero_like(graph, node, NULL, 0) : node;
    const ufl_node *result = ufl_map_find(&pass->map, node);
    return result ? result
                  : ufl_map_put(graph, &pass->map, node, part_of_operator(graph, pass, node));
}

static const ufl_node *exact_part(ufl_graph *graph, void *user, const ufl_node *node) {
    part_pass *pass = user;
    const ufl_node *part = part_of(graph, pass, node);
    return part && part->arguments != pass->wanted ? ufl_zero_scalar(graph) : part;
}

static const ufl_form *with_arity(ufl_graph *graph, const ufl_form *form, int arity) {
    const ufl_node **arguments = NULL;
    part_pass pass = {.wanted = 0};
    form = form ? ufl_expand_derivatives(graph, form) : NULL;
    int n = form ? ufl_form_terminals(graph, form, UFL_ARGUMENT, &arguments) : -1;
    if (n < 0)
        return NULL;
    if (n < arity)
        return ufl_form_make(graph, NULL, 0);
    for (int i = 0; i < arity; ++i)
        pass.wanted |= arguments[i]->arguments;
    return ufl_map_integrands(graph, form, exact_part, &pass);
}

const ufl_form *ufl_lhs(ufl_graph *graph, const ufl_form *form) {
    return with_arity(graph, form, 2);
}

const ufl_form *ufl_rhs(ufl_graph *graph, const ufl_form *form) {
    return ufl_form_scale(graph, ufl_int(graph, -1), with_arity(graph, form, 1));
}

const ufl_form *ufl_functional(ufl_graph *graph, const ufl_form *form) {
    return with_arity(graph, form, 0);
}
