/** What fusion/graph/graph.c, fusion/graph/values.c and fusion/graph/dead_code.c share: a graph under construction. */
#pragma once

#include "fusion/graph/builder.h"

/** fusion/graph/values.c: the value of an expression; calls are added to the graph on the way. */
weft_status weft_value_make(weft_graph_builder *builder, const weft_node *node,
                            weft_lazy_value *out, weft_error *error);
/** Make a value a list element that a function can take: arithmetic becomes a call over index_set
 * (or its own). */
weft_status weft_value_materialise(weft_graph_builder *builder, const weft_lazy_value *v,
                                   int index_set, weft_location place, weft_operand *out,
                                   weft_error *error);
/** A copy of an operand as the direct result of a call, unless it is one already. */
weft_status weft_value_copy(weft_graph_builder *builder, const weft_lazy_value *v,
                            weft_location place, weft_operand *out, weft_error *error);
/** A call that copies an operand, even one that is a call's result. */
weft_status weft_operand_copy(weft_graph_builder *builder, const weft_operand *operand,
                              weft_location place, weft_operand *out, weft_error *error);
/** The name with a value that is nearest to this one, or NULL. */
weft_status weft_nearest_binding(const weft_graph_builder *builder, const char *name, const char **near,
                                 weft_error *error);
weft_status weft_binding_add(weft_graph_builder *builder, const char *name,
                             const weft_lazy_value *v, weft_location place, weft_error *error);

weft_status weft_value_add(weft_graph_builder *builder, const weft_value *value, int *id,
                           weft_error *error);
weft_status weft_call_add(weft_graph_builder *builder, weft_call *call, const weft_shape *shape,
                          weft_operand *out, weft_error *error);

/* ---- fusion/graph/values.c, fusion/graph/arithmetic.c and fusion/graph/formula.c ---- */

/* Names that an expression body being inlined sees: its arguments. */
typedef struct name_scope {
    const weft_script_expression *expression; /* NULL: the script itself */
    const weft_lazy_value *arguments;
    int n_bound, first_last; /* arguments from the one to before the other are undefined */
} name_scope;

weft_status weft_operand_of_name(weft_graph_builder *builder, const weft_node *node,
                                 weft_lazy_value *out, weft_error *error);
weft_status weft_value_subscript(weft_graph_builder *builder, const name_scope *scope,
                                 const weft_node *node, weft_lazy_value *out, weft_error *error);
weft_status weft_function_call(weft_graph_builder *builder, const weft_node *node,
                               weft_lazy_value *out, weft_error *error);
bool weft_is_function(const weft_graph_builder *builder, const char *name);
weft_status weft_unknown_function(weft_graph_builder *builder, const weft_node *node, weft_error *error);
/** Add the arithmetic of an expression to a tree; *root gets its last node. */
weft_status weft_tree_build(weft_graph_builder *builder, const name_scope *scope, const weft_node *node,
                            tree *t, int *root, weft_error *error);
weft_status weft_tree_add(weft_graph_builder *builder, tree *t, weft_arithmetic node, int *out,
                          weft_error *error);
/** Let a node's operands be those that moved[] says. */
void weft_arithmetic_move(weft_arithmetic *node, const int *moved);
weft_status weft_tree_operand(weft_graph_builder *builder, tree *t, const weft_operand *operand,
                              weft_location place, int *root, weft_error *error);
/** Shapes and index sets of elementwise arithmetic: equal, or one of them a scalar. The tree gets
 * what it has with one more of these. */
weft_status weft_tree_widen(const weft_graph_builder *builder, tree *t, const weft_shape *shape,
                            int index_set, weft_location place, weft_error *error);
/** fusion/graph/formula.c: the script's formula of that name, or NULL; and a call of it, written out. */
const weft_script_expression *weft_formula_find(const weft_graph_builder *builder, const char *name);
weft_status weft_formula_inline(weft_graph_builder *builder, const name_scope *outer,
                                const weft_node *node, const weft_script_expression *expression,
                                tree *t, int *root, weft_error *error);
weft_status weft_tree_make_call(weft_graph_builder *builder, const tree *t, int index_set,
                                weft_location place, weft_operand *out, weft_error *error);

/** fusion/graph/apply.c: is this call `apply(A, v)` of a declared operator that is a product
 *  kernel? Its value. */
bool weft_is_apply(const weft_graph_builder *builder, const weft_node *node);
weft_status weft_graph_apply(weft_graph_builder *builder, const weft_node *node,
                             weft_lazy_value *out, weft_error *error);
/** fusion/graph/accumulate.c: one accumulating statement. *capacity is that of graph->accumulations. */
weft_status weft_graph_accumulate(weft_graph_builder *builder, const weft_script_statement *statement,
                                  int *capacity, weft_error *error);
/** fusion/graph/update.c: update name = value; the input's memory gets its next value. */
weft_status weft_graph_update(weft_graph_builder *builder, const weft_script_statement *statement,
                              weft_error *error);
/** fusion/graph/directives.c: the script's fuse blocks; and the variant that a statement, which is read, asks
 *  for. Errors WEFT_ERROR_TYPE: the function has no such variant (says which), its value is no
 * call */
weft_status weft_graph_fuses(weft_graph_builder *builder, weft_error *error);
weft_status weft_graph_variant(weft_graph_builder *builder, const weft_script_statement *statement,
                               weft_error *error);
/** fusion/graph/dead_code.c: drop calls and data that nothing returned depends on. */
weft_status weft_graph_eliminate_dead(weft_arena *arena, weft_graph *graph, weft_error *error);
