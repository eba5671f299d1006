/* Checks that forms are linear in each argument and that all terms have the same ones. */
#include "forms/transform/private.h"

#include <stdio.h>

typedef struct arity_check {
    ufl_graph *graph;
    ufl_map seen;
    const ufl_names *names;
} arity_check;

/* "v and u" for the set of argument numbers, with the names of the file where they are known. */
static const char *argument_words(const arity_check *check, const ufl_node *node, unsigned set,
                                  char *out, size_t size) {
    const ufl_node **arguments = NULL;
    int n = ufl_terminals(check->graph, &node, 1, UFL_ARGUMENT, &arguments);
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; i < n; ++i) {
        if (!(arguments[i]->arguments & set))
            continue;
        const char *name = check->names ? check->names->name(check->names, arguments[i]) : NULL;
        const char *words = arguments[i]->detail == 0   ? "the test function"
                            : arguments[i]->detail == 1 ? "the trial function"
                                                        : "an argument";
        int added = snprintf(out + length, size - length, "%s%s%s%s", length ? " and " : "", words,
                             name ? " " : "", name ? name : "");
        if (added < 0 || length + (size_t)added >= size)
            break;
        length += (size_t)added;
    }
    if (length == 0)
        snprintf(out, size, "no argument");
    return out;
}

static bool refuse(const arity_check *check, const ufl_node *node, const char *format,
                   const char *a, const char *b) {
    char message[900];
    check->graph->context->place = node->place;
    snprintf(message, sizeof message, format, a, b);
    ufl_fail(check->graph->context, WEFT_ERROR_TYPE, "%s", message);
    return false;
}

static bool same_arguments(const arity_check *check, const ufl_node *node, const ufl_node *a,
                           const ufl_node *b, const char *what) {
    char left[300], right[300], format[400];
    bool zero = node->type == UFL_CONDITIONAL && (ufl_is_zero(a) || ufl_is_zero(b));
    if (a->arguments == b->arguments || zero)
        return true;
    snprintf(format, sizeof format, "%s: one has %%s, the other %%s", what);
    return refuse(check, node, format, argument_words(check, a, a->arguments, left, sizeof left),
                  argument_words(check, b, b->arguments, right, sizeof right));
}

static bool check_node(arity_check *check, const ufl_node *node);

static bool check_operands(arity_check *check, const ufl_node *node) {
    for (int i = 0; i < node->n_operands; ++i)
        if (!check_node(check, ufl_operand(node, i)))
            return false;
    return true;
}

static bool check_product(const arity_check *check, const ufl_node *node) {
    char words[300];
    const ufl_node *a = ufl_operand(node, 0), *b = ufl_operand(node, 1);
    unsigned both = a->arguments & b->arguments;
    return both == 0 ||
           refuse(check, node, "a product has %s in both factors: forms are linear in %s",
                  argument_words(check, a, both, words, sizeof words), "each argument");
}

static bool check_list(const arity_check *check, const ufl_node *node) {
    const ufl_node *first = NULL;
    for (int i = 0; i < node->n_operands; ++i) {
        const ufl_node *part = ufl_operand(node, i);
        if (part->arguments == 0)
            continue;
        if (first && !same_arguments(check, node, first, part, "the components of a list differ"))
            return false;
        first = part;
    }
    return true;
}

static bool check_node(arity_check *check, const ufl_node *node) {
    char words[300];
    if (node->arguments == 0 || ufl_is_terminal(node) || ufl_map_find(&check->seen, node))
        return true;
    if (!ufl_map_put(check->graph, &check->seen, node, node))
        return false;
    const ufl_node *b = node->n_operands > 1 ? ufl_operand(node, 1) : NULL;
    bool fine = true;
    switch (node->type) {
    case UFL_SUM:
        fine = same_arguments(check, node, ufl_operand(node, 0), b,
                              "the terms of a sum have different arguments");
        break;
    case UFL_PRODUCT:
        fine = check_product(check, node);
        break;
    case UFL_DIVISION:
        fine = b->arguments == 0 ||
               refuse(check, node, "%s in a denominator%s",
                      argument_words(check, b, b->arguments, words, sizeof words), "");
        break;
    case UFL_LIST_TENSOR:
        fine = check_list(check, node);
        break;
    case UFL_CONDITIONAL:
        fine = ufl_operand(node, 0)->arguments == 0
                   ? same_arguments(check, node, b, ufl_operand(node, 2),
                                    "the values of a conditional have different arguments")
                   : refuse(check, node, "%s in a condition%s",
                            argument_words(check, node, node->arguments, words, sizeof words), "");
        break;
    case UFL_GRAD:
    case UFL_RESTRICTED:
    case UFL_AVERAGE:
    case UFL_VARIABLE:
    case UFL_INDEXED:
    case UFL_INDEX_SUM:
    case UFL_COMPONENT_TENSOR:
        break;
    default:
        fine = refuse(check, node, "%s of %s: forms are linear in their arguments",
                      node->type == UFL_MATH ? ufl_function_name((ufl_function)node->detail)
                                             : ufl_type_name(node->type),
                      argument_words(check, node, node->arguments, words, sizeof words));
    }
    return fine && check_operands(check, node);
}

/* The words of the first argument of a set: what an integral lacks. */
static const char *absent_words(const arity_check *check, const ufl_node *const *arguments, int n,
                                unsigned set, char *out, size_t size) {
    for (int i = 0; i < n; ++i)
        if (arguments[i]->arguments & set)
            return argument_words(check, arguments[i], set, out, size);
    return "an argument";
}

bool ufl_check_arity(ufl_graph *graph, const ufl_form *form, const ufl_names *names) {
    arity_check check = {.graph = graph, .names = names};
    const ufl_node **arguments = NULL;
    int n = ufl_form_terminals(graph, form, UFL_ARGUMENT, &arguments);
    unsigned all = 0;
    if (n < 0)
        return false;
    for (int i = 0; i < n; ++i) {
        if (all & arguments[i]->arguments) {
            ufl_fail(graph->context, WEFT_ERROR_TYPE,
                     "a form has two arguments of number %d, in different spaces",
                     arguments[i]->detail);
            return false;
        }
        all |= arguments[i]->arguments;
    }
    for (int i = 0; i < form->n_integrals; ++i) {
        const ufl_integral *integral = &form->integrals[i];
        char has[300], misses[300];
        if (!check_node(&check, integral->integrand))
            return false;
        if (integral->integrand->arguments == all)
            continue;
        graph->context->place = integral->place;
        argument_words(&check, integral->integrand, all, has, sizeof has);
        ufl_fail(
            graph->context, WEFT_ERROR_TYPE,
            "the integrals of a form have different arguments: this one has %s, and %s is missing",
            has,
            absent_words(&check, arguments, n, all & ~integral->integrand->arguments, misses,
                         sizeof misses));
        ufl_hint(graph->context, "write the terms as two forms, or take lhs and rhs of their sum");
        return false;
    }
    return true;
}
