/* Converts subscripts: a load through a connectivity, x[dofs], or components, P[0,1]. */
#include "fusion/base/array.h"
#include "fusion/graph/private.h"

#include <string.h>

/* x[dofs]: the load is [width, shape...] over the connectivity's source. */
static weft_status operand_gather(weft_graph_builder *builder, const weft_node *node,
                                  int connectivity, weft_operand *operand, weft_error *error) {
    const weft_graph *graph = builder->graph;
    const weft_value *value = &graph->values[operand->value];
    const weft_graph_connectivity *m = &graph->connectivities[connectivity];
    if (operand->connectivity >= 0 || !weft_shape_equal(&operand->shape, &value->shape)) {
        weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                      "only a whole list can be loaded through a connectivity");
        weft_error_hint(error,
                        operand->connectivity >= 0
                            ? "'%s' is loaded through one already"
                            : "give the part a list of its own first: part = 1*%s[...];",
                        value->name);
        return WEFT_ERROR_TYPE;
    }
    if (value->index_set != m->to) {
        weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' leads to %s, but '%s' is %s%s",
                      m->name, weft_index_set_name(graph, m->to), value->name,
                      value->index_set == UNIFORM ? "" : "over ",
                      weft_index_set_name(graph, value->index_set));
        weft_error_hint(error, "only lists over %s can be loaded through '%s'",
                        weft_index_set_name(graph, m->to), m->name);
        return WEFT_ERROR_TYPE;
    }
    if (value->shape.rank == WEFT_RANK_MAX)
        return weft_error_at(error, WEFT_ERROR_SHAPE, node->place, "more than %d dimensions",
                             WEFT_RANK_MAX);
    weft_shape shape = {.rank = value->shape.rank + 1, .sizes = {m->width}};
    for (int i = 0; i < value->shape.rank; ++i)
        shape.sizes[i + 1] = value->shape.sizes[i];
    operand->connectivity = connectivity;
    operand->shape = shape;
    return WEFT_OK;
}

/* P[0], P[0,1]: fixed leading subscripts. */
static weft_status operand_component(weft_graph_builder *builder, const weft_node *node,
                                     weft_operand *operand, weft_error *error) {
    weft_shape shape = operand->shape;
    int offset = 0;
    int n = node->n_children - 1;
    if (n > shape.rank) {
        weft_text text = {0};
        weft_shape_print(&shape, &text);
        weft_error_at(error, WEFT_ERROR_SHAPE, node->place, "%d subscript%s for a %s", n,
                      n == 1 ? "" : "s", text.data ? text.data : "scalar");
        weft_text_free(&text);
        return WEFT_ERROR_SHAPE;
    }
    for (int i = 0; i < n; ++i) {
        int index = 0;
        weft_status status =
            weft_script_integer(builder->script, node->children[i + 1], &index, error);
        if (status != WEFT_OK)
            return status;
        if (index < 0 || index >= shape.sizes[i])
            return weft_error_at(error, WEFT_ERROR_SHAPE, node->children[i + 1]->place,
                                 "subscript %d is outside 0 .. %d", index, shape.sizes[i] - 1);
        offset = offset * shape.sizes[i] + index;
    }
    int rest = 1;
    for (int i = n; i < shape.rank; ++i)
        rest *= shape.sizes[i];
    for (int i = n; i < shape.rank; ++i)
        operand->shape.sizes[i - n] = shape.sizes[i];
    operand->shape.rank = shape.rank - n;
    for (int i = operand->shape.rank; i < WEFT_RANK_MAX; ++i)
        operand->shape.sizes[i] = 0;
    operand->offset += offset * rest;
    return WEFT_OK;
}

static weft_status unknown_map(weft_graph_builder *builder, const weft_node *node,
                               weft_error *error) {
    const weft_graph *graph = builder->graph;
    const weft_script *script = builder->script;
    const size_t n = (size_t)(graph->n_connectivities + script->n_parameters);
    const char **names = weft_arena_alloc(builder->arena, n + 1, sizeof *names);
    if (!names)
        return weft_no_memory(error);
    for (int i = 0; i < graph->n_connectivities; ++i)
        names[i] = graph->connectivities[i].name;
    for (int i = 0; i < script->n_parameters; ++i)
        names[graph->n_connectivities + i] = script->parameters[i].name;
    const char *near = weft_nearest_name(node->name, names, n);
    weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                  "'%s' is neither a connectivity nor a parameter", node->name);
    if (near)
        weft_error_hint(error, "did you mean '%s'?", near);
    else
        weft_error_hint(error, "declare it: connectivity %s : cells -> nodes[3];", node->name);
    return WEFT_ERROR_TYPE;
}

/* A component of pending arithmetic: the same arithmetic on components of its tensors. */
static weft_status tree_component(weft_graph_builder *builder, const weft_node *node,
                                  const tree *base, weft_lazy_value *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operand whole = {.connectivity = -1, .shape = base->shape};
    tree *t = weft_arena_alloc(builder->arena, 1, sizeof *t);
    int *moved = weft_arena_alloc(builder->arena, (size_t)base->n + 1, sizeof *moved);
    if (!t || !moved)
        TRY(weft_no_memory(error));
    TRY(operand_component(builder, node, &whole, error));
    t->index_set = UNIFORM;
    for (int i = 0; i < base->n; ++i) {
        weft_arithmetic one = base->nodes[i];
        if (one.op == ARITHMETIC_OPERAND) {
            weft_operand operand = base->operands[one.operand];
            if (operand.shape.rank > 0)
                TRY(operand_component(builder, node, &operand, error));
            TRY(weft_tree_operand(builder, t, &operand, node->place, &moved[i], error));
            continue;
        }
        weft_arithmetic_move(&one, moved);
        TRY(weft_tree_add(builder, t, one, &moved[i], error));
    }
    t->shape = whole.shape;
    *out = (weft_lazy_value){.arithmetic = t};
done:
    return status;
}

/* x[dofs], P[0,1] */
weft_status weft_value_subscript(weft_graph_builder *builder, const name_scope *scope,
                                 const weft_node *node, weft_lazy_value *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_lazy_value base = {0};
    const weft_node *list = node->children[0]; /* NAME__field0: an input of a formula */
    if (scope->expression && (list->kind != NODE_NAME || !strstr(list->name, "__")))
        TRY(weft_error_at(error, WEFT_ERROR_TYPE, node->place, "a formula has no subscripts"));
    TRY(weft_value_make(builder, node->children[0], &base, error));
    const weft_node *first = node->children[1];
    const bool named = node->n_children == 2 && first->kind == NODE_NAME;
    const int connectivity = named ? WEFT_FIND_NAME(builder->graph->connectivities,
                                                    builder->graph->n_connectivities, first->name)
                                   : -1;
    if (named && connectivity < 0 &&
        WEFT_FIND_NAME(builder->script->parameters, builder->script->n_parameters, first->name) < 0)
        TRY(unknown_map(builder, first, error));
    if (base.arithmetic && connectivity < 0) {
        TRY(tree_component(builder, node, base.arithmetic, out, error));
        goto done;
    }
    weft_operand operand = {0};
    TRY(weft_value_materialise(builder, &base, UNIFORM, node->place, &operand, error));
    TRY(connectivity >= 0 ? operand_gather(builder, node, connectivity, &operand, error)
                          : operand_component(builder, node, &operand, error));
    *out = (weft_lazy_value){.operand = operand};
done:
    return status;
}
