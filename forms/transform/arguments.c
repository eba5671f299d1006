/* split and derivative: parts of functions, and directions in them. */
#include "forms/transform/private.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 1000 };

/* The parts [begin, begin + value size) of v in the shape of an element. */
static const ufl_node *part_of(ufl_graph *graph, const ufl_node *v, int begin, const int *shape,
                               int rank) {
    if (rank == 0)
        return ufl_index(graph, v, &begin, 1);
    const ufl_node *items[PARTS_MAX];
    int stride = 1;
    for (int i = 1; i < rank; ++i)
        stride *= shape[i];
    for (int i = 0; i < shape[0]; ++i)
        items[i] = part_of(graph, v, begin + i * stride, shape + 1, rank - 1);
    return ufl_list_tensor(graph, items, shape[0]);
}

/* The function and the range of its components that a list of components shows; false if it shows
   something else. */
static bool range_of(const ufl_node *list, const ufl_node **function, int *begin, int *n) {
    if (list->type != UFL_LIST_TENSOR || list->rank != 1)
        return false;
    for (int i = 0; i < list->n_operands; ++i) {
        const ufl_node *part = ufl_operand(list, i);
        if (part->type != UFL_INDEXED || part->n_indices != 1 || part->indices[0] < 0)
            return false;
        if (i == 0) {
            *function = ufl_operand(part, 0);
            *begin = part->indices[0];
        }
        if (ufl_operand(part, 0) != *function || part->indices[0] != *begin + i)
            return false;
    }
    *n = list->n_operands;
    return (*function)->type == UFL_ARGUMENT || (*function)->type == UFL_COEFFICIENT;
}

int ufl_split(ufl_graph *graph, const ufl_node *function, const ufl_node ***out) {
    const ufl_node *v = function;
    int begin = 0, n = -1;
    if (!v)
        return -1;
    *out = ufl_alloc(graph->context, PARTS_MAX, sizeof **out);
    if (!*out)
        return -1;
    (*out)[0] = v;
    if (v->type == UFL_INDEXED)
        return 1;
    bool is_function = v->type == UFL_ARGUMENT || v->type == UFL_COEFFICIENT;
    if (!is_function && !range_of(v, &v, &begin, &n)) {
        ufl_fail(graph->context, WEFT_ERROR_TYPE,
                 "split expects a coefficient or an argument, or a part that split returned");
        return -1;
    }
    const ufl_element *element = v->space->element;
    for (int at = begin; n >= 0 && element->kind == UFL_MIXED && element->value_size != n;) {
        int k = 0;
        while (k + 1 < element->n_sub && at >= element->sub[k]->value_size)
            at -= element->sub[k++]->value_size;
        element = element->sub[k];
    }
    if (element->n_sub == 0 || element->kind == UFL_ENRICHED)
        return 1;
    if (v->rank != 1) {
        ufl_fail(graph->context, WEFT_ERROR_TYPE, "a function with matrix values cannot be split");
        return -1;
    }
    int count = element->kind == UFL_MIXED ? element->n_sub : element->value_size;
    for (int i = 0; i < count; ++i) {
        const ufl_element *sub = element->sub[element->kind == UFL_MIXED ? i : 0];
        (*out)[i] = part_of(graph, v, begin, sub->shape, sub->rank);
        if (!(*out)[i])
            return -1;
        begin += sub->value_size;
    }
    return count;
}

/* ---- derivative ---- */

/* w and dw of one derivative while it is prepared, in scalars where w is a list. */
typedef struct direction_list {
    const ufl_node **w, **dw;
    int n;
} direction_list;

/* Components of list tensors one by one; others as they are. */
static bool flatten(ufl_graph *graph, const ufl_node *node, const ufl_node **out, int *n) {
    if (*n >= PARTS_MAX) {
        ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
                 "a derivative with respect to more than %d functions", PARTS_MAX);
        return false;
    }
    if (node->type != UFL_LIST_TENSOR) {
        out[(*n)++] = node;
        return true;
    }
    for (int i = 0; i < node->n_operands; ++i)
        if (!flatten(graph, ufl_operand(node, i), out, n))
            return false;
    return true;
}

/* A new argument in the space of the coefficients, in the parts that belong to them. */
static int new_arguments(ufl_graph *graph, const ufl_node *const *w, int n, int number,
                         const ufl_node ***out) {
    const ufl_element *elements[100];
    for (int i = 0; i < n; ++i) {
        if (w[i]->type != UFL_COEFFICIENT || n > 100) {
            ufl_fail(graph->context, WEFT_ERROR_TYPE,
                     "derivative makes an argument only for whole coefficients");
            ufl_hint(graph->context, "give the direction as the third argument of derivative");
            return -1;
        }
        elements[i] = w[i]->space->element;
        if (w[i]->mesh != w[0]->mesh) {
            ufl_fail(graph->context, WEFT_ERROR_UNSUPPORTED,
                     "the coefficients of a derivative are on one mesh");
            return -1;
        }
    }
    if (n > 1) {
        const ufl_element *mixed = ufl_element_mixed(graph->elements, elements, n);
        const ufl_space *space = ufl_space_make(graph->elements, w[0]->mesh, mixed);
        return ufl_split(graph, ufl_argument(graph, space, number), out);
    }
    *out = ufl_alloc(graph->context, 1, sizeof **out);
    if (!*out)
        return -1;
    (*out)[0] = ufl_argument(graph, w[0]->space, number);
    return (*out)[0] ? 1 : -1;
}

/* The directions dw that belong to w[n]; returns their number or -1. */
static int find_directions(ufl_graph *graph, const ufl_directions *directions,
                           const ufl_node *const *w, int n, int number, const ufl_node ***out) {
    if (directions->n_dw == 0)
        return new_arguments(graph, w, n, number, out);
    *out = (const ufl_node **)directions->dw;
    if (directions->n_dw > 1 || n == 1)
        return directions->n_dw;
    const ufl_node *all = directions->dw[0];
    if (!all)
        return -1;
    if (all->rank != 1 || all->shape[0] != n)
        return ufl_split(graph, all, out);
    *out = ufl_alloc(graph->context, (size_t)n, sizeof **out);
    for (int i = 0; *out && i < n; ++i)
        (*out)[i] = ufl_index(graph, all, &i, 1);
    return *out ? n : -1;
}

/* A tensor of a shape with zeros but for the components of `function` that w[n] has. */
static const ufl_node *merged(ufl_graph *graph, const ufl_node *function,
                              const direction_list *list, int axis, int *place) {
    if (axis == function->rank) {
        for (int i = list->n - 1; i >= 0; --i)
            if (list->w[i]->type == UFL_INDEXED && ufl_operand(list->w[i], 0) == function &&
                memcmp(list->w[i]->indices, place, (size_t)axis * sizeof *place) == 0)
                return list->dw[i];
        return ufl_zero_scalar(graph);
    }
    const ufl_node *items[PARTS_MAX];
    for (int i = 0; i < function->shape[axis]; ++i) {
        place[axis] = i;
        items[i] = merged(graph, function, list, axis + 1, place);
    }
    return ufl_list_tensor(graph, items, function->shape[axis]);
}

static int by_count(const void *a, const void *b) {
    const ufl_node *const *first = a, *const *second = b;
    return first[0]->detail < second[0]->detail ? -1 : first[0]->detail > second[0]->detail;
}

/* One direction for each coefficient: those of its components are put together. */
static bool merge(ufl_graph *graph, const direction_list *list, direction_list *out) {
    const ufl_node *(*pairs)[2] = ufl_alloc(graph->context, (size_t)list->n, sizeof *pairs);
    int n = 0, place[UFL_RANK_MAX];
    if (!pairs)
        return false;
    for (int i = 0; i < list->n; ++i) {
        const ufl_node *w = list->w[i];
        const ufl_node *function = w->type == UFL_INDEXED ? ufl_operand(w, 0) : w;
        bool fixed = function->type == UFL_COEFFICIENT;
        for (int k = 0; w->type == UFL_INDEXED && k < w->n_indices; ++k)
            fixed = fixed && w->indices[k] >= 0;
        if (!fixed) {
            ufl_fail(
                graph->context, WEFT_ERROR_TYPE,
                "derivative is taken with respect to a coefficient or components of one, not %s",
                ufl_type_name(function->type));
            ufl_hint(graph->context, "for an expression use variable and diff");
            return false;
        }
        int at = 0;
        while (at < n && pairs[at][0] != function)
            ++at;
        if (at == n)
            ++n;
        pairs[at][0] = function;
        pairs[at][1] =
            w->type == UFL_INDEXED ? merged(graph, function, list, 0, place) : list->dw[i];
        if (!pairs[at][1])
            return false;
    }
    qsort(pairs, (size_t)n, sizeof *pairs, by_count);
    out->w = ufl_alloc(graph->context, (size_t)n, sizeof *out->w);
    out->dw = ufl_alloc(graph->context, (size_t)n, sizeof *out->dw);
    if (!out->w || !out->dw)
        return false;
    for (out->n = 0; out->n < n; ++out->n) {
        out->w[out->n] = pairs[out->n][0];
        out->dw[out->n] = pairs[out->n][1];
    }
    return true;
}

/* number  for a new argument */
static bool prepare(ufl_graph *graph, const ufl_directions *directions, int number,
                    direction_list *out) {
    const ufl_node *flat[PARTS_MAX], **dw = NULL;
    direction_list list = {.w = flat};
    for (int i = 0; i < directions->n_w; ++i)
        if (!directions->w[i] || !flatten(graph, directions->w[i], flat, &list.n))
            return false;
    int n = find_directions(graph, directions, flat, list.n, number, &dw);
    if (n < 0)
        return false;
    if (n != list.n) { /* vectors of components on both sides */
        const ufl_node **components = ufl_alloc(graph->context, PARTS_MAX, sizeof *components);
        int count = 0;
        for (int i = 0; components && i < n; ++i)
            if (!dw[i] || !flatten(graph, dw[i], components, &count))
                return false;
        dw = components;
        n = count;
    }
    if (!dw || n != list.n) {
        ufl_fail(graph->context, WEFT_ERROR_TYPE,
                 "derivative with respect to %d functions in %d directions", list.n, n);
        return false;
    }
    for (int i = 0; i < n; ++i) {
        char a[160], b[160];
        if (!dw[i])
            return false;
        bool same = dw[i]->rank == flat[i]->rank;
        for (int k = 0; same && k < dw[i]->rank; ++k)
            same = dw[i]->shape[k] == flat[i]->shape[k];
        if (!same) {
            ufl_fail(graph->context, WEFT_ERROR_SHAPE,
                     "the direction of a derivative has shape %s, the function %s",
                     ufl_shape_text(dw[i]->shape, dw[i]->rank, a, sizeof a),
                     ufl_shape_text(flat[i]->shape, flat[i]->rank, b, sizeof b));
            return false;
        }
    }
    list.dw = dw;
    return merge(graph, &list, out);
}

static int next_number(const ufl_node *const *arguments, int n) {
    int next = 0;
    for (int i = 0; i < n; ++i)
        next = next <= arguments[i]->detail ? arguments[i]->detail + 1 : next;
    return next;
}

const ufl_form *ufl_derivative(ufl_graph *graph, const ufl_form *form,
                               const ufl_directions *directions) {
    const ufl_node **arguments = NULL;
    direction_list list = {0};
    int n = form ? ufl_form_terminals(graph, form, UFL_ARGUMENT, &arguments) : -1;
    if (n < 0 || !prepare(graph, directions, next_number(arguments, n), &list))
        return NULL;
    const ufl_form *made = ufl_form_make(graph, form->integrals, form->n_integrals);
    ufl_integral *integrals = made ? (ufl_integral *)made->integrals : NULL;
    for (int i = 0; made && i < made->n_integrals; ++i) {
        integrals[i].integrand =
            ufl_gateaux(graph, integrals[i].integrand, list.w, list.dw, list.n);
        if (!integrals[i].integrand)
            return NULL;
    }
    return made;
}

const ufl_node *ufl_derivative_expression(ufl_graph *graph, const ufl_node *node,
                                          const ufl_directions *directions) {
    const ufl_node **arguments = NULL;
    direction_list list = {0};
    int n = node ? ufl_terminals(graph, &node, 1, UFL_ARGUMENT, &arguments) : -1;
    if (n < 0 || !prepare(graph, directions, next_number(arguments, n), &list))
        return NULL;
    return ufl_gateaux(graph, node, list.w, list.dw, list.n);
}

static const ufl_node *diff_by(ufl_graph *graph, void *user, const ufl_node *node) {
    return ufl_diff(graph, node, user);
}

const ufl_form *ufl_diff_form(ufl_graph *graph, const ufl_form *form, const ufl_node *variable) {
    return variable ? ufl_map_integrands(graph, form, diff_by, (void *)variable) : NULL;
}
