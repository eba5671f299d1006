/* Prints the graph as JSON (docs/compiler.md lists the keys). */
#include "fusion/base/json.h"
#include "fusion/graph/print.h"
#include "fusion/library/function.h"

/* ---- shared by graph and plan ---- */

json_t *weft_graph_json_name(const weft_graph *graph, int value) {
    weft_text text = {0};
    if (value < 0)
        return json_null();
    weft_print_distinct_name(graph, value, &text);
    json_t *made = text.failed ? NULL : weft_json_string(text.data);
    weft_text_free(&text);
    return made;
}

json_t *weft_graph_json_index_set(const weft_graph *graph, int index_set) {
    return index_set >= 0 ? weft_json_string(graph->index_sets[index_set].name) : json_null();
}

json_t *weft_graph_json_operand(const weft_graph *graph, const weft_operand *operand) {
    return json_pack("{s:o, s:o, s:i, s:o}", "value", weft_graph_json_name(graph, operand->value),
                     "connectivity",
                     operand->connectivity >= 0
                         ? weft_json_string(graph->connectivities[operand->connectivity].name)
                         : json_null(),
                     "offset", operand->offset, "shape",
                     weft_json_integers(operand->shape.sizes, operand->shape.rank));
}

json_t *weft_graph_json_accumulation(const weft_graph *graph, const weft_accumulation *a) {
    return json_pack("{s:o, s:o, s:o, s:b}", "source", weft_graph_json_name(graph, a->source),
                     "target", weft_graph_json_name(graph, a->target), "connectivity",
                     weft_json_string(graph->connectivities[a->connectivity].name), "matrix",
                     a->matrix);
}

/* ---- the graph ---- */

static json_t *index_sets(const weft_graph *graph) {
    json_t *list = json_array();
    for (int i = 0; i < graph->n_index_sets; ++i)
        weft_json_append(&list, json_pack("{s:o, s:b}", "name", weft_graph_json_index_set(graph, i),
                                          "plain", graph->index_sets[i].plain));
    return list;
}

static json_t *connectivities(const weft_graph *graph) {
    json_t *list = json_array();
    for (int i = 0; i < graph->n_connectivities; ++i) {
        const weft_graph_connectivity *connectivity = &graph->connectivities[i];
        weft_json_append(&list,
                         json_pack("{s:o, s:o, s:o, s:i, s:b}", "name",
                                   weft_json_string(connectivity->name), "from",
                                   weft_graph_json_index_set(graph, connectivity->from), "to",
                                   weft_graph_json_index_set(graph, connectivity->to), "width",
                                   connectivity->width, "ordered", connectivity->is_ordered));
    }
    return list;
}

static json_t *data(const weft_graph *graph) {
    static const char *const kinds[] = {"input", "result", "accumulated", "matrix"};
    json_t *list = json_array();
    for (int i = 0; i < graph->n_values; ++i) {
        const weft_value *value = &graph->values[i];
        if (!weft_print_is_live(graph, value))
            continue;
        weft_json_append(
            &list, json_pack("{s:o, s:s, s:o, s:o, s:o, s:b, s:b, s:o}", "name",
                             weft_graph_json_name(graph, i), "kind", kinds[value->kind], "shape",
                             weft_json_integers(value->shape.sizes, value->shape.rank), "index_set",
                             weft_graph_json_index_set(graph, value->index_set), "producer",
                             value->producer >= 0 ? json_integer(value->producer) : json_null(),
                             "returned", value->returned, "input", value->is_input, "updates",
                             weft_graph_json_name(graph, value->storage)));
    }
    return list;
}

static json_t *call_text(const weft_graph *graph, const weft_call *call) {
    weft_text text = {0};
    weft_print_call(graph, call, &text);
    json_t *made = text.failed ? NULL : weft_json_string(text.data);
    weft_text_free(&text);
    return made;
}

static json_t *parameters(const weft_call *call) {
    const weft_specialisation *specialisation = call->specialisation;
    json_t *made = json_object();
    for (int i = 0; specialisation && i < specialisation->n_names; ++i) {
        const int known =
            weft_function_name_index(specialisation->function, specialisation->names[i]);
        if (known < 0 || !specialisation->function->names[known].is_parameter)
            continue;
        weft_json_set(&made, specialisation->names[i], json_integer(specialisation->values[i]));
    }
    return made;
}

static json_t *call_json(const weft_graph *graph, const weft_call *call) {
    json_t *operands = json_array();
    for (int i = 0; i < call->n_operands; ++i)
        weft_json_append(&operands, weft_graph_json_operand(graph, &call->operands[i]));
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i}", "id", call->id,
                     "function", call->specialisation ? weft_json_string(call->label) : json_null(),
                     "text", call_text(graph, call), "operands", operands, "parameters",
                     parameters(call), "result", weft_graph_json_name(graph, call->result),
                     "index_set", weft_graph_json_index_set(graph, call->index_set), "flops",
                     weft_json_number(call->flops), "file",
                     weft_json_string(call->place.source->name), "line", call->place.line, "column",
                     call->place.column);
}

json_t *weft_graph_json(const weft_graph *graph) {
    json_t *calls = json_array(), *accumulations = json_array();
    for (int i = 0; i < graph->n_calls; ++i)
        weft_json_append(&calls, call_json(graph, &graph->calls[i]));
    for (int i = 0; i < graph->n_accumulations; ++i) {
        json_t *one = weft_graph_json_accumulation(graph, &graph->accumulations[i]);
        weft_json_set(&one, "call", json_integer(graph->accumulations[i].call));
        weft_json_append(&accumulations, one);
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "format", "weft-graph-1", "index_sets",
                     index_sets(graph), "connectivities", connectivities(graph), "data",
                     data(graph), "calls", calls, "accumulations", accumulations);
}
