/* The graph for other programs: Graphviz and JSON (docs/compiler.md has the keys). */
#include "core/weft_escape.h"
#include "fusion/graph/print.h"
#include "fusion/library/function.h"

#include <stdio.h>

/* ---- Graphviz ---- */

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

/* ---- JSON ---- */

static void print_json_maps(const weft_graph *graph, weft_text *out) {
    weft_text_add(out, "  \"index_sets\": [");
    for (int i = 0; i < graph->n_index_sets; ++i) {
        weft_text_add(out, "%s\n    {\"name\": ", i > 0 ? "," : "");
        weft_text_add_json(out, graph->index_sets[i].name);
        weft_text_add(out, ", \"plain\": %s}", graph->index_sets[i].plain ? "true" : "false");
    }
    weft_text_add(out, "],\n  \"connectivities\": [");
    for (int i = 0; i < graph->n_maps; ++i) {
        weft_text_add(out, "%s\n    {\"name\": ", i > 0 ? "," : "");
        weft_text_add_json(out, graph->maps[i].name);
        weft_text_add(out, ", \"from\": ");
        print_json_index_set(graph, graph->maps[i].from, out);
        weft_text_add(out, ", \"to\": ");
        print_json_index_set(graph, graph->maps[i].to, out);
        weft_text_add(out, ", \"width\": %d}", graph->maps[i].width);
    }
    weft_text_add(out, "],\n");
}

static void print_json_data(const weft_graph *graph, weft_text *out) {
    static const char *const kinds[] = {"input", "result", "accumulated", "matrix"};
    bool any = false;
    weft_text_add(out, "  \"data\": [");
    for (int i = 0; i < graph->n_data; ++i) {
        const weft_datum *datum = &graph->data[i];
        if (!print_is_live(graph, datum))
            continue;
        weft_text_add(out, "%s\n    {\"name\": ", any ? "," : "");
        print_json_name(graph, i, out);
        weft_text_add(out, ", \"kind\": \"%s\", \"shape\": ", kinds[datum->kind]);
        print_json_shape(&datum->shape, out);
        weft_text_add(out, ", \"index_set\": ");
        print_json_index_set(graph, datum->index_set, out);
        weft_text_add(out, ", \"producer\": ");
        weft_text_add(out, datum->producer >= 0 ? "%d" : "null", datum->producer);
        weft_text_add(out, ", \"returned\": %s, \"input\": %s, \"updates\": ",
                      datum->returned ? "true" : "false", datum->is_input ? "true" : "false");
        print_json_name(graph, datum->storage, out);
        weft_text_add(out, "}");
        any = true;
    }
    weft_text_add(out, "],\n");
}

static void print_json_text(const weft_graph *graph, const weft_call *call, weft_text *out) {
    weft_text text = {0};
    print_call(graph, call, &text);
    out->failed |= text.failed;
    weft_text_add_json(out, text.data != NULL ? text.data : "");
    weft_text_free(&text);
}

static void print_json_parameters(const weft_call *call, weft_text *out) {
    const weft_instance *instance = call->instance;
    bool any = false;
    weft_text_add(out, "{");
    for (int i = 0; instance != NULL && i < instance->n_names; ++i) {
        const int known = weft_function_name_index(instance->function, instance->names[i]);
        if (known < 0 || !instance->function->names[known].is_parameter)
            continue;
        weft_text_add(out, any ? ", " : "");
        weft_text_add_json(out, instance->names[i]);
        weft_text_add(out, ": %d", instance->values[i]);
        any = true;
    }
    weft_text_add(out, "}");
}

static void print_json_call(const weft_graph *graph, const weft_call *call, weft_text *out) {
    weft_text_add(out, "    {\"id\": %d, \"function\": ", call->id);
    if (call->instance != NULL)
        weft_text_add_json(out, call->label);
    else
        weft_text_add(out, "null");
    weft_text_add(out, ", \"text\": ");
    print_json_text(graph, call, out);
    weft_text_add(out, ",\n     \"operands\": [");
    for (int i = 0; i < call->n_operands; ++i) {
        weft_text_add(out, i > 0 ? ", " : "");
        print_json_operand(graph, &call->operands[i], out);
    }
    weft_text_add(out, "],\n     \"parameters\": ");
    print_json_parameters(call, out);
    weft_text_add(out, ", \"result\": ");
    print_json_name(graph, call->result, out);
    weft_text_add(out, ", \"index_set\": ");
    print_json_index_set(graph, call->index_set, out);
    weft_text_add(out, ", \"flops\": ");
    print_number(call->flops, out);
    weft_text_add(out, ",\n     \"file\": ");
    weft_text_add_json(out, call->place.source->name);
    weft_text_add(out, ", \"line\": %d, \"column\": %d}", call->place.line, call->place.column);
}

void weft_graph_print_json(const weft_graph *graph, weft_text *out) {
    weft_text_add(out, "{\n  \"format\": \"weft-graph-1\",\n");
    print_json_maps(graph, out);
    print_json_data(graph, out);
    weft_text_add(out, "  \"calls\": [");
    for (int i = 0; i < graph->n_calls; ++i) {
        weft_text_add(out, i > 0 ? ",\n" : "\n");
        print_json_call(graph, &graph->calls[i], out);
    }
    weft_text_add(out, "],\n  \"accumulations\": [");
    for (int i = 0; i < graph->n_accumulations; ++i) {
        const weft_accumulation *a = &graph->accumulations[i];
        weft_text_add(out, "%s\n    {\"source\": ", i > 0 ? "," : "");
        print_json_name(graph, a->source, out);
        weft_text_add(out, ", \"target\": ");
        print_json_name(graph, a->target, out);
        weft_text_add(out, ", \"map\": ");
        weft_text_add_json(out, graph->maps[a->map].name);
        weft_text_add(out, ", \"matrix\": %s, \"call\": %d}", a->matrix ? "true" : "false",
                      a->call);
    }
    weft_text_add(out, "]\n}\n");
}
