/* Converts a script to a graph: declarations become index sets, connectivities and inputs,
 * statements become calls, values and accumulations. Equal calls are merged when they are added. */
#include "fusion/graph/graph.h"
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/graph/private.h"

#include <stdlib.h>
#include <string.h>

const char *weft_index_set_name(const weft_graph *graph, int index_set) {
    return index_set >= 0 ? graph->index_sets[index_set].name : "uniform";
}

int weft_value_storage(const weft_graph *graph, int value) {
    return graph->values[value].storage >= 0 ? graph->values[value].storage : value;
}

int weft_operand_index_set(const weft_graph *graph, const weft_operand *operand) {
    return operand->connectivity >= 0 ? graph->connectivities[operand->connectivity].from
                                      : graph->values[operand->value].index_set;
}

weft_shape weft_operand_whole(const weft_graph *graph, const weft_operand *operand) {
    const weft_shape *shape = &graph->values[operand->value].shape;
    if (operand->connectivity < 0)
        return *shape;
    weft_shape whole = {.rank = shape->rank + 1,
                        .sizes = {graph->connectivities[operand->connectivity].width}};
    for (int i = 0; i < shape->rank; ++i)
        whole.sizes[i + 1] = shape->sizes[i];
    return whole;
}

weft_status weft_value_add(weft_graph_builder *builder, const weft_value *value, int *id,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_graph *graph = builder->graph;
    if (weft_shape_count(&value->shape) > WEFT_ELEMENTS_MAX)
        TRY(weft_error_at(error, WEFT_ERROR_SHAPE, value->place,
                          "an element of %d components is more than %d",
                          weft_shape_count(&value->shape), WEFT_ELEMENTS_MAX));
    const weft_location not_read = {0};
    *id = graph->n_values;
    TRY(WEFT_APPEND(builder->arena, graph->values, graph->n_values, *value, error));
    TRY(WEFT_APPEND(builder->arena, builder->first_read, builder->n_first_read, not_read, error));
    graph->values[*id].id = *id;
done:
    return status;
}

weft_status weft_binding_add(weft_graph_builder *builder, const char *name,
                             const weft_lazy_value *v, weft_location place, weft_error *error) {
    const binding made = {.name = name, .lazy = *v, .place = place};
    return WEFT_APPEND(builder->arena, builder->names, builder->n_names, made, error);
}

static bool arithmetic_equal(const weft_call *a, const weft_call *b) {
    if (a->n_arithmetic != b->n_arithmetic)
        return false;
    for (int i = 0; i < a->n_arithmetic; ++i)
        if (!weft_arithmetic_equal(&a->arithmetic[i], &b->arithmetic[i]))
            return false;
    return true;
}

static bool specialisation_equal(const weft_specialisation *a, const weft_specialisation *b) {
    if (a->function != b->function || a->n_names != b->n_names)
        return false;
    for (int i = 0; i < a->n_names; ++i)
        if (strcmp(a->names[i], b->names[i]) != 0 || a->values[i] != b->values[i])
            return false;
    return true;
}

static bool operand_equal(const weft_operand *a, const weft_operand *b) {
    return a->value == b->value && a->connectivity == b->connectivity &&
           (a->offset == b->offset || weft_fault("parts_merged")) &&
           weft_shape_equal(&a->shape, &b->shape);
}

static bool call_equal(const weft_graph *graph, const weft_call *a, const weft_call *b,
                       const weft_shape *shape) {
    if (!a->specialisation != !b->specialisation || a->n_operands != b->n_operands ||
        a->index_set != b->index_set || !weft_shape_equal(&graph->values[a->result].shape, shape))
        return false;
    for (int i = 0; i < a->n_operands; ++i)
        if (!operand_equal(&a->operands[i], &b->operands[i]))
            return false;
    return a->specialisation ? specialisation_equal(a->specialisation, b->specialisation)
                             : arithmetic_equal(a, b);
}

static int result_index_set(const weft_graph *graph, const weft_call *call) {
    if (!call->reduction)
        return call->index_set;
    switch (call->reduction->over) {
    case REDUCE_FIRST:
        return graph->index_sets[call->index_set].second;
    case REDUCE_SECOND:
        return graph->index_sets[call->index_set].first;
    default:
        return UNIFORM;
    }
}

/* A map over a symmetric list has a symmetric result: no operand has a value for each row or column. The
 * entries of a triangle are not combined in the order of a list. */
static weft_status check_triangle(const weft_graph *graph, const weft_call *call,
                                  weft_error *error) {
    if (call->pairs.triangle != TRIANGLE_NONE && call->combine)
        return weft_error_at(error, WEFT_ERROR_UNSUPPORTED, call->place,
                             "'%s' has an operator of its own, but reductions over %s combine with "
                             "+, *, min or max",
                             call->label, weft_index_set_name(graph, call->index_set));
    for (int i = 0; i < call->n_operands && call->pairs.symmetric && !call->reduction; ++i) {
        const int set = graph->values[call->operands[i].value].index_set;
        if (!weft_index_set_is_factor(graph, set, call->index_set))
            continue;
        weft_error_at(error, WEFT_ERROR_TYPE, call->place,
                      "'%s' is over %s, so that this list over %s would not be symmetric",
                      graph->values[call->operands[i].value].name, weft_index_set_name(graph, set),
                      weft_index_set_name(graph, call->index_set));
        weft_error_hint(error, "declare the matrix as 'triangular', or with all its entries");
        return WEFT_ERROR_TYPE;
    }
    return WEFT_OK;
}

weft_status weft_call_add(weft_graph_builder *builder, weft_call *call, const weft_shape *shape,
                          weft_operand *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_graph *graph = builder->graph;
    int id = -1;
    if (call->index_set >= 0)
        call->pairs = graph->index_sets[call->index_set].pairs;
    if (call->pairs.symmetric && call->reduction)
        call->flops *= 2; /* an entry is combined twice */
    TRY(check_triangle(graph, call, error));
    for (int i = 0; i < graph->n_calls && id < 0 && !builder->keep_apart; ++i)
        if (call_equal(graph, &graph->calls[i], call, shape) &&
            graph->values[graph->calls[i].result].storage < 0)
            id = graph->calls[i].result;
    if (id < 0) {
        if (graph->n_calls == WEFT_CALLS_MAX)
            TRY(weft_error_at(error, WEFT_ERROR_UNSUPPORTED, call->place,
                              "more than %d calls in one script, which functions, arithmetic "
                              "and numbers as arguments are",
                              WEFT_CALLS_MAX));
        weft_value value = {.kind = VALUE_RESULT,
                            .shape = *shape,
                            .index_set = result_index_set(graph, call),
                            .storage = -1,
                            .producer = graph->n_calls,
                            .connectivity = -1,
                            .place = call->place};
        value.name = weft_arena_print(builder->arena, "%s_%d", call->label, graph->n_calls);
        if (!value.name)
            TRY(weft_no_memory(error));
        TRY(weft_value_add(builder, &value, &id, error));
        call->id = graph->n_calls;
        call->part = builder->statement ? builder->statement->part : -1;
        call->fuse = builder->statement ? builder->statement->fuse : 0;
        call->together = builder->statement ? builder->statement->together : 0;
        call->variant = -1;
        call->result = id;
        TRY(WEFT_APPEND(builder->arena, graph->calls, graph->n_calls, *call, error));
    }
    *out = (weft_operand){.value = id, .connectivity = -1, .shape = *shape};
done:
    return status;
}

/* ---- index sets ---- */

bool weft_index_set_is_product(const weft_graph *graph, int index_set) {
    return index_set >= 0 && graph->index_sets[index_set].first >= 0;
}

bool weft_index_set_is_factor(const weft_graph *graph, int index_set, int product) {
    return index_set >= 0 && weft_index_set_is_product(graph, product) &&
           (graph->index_sets[product].first == index_set ||
            graph->index_sets[product].second == index_set);
}

bool weft_index_set_has_few_rows(const weft_graph *graph, int index_set) {
    return weft_index_set_is_product(graph, index_set) &&
           graph->index_sets[index_set].pairs.triangle == TRIANGLE_NONE &&
           graph->index_sets[graph->index_sets[index_set].first].few;
}

int weft_index_set_join(const weft_graph *graph, int a, int b) {
    if (a == b || b == UNIFORM || weft_index_set_is_factor(graph, b, a))
        return a;
    if (a == UNIFORM || weft_index_set_is_factor(graph, a, b))
        return b;
    for (int i = 0; i < graph->n_index_sets; ++i)
        if (graph->index_sets[i].pairs.triangle == TRIANGLE_NONE &&
            weft_index_set_is_factor(graph, a, i) && weft_index_set_is_factor(graph, b, i))
            return i;
    return WEFT_INDEX_SETS_DIFFER;
}

/* ---- declarations ----------------------------------------------------------------------- */

static weft_status size_of(const weft_graph_builder *builder, const weft_node *node, int *out,
                           weft_error *error) {
    weft_status status = weft_script_integer(builder->script, node, out, error);
    if (status == WEFT_OK && (*out < 1 || *out > WEFT_ELEMENTS_MAX))
        status = weft_error_at(error, WEFT_ERROR_SHAPE, node->place,
                               "a size of %d: sizes go from 1 to %d", *out, WEFT_ELEMENTS_MAX);
    return status;
}

static weft_status declare_maps(weft_graph_builder *builder, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script *script = builder->script;
    weft_graph *graph = builder->graph;
    TRY(WEFT_ALLOC(builder->arena, graph->index_sets, (size_t)script->n_indices + 1, error));
    TRY(WEFT_ALLOC(builder->arena, graph->connectivities, (size_t)script->n_connectivities + 1,
                   error));
    for (int i = 0; i < script->n_indices; ++i)
        graph->index_sets[i] = (weft_index_set){.name = script->indices[i].name,
                                                .plain = script->indices[i].plain,
                                                .few = script->indices[i].up_to != NULL,
                                                .up_to = -1,
                                                .first = -1,
                                                .second = -1};
    graph->n_index_sets = script->n_indices;
    for (int i = 0; i < script->n_indices; ++i) {
        if (!script->indices[i].first)
            continue;
        weft_index_set *product = &graph->index_sets[i];
        product->first =
            WEFT_FIND_NAME(graph->index_sets, graph->n_index_sets, script->indices[i].first);
        product->second =
            WEFT_FIND_NAME(graph->index_sets, graph->n_index_sets, script->indices[i].second);
        product->pairs = script->indices[i].pairs;
    }
    for (int i = 0; i < script->n_connectivities; ++i) {
        const weft_script_connectivity *c = &script->connectivities[i];
        weft_graph_connectivity connectivity = {
            .name = c->name,
            .from = WEFT_FIND_NAME(graph->index_sets, graph->n_index_sets, c->from),
            .to = WEFT_FIND_NAME(graph->index_sets, graph->n_index_sets, c->to),
            .is_ordered = c->is_ordered};
        TRY(size_of(builder, c->width, &connectivity.width, error));
        graph->index_sets[connectivity.to].plain = true;
        graph->connectivities[i] = connectivity;
    }
    graph->n_connectivities = script->n_connectivities;
done:
    return status;
}

/* Segments have the inputs that they read: without this one they take all elements. */
static void find_limits(weft_graph_builder *builder) {
    for (int i = 0; i < builder->script->n_indices; ++i)
        for (int k = 0; k < builder->graph->n_values && builder->script->indices[i].up_to; ++k)
            if (strcmp(builder->graph->values[k].name, builder->script->indices[i].up_to) == 0)
                builder->graph->index_sets[i].up_to = k;
}

static weft_status declare_inputs(weft_graph_builder *builder, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < builder->script->n_inputs; ++i) {
        const weft_script_input *input = &builder->script->inputs[i];
        weft_value value = {.name = input->name,
                            .named = true,
                            .kind = VALUE_INPUT,
                            .producer = -1,
                            .is_input = true,
                            .storage = -1,
                            .connectivity = -1,
                            .index_set = UNIFORM,
                            .place = input->place};
        weft_lazy_value v = {0};
        value.shape.rank = input->rank;
        long count = 1;
        for (int k = 0; k < input->rank; ++k) {
            TRY(size_of(builder, input->sizes[k], &value.shape.sizes[k], error));
            count *= value.shape.sizes[k];
            if (count > WEFT_ELEMENTS_MAX)
                TRY(weft_error_at(error, WEFT_ERROR_SHAPE, input->place,
                                  "'%s' has more than %d components", input->name,
                                  WEFT_ELEMENTS_MAX));
        }
        if (input->over)
            value.index_set = WEFT_FIND_NAME(builder->graph->index_sets,
                                             builder->graph->n_index_sets, input->over);
        v.operand = (weft_operand){.connectivity = -1, .shape = value.shape};
        TRY(weft_value_add(builder, &value, &v.operand.value, error));
        TRY(weft_binding_add(builder, input->name, &v, input->place, error));
    }
    find_limits(builder);
done:
    return status;
}

/* ---- statements ------------------------------------------------------------------------- */

static weft_status assign(weft_graph_builder *builder, const weft_script_statement *statement,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_lazy_value v = {0};
    TRY(weft_value_make(builder, statement->value, &v, error));
    if (!v.arithmetic) {
        /* the first name that is assigned becomes the name of the value */
        weft_value *value = &builder->graph->values[v.operand.value];
        if (value->producer >= 0 && !value->named && v.operand.connectivity < 0 &&
            weft_shape_equal(&value->shape, &v.operand.shape)) {
            value->name = statement->name;
            value->named = true;
            value->place = statement->place;
            builder->graph->calls[value->producer].place = statement->place;
        }
    }
    TRY(weft_binding_add(builder, statement->name, &v, statement->place, error));
done:
    return status;
}

/* Is a list known to the caller already by another name? */
static bool is_named_otherwise(const weft_graph *graph, const weft_value *value, const char *name) {
    const char *own = value->storage >= 0 ? graph->values[value->storage].name : value->name;
    return (value->returned || value->storage >= 0) && strcmp(own, name) != 0;
}

static weft_status mark_return(weft_graph_builder *builder, const weft_script_return *ret,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_graph *graph = builder->graph;
    const binding *b = weft_binding_find(builder, ret->name);
    weft_operand operand = {0};
    if (!b) {
        const char *near = NULL;
        TRY(weft_nearest_binding(builder, ret->name, &near, error));
        weft_error_at(error, WEFT_ERROR_TYPE, ret->place, "'%s' is returned but has no value",
                      ret->name);
        if (near)
            weft_error_hint(error, "did you mean '%s'?", near);
        TRY(WEFT_ERROR_TYPE);
    }
    const weft_value *value = !b->lazy.arithmetic ? &graph->values[b->lazy.operand.value] : NULL;
    if (value && (value->kind == VALUE_ACCUMULATED || value->kind == VALUE_MATRIX) &&
        strcmp(value->name, ret->name) == 0) {
        graph->values[value->id].returned = true;
        goto done;
    }
    if (value && value->is_input && strcmp(value->name, ret->name) == 0)
        TRY(weft_error_at(error, WEFT_ERROR_TYPE, ret->place,
                          "'%s' is an input: return a value that is computed from it", ret->name));
    TRY(weft_value_copy(builder, &b->lazy, ret->place, &operand, error));
    /* a value that is returned under two names needs two lists */
    while (is_named_otherwise(graph, &graph->values[operand.value], ret->name))
        TRY(weft_operand_copy(builder, &operand, ret->place, &operand, error));
    weft_value *result = &graph->values[operand.value];
    result->returned = result->named = true;
    result->name = ret->name;
done:
    return status;
}

static bool is_uniform(const weft_graph_builder *builder, const char *name) {
    const binding *b = weft_binding_find(builder, name);
    return b && !b->lazy.arithmetic &&
           weft_operand_index_set(builder->graph, &b->lazy.operand) == UNIFORM;
}

weft_status weft_graph_statements(weft_graph_builder *builder, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script *script = builder->script;
    TRY(WEFT_ALLOC(builder->arena, builder->graph, 1, error));
    builder->graph->is_loop_body = script->is_loop_body;
    TRY(declare_maps(builder, error));
    TRY(declare_inputs(builder, error));
    TRY(weft_graph_fuses(builder, error));
    for (int i = 0; i < script->n_statements; ++i) {
        builder->statement = &script->statements[i];
        if (script->statements[i].update)
            TRY(weft_graph_update(builder, &script->statements[i], error));
        else if (script->statements[i].accumulate)
            TRY(weft_graph_accumulate(builder, &script->statements[i], error));
        else
            TRY(assign(builder, &script->statements[i], error));
        if (script->statements[i].variant)
            TRY(weft_graph_variant(builder, &script->statements[i], error));
    }
done:
    builder->statement = NULL;
    return status;
}

weft_status weft_graph_make(weft_arena *arena, const weft_library *library,
                            const weft_script *script, weft_graph **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_graph_builder builder = {.arena = arena, .library = library, .script = script};
    TRY(weft_graph_statements(&builder, error));
    /* copies of uniform values last: only `return` makes them, whereas those of lists are printed
     * as statements, which are read back before it */
    for (int uniform = 0; uniform < 2; ++uniform)
        for (int i = 0; i < script->n_returns; ++i)
            if (is_uniform(&builder, script->returns[i].name) == uniform)
                TRY(mark_return(&builder, &script->returns[i], error));
    TRY(weft_graph_eliminate_dead(arena, builder.graph, error));
    *out = builder.graph;
done:
    return status;
}
