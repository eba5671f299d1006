/* Converts expressions to calls: name resolution, indirect loads, shapes, function calls. */
#include "fusion/base/array.h"
#include "fusion/base/intrinsics.h"
#include "fusion/graph/private.h"

#include <string.h>

const binding *weft_binding_find(const weft_graph_builder *builder, const char *name) {
    const int i = WEFT_FIND_NAME(builder->names, builder->n_names, name);
    return i >= 0 ? &builder->names[i] : NULL;
}

weft_status weft_nearest_binding(const weft_graph_builder *builder, const char *name,
                                 const char **near, weft_error *error) {
    const char **names =
        weft_arena_alloc(builder->arena, (size_t)builder->n_names + 1, sizeof *names);
    if (!names)
        return weft_no_memory(error);
    for (int i = 0; i < builder->n_names; ++i)
        names[i] = builder->names[i].name;
    *near = weft_nearest_name(name, names, (size_t)builder->n_names);
    return WEFT_OK;
}

static weft_status unknown_name(weft_graph_builder *builder, const weft_node *node,
                                weft_error *error) {
    const char *near = NULL;
    weft_status status = weft_nearest_binding(builder, node->name, &near, error);
    if (status != WEFT_OK)
        return status;
    weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' has no value here", node->name);
    if (near)
        weft_error_hint(error, "did you mean '%s'?", near);
    else
        weft_error_hint(error, "assign it first, or declare it: input %s : real over ...;",
                        node->name);
    return WEFT_ERROR_TYPE;
}

weft_status weft_operand_of_name(weft_graph_builder *builder, const weft_node *node,
                                 weft_lazy_value *out, weft_error *error) {
    const binding *b = weft_binding_find(builder, node->name);
    if (!b)
        return unknown_name(builder, node, error);
    *out = b->lazy;
    if (!b->lazy.arithmetic) {
        int id = b->lazy.operand.value;
        const weft_value *value = &builder->graph->values[id];
        if (value->kind == VALUE_MATRIX)
            return weft_error_at(
                error, WEFT_ERROR_TYPE, node->place,
                "'%s' is a sparse matrix: it can be accumulated into and returned, not read",
                node->name);
        if (builder->first_read[id].line == 0)
            builder->first_read[id] = node->place;
    }
    return WEFT_OK;
}

/* ---- calls of elementary functions ------------------------------------------------------ */

weft_status weft_unknown_function(weft_graph_builder *builder, const weft_node *node,
                                  weft_error *error) {
    size_t n = 0;
    const char *const *names = weft_library_names(builder->library, &n);
    const char *intrinsics[WEFT_INTRINSICS_MAX];
    const size_t n_intrinsics = weft_formula_names(intrinsics);
    const int n_expressions = builder->script->n_expressions;
    const char **all =
        weft_arena_alloc(builder->arena, n + n_intrinsics + (size_t)n_expressions, sizeof *all);
    if (!all)
        return weft_no_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < n; ++i)
        all[count++] = names[i];
    for (size_t i = 0; i < n_intrinsics; ++i)
        all[count++] = intrinsics[i];
    for (int i = 0; i < n_expressions; ++i)
        all[count++] = builder->script->expressions[i].name;
    const char *instead = weft_formula_instead(node->name);
    const char *near = !instead ? weft_nearest_name(node->name, all, count) : NULL;
    weft_error_at(error, WEFT_ERROR_TYPE, node->place, "there is no function '%s'", node->name);
    if (near)
        weft_error_hint(error, "did you mean '%s'? 'weft library' lists them all", near);
    else if (instead && *instead)
        weft_error_hint(error, "write %s instead", instead);
    else
        weft_error_hint(error, "'weft library' lists the functions; --kernels DIR adds your own");
    return WEFT_ERROR_TYPE;
}

/* The common index set of a call's operands; uniform if all operands are. */
static weft_status common_index_set(const weft_graph_builder *builder, const weft_operand *operands,
                                    int n, weft_location place, int *out, weft_error *error) {
    const weft_graph *graph = builder->graph;
    int common = UNIFORM, from = 0;
    for (int i = 0; i < n; ++i) {
        const weft_value *value = &graph->values[operands[i].value];
        const int set = weft_operand_index_set(graph, &operands[i]);
        const int joined = weft_index_set_join(graph, common, set);
        if (joined != WEFT_INDEX_SETS_DIFFER) {
            from = common == UNIFORM ? i : from;
            common = joined;
            continue;
        }
        weft_error_at(error, WEFT_ERROR_TYPE, place, "'%s' ranges over %s but '%s' over %s",
                      graph->values[operands[from].value].name, weft_index_set_name(graph, common),
                      value->name, weft_index_set_name(graph, set));
        weft_error_hint(error, "load one of them through a connectivity, as in x[dofs]");
        return WEFT_ERROR_TYPE;
    }
    *out = common;
    return WEFT_OK;
}

/* The index set that the signature of a nested function gives an argument of a call over a product;
 * `over` as in weft_function_over. */
static int index_set_over(const weft_graph *graph, int product, int over) {
    return over == 1   ? graph->index_sets[product].first
           : over == 2 ? graph->index_sets[product].second
                       : product;
}

/* Check the index sets of a call of a nested function: which argument is over rows, over columns
 * and over both. Uniform arithmetic is uniform, although it is computed for each element. */
static weft_status check_nested(weft_graph_builder *builder, const weft_node *node,
                                const weft_function *function, const weft_lazy_value *values,
                                const weft_operand *operands, int index_set, weft_error *error) {
    const weft_graph *graph = builder->graph;
    bool is_nested = false;
    for (int i = 0; i < node->n_children; ++i)
        is_nested |= weft_function_over(function, i) > 0;
    if (!is_nested)
        return WEFT_OK;
    if (!weft_index_set_is_product(graph, index_set))
        return weft_error_at(
            error, WEFT_ERROR_TYPE, node->place,
            "'%s' needs a list over two index sets, as in: input A : real over rows, cols;",
            node->name);
    for (int i = 0; i < node->n_children; ++i) {
        const int over = weft_function_over(function, i);
        const bool is_uniform = values[i].arithmetic && values[i].arithmetic->index_set == UNIFORM;
        const int found = is_uniform ? UNIFORM : graph->values[operands[i].value].index_set;
        const int expected = over == 0 ? UNIFORM : index_set_over(graph, index_set, over);
        if (found != expected)
            return weft_error_at(error, WEFT_ERROR_TYPE, node->children[i]->place,
                                 "argument %d of '%s' is %s%s, expected %s%s", i + 1, node->name,
                                 found == UNIFORM ? "" : "over ", weft_index_set_name(graph, found),
                                 expected == UNIFORM ? "" : "over ",
                                 weft_index_set_name(graph, expected));
    }
    return WEFT_OK;
}

/* Kernels over pairs combine them in the order in which their parts, rows and vectors come. */
static weft_status check_order(const weft_graph *graph, const weft_node *node,
                               const weft_specialisation *combine, int index_set,
                               weft_error *error) {
    if (!combine || !weft_index_set_is_product(graph, index_set) ||
        weft_function_is_commutative(combine->function))
        return WEFT_OK;
    weft_error_at(error, WEFT_ERROR_UNSUPPORTED, node->place,
                  "'%s' combines pairs of %s by an operator that is not commutative", node->name,
                  weft_index_set_name(graph, index_set));
    weft_error_hint(error,
                    "combine a list over one index set, whose order is kept; or, if the order "
                    "does not matter, say so by '//@ commutative'");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status weft_function_call(weft_graph_builder *builder, const weft_node *node,
                               weft_lazy_value *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_function *function = weft_library_find(builder->library, node->name);
    const weft_function *reduction = weft_library_find_reduction(builder->library, node->name);
    if (!function && !reduction)
        TRY(weft_unknown_function(builder, node, error));
    if (node->n_children > WEFT_ARGUMENTS_MAX)
        TRY(weft_error_at(error, WEFT_ERROR_TYPE, node->place, "more than %d arguments",
                          WEFT_ARGUMENTS_MAX));
    const size_t n = (size_t)node->n_children;
    weft_lazy_value *values = weft_arena_alloc(builder->arena, n + 1, sizeof *values);
    weft_operand *operands = weft_arena_alloc(builder->arena, n + 1, sizeof *operands);
    int *keys = weft_arena_alloc(builder->arena, (size_t)node->n_keys + 1, sizeof *keys);
    weft_shape shapes[WEFT_ARGUMENTS_MAX];
    weft_specialisation *specialisation = NULL;
    const weft_specialisation *combine = NULL;
    int index_set = UNIFORM, n_values = 0;
    bool scalars = true;
    if (!values || !operands || !keys)
        TRY(weft_no_memory(error));
    for (size_t i = 0; i < n; ++i) {
        TRY(weft_value_make(builder, node->children[i], &values[i], error));
        if (!values[i].arithmetic)
            operands[n_values++] = values[i].operand;
    }
    TRY(common_index_set(builder, operands, n_values, node->place, &index_set, error));
    for (size_t i = 0; i < n; ++i) {
        TRY(weft_value_materialise(builder, &values[i], index_set, node->place, &operands[i],
                                   error));
        shapes[i] = operands[i].shape;
        scalars = scalars && shapes[i].rank == 0;
    }
    if (reduction && (!function || scalars))
        function = reduction;
    for (int i = 0; i < node->n_keys; ++i)
        TRY(weft_script_integer(builder->script, node->key_values[i], &keys[i], error));
    weft_element_request request = {
        function, shapes,       node->n_children, node->keys,
        keys,     node->n_keys, node->place,      builder->script->is_proved};
    const weft_call_setting_of *setting = NULL;
    TRY(weft_call_setting(builder, &request, &setting, error));
    TRY(weft_specialisation_make(builder->arena, builder->library, &request, &specialisation,
                                 error));
    TRY(weft_combine_make(builder->arena, builder->library, weft_function_reduction(function),
                          &specialisation->result, &combine, error));
    TRY(common_index_set(builder, operands, (int)n, node->place, &index_set, error));
    TRY(check_nested(builder, node, function, values, operands, index_set, error));
    TRY(check_order(builder->graph, node, combine, index_set, error));
    if (index_set == UNIFORM) {
        weft_error_at(error, WEFT_ERROR_UNSUPPORTED, node->place,
                      "every argument of '%s' is uniform: there is nothing to map over",
                      node->name);
        weft_error_hint(
            error, "use arithmetic for uniform scalars, or give one argument 'over' an index set");
        TRY(WEFT_ERROR_UNSUPPORTED);
    }
    weft_call call = {.label = node->name,
                      .specialisation = specialisation,
                      .setting = setting,
                      .operands = operands,
                      .n_operands = (int)n,
                      .index_set = index_set,
                      .flops = specialisation->flops + (combine ? combine->flops : 0),
                      .place = node->place,
                      .reduction = weft_function_reduction(function),
                      .combine = combine};
    *out = (weft_lazy_value){0};
    TRY(weft_call_add(builder, &call, &specialisation->result, &out->operand, error));
done:
    return status;
}

/* ---- values ----------------------------------------------------------------------------- */

static weft_status nothing_to_map_over(weft_location place, weft_error *error) {
    weft_error_at(error, WEFT_ERROR_UNSUPPORTED, place,
                  "this value is uniform: there is nothing to map over");
    weft_error_hint(error, "a uniform value can be used together with a list over an index set");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status weft_value_materialise(weft_graph_builder *builder, const weft_lazy_value *v,
                                   int index_set, weft_location place, weft_operand *out,
                                   weft_error *error) {
    if (!v->arithmetic) {
        *out = v->operand;
        return WEFT_OK;
    }
    if (v->arithmetic->index_set == UNIFORM && index_set == UNIFORM) {
        return nothing_to_map_over(place, error);
    }
    return weft_tree_make_call(builder, v->arithmetic, index_set, place, out, error);
}

weft_status weft_operand_copy(weft_graph_builder *builder, const weft_operand *operand,
                              weft_location place, weft_operand *out, weft_error *error) {
    weft_status status = WEFT_OK;
    tree t = {.index_set = UNIFORM};
    int root = 0;
    TRY(weft_tree_operand(builder, &t, operand, place, &root, error));
    TRY(weft_tree_make_call(builder, &t, UNIFORM, place, out, error));
done:
    return status;
}

weft_status weft_value_copy(weft_graph_builder *builder, const weft_lazy_value *v,
                            weft_location place, weft_operand *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_value_materialise(builder, v, UNIFORM, place, out, error));
    const weft_value *value = &builder->graph->values[out->value];
    if (value->index_set == UNIFORM && value->producer < 0)
        TRY(nothing_to_map_over(place, error));
    if (out->connectivity < 0 && value->producer >= 0 &&
        weft_shape_equal(&value->shape, &out->shape))
        goto done;
    TRY(weft_operand_copy(builder, out, place, out, error));
done:
    return status;
}

bool weft_is_function(const weft_graph_builder *builder, const char *name) {
    return weft_library_find(builder->library, name) ||
           weft_library_find_reduction(builder->library, name);
}

weft_status weft_value_make(weft_graph_builder *builder, const weft_node *node,
                            weft_lazy_value *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const name_scope script = {0};
    tree *t = NULL;
    int root = 0;
    const bool is_constant = node->kind == NODE_NAME && !weft_binding_find(builder, node->name);
    if (node->kind == NODE_NAME && !is_constant) {
        TRY(weft_operand_of_name(builder, node, out, error));
    } else if (node->kind == NODE_SUBSCRIPT) {
        TRY(weft_value_subscript(builder, &script, node, out, error));
    } else if (weft_is_apply(builder, node)) {
        TRY(weft_graph_apply(builder, node, out, error));
    } else if (node->kind == NODE_CALL && weft_is_function(builder, node->name)) {
        TRY(weft_function_call(builder, node, out, error));
    } else {
        TRY(WEFT_ALLOC(builder->arena, t, 1, error));
        t->index_set = UNIFORM;
        TRY(weft_tree_build(builder, &script, node, t, &root, error));
        *out = (weft_lazy_value){.arithmetic = t};
        if (t->index_set != UNIFORM) {
            TRY(weft_tree_make_call(builder, t, UNIFORM, node->place, &out->operand, error));
            out->arithmetic = NULL;
        }
    }
done:
    return status;
}

bool weft_name_is_narrow(const weft_compile_options *options, const char *name) {
    return options->narrow && !options->single && strcmp(options->narrow, name) == 0;
}

bool weft_value_is_narrow(const weft_compile_options *options, const weft_value *value) {
    return value->is_input && weft_name_is_narrow(options, value->name);
}
