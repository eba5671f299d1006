/* The graph for Graphviz. */
#include "core/weft_escape.h"
#include "fusion/graph/print.h"
#include "fusion/library/function.h"

#include <stdio.h>

static bool is_read(const weft_graph *graph, int datum) {
    for (int i = 0; i < graph->n_calls; ++i)
        for (int k = 0; k < graph->calls[i].n_operands; ++k)
            if (graph->calls[i].operands[k].datum == datum)
                return true;
    return false;
}

/* Lists in memory are nodes of their own; what only passes between calls is an edge. */
bool print_dot_is_node(const weft_graph *graph, const weft_datum *datum) {
    if (datum->kind == DATUM_INPUT)
        return is_read(graph, datum->id) || datum->returned;
    return print_is_live(graph, datum) && (datum->kind != DATUM_RESULT || datum->returned);
}

void print_dot_datum(const weft_graph *graph, const weft_datum *datum, weft_text *out) {
    weft_text_add(out, "    d%d [shape=%s, label=\"", datum->id,
                  datum->kind == DATUM_MATRIX ? "octagon" : "ellipse");
    print_name(graph, datum->id, out);
    weft_text_add(out, "\\n");
    if (datum->kind == DATUM_MATRIX)
        weft_text_add(out, "matrix over %s\"", graph->index_sets[datum->index_set].name);
    else {
        print_type(graph, &datum->shape, datum->index_set, out);
        weft_text_add(out, "\"");
    }
    weft_text_add(out, "%s];\n", datum->returned ? ", peripheries=2" : "");
}

void print_dot_call(const weft_graph *graph, const weft_call *call, weft_text *out) {
    weft_text text = {0};
    weft_text_add(out, "c%d [shape=box, label=\"", call->id);
    if (call->instance != NULL)
        weft_text_add_dot(out, call->label);
    else {
        print_call(graph, call, &text);
        out->failed |= text.failed;
        weft_text_add_dot(out, text.data);
    }
    weft_text_free(&text);
    weft_text_add(out, "\\n");
    print_number(call->flops, out);
    weft_text_add(out, " flop\"];\n");
}

static void print_dot_edges(const weft_graph *graph, const weft_call *call, weft_text *out) {
    for (int i = 0; i < call->n_operands; ++i) {
        const weft_operand *operand = &call->operands[i];
        const weft_datum *datum = &graph->data[operand->datum];
        if (datum->producer >= 0)
            weft_text_add(out, "    c%d -> c%d [label=\"", datum->producer, call->id);
        else
            weft_text_add(out, "    d%d -> c%d [label=\"", datum->id, call->id);
        print_operand(graph, operand, out);
        weft_text_add(out, "\\n");
        weft_shape_print(&operand->shape, out);
        weft_text_add(out, "\"];\n");
    }
    if (graph->data[call->result].returned)
        weft_text_add(out, "    c%d -> d%d;\n", call->id, call->result);
}

void print_dot_all_edges(const weft_graph *graph, weft_text *out) {
    for (int i = 0; i < graph->n_calls; ++i)
        print_dot_edges(graph, &graph->calls[i], out);
    for (int i = 0; i < graph->n_accumulations; ++i) {
        const weft_accumulation *a = &graph->accumulations[i];
        const char *map = graph->maps[a->map].name;
        weft_text_add(out,
                      a->matrix ? "    c%d -> d%d [style=dashed, label=\"+= [%s,%s]\\n"
                                : "    c%d -> d%d [style=dashed, label=\"+= [%s]\\n",
                      a->call, a->target, map, map);
        weft_shape_print(&graph->data[a->source].shape, out);
        weft_text_add(out, "\"];\n");
    }
}

void weft_graph_print_dot(const weft_graph *graph, weft_text *out) {
    weft_text_add(out, "digraph graph_of_script {\n"
                       "    node [fontname=\"monospace\"];\n"
                       "    edge [fontname=\"monospace\", fontsize=10];\n");
    for (int i = 0; i < graph->n_data; ++i)
        if (print_dot_is_node(graph, &graph->data[i]))
            print_dot_datum(graph, &graph->data[i], out);
    for (int i = 0; i < graph->n_calls; ++i) {
        weft_text_add(out, "    ");
        print_dot_call(graph, &graph->calls[i], out);
    }
    print_dot_all_edges(graph, out);
    weft_text_add(out, "}\n");
}
