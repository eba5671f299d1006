/* Adds y = apply(A, v) to the graph, a call that reads v at other rows too. */
#include "fusion/base/array.h"
#include "fusion/graph/private.h"

#include <string.h>

static const weft_script_operator *find_operator(const weft_graph_builder *builder,
                                                 const char *name) {
    const weft_script *script = builder->script;
    const int i = WEFT_FIND_NAME(script->operators, script->n_operators, name);
    return i >= 0 ? &script->operators[i] : NULL;
}

bool weft_is_apply(const weft_graph_builder *builder, const weft_node *node) {
    return node->kind == NODE_CALL && strcmp(node->name, "apply") == 0 &&
           builder->script->n_operators > 0;
}

static weft_status unknown_operator(const weft_graph_builder *builder, const weft_node *node,
                                    weft_error *error) {
    const char *names[16];
    size_t n = 0;
    const char *name = node->kind == NODE_NAME ? node->name : "";
    for (int i = 0; i < builder->script->n_operators && n < 16; ++i)
        names[n++] = builder->script->operators[i].name;
    const char *near = weft_nearest_name(name, names, n);
    weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                  "apply wants an operator first, as in apply(A, v)");
    if (near)
        weft_error_hint(error, "did you mean '%s'?", near);
    return WEFT_ERROR_TYPE;
}

/* The operator's number in the graph. */
static weft_status operator_number(weft_graph_builder *builder, const char *name, int *out,
                                   weft_error *error) {
    weft_graph *graph = builder->graph;
    *out = weft_name_index(graph->operators, graph->n_operators, sizeof *graph->operators, name);
    if (*out >= 0)
        return WEFT_OK;
    *out = graph->n_operators;
    return WEFT_APPEND(builder->arena, graph->operators, graph->n_operators, name, error);
}

/* v as a list that can be read at any row: scalar, direct, over the operator's index set.
 * Components of vectors and values loaded through a connectivity are copied to such a list. */
static weft_status operand(weft_graph_builder *builder, const weft_node *node,
                           const weft_script_operator *op, weft_operand *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = builder->graph;
    weft_lazy_value v = {0};
    TRY(weft_value_make(builder, node, &v, error));
    TRY(weft_value_materialise(builder, &v, UNIFORM, node->place, out, error));
    const weft_value *value = &graph->values[out->value];
    const int set = weft_operand_index_set(graph, out);
    if (set == UNIFORM || out->shape.rank != 0 ||
        strcmp(graph->index_sets[set].name, op->over) != 0)
        TRY(weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                          "'%s' works on scalars over %s: this is something else", op->name,
                          op->over));
    if (value->shape.rank != 0 || out->connectivity >= 0)
        TRY(weft_operand_copy(builder, out, node->place, out, error));
done:
    return status;
}

weft_status weft_graph_apply(weft_graph_builder *builder, const weft_node *node,
                             weft_lazy_value *out, weft_error *error) {
    weft_status status = WEFT_OK;
    static const weft_shape scalar = {0};
    weft_call call = {.label = "apply", .place = node->place, .n_operands = 1};
    if (node->n_children != 2 || node->n_keys > 0)
        TRY(weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                          "apply takes an operator and a list, as in apply(A, v)"));
    const weft_script_operator *op = node->children[0]->kind == NODE_NAME
                                         ? find_operator(builder, node->children[0]->name)
                                         : NULL;
    if (!op)
        TRY(unknown_operator(builder, node->children[0], error));
    if (!op->product_kernel)
        TRY(weft_error_at(error, WEFT_ERROR_UNSUPPORTED, node->place,
                          "the operator '%s' is not known when this is compiled", op->name));
    TRY(WEFT_ALLOC(builder->arena, call.operands, 1, error));
    TRY(operand(builder, node->children[1], op, call.operands, error));
    TRY(operator_number(builder, op->name, &call.op, error));
    TRY(weft_product_kernel_find(builder->arena, op->product_kernel, &call.product_kernel, error));
    call.index_set = builder->graph->values[call.operands[0].value].index_set;
    *out = (weft_lazy_value){0};
    builder->keep_apart = true; /* merging compares function and operands, but not operators */
    status = weft_call_add(builder, &call, &scalar, &out->operand, error);
    builder->keep_apart = false;
done:
    return status;
}
