/* From expressions to calls: name resolution, indirect loads, shapes, elementwise arithmetic. */
#include "graph_internal.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct intrinsic {
    const char *name;
    int n_arguments;
} intrinsic;

static const intrinsic intrinsics[] = {{"sqrt", 1}, {"exp", 1},  {"log", 1}, {"sin", 1}, {"cos", 1}, {"tan", 1},
                                       {"tanh", 1}, {"abs", 1}, {"min", 2}, {"max", 2}};

static const intrinsic *intrinsic_find(const char *name)
{
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; ++i)
        if (strcmp(intrinsics[i].name, name) == 0)
            return &intrinsics[i];
    return NULL;
}

/* Names that an expression body being inlined sees: its arguments. */
typedef struct name_scope {
    const weft_script_expression *expression; /* NULL: the script itself */
    const value *arguments;
    int n_bound; /* arguments beyond are undefined */
} name_scope;

static weft_status tree_build(graph_builder *builder, const name_scope *scope, const weft_node *node, tree *t, int *root,
                              weft_error *error);

const binding *binding_find(const graph_builder *builder, const char *name)
{
    for (int i = 0; i < builder->n_names; ++i)
        if (strcmp(builder->names[i].name, name) == 0)
            return &builder->names[i];
    return NULL;
}

static weft_status unknown_name(graph_builder *builder, const weft_node *node, weft_error *error)
{
    const char **names = weft_arena_alloc(builder->arena, (size_t)builder->n_names + 1, sizeof *names);
    if (names == NULL)
        return no_memory(error);
    for (int i = 0; i < builder->n_names; ++i)
        names[i] = builder->names[i].name;
    const char *near = weft_nearest_name(node->name, names, (size_t)builder->n_names);
    weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' has no value here", node->name);
    if (near != NULL)
        weft_error_hint(error, "did you mean '%s'?", near);
    else
        weft_error_hint(error, "assign it first, or declare it: input %s : real over ...;", node->name);
    return WEFT_ERROR_TYPE;
}

static weft_status operand_of_name(graph_builder *builder, const weft_node *node, value *out, weft_error *error)
{
    const binding *b = binding_find(builder, node->name);
    if (b == NULL)
        return unknown_name(builder, node, error);
    *out = b->value;
    if (b->value.arithmetic == NULL) {
        int id = b->value.operand.datum;
        const weft_datum *datum = &builder->graph->data[id];
        if (datum->kind == DATUM_MATRIX)
            return weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                                 "'%s' is a sparse matrix: it can be accumulated into and returned, not read",
                                 node->name);
        if (id < builder->first_read_capacity && builder->first_read[id].line == 0)
            builder->first_read[id] = node->place;
    }
    return WEFT_OK;
}

static int map_find(const weft_graph *graph, const char *name)
{
    for (int i = 0; i < graph->n_maps; ++i)
        if (strcmp(graph->maps[i].name, name) == 0)
            return i;
    return -1;
}

/* x[dofs]: the load is [width, shape...] over the map's source. */
static weft_status operand_gather(graph_builder *builder, const weft_node *node, int map, weft_operand *operand,
                                  weft_error *error)
{
    const weft_graph *graph = builder->graph;
    const weft_datum *datum = &graph->data[operand->datum];
    const weft_map *m = &graph->maps[map];
    if (operand->map >= 0 || operand->offset != 0 || !weft_shape_equal(&operand->shape, &datum->shape))
        return weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                             "only a whole list can be loaded through a connectivity");
    if (datum->index_set != m->to) {
        weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' leads to %s, but '%s' is %s%s", m->name,
                      index_set_name(graph, m->to), datum->name, datum->index_set == UNIFORM ? "" : "over ",
                      index_set_name(graph, datum->index_set));
        weft_error_hint(error, "only lists over %s can be loaded through '%s'", index_set_name(graph, m->to), m->name);
        return WEFT_ERROR_TYPE;
    }
    if (datum->shape.rank == WEFT_RANK_MAX)
        return weft_error_at(error, WEFT_ERROR_SHAPE, node->place, "more than %d dimensions", WEFT_RANK_MAX);
    weft_shape shape = {.rank = datum->shape.rank + 1, .sizes = {m->width}};
    for (int i = 0; i < datum->shape.rank; ++i)
        shape.sizes[i + 1] = datum->shape.sizes[i];
    operand->map = map;
    operand->shape = shape;
    return WEFT_OK;
}

/* P[0], P[0,1]: the leading subscripts fixed. */
static weft_status operand_component(graph_builder *builder, const weft_node *node, weft_operand *operand,
                                     weft_error *error)
{
    weft_shape shape = operand->shape;
    int offset = 0;
    int n = node->n_children - 1;
    if (n > shape.rank) {
        weft_text text = {0};
        weft_shape_print(&shape, &text);
        weft_error_at(error, WEFT_ERROR_SHAPE, node->place, "%d subscripts for a %s", n,
                      text.data != NULL ? text.data : "scalar");
        weft_text_free(&text);
        return WEFT_ERROR_SHAPE;
    }
    for (int i = 0; i < n; ++i) {
        int index = 0;
        weft_status status = weft_script_integer(builder->script, node->children[i + 1], &index, error);
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

static weft_status value_subscript(graph_builder *builder, const name_scope *scope, const weft_node *node, value *out,
                                   weft_error *error)
{
    weft_status status = WEFT_OK;
    value base = {0};
    weft_operand operand = {0};
    if (scope->expression != NULL)
        return weft_error_at(error, WEFT_ERROR_TYPE, node->place, "a formula has no subscripts");
    TRY(value_make(builder, node->children[0], &base, error));
    TRY(value_materialise(builder, &base, UNIFORM, node->place, &operand, error));
    const weft_node *first = node->children[1];
    if (node->n_children == 2 && first->kind == NODE_NAME && map_find(builder->graph, first->name) >= 0)
        TRY(operand_gather(builder, node, map_find(builder->graph, first->name), &operand, error));
    else
        TRY(operand_component(builder, node, &operand, error));
    *out = (value){.operand = operand};
done:
    return status;
}

/* ---- calls of elementary functions ---------------------------------------------------------------- */

static weft_status unknown_function(graph_builder *builder, const weft_node *node, weft_error *error)
{
    size_t n = 0;
    const char *const *names = weft_library_names(builder->library, &n);
    const size_t n_intrinsics = sizeof intrinsics / sizeof *intrinsics;
    const int n_expressions = builder->script->n_expressions;
    const char **all = weft_arena_alloc(builder->arena, n + n_intrinsics + (size_t)n_expressions, sizeof *all);
    if (all == NULL)
        return no_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < n; ++i)
        all[count++] = names[i];
    for (size_t i = 0; i < n_intrinsics; ++i)
        all[count++] = intrinsics[i].name;
    for (int i = 0; i < n_expressions; ++i)
        all[count++] = builder->script->expressions[i].name;
    const char *near = weft_nearest_name(node->name, all, count);
    weft_error_at(error, WEFT_ERROR_TYPE, node->place, "there is no function '%s'", node->name);
    if (near != NULL)
        weft_error_hint(error, "did you mean '%s'? 'weft library' lists them all", near);
    else
        weft_error_hint(error, "'weft library' lists the functions; --kernels DIR adds your own");
    return WEFT_ERROR_TYPE;
}

/* The one index set of a call's operands; uniform when all are. */
static weft_status common_index_set(const graph_builder *builder, const weft_operand *operands, int n,
                                    weft_place place, int *out, weft_error *error)
{
    const weft_graph *graph = builder->graph;
    int common = UNIFORM, from = 0;
    for (int i = 0; i < n; ++i) {
        const weft_datum *datum = &graph->data[operands[i].datum];
        int set = operands[i].map >= 0 ? graph->maps[operands[i].map].from : datum->index_set;
        if (set == UNIFORM || set == common)
            continue;
        if (common == UNIFORM) {
            common = set;
            from = i;
            continue;
        }
        weft_error_at(error, WEFT_ERROR_TYPE, place, "'%s' ranges over %s but '%s' over %s",
                      graph->data[operands[from].datum].name, index_set_name(graph, common), datum->name,
                      index_set_name(graph, set));
        weft_error_hint(error, "load one of them through a connectivity, as in x[dofs]");
        return WEFT_ERROR_TYPE;
    }
    *out = common;
    return WEFT_OK;
}

static weft_status function_call(graph_builder *builder, const weft_node *node, value *out, weft_error *error)
{
    weft_status status = WEFT_OK;
    const weft_function *function = weft_library_find(builder->library, node->name);
    if (function == NULL)
        return unknown_function(builder, node, error);
    if (node->n_children > WEFT_ARGUMENTS_MAX)
        return weft_error_at(error, WEFT_ERROR_TYPE, node->place, "more than %d arguments", WEFT_ARGUMENTS_MAX);
    const size_t n = (size_t)node->n_children;
    value *values = weft_arena_alloc(builder->arena, n + 1, sizeof *values);
    weft_operand *operands = weft_arena_alloc(builder->arena, n + 1, sizeof *operands);
    int *keys = weft_arena_alloc(builder->arena, (size_t)node->n_keys + 1, sizeof *keys);
    weft_shape shapes[WEFT_ARGUMENTS_MAX];
    weft_instance *instance = NULL;
    int index_set = UNIFORM, n_data = 0;
    if (values == NULL || operands == NULL || keys == NULL)
        return no_memory(error);
    for (size_t i = 0; i < n; ++i) {
        TRY(value_make(builder, node->children[i], &values[i], error));
        if (values[i].arithmetic == NULL)
            operands[n_data++] = values[i].operand;
    }
    TRY(common_index_set(builder, operands, n_data, node->place, &index_set, error));
    for (size_t i = 0; i < n; ++i) {
        TRY(value_materialise(builder, &values[i], index_set, node->place, &operands[i], error));
        shapes[i] = operands[i].shape;
    }
    for (int i = 0; i < node->n_keys; ++i)
        TRY(weft_script_integer(builder->script, node->key_values[i], &keys[i], error));
    TRY(weft_instance_make(builder->arena, builder->library, function, shapes, node->n_children, node->keys, keys,
                           node->n_keys, node->place, &instance, error));
    TRY(common_index_set(builder, operands, (int)n, node->place, &index_set, error));
    if (index_set == UNIFORM) {
        weft_error_at(error, WEFT_ERROR_UNSUPPORTED, node->place,
                      "every argument of '%s' is uniform: there is nothing to map over", node->name);
        weft_error_hint(error, "use arithmetic for uniform scalars, or give one argument 'over' an index set");
        status = WEFT_ERROR_UNSUPPORTED;
        goto done;
    }
    weft_call call = {.label = node->name, .instance = instance, .operands = operands, .n_operands = (int)n,
                      .index_set = index_set, .flops = instance->flops, .place = node->place};
    *out = (value){0};
    TRY(call_add(builder, &call, &instance->result, &out->operand, error));
done:
    return status;
}

/* ---- elementwise arithmetic --------------------------------------------------------------------------- */

static weft_status tree_add(graph_builder *builder, tree *t, weft_arithmetic node, int *out, weft_error *error)
{
    void *grown = array_grow(builder->arena, t->nodes, t->n, &t->capacity, sizeof *t->nodes);
    if (grown == NULL)
        return no_memory(error);
    t->nodes = grown;
    t->nodes[t->n] = node;
    *out = t->n++;
    return WEFT_OK;
}

/* Shapes and index sets of elementwise arithmetic: equal, or one of them a scalar. */
static weft_status tree_widen(const graph_builder *builder, tree *t, const weft_shape *shape, int index_set,
                              weft_place place, weft_error *error)
{
    if (t->shape.rank == 0)
        t->shape = *shape;
    else if (shape->rank > 0 && !weft_shape_equal(&t->shape, shape)) {
        weft_text text = {0};
        weft_shape_print(&t->shape, &text);
        weft_text_add(&text, " and ");
        weft_shape_print(shape, &text);
        weft_error_at(error, WEFT_ERROR_SHAPE, place, "elementwise arithmetic of different shapes: %s",
                      text.data != NULL ? text.data : "");
        weft_error_hint(error, "shapes must be equal, or one a scalar; mmul, mvmul and dot are the products of tensors");
        weft_text_free(&text);
        return WEFT_ERROR_SHAPE;
    }
    if (t->index_set == UNIFORM)
        t->index_set = index_set;
    else if (index_set != UNIFORM && index_set != t->index_set) {
        weft_error_at(error, WEFT_ERROR_TYPE, place, "arithmetic of a list over %s and one over %s",
                      index_set_name(builder->graph, t->index_set), index_set_name(builder->graph, index_set));
        weft_error_hint(error, "load one of them through a connectivity, as in x[dofs]");
        return WEFT_ERROR_TYPE;
    }
    return WEFT_OK;
}

static weft_status tree_operand(graph_builder *builder, tree *t, const weft_operand *operand, weft_place place,
                                int *root, weft_error *error)
{
    const weft_graph *graph = builder->graph;
    int set = operand->map >= 0 ? graph->maps[operand->map].from : graph->data[operand->datum].index_set;
    int index = 0;
    weft_status status = tree_widen(builder, t, &operand->shape, set, place, error);
    if (status != WEFT_OK)
        return status;
    while (index < t->n_operands && memcmp(&t->operands[index], operand, sizeof *operand) != 0)
        ++index;
    if (index == t->n_operands) {
        void *grown = array_grow(builder->arena, t->operands, t->n_operands, &t->operand_capacity, sizeof *operand);
        if (grown == NULL)
            return no_memory(error);
        t->operands = grown;
        t->operands[t->n_operands++] = *operand;
    }
    return tree_add(builder, t, (weft_arithmetic){.op = ARITHMETIC_OPERAND, .operand = index, .a = -1, .b = -1}, root,
                    error);
}

/* A value inside arithmetic: pending arithmetic is copied in. */
static weft_status tree_value(graph_builder *builder, tree *t, const value *v, weft_place place, int *root,
                              weft_error *error)
{
    weft_status status = WEFT_OK;
    if (v->arithmetic == NULL)
        return tree_operand(builder, t, &v->operand, place, root, error);
    const tree *source = v->arithmetic;
    int *moved = weft_arena_alloc(builder->arena, (size_t)source->n, sizeof *moved);
    if (moved == NULL)
        return no_memory(error);
    for (int i = 0; i < source->n; ++i) {
        weft_arithmetic node = source->nodes[i];
        if (node.op == ARITHMETIC_OPERAND) {
            TRY(tree_operand(builder, t, &source->operands[node.operand], place, &moved[i], error));
            continue;
        }
        node.a = node.a >= 0 ? moved[node.a] : -1;
        node.b = node.b >= 0 ? moved[node.b] : -1;
        TRY(tree_add(builder, t, node, &moved[i], error));
    }
    TRY(tree_widen(builder, t, &source->shape, source->index_set, place, error));
    *root = moved[source->n - 1];
done:
    return status;
}

static weft_status tree_name(graph_builder *builder, const name_scope *scope, const weft_node *node, tree *t, int *root,
                             weft_error *error)
{
    value v = {0};
    const weft_script_expression *expression = scope->expression;
    if (expression != NULL) {
        for (int i = 0; i < expression->n_arguments; ++i) {
            if (strcmp(expression->arguments[i], node->name) != 0)
                continue;
            if (i < scope->n_bound)
                return tree_value(builder, t, &scope->arguments[i], node->place, root, error);
            weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' is not defined: there are %d dimensions here",
                          node->name, scope->n_bound);
            weft_error_hint(error, "use %s%s only", expression->arguments[0],
                            scope->n_bound == 2 ? " and y" : "");
            return WEFT_ERROR_TYPE;
        }
    }
    if (strcmp(node->name, "pi") == 0 && (expression != NULL || binding_find(builder, "pi") == NULL))
        return tree_add(builder, t, (weft_arithmetic){.op = ARITHMETIC_NUMBER, .number = PI, .a = -1, .b = -1}, root,
                        error);
    if (expression == NULL)
        for (int i = 0; i < builder->script->n_parameters; ++i)
            if (strcmp(builder->script->parameters[i].name, node->name) == 0)
                return tree_add(builder, t,
                                (weft_arithmetic){.op = ARITHMETIC_NUMBER, .a = -1, .b = -1,
                                                  .number = builder->script->parameters[i].value},
                                root, error);
    weft_status status = operand_of_name(builder, node, &v, error);
    return status != WEFT_OK ? status : tree_value(builder, t, &v, node->place, root, error);
}

static const weft_script_expression *expression_find(const graph_builder *builder, const char *name)
{
    for (int i = 0; i < builder->script->n_expressions; ++i)
        if (strcmp(builder->script->expressions[i].name, name) == 0)
            return &builder->script->expressions[i];
    return NULL;
}

/* The arguments of a formula: one a name, or a single tensor whose rows fill the names in order. */
static weft_status expression_arguments(graph_builder *builder, const name_scope *outer, const weft_node *node,
                                        const weft_script_expression *expression, value *arguments, int *n_bound,
                                        weft_error *error)
{
    weft_status status = WEFT_OK;
    for (int i = 0; i < node->n_children; ++i) {
        tree *t = weft_arena_alloc(builder->arena, 1, sizeof *t);
        int root = 0;
        if (t == NULL)
            return no_memory(error);
        t->index_set = UNIFORM;
        if (outer->expression == NULL && (node->children[i]->kind == NODE_NAME || node->children[i]->kind == NODE_SUBSCRIPT) &&
            strcmp(node->children[i]->kind == NODE_NAME ? node->children[i]->name : "", "pi") != 0) {
            TRY(value_make(builder, node->children[i], &arguments[i], error));
            continue;
        }
        TRY(tree_build(builder, outer, node->children[i], t, &root, error));
        arguments[i] = (value){.arithmetic = t};
    }
    *n_bound = node->n_children;
    const weft_shape *shape = &arguments[0].operand.shape;
    if (node->n_children == 1 && arguments[0].arithmetic == NULL && shape->rank > 0 && expression->n_arguments > 1) {
        const weft_operand whole = arguments[0].operand;
        *n_bound = whole.shape.sizes[0];
        if (*n_bound > expression->n_arguments)
            return weft_error_at(error, WEFT_ERROR_SHAPE, node->place, "%d rows for the %d arguments of '%s'",
                                 *n_bound, expression->n_arguments, expression->name);
        weft_shape row = {.rank = whole.shape.rank - 1};
        for (int i = 0; i < row.rank; ++i)
            row.sizes[i] = whole.shape.sizes[i + 1];
        for (int i = 0; i < *n_bound; ++i) {
            arguments[i] = (value){.operand = whole};
            arguments[i].operand.shape = row;
            arguments[i].operand.offset = whole.offset + i * weft_shape_count(&row);
        }
    }
    else if (node->n_children != expression->n_arguments) {
        weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' takes %d arguments, not %d", expression->name,
                      expression->n_arguments, node->n_children);
        status = WEFT_ERROR_TYPE;
    }
done:
    return status;
}

static weft_status tree_expression(graph_builder *builder, const name_scope *outer, const weft_node *node,
                                   const weft_script_expression *expression, tree *t, int *root, weft_error *error)
{
    weft_status status = WEFT_OK;
    const weft_graph *graph = builder->graph;
    size_t n = (size_t)(node->n_children > expression->n_arguments ? node->n_children : expression->n_arguments);
    value *arguments = weft_arena_alloc(builder->arena, n + 1, sizeof *arguments);
    int n_bound = 0;
    if (arguments == NULL)
        return no_memory(error);
    if (builder->depth > 32)
        return weft_error_at(error, WEFT_ERROR_TYPE, node->place, "expressions call each other too deeply");
    if (node->n_children == 0)
        return weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' needs arguments", expression->name);
    TRY(expression_arguments(builder, outer, node, expression, arguments, &n_bound, error));
    const name_scope inner = {.expression = expression, .arguments = arguments, .n_bound = n_bound};
    ++builder->depth;
    status = tree_build(builder, &inner, expression->body, t, root, error);
    --builder->depth;
    if (status != WEFT_OK)
        goto done;
    /* a formula that uses none of its arguments still has their shape */
    for (int i = 0; i < n_bound; ++i) {
        const value *v = &arguments[i];
        int set = v->arithmetic != NULL  ? v->arithmetic->index_set
                  : v->operand.map >= 0 ? graph->maps[v->operand.map].from
                                        : graph->data[v->operand.datum].index_set;
        TRY(tree_widen(builder, t, v->arithmetic != NULL ? &v->arithmetic->shape : &v->operand.shape, set,
                       node->place, error));
    }
done:
    return status;
}

static weft_status tree_call(graph_builder *builder, const name_scope *scope, const weft_node *node, tree *t, int *root,
                             weft_error *error)
{
    weft_status status = WEFT_OK;
    const intrinsic *known = intrinsic_find(node->name);
    int a = -1, b = -1;
    if (known != NULL && weft_library_find(builder->library, node->name) == NULL) {
        if (node->n_children != known->n_arguments || node->n_keys != 0)
            return weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' takes %d argument%s, not %d", node->name,
                                 known->n_arguments, known->n_arguments == 1 ? "" : "s", node->n_children);
        TRY(tree_build(builder, scope, node->children[0], t, &a, error));
        if (known->n_arguments == 2)
            TRY(tree_build(builder, scope, node->children[1], t, &b, error));
        TRY(tree_add(builder, t, (weft_arithmetic){.op = ARITHMETIC_INTRINSIC, .name = known->name, .a = a, .b = b},
                     root, error));
        goto done;
    }
    const weft_script_expression *expression = expression_find(builder, node->name);
    if (expression != NULL) {
        TRY(tree_expression(builder, scope, node, expression, t, root, error));
        goto done;
    }
    if (scope->expression != NULL)
        return unknown_function(builder, node, error);
    value v = {0};
    TRY(function_call(builder, node, &v, error));
    TRY(tree_value(builder, t, &v, node->place, root, error));
done:
    return status;
}

static weft_status tree_binary(graph_builder *builder, const name_scope *scope, const weft_node *node, tree *t, int *root,
                               weft_error *error)
{
    weft_status status = WEFT_OK;
    weft_arithmetic made = {.a = -1, .b = -1};
    switch (node->op) {
    case '+': made.op = ARITHMETIC_ADD; break;
    case '-': made.op = ARITHMETIC_SUBTRACT; break;
    case '*': made.op = ARITHMETIC_MULTIPLY; break;
    case '/': made.op = ARITHMETIC_DIVIDE; break;
    default: made.op = ARITHMETIC_POWER; break;
    }
    TRY(tree_build(builder, scope, node->children[0], t, &made.a, error));
    TRY(tree_build(builder, scope, node->children[1], t, &made.b, error));
    TRY(tree_add(builder, t, made, root, error));
done:
    return status;
}

static weft_status tree_build(graph_builder *builder, const name_scope *scope, const weft_node *node, tree *t, int *root,
                              weft_error *error)
{
    weft_status status = WEFT_OK;
    value v = {0};
    int a = -1;
    switch (node->kind) {
    case NODE_NUMBER:
        TRY(tree_add(builder, t, (weft_arithmetic){.op = ARITHMETIC_NUMBER, .number = node->number, .a = -1, .b = -1},
                     root, error));
        break;
    case NODE_NAME: TRY(tree_name(builder, scope, node, t, root, error)); break;
    case NODE_CALL: TRY(tree_call(builder, scope, node, t, root, error)); break;
    case NODE_NEGATE:
        TRY(tree_build(builder, scope, node->children[0], t, &a, error));
        TRY(tree_add(builder, t, (weft_arithmetic){.op = ARITHMETIC_NEGATE, .a = a, .b = -1}, root, error));
        break;
    case NODE_BINARY: TRY(tree_binary(builder, scope, node, t, root, error)); break;
    case NODE_SUBSCRIPT:
        TRY(value_subscript(builder, scope, node, &v, error));
        TRY(tree_value(builder, t, &v, node->place, root, error));
        break;
    }
done:
    return status;
}

/* ---- values ----------------------------------------------------------------------------------------------- */

static weft_status tree_make_call(graph_builder *builder, const tree *t, int index_set, weft_place place,
                                  weft_operand *out, weft_error *error)
{
    int n_operations = 0;
    for (int i = 0; i < t->n; ++i)
        n_operations += t->nodes[i].op != ARITHMETIC_NUMBER && t->nodes[i].op != ARITHMETIC_OPERAND;
    weft_call call = {.label = "arithmetic", .arithmetic = t->nodes, .n_arithmetic = t->n, .operands = t->operands,
                      .n_operands = t->n_operands, .index_set = t->index_set != UNIFORM ? t->index_set : index_set,
                      .flops = (double)n_operations * weft_shape_count(&t->shape), .place = place};
    return call_add(builder, &call, &t->shape, out, error);
}

weft_status value_materialise(graph_builder *builder, const value *v, int index_set, weft_place place,
                              weft_operand *out, weft_error *error)
{
    if (v->arithmetic == NULL) {
        *out = v->operand;
        return WEFT_OK;
    }
    if (v->arithmetic->index_set == UNIFORM && index_set == UNIFORM) {
        weft_error_at(error, WEFT_ERROR_UNSUPPORTED, place, "this value is uniform: there is nothing to map over");
        weft_error_hint(error, "a uniform value can be used together with a list over an index set");
        return WEFT_ERROR_UNSUPPORTED;
    }
    return tree_make_call(builder, v->arithmetic, index_set, place, out, error);
}

weft_status value_copy(graph_builder *builder, const value *v, weft_place place, weft_operand *out, weft_error *error)
{
    weft_status status = WEFT_OK;
    tree t = {.index_set = UNIFORM};
    int root = 0;
    TRY(value_materialise(builder, v, UNIFORM, place, out, error));
    const weft_datum *datum = &builder->graph->data[out->datum];
    if (out->map < 0 && datum->producer >= 0 && weft_shape_equal(&datum->shape, &out->shape))
        goto done;
    TRY(tree_operand(builder, &t, out, place, &root, error));
    TRY(tree_make_call(builder, &t, UNIFORM, place, out, error));
done:
    return status;
}

weft_status value_make(graph_builder *builder, const weft_node *node, value *out, weft_error *error)
{
    weft_status status = WEFT_OK;
    const name_scope script = {0};
    tree *t = NULL;
    int root = 0;
    const bool is_constant = node->kind == NODE_NAME && binding_find(builder, node->name) == NULL;
    if (node->kind == NODE_NAME && !is_constant)
        return operand_of_name(builder, node, out, error);
    if (node->kind == NODE_SUBSCRIPT)
        return value_subscript(builder, &script, node, out, error);
    if (node->kind == NODE_CALL && weft_library_find(builder->library, node->name) != NULL)
        return function_call(builder, node, out, error);
    t = weft_arena_alloc(builder->arena, 1, sizeof *t);
    if (t == NULL)
        return no_memory(error);
    t->index_set = UNIFORM;
    TRY(tree_build(builder, &script, node, t, &root, error));
    *out = (value){.arithmetic = t};
    if (t->index_set != UNIFORM) {
        TRY(tree_make_call(builder, t, UNIFORM, node->place, &out->operand, error));
        out->arithmetic = NULL;
    }
done:
    return status;
}
