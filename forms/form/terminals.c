/* Finds the arguments, coefficients and constants of forms. */
#include "forms/form/form.h"

#include <stdlib.h>

static int by_detail(const void *a, const void *b) {
    const ufl_node *first = *(const ufl_node *const *)a, *second = *(const ufl_node *const *)b;
    if (first->detail != second->detail)
        return first->detail < second->detail ? -1 : 1;
    return first->id < second->id ? -1 : first->id > second->id;
}

typedef struct terminal_search {
    ufl_graph *graph;
    ufl_map seen;
    ufl_type type;
    const ufl_node **found;
    int n;
} terminal_search;

static bool visit(terminal_search *search, const ufl_node *node) {
    if (ufl_map_find(&search->seen, node))
        return true;
    if (!ufl_map_put(search->graph, &search->seen, node, node))
        return false;
    if (node->type == search->type) {
        search->found = ufl_grow(search->graph->context, search->found, (size_t)search->n,
                                 sizeof *search->found);
        if (!search->found)
            return false;
        search->found[search->n++] = node;
    }
    for (int i = 0; i < node->n_operands; ++i)
        if (!visit(search, ufl_operand(node, i)))
            return false;
    return true;
}

int ufl_terminals(ufl_graph *graph, const ufl_node *const *roots, int n, ufl_type type,
                  const ufl_node ***out) {
    terminal_search search = {.graph = graph, .type = type};
    for (int i = 0; i < n; ++i)
        if (!roots[i] || !visit(&search, roots[i]))
            return -1;
    if (search.n > 1)
        qsort(search.found, (size_t)search.n, sizeof *search.found, by_detail);
    *out = search.found;
    return search.n;
}

int ufl_form_terminals(ufl_graph *graph, const ufl_form *form, ufl_type type,
                       const ufl_node ***out) {
    const ufl_node **roots = ufl_alloc(graph->context, (size_t)form->n_integrals, sizeof *roots);
    if (!roots)
        return -1;
    for (int i = 0; i < form->n_integrals; ++i)
        roots[i] = form->integrals[i].integrand;
    return ufl_terminals(graph, roots, form->n_integrals, type, out);
}
