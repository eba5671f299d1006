/* Inlines calls of a script's own formulas, `expression f(a, b) = ...`, in arithmetic.
 *
 * Decision  docs/decisions/0003-formulas-are-inlined.md */
#include "fusion/base/array.h"
#include "fusion/graph/private.h"

#include <string.h>

const weft_script_expression *weft_formula_find(const weft_graph_builder *builder,
                                                const char *name) {
    const weft_script *script = builder->script;
    const int i = WEFT_FIND_NAME(script->expressions, script->n_expressions, name);
    return i >= 0 ? &script->expressions[i] : NULL;
}

static weft_status wrong_count(const weft_node *node, const weft_script_expression *expression,
                               weft_error *error) {
    return weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' takes %d argument%s, not %d",
                         expression->name, expression->n_arguments,
                         expression->n_arguments == 1 ? "" : "s", node->n_children);
}

/* Is an argument a list, a part of one, or the result of an elementary function? It may then be a
 * tensor whose rows are the arguments of the formula. */
static bool is_whole(const weft_graph_builder *builder, const weft_node *node) {
    return (node->kind == NODE_NAME && strcmp(node->name, "pi") != 0) ||
           node->kind == NODE_SUBSCRIPT ||
           (node->kind == NODE_CALL && weft_is_function(builder, node->name));
}

/* The arguments of a formula: one value per name; or a tensor whose rows are bound to the first
 * names, followed by values for the last names. Names in [n_bound, first_last) stay undefined. */
static weft_status formula_arguments(weft_graph_builder *builder, const name_scope *outer,
                                     const weft_node *node, weft_lazy_value *arguments,
                                     name_scope *inner, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script_expression *expression = inner->expression;
    const int n_last = node->n_children - 1;
    for (int i = 0; i < node->n_children; ++i) {
        if (!outer->expression && is_whole(builder, node->children[i])) {
            TRY(weft_value_make(builder, node->children[i], &arguments[i], error));
            continue;
        }
        tree *t = weft_arena_alloc(builder->arena, 1, sizeof *t);
        int root = 0;
        if (!t)
            TRY(weft_no_memory(error));
        t->index_set = UNIFORM;
        TRY(weft_tree_build(builder, outer, node->children[i], t, &root, error));
        arguments[i] = (weft_lazy_value){.arithmetic = t};
    }
    inner->n_bound = inner->first_last = node->n_children;
    if (node->n_children == 0)
        TRY(wrong_count(node, expression, error));
    const weft_shape *shape = &arguments[0].operand.shape;
    if (node->n_children < expression->n_arguments && !arguments[0].arithmetic && shape->rank > 0) {
        const weft_operand whole = arguments[0].operand;
        inner->n_bound = whole.shape.sizes[0];
        inner->first_last = expression->n_arguments - n_last;
        if (inner->n_bound > inner->first_last)
            TRY(weft_error_at(error, WEFT_ERROR_SHAPE, node->place,
                              "%d rows for the %d %sarguments of '%s'", inner->n_bound,
                              inner->first_last, n_last > 0 ? "first " : "", expression->name));
        for (int i = n_last - 1; i >= 0; --i)
            arguments[inner->first_last + i] = arguments[i + 1];
        weft_shape row = {.rank = whole.shape.rank - 1};
        for (int i = 0; i < row.rank; ++i)
            row.sizes[i] = whole.shape.sizes[i + 1];
        for (int i = 0; i < inner->n_bound; ++i) {
            arguments[i] = (weft_lazy_value){.operand = whole};
            arguments[i].operand.shape = row;
            arguments[i].operand.offset = whole.offset + i * weft_shape_count(&row);
        }
    } else if (node->n_children != expression->n_arguments) {
        status = wrong_count(node, expression, error);
    }
done:
    return status;
}

weft_status weft_formula_inline(weft_graph_builder *builder, const name_scope *outer,
                                const weft_node *node, const weft_script_expression *expression,
                                tree *t, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t n = (size_t)(node->n_children > expression->n_arguments ? node->n_children
                                                                   : expression->n_arguments);
    weft_lazy_value *arguments = weft_arena_alloc(builder->arena, n + 1, sizeof *arguments);
    name_scope inner = {.expression = expression, .arguments = arguments};
    if (!arguments)
        TRY(weft_no_memory(error));
    if (builder->depth > 32)
        TRY(weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                          "expressions call each other too deeply"));
    TRY(formula_arguments(builder, outer, node, arguments, &inner, error));
    ++builder->depth;
    status = weft_tree_build(builder, &inner, expression->body, t, root, error);
    --builder->depth;
    if (status != WEFT_OK)
        goto done;
    /* a formula that does not use its arguments still has their shape */
    for (int i = 0; i < inner.n_bound; ++i) {
        const weft_lazy_value *v = &arguments[i];
        const int set = v->arithmetic ? v->arithmetic->index_set
                                      : weft_operand_index_set(builder->graph, &v->operand);
        TRY(weft_tree_widen(builder, t, v->arithmetic ? &v->arithmetic->shape : &v->operand.shape,
                            set, node->place, error));
    }
done:
    return status;
}
