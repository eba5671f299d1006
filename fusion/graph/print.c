/* Prints the graph as a canonical script that reads back to the same graph: one call per statement,
 * sizes as numbers, every value named. */
#include "fusion/graph/print.h"

enum { COMMENT_COLUMN_MAX = 72 };

/* ---- declarations ---- */

static void print_declarations(const weft_graph *graph, weft_text *out) {
    bool first = true;
    for (int i = 0; i < graph->n_index_sets; ++i) {
        if (weft_index_set_is_product(graph, i))
            continue;
        const int limit = graph->index_sets[i].up_to;
        weft_text_add(out, "%s%s%s%s%s", first ? "index " : ", ", graph->index_sets[i].name,
                      graph->index_sets[i].plain ? " plain" : "", limit >= 0 ? " up to " : "",
                      limit >= 0 ? graph->values[limit].name : "");
        first = false;
    }
    weft_text_add(out, first ? "" : ";\n");
    for (int i = 0; i < graph->n_connectivities; ++i) {
        const weft_graph_connectivity *connectivity = &graph->connectivities[i];
        weft_text_add(out, "connectivity %s : %s -> %s[%d]%s;\n", connectivity->name,
                      graph->index_sets[connectivity->from].name,
                      graph->index_sets[connectivity->to].name, connectivity->width,
                      connectivity->is_ordered ? " ordered" : "");
    }
    for (int i = 0; i < graph->n_values; ++i) {
        const weft_value *value = &graph->values[i];
        if (!value->is_input)
            continue;
        weft_text_add(out, "input %s : ", value->name);
        weft_print_type(graph, &value->shape,
                        value->kind == VALUE_MATRIX ? UNIFORM : value->index_set, out);
        weft_text_add(out, ";\n");
    }
}

/* ---- statements ---- */

static void print_statement(const weft_graph *graph, const weft_call *call, weft_text *out) {
    weft_text_add(out, graph->values[call->result].storage >= 0 ? "update " : "");
    weft_print_name(graph, call->result, out);
    weft_text_add(out, " = ");
    (weft_print_needs_like(graph, call) ? weft_print_like : weft_print_call)(graph, call, out);
    weft_text_add(out, ";");
}

static void print_comment(const weft_graph *graph, const weft_call *call, weft_text *out) {
    const weft_value *result = &graph->values[call->result];
    weft_text_add(out, "# ");
    weft_print_type(graph, &result->shape, result->index_set, out);
    weft_text_add(out, ", ");
    weft_print_number(call->flops, out);
    weft_text_add(out, " flop\n");
}

static void print_add(const weft_graph *graph, const weft_accumulation *a, size_t column,
                      weft_text *out) {
    const weft_value *target = &graph->values[a->target];
    const size_t start = out->length;
    weft_print_accumulation(graph, a, out);
    weft_text_add(out, ";");
    weft_print_to_column(out, start, column);
    weft_text_add(out, a->matrix ? "# into the entries of a matrix over " : "# into ");
    if (a->matrix)
        weft_text_add(out, "%s", graph->index_sets[target->index_set].name);
    else
        weft_print_type(graph, &target->shape, target->index_set, out);
    weft_text_add(out, "\n");
}

/* The column of comments: after the longest statement of a usual length. */
static size_t comment_column(const weft_graph *graph, weft_text *out) {
    weft_text line = {0};
    size_t longest = 0;
    for (int i = 0; i < graph->n_calls; ++i) {
        const size_t before = line.length;
        print_statement(graph, &graph->calls[i], &line);
        const size_t length = line.length - before;
        if (length > longest && length < COMMENT_COLUMN_MAX &&
            !weft_print_call_is_silent(graph, &graph->calls[i]))
            longest = length;
    }
    out->failed |= line.failed;
    weft_text_free(&line);
    return longest + 2;
}

static void print_statements(const weft_graph *graph, weft_text *out) {
    const size_t column = comment_column(graph, out);
    int next = 0;
    for (int i = 0; i < graph->n_calls; ++i) {
        if (!weft_print_call_is_silent(graph, &graph->calls[i])) {
            const size_t start = out->length;
            print_statement(graph, &graph->calls[i], out);
            weft_print_to_column(out, start, column);
            print_comment(graph, &graph->calls[i], out);
        }
        /* in script order, each directly after its source, so before any read of its target */
        for (; next < graph->n_accumulations && graph->accumulations[next].call <= i; ++next)
            print_add(graph, &graph->accumulations[next], column, out);
    }
}

static void print_return(const weft_graph *graph, int value, bool *any, weft_text *out) {
    if (!graph->values[value].returned)
        return;
    weft_text_add(out, *any ? ", " : "return ");
    weft_print_name(graph, value, out);
    *any = true;
}

static bool is_first_into(const weft_graph *graph, int accumulation) {
    for (int i = 0; i < accumulation; ++i)
        if (graph->accumulations[i].target == graph->accumulations[accumulation].target)
            return false;
    return true;
}

/* Returned names, in the order in which the statements assign them. */
static void print_returns(const weft_graph *graph, weft_text *out) {
    int next = 0;
    bool any = false;
    for (int i = 0; i < graph->n_calls; ++i) {
        print_return(graph, graph->calls[i].result, &any, out);
        for (; next < graph->n_accumulations && graph->accumulations[next].call <= i; ++next)
            if (is_first_into(graph, next))
                print_return(graph, graph->accumulations[next].target, &any, out);
    }
    if (any)
        weft_text_add(out, ";\n");
}

void weft_graph_print_text(const weft_graph *graph, weft_text *out) {
    print_declarations(graph, out);
    weft_print_like_declarations(graph, out);
    print_statements(graph, out);
    print_returns(graph, out);
}
