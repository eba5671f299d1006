/* Builds elementwise arithmetic: trees of operations on equal shapes, each of which becomes a call.
 */
#include "fusion/base/array.h"
#include "fusion/base/intrinsics.h"
#include "fusion/graph/private.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

bool weft_arithmetic_equal(const weft_arithmetic *x, const weft_arithmetic *y) {
    const bool is_named = x->op == ARITHMETIC_INTRINSIC || x->op == ARITHMETIC_SELECT;
    return x->op == y->op && x->a == y->a && x->b == y->b && x->operand == y->operand &&
           memcmp(&x->number, &y->number, sizeof x->number) == 0 &&
           (!is_named || strcmp(x->name, y->name) == 0) &&
           (x->op != ARITHMETIC_SELECT || (x->c == y->c && x->d == y->d));
}

static int bucket_of(const weft_arithmetic *node) {
    uint64_t bits = 0;
    memcpy(&bits, &node->number, sizeof bits);
    const int parts[] = {(int)node->op, node->operand, node->a, node->b, node->c, node->d};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        bits = (bits ^ (uint32_t)parts[i]) * 0x9e3779b97f4a7c15u;
    return (int)(bits >> 32) & (TREE_BUCKETS - 1);
}

/* Equal nodes are one node. */
weft_status weft_tree_add(weft_graph_builder *builder, tree *t, weft_arithmetic node, int *out,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    int n_next = t->n, *bucket = &t->buckets[bucket_of(&node)];
    for (int i = *bucket - 1; i >= 0; i = t->next[i])
        if (weft_arithmetic_equal(&t->nodes[i], &node)) {
            *out = i;
            goto done;
        }
    TRY(WEFT_APPEND(builder->arena, t->next, n_next, *bucket - 1, error));
    TRY(WEFT_APPEND(builder->arena, t->nodes, t->n, node, error));
    *out = t->n - 1;
    *bucket = t->n;
done:
    return status;
}

weft_status weft_tree_widen(const weft_graph_builder *builder, tree *t, const weft_shape *shape,
                            int index_set, weft_location place, weft_error *error) {
    if (t->shape.rank == 0)
        t->shape = *shape;
    else if (shape->rank > 0 && !weft_shape_equal(&t->shape, shape)) {
        weft_text text = {0};
        weft_shape_print(&t->shape, &text);
        weft_text_add(&text, " and ");
        weft_shape_print(shape, &text);
        weft_error_at(error, WEFT_ERROR_SHAPE, place,
                      "elementwise arithmetic of different shapes: %s", text.data ? text.data : "");
        weft_error_hint(error, "shapes must be equal, or one a scalar; mmul, mvmul and dot are the "
                               "products of tensors");
        weft_text_free(&text);
        return WEFT_ERROR_SHAPE;
    }
    const int joined = weft_index_set_join(builder->graph, t->index_set, index_set);
    if (joined == WEFT_INDEX_SETS_DIFFER) {
        weft_error_at(error, WEFT_ERROR_TYPE, place, "arithmetic of a list over %s and one over %s",
                      weft_index_set_name(builder->graph, t->index_set),
                      weft_index_set_name(builder->graph, index_set));
        weft_error_hint(error, "load one of them through a connectivity, as in x[dofs]");
        return WEFT_ERROR_TYPE;
    }
    t->index_set = joined;
    return WEFT_OK;
}

weft_status weft_tree_operand(weft_graph_builder *builder, tree *t, const weft_operand *operand,
                              weft_location place, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    int index = 0;
    TRY(weft_tree_widen(builder, t, &operand->shape,
                        weft_operand_index_set(builder->graph, operand), place, error));
    while (index < t->n_operands && memcmp(&t->operands[index], operand, sizeof *operand) != 0)
        ++index;
    if (index == t->n_operands)
        TRY(WEFT_APPEND(builder->arena, t->operands, t->n_operands, *operand, error));
    TRY(weft_tree_add(
        builder, t, (weft_arithmetic){.op = ARITHMETIC_OPERAND, .operand = index, .a = -1, .b = -1},
        root, error));
done:
    return status;
}

void weft_arithmetic_move(weft_arithmetic *node, const int *moved) {
    node->a = node->a >= 0 ? moved[node->a] : -1;
    node->b = node->b >= 0 ? moved[node->b] : -1;
    if (node->op == ARITHMETIC_SELECT) {
        node->c = moved[node->c];
        node->d = moved[node->d];
    }
}

/* Keep the root of pending arithmetic that a tree contains. */
static weft_status keep_root(weft_graph_builder *builder, tree *t, const tree *source, int root,
                             weft_error *error) {
    return WEFT_APPEND(builder->arena, t->copies, t->n_copies, ((tree_copy){source, root}), error);
}

/* A value inside arithmetic: pending arithmetic is copied in, once for all its uses. */
static weft_status tree_value(weft_graph_builder *builder, tree *t, const weft_lazy_value *v,
                              weft_location place, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!v->arithmetic) {
        status = weft_tree_operand(builder, t, &v->operand, place, root, error);
        goto done;
    }
    const tree *source = v->arithmetic;
    int *moved = NULL;
    for (int i = 0; i < t->n_copies; ++i)
        if (t->copies[i].source == source) {
            *root = t->copies[i].root;
            goto done;
        }
    TRY(WEFT_ALLOC(builder->arena, moved, (size_t)source->n, error));
    for (int i = 0; i < source->n; ++i) {
        weft_arithmetic node = source->nodes[i];
        if (node.op == ARITHMETIC_OPERAND) {
            TRY(weft_tree_operand(builder, t, &source->operands[node.operand], place, &moved[i],
                                  error));
            continue;
        }
        weft_arithmetic_move(&node, moved);
        TRY(weft_tree_add(builder, t, node, &moved[i], error));
    }
    TRY(weft_tree_widen(builder, t, &source->shape, source->index_set, place, error));
    *root = moved[source->n - 1];
    TRY(keep_root(builder, t, source, *root, error));
done:
    return status;
}

/* Negative numbers become a negation, as in a script: literals of the language have no sign. */
static weft_status tree_integer(weft_graph_builder *builder, tree *t, int number, int *root,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_tree_add(
        builder, t,
        (weft_arithmetic){
            .op = ARITHMETIC_NUMBER, .number = fabs((double)number), .a = -1, .b = -1},
        root, error));
    if (number < 0)
        TRY(weft_tree_add(builder, t,
                          (weft_arithmetic){.op = ARITHMETIC_NEGATE, .a = *root, .b = -1}, root,
                          error));
done:
    return status;
}

static weft_status tree_name(weft_graph_builder *builder, const name_scope *scope,
                             const weft_node *node, tree *t, int *root, weft_error *error) {
    weft_lazy_value v = {0};
    const weft_script_expression *expression = scope->expression;
    if (expression) {
        const int i = weft_name_index(expression->arguments, expression->n_arguments,
                                      sizeof(char *), node->name);
        if (i >= 0 && (i < scope->n_bound || i >= scope->first_last))
            return tree_value(builder, t, &scope->arguments[i], node->place, root, error);
        if (i >= 0) {
            weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                          "'%s' is not defined: there are %d dimensions here", node->name,
                          scope->n_bound);
            weft_error_hint(error, "use %s%s only", expression->arguments[0],
                            scope->n_bound == 2 ? " and y" : "");
            return WEFT_ERROR_TYPE;
        }
    }
    if (strcmp(node->name, "pi") == 0 && (expression || !weft_binding_find(builder, "pi")))
        return weft_tree_add(
            builder, t, (weft_arithmetic){.op = ARITHMETIC_NUMBER, .number = PI, .a = -1, .b = -1},
            root, error);
    const weft_script *script = builder->script;
    const int parameter = WEFT_FIND_NAME(script->parameters, script->n_parameters, node->name);
    if (!expression && parameter >= 0)
        return tree_integer(builder, t, script->parameters[parameter].value, root, error);
    weft_status status = weft_operand_of_name(builder, node, &v, error);
    return status != WEFT_OK ? status : tree_value(builder, t, &v, node->place, root, error);
}

/* values[0] where the condition holds, else values[1]: `a and b` selects twice, and shares values[1]. */
static weft_status tree_select(weft_graph_builder *builder, const name_scope *scope,
                               const weft_node *condition, tree *t, const int values[2], int *root,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    if (condition->kind != NODE_BINARY ||
        !(weft_op_compares(condition->op) || condition->op == CONDITION_AND))
        TRY(weft_error_at(error, WEFT_ERROR_TYPE, condition->place,
                          "expected a comparison: select(a < b, ..., ...)"));
    if (condition->op == CONDITION_AND) {
        int inner[2] = {-1, values[1]};
        TRY(tree_select(builder, scope, condition->children[1], t, values, &inner[0], error));
        TRY(tree_select(builder, scope, condition->children[0], t, inner, root, error));
        goto done;
    }
    weft_arithmetic made = {.op = ARITHMETIC_SELECT,
                            .name = weft_op_text(condition->op),
                            .c = values[0],
                            .d = values[1]};
    TRY(weft_tree_build(builder, scope, condition->children[0], t, &made.a, error));
    TRY(weft_tree_build(builder, scope, condition->children[1], t, &made.b, error));
    TRY(weft_tree_add(builder, t, made, root, error));
done:
    return status;
}

static weft_status tree_call(weft_graph_builder *builder, const name_scope *scope,
                             const weft_node *node, tree *t, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_arguments = weft_formula_arguments(node->name);
    int a = -1, b = -1;
    if (node->table) {
        status = weft_table_inline(builder, scope, node, t, root, error);
        goto done;
    }
    if (n_arguments > 0 && !weft_is_function(builder, node->name)) {
        if (node->n_children != n_arguments || node->n_keys != 0)
            TRY(weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                              "'%s' takes %d argument%s, not %d", node->name, n_arguments,
                              n_arguments == 1 ? "" : "s", node->n_children));
        if (n_arguments == 3) {
            int values[2] = {-1, -1};
            TRY(weft_tree_build(builder, scope, node->children[1], t, &values[0], error));
            TRY(weft_tree_build(builder, scope, node->children[2], t, &values[1], error));
            TRY(tree_select(builder, scope, node->children[0], t, values, root, error));
            goto done;
        }
        TRY(weft_tree_build(builder, scope, node->children[0], t, &a, error));
        if (n_arguments == 2)
            TRY(weft_tree_build(builder, scope, node->children[1], t, &b, error));
        const bool power = strcmp(node->name, "pow") == 0; /* the same node as x^y */
        const weft_arithmetic made = {.op = power ? ARITHMETIC_POWER : ARITHMETIC_INTRINSIC,
                                      .name = power ? NULL : node->name,
                                      .a = a,
                                      .b = b};
        TRY(weft_tree_add(builder, t, made, root, error));
        goto done;
    }
    const weft_script_expression *expression = weft_formula_find(builder, node->name);
    if (expression) {
        TRY(weft_formula_inline(builder, scope, node, expression, t, root, error));
        goto done;
    }
    if (scope->expression)
        TRY(weft_unknown_function(builder, node, error));
    weft_lazy_value v = {0};
    TRY(weft_function_call(builder, node, &v, error));
    TRY(tree_value(builder, t, &v, node->place, root, error));
done:
    return status;
}

static weft_status tree_binary(weft_graph_builder *builder, const name_scope *scope,
                               const weft_node *node, tree *t, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arithmetic made = {.op = node->op == '+'   ? ARITHMETIC_ADD
                                  : node->op == '-' ? ARITHMETIC_SUBTRACT
                                  : node->op == '*' ? ARITHMETIC_MULTIPLY
                                  : node->op == '/' ? ARITHMETIC_DIVIDE
                                                    : ARITHMETIC_POWER};
    TRY(weft_tree_build(builder, scope, node->children[0], t, &made.a, error));
    TRY(weft_tree_build(builder, scope, node->children[1], t, &made.b, error));
    TRY(weft_tree_add(builder, t, made, root, error));
done:
    return status;
}

weft_status weft_tree_build(weft_graph_builder *builder, const name_scope *scope,
                            const weft_node *node, tree *t, int *root, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_lazy_value v = {0};
    int a = -1;
    switch (node->kind) {
    case NODE_NUMBER:
        TRY(weft_tree_add(
            builder, t,
            (weft_arithmetic){.op = ARITHMETIC_NUMBER, .number = node->number, .a = -1, .b = -1},
            root, error));
        break;
    case NODE_NAME:
        TRY(tree_name(builder, scope, node, t, root, error));
        break;
    case NODE_CALL:
        TRY(tree_call(builder, scope, node, t, root, error));
        break;
    case NODE_NEGATE:
        TRY(weft_tree_build(builder, scope, node->children[0], t, &a, error));
        TRY(weft_tree_add(builder, t, (weft_arithmetic){.op = ARITHMETIC_NEGATE, .a = a, .b = -1},
                          root, error));
        break;
    case NODE_BINARY:
        TRY(tree_binary(builder, scope, node, t, root, error));
        break;
    case NODE_SUBSCRIPT:
        TRY(weft_value_subscript(builder, scope, node, &v, error));
        TRY(tree_value(builder, t, &v, node->place, root, error));
        break;
    }
done:
    return status;
}

weft_status weft_tree_make_call(weft_graph_builder *builder, const tree *t, int index_set,
                                weft_location place, weft_operand *out, weft_error *error) {
    weft_call call = {.label = "arithmetic",
                      .arithmetic = t->nodes,
                      .n_arithmetic = t->n,
                      .operands = t->operands,
                      .n_operands = t->n_operands,
                      .index_set = t->index_set != UNIFORM ? t->index_set : index_set,
                      .place = place};
    weft_arithmetic_find_uniform(builder->graph, &call);
    call.flops = weft_arithmetic_flops(&call, &t->shape, true);
    return weft_call_add(builder, &call, &t->shape, out, error);
}
