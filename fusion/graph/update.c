/* Adds `update name = value` to the graph, which overwrites a list with its next value. The value
 * is a call of its own and the last one so far, so that every reader of the old value precedes it
 * (fusion/plan/candidates.c keeps that order). */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/graph/private.h"

static weft_status check_target(const weft_graph *graph, const binding *known,
                                const weft_script_statement *statement, weft_error *error) {
    if (!known)
        return weft_error_at(error, WEFT_ERROR_TYPE, statement->place,
                             "'%s' has no value that could be updated", statement->name);
    const weft_value *value =
        !known->lazy.arithmetic ? &graph->values[known->lazy.operand.value] : NULL;
    if (value && value->storage >= 0)
        return weft_error_at(error, WEFT_ERROR_TYPE, statement->place,
                             "'%s' is updated twice: join the two into one", statement->name);
    if (!value || value->kind != VALUE_INPUT || known->lazy.operand.connectivity >= 0 ||
        value->index_set == UNIFORM) {
        weft_error_at(error, WEFT_ERROR_TYPE, statement->place,
                      "'%s' cannot be updated: only input lists over an index set can",
                      statement->name);
        return WEFT_ERROR_TYPE;
    }
    return WEFT_OK;
}

static weft_status check_value(const weft_graph *graph, const weft_value *target,
                               const weft_operand *v, const weft_script_statement *statement,
                               weft_error *error) {
    const weft_value *value = &graph->values[v->value];
    weft_text text = {0};
    if (value->index_set == target->index_set && weft_shape_equal(&v->shape, &target->shape))
        return WEFT_OK;
    weft_shape_print(&target->shape, &text);
    weft_text_add(&text, " over %s, its next value is ",
                  weft_index_set_name(graph, target->index_set));
    weft_shape_print(&v->shape, &text);
    weft_text_add(&text, " over %s", weft_index_set_name(graph, value->index_set));
    weft_error_at(error, WEFT_ERROR_SHAPE, statement->place, "'%s' is %s", statement->name,
                  text.data ? text.data : "of another shape");
    weft_text_free(&text);
    return WEFT_ERROR_SHAPE;
}

/* Other names of the old value, or of parts and loads of it, keep the old value: each gets a copy
 * before the update (dead-code elimination removes copies that are not read). */
static weft_status keep_old_values(weft_graph_builder *builder, const binding *updated,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const int storage = updated->lazy.operand.value;
    for (int i = 0; i < builder->n_names && !weft_fault("old_name_updated"); ++i) {
        binding *b = &builder->names[i];
        if (b == updated || b->lazy.arithmetic || b->lazy.operand.value != storage)
            continue;
        weft_operand copy = {0};
        TRY(weft_operand_copy(builder, &b->lazy.operand, b->place, &copy, error));
        b->lazy.operand = copy;
    }
done:
    return status;
}

/* Does a call read a list at other elements than its own? Then it cannot overwrite the list,
 * because other elements still read it. */
static bool reads_around(const weft_graph *graph, int call, int list) {
    const weft_call *reader = &graph->calls[call];
    for (int i = 0; i < reader->n_operands; ++i)
        if (reader->operands[i].value == list &&
            (reader->operands[i].connectivity >= 0 || reader->product_kernel))
            return true;
    return false;
}

/* May the value be computed into the memory of the list? It may if it is the whole result of the last call, made
 * for this update, and that call reads no other elements of the list. A value that is only loaded from
 * the list through a connectivity takes two copies: one that loads it, and one that stores it. */
static bool can_be_stored(const weft_graph *graph, const weft_operand *next, int n_before,
                          int list) {
    const weft_value *value = &graph->values[next->value];
    return value->producer >= n_before && value->producer == graph->n_calls - 1 &&
           next->connectivity < 0 && weft_shape_equal(&value->shape, &next->shape) &&
           (!reads_around(graph, value->producer, list) || weft_fault("update_reads_around"));
}

weft_status weft_graph_update(weft_graph_builder *builder, const weft_script_statement *statement,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_graph *graph = builder->graph;
    binding *known = (binding *)weft_binding_find(builder, statement->name);
    weft_lazy_value v = {0};
    weft_operand next = {0};
    TRY(check_target(graph, known, statement, error));
    const int storage = known->lazy.operand.value;
    TRY(keep_old_values(builder, known, error));
    const int n_before = graph->n_calls;
    TRY(weft_value_make(builder, statement->value, &v, error));
    TRY(weft_value_materialise(builder, &v, graph->values[storage].index_set, statement->place,
                               &next, error));
    while (!can_be_stored(graph, &next, n_before, storage)) {
        builder->keep_apart = true;
        status = weft_operand_copy(builder, &next, statement->place, &next, error);
        builder->keep_apart = false;
        if (status != WEFT_OK)
            goto done;
    }
    TRY(check_value(graph, &graph->values[storage], &next, statement, error));
    weft_value *value = &graph->values[next.value];
    value->storage = storage;
    value->name = weft_arena_print(builder->arena, "%s_next", statement->name);
    if (!value->name)
        TRY(weft_no_memory(error));
    value->named = true;
    graph->values[storage].updated = true;
    known->lazy = (weft_lazy_value){
        .operand = {.value = next.value, .connectivity = -1, .shape = next.shape}};
done:
    return status;
}
