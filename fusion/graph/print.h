/** Shared by the printers of graphs, plans and explanations. In: values, operands, calls. Out:
 *  their text in the script language. */
#pragma once

#include "fusion/graph/graph.h"

/** A value's name; generated names get '_' appended until they are unique. */
void weft_print_name(const weft_graph *graph, int value, weft_text *out);
/** Append '_' to a name while it is taken. value: the value that it is for, or -1. */
void weft_print_free_name(const weft_graph *graph, int value, char *name, size_t size);
/** "x[dofs][0,1]" */
void weft_print_operand(const weft_graph *graph, const weft_operand *operand, weft_text *out);
/** "jacobian(x[dofs])", "2*a + b" */
void weft_print_call(const weft_graph *graph, const weft_call *call, weft_text *out);
/* fusion/graph/print_like.c: calls whose index set or shape does not follow from their text. They
 * are printed as like(value, list), a formula that takes both from the list. */
/** Must a call be printed so? */
bool weft_print_needs_like(const weft_graph *graph, const weft_call *call);
/** Print the declarations (the formula, lists of missing shapes) that such calls need. */
void weft_print_like_declarations(const weft_graph *graph, weft_text *out);
/** Print the call. */
void weft_print_like(const weft_graph *graph, const weft_call *call, weft_text *out);
/** Is a call a copy that an accumulation implies, so that it is not printed as a statement? */
bool weft_print_call_is_silent(const weft_graph *graph, const weft_call *call);
/** "b[dofs] += load" */
void weft_print_accumulation(const weft_graph *graph, const weft_accumulation *a, weft_text *out);
/** "real[3,3] over cells" */
void weft_print_type(const weft_graph *graph, const weft_shape *shape, int index_set,
                     weft_text *out);
/** A count or a time, the same in every locale: the shortest digits that read back. */
void weft_print_number(double number, weft_text *out);
/** Add spaces up to `column` of the line that starts at line_start, but at least one. */
void weft_print_to_column(weft_text *out, size_t line_start, size_t column);
/** Is a value still part of the graph after dead-code elimination? */
bool weft_print_is_live(const weft_graph *graph, const weft_value *value);
/** Is a value drawn as a node (lists in memory) and not only as an edge between calls? */
bool weft_print_dot_is_node(const weft_graph *graph, const weft_value *value);
/** Node d<id>, node c<id> (without indentation), and every edge. */
void weft_print_dot_value(const weft_graph *graph, const weft_value *value, weft_text *out);
void weft_print_dot_call(const weft_graph *graph, const weft_call *call, weft_text *out);
void weft_print_dot_all_edges(const weft_graph *graph, weft_text *out);

/** A value's name in JSON, where an updated list and its next value have different names. */
void weft_print_distinct_name(const weft_graph *graph, int value, weft_text *out);
/** JSON (fusion/base/json.h) of the distinct name; null for -1. */
struct json_t *weft_graph_json_name(const weft_graph *graph, int value);
struct json_t *weft_graph_json_index_set(const weft_graph *graph, int index_set);
/** {"value": "x", "connectivity": "dofs", "offset": 0, "shape": [3, 2]} */
struct json_t *weft_graph_json_operand(const weft_graph *graph, const weft_operand *operand);
/** {"source": "v", "target": "b", "connectivity": "dofs", "matrix": false} */
struct json_t *weft_graph_json_accumulation(const weft_graph *graph, const weft_accumulation *a);
