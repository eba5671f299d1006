/* Prints the graph for Graphviz. */
#include "core/weft_escape.h"
#include "fusion/graph/print.h"
#include "fusion/library/function.h"

#include <stdio.h>

static bool is_read(const weft_graph *graph, int value) {
    for (int i = 0; i < graph->n_calls; ++i)
        for (int k = 0; k < graph->calls[i].n_operands; ++k)
            if (graph->calls[i].operands[k].value == value)
                return true;
    return false;
}

/* Lists in memory are nodes; values that only pass between calls are edges. */
bool weft_print_dot_is_node(const weft_graph *graph, const weft_value *value) {
    if (value->kind == VALUE_INPUT)
        return is_read(graph, value->id) || value->returned;
    return weft_print_is_live(graph, value) && (value->kind != VALUE_RESULT || value->returned);
}

void weft_print_dot_value(const weft_graph *graph, const weft_value *value, weft_text *out) {
    weft_text_add(out, "    d%d [shape=%s, label=\"", value->id,
                  value->kind == VALUE_MATRIX ? "octagon" : "ellipse");
    weft_print_name(graph, value->id, out);
    weft_text_add(out, "\\n");
    if (value->kind == VALUE_MATRIX)
        weft_text_add(out, "matrix over %s\"", graph->index_sets[value->index_set].name);
    else {
        weft_print_type(graph, &value->shape, value->index_set, out);
        weft_text_add(out, "\"");
    }
    weft_text_add(out, "%s];\n", value->returned ? ", peripheries=2" : "");
}

void weft_print_dot_call(const weft_graph *graph, const weft_call *call, weft_text *out) {
    weft_text text = {0};
    weft_text_add(out, "c%d [shape=box, label=\"", call->id);
    if (call->specialisation)
        weft_text_add_dot(out, call->label);
    else {
        weft_print_call(graph, call, &text);
        out->failed |= text.failed;
        weft_text_add_dot(out, text.data);
    }
    weft_text_free(&text);
    weft_text_add(out, "\\n");
    weft_print_number(call->flops, out);
    weft_text_add(out, " flop\"];\n");
}

static void print_dot_edges(const weft_graph *graph, const weft_call *call, weft_text *out) {
    for (int i = 0; i < call->n_operands; ++i) {
        const weft_operand *operand = &call->operands[i];
        const weft_value *value = &graph->values[operand->value];
        if (value->producer >= 0)
            weft_text_add(out, "    c%d -> c%d [label=\"", value->producer, call->id);
        else
            weft_text_add(out, "    d%d -> c%d [label=\"", value->id, call->id);
        weft_print_operand(graph, operand, out);
        weft_text_add(out, "\\n");
        weft_shape_print(&operand->shape, out);
        weft_text_add(out, "\"];\n");
    }
    if (graph->values[call->result].returned)
        weft_text_add(out, "    c%d -> d%d;\n", call->id, call->result);
}

void weft_print_dot_all_edges(const weft_graph *graph, weft_text *out) {
    for (int i = 0; i < graph->n_calls; ++i)
        print_dot_edges(graph, &graph->calls[i], out);
    for (int i = 0; i < graph->n_accumulations; ++i) {
        const weft_accumulation *a = &graph->accumulations[i];
        const char *connectivity = graph->connectivities[a->connectivity].name;
        weft_text_add(out,
                      a->matrix ? "    c%d -> d%d [style=dashed, label=\"+= [%s,%s]\\n"
                                : "    c%d -> d%d [style=dashed, label=\"+= [%s]\\n",
                      a->call, a->target, connectivity, connectivity);
        weft_shape_print(&graph->values[a->source].shape, out);
        weft_text_add(out, "\"];\n");
    }
}

void weft_graph_print_dot(const weft_graph *graph, weft_text *out) {
    weft_text_add(out, "digraph graph_of_script {\n"
                       "    node [fontname=\"monospace\"];\n"
                       "    edge [fontname=\"monospace\", fontsize=10];\n");
    for (int i = 0; i < graph->n_values; ++i)
        if (weft_print_dot_is_node(graph, &graph->values[i]))
            weft_print_dot_value(graph, &graph->values[i], out);
    for (int i = 0; i < graph->n_calls; ++i) {
        weft_text_add(out, "    ");
        weft_print_dot_call(graph, &graph->calls[i], out);
    }
    weft_print_dot_all_edges(graph, out);
    weft_text_add(out, "}\n");
}
