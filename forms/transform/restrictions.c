/* Checks that integrands over interior facets say from which side they take what differs between the sides. */
#include "forms/transform/transform.h"

#include <string.h>

typedef struct side_check {
    ufl_graph *graph;
    const ufl_names *names;
    ufl_place place;     /* of the integral */
    unsigned char *seen; /* [nodes]; bit 0: without a side, bit 1: with one */
} side_check;

/* Functions of such elements have one value on a facet. */
static bool is_continuous(const ufl_element *element) {
    if (element->kind == UFL_SIMPLE)
        return ufl_element_about(element)->is_continuous;
    for (int i = 0; i < element->n_sub; ++i)
        if (!is_continuous(element->sub[i]))
            return false;
    return true;
}

/* Has a terminal one value on a facet, or a size that is the facet's own? */
static bool is_shared(const ufl_node *node) {
    if (node->type == UFL_COEFFICIENT)
        return is_continuous(node->space->element);
    if (node->type != UFL_GEOMETRY)
        return node->type != UFL_ARGUMENT;
    switch ((ufl_quantity)node->detail) {
    case UFL_SPATIAL_COORDINATE:
    case UFL_FACET_JACOBIAN:
    case UFL_FACET_JACOBIAN_DETERMINANT:
    case UFL_FACET_JACOBIAN_INVERSE:
    case UFL_FACET_AREA:
    case UFL_MIN_FACET_EDGE_LENGTH:
    case UFL_MAX_FACET_EDGE_LENGTH:
        return true;
    default:
        return false;
    }
}

static bool refuse(const side_check *check, const ufl_node *node) {
    weft_text text = {0};
    ufl_expression_text(node, check->names, 60, &text);
    const char *name = text.failed || !text.data ? "this" : text.data;
    /* a terminal's place is where the file makes it */
    check->graph->context->place = ufl_is_terminal(node) ? check->place : node->place;
    ufl_fail(check->graph->context, WEFT_ERROR_TYPE,
             "%s differs between the two sides of an interior facet", name);
    ufl_hint(check->graph->context,
             "write %s('+') or %s('-'), or avg or jump of an expression with it", name, name);
    weft_text_free(&text);
    return false;
}

static bool visit(side_check *check, const ufl_node *node, bool restricted) {
    const unsigned char bit = restricted ? 2 : 1;
    if (check->seen[node->id] & bit)
        return true;
    check->seen[node->id] |= bit;
    if (node->type == UFL_RESTRICTED && restricted) {
        check->graph->context->place = node->place;
        ufl_fail(check->graph->context, WEFT_ERROR_TYPE,
                 "an expression is restricted to a side of a facet twice");
        return false;
    }
    if (!restricted && (node->type == UFL_GRAD || (ufl_is_terminal(node) && !is_shared(node))))
        return refuse(check, node);
    for (int i = 0; i < node->n_operands; ++i)
        if (!visit(check, ufl_operand(node, i), restricted || node->type == UFL_RESTRICTED))
            return false;
    return true;
}

bool ufl_check_sides(ufl_graph *graph, const ufl_form *form, const ufl_names *names) {
    side_check check = {.graph = graph, .names = names};
    check.seen = ufl_alloc(graph->context, (size_t)graph->n_nodes + 1, sizeof *check.seen);
    for (int i = 0; check.seen && i < form->n_integrals; ++i) {
        check.place = form->integrals[i].place;
        if (form->integrals[i].type == UFL_INTERIOR_FACET &&
            !visit(&check, form->integrals[i].integrand, false))
            return false;
    }
    return check.seen != NULL;
}
