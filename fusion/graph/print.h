/** What printing a graph, a plan and an explanation share: how data, operands and calls are
 *  written. The written form is the script language's. */
#pragma once

#include "fusion/graph/graph.h"

/** A value's name; one that we gave gets '_' appended until nothing else has it. */
void weft_print_name(const weft_graph *graph, int value, weft_text *out);
/** "x[dofs][0,1]" */
void weft_print_operand(const weft_graph *graph, const weft_operand *operand, weft_text *out);
/** "jacobian(x[dofs])", "2*a + b" */
void weft_print_call(const weft_graph *graph, const weft_call *call, weft_text *out);
/** fusion/graph/weft_print_like.c: does a call's text need a list to be like? Declare what that
 *  takes; write it. */
bool weft_print_needs_like(const weft_graph *graph, const weft_call *call);
void weft_print_like_declarations(const weft_graph *graph, weft_text *out);
void weft_print_like(const weft_graph *graph, const weft_call *call, weft_text *out);
/** Is a call a copy that its accumulation implies, and so not a statement of its own? */
bool weft_print_call_is_silent(const weft_graph *graph, const weft_call *call);
/** "b[dofs] += load" */
void weft_print_accumulation(const weft_graph *graph, const weft_accumulation *a, weft_text *out);
/** "real[3,3] over cells" */
void weft_print_type(const weft_graph *graph, const weft_shape *shape, int index_set,
                     weft_text *out);
/** A count or a time, the same in every locale: the shortest digits that read back. */
void weft_print_number(double number, weft_text *out);
/** At least one space, and as many as reach `column` of the line that starts at line_start. */
void weft_print_to_column(weft_text *out, size_t line_start, size_t column);
/** Is a value still part of the graph, or was it dropped with what nothing returned needs? */
bool weft_print_is_live(const weft_graph *graph, const weft_value *value);
/** Is a value drawn as a node (lists in memory), or only as an edge between calls? */
bool weft_print_dot_is_node(const weft_graph *graph, const weft_value *value);
/** Node d<id>, node c<id> (without indentation), and every edge. */
void weft_print_dot_value(const weft_graph *graph, const weft_value *value, weft_text *out);
void weft_print_dot_call(const weft_graph *graph, const weft_call *call, weft_text *out);
void weft_print_dot_all_edges(const weft_graph *graph, weft_text *out);

/** A value's name in JSON: that of an updated list's next value is its own. */
void weft_print_distinct_name(const weft_graph *graph, int value, weft_text *out);
/** In JSON, as fusion/base/json.h says: the distinct name, null for -1. */
struct json_t *weft_graph_json_name(const weft_graph *graph, int value);
struct json_t *weft_graph_json_index_set(const weft_graph *graph, int index_set);
/** {"value": "x", "map": "dofs", "offset": 0, "shape": [3, 2]} */
struct json_t *weft_graph_json_operand(const weft_graph *graph, const weft_operand *operand);
/** {"source": "v", "target": "b", "map": "dofs", "matrix": false} */
struct json_t *weft_graph_json_accumulation(const weft_graph *graph, const weft_accumulation *a);
