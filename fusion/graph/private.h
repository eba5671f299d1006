/** Shared by the files that build a graph: values, calls, arithmetic, statements. */
#pragma once

#include "fusion/graph/builder.h"

/** fusion/graph/values.c: the value of an expression; calls are added to the graph on the way. */
weft_status weft_value_make(weft_graph_builder *builder, const weft_node *node,
                            weft_lazy_value *out, weft_error *error);
/** Convert a value to an operand that a function can take: arithmetic becomes a call over its own
 *  index set, or over index_set if it is uniform. */
weft_status weft_value_materialise(weft_graph_builder *builder, const weft_lazy_value *v,
                                   int index_set, weft_location place, weft_operand *out,
                                   weft_error *error);
/** A copy of an operand as the direct result of a call, unless it is one already. */
weft_status weft_value_copy(weft_graph_builder *builder, const weft_lazy_value *v,
                            weft_location place, weft_operand *out, weft_error *error);
/** A call that copies an operand, even one that is a call's result. */
weft_status weft_operand_copy(weft_graph_builder *builder, const weft_operand *operand,
                              weft_location place, weft_operand *out, weft_error *error);
/** The defined name that is nearest in spelling, or NULL. */
weft_status weft_nearest_binding(const weft_graph_builder *builder, const char *name,
                                 const char **near, weft_error *error);
weft_status weft_binding_add(weft_graph_builder *builder, const char *name,
                             const weft_lazy_value *v, weft_location place, weft_error *error);

weft_status weft_value_add(weft_graph_builder *builder, const weft_value *value, int *id,
                           weft_error *error);
weft_status weft_call_add(weft_graph_builder *builder, weft_call *call, const weft_shape *shape,
                          weft_operand *out, weft_error *error);

/* ---- fusion/graph/values.c, fusion/graph/arithmetic.c and fusion/graph/formula.c ---- */

/* The names that are visible in the body of a formula that is being inlined: its arguments. */
typedef struct name_scope {
    const weft_script_expression *expression; /* NULL: the script itself */
    const weft_lazy_value *arguments;
    int n_bound, first_last; /* arguments [n_bound, first_last) are undefined */
} name_scope;

weft_status weft_operand_of_name(weft_graph_builder *builder, const weft_node *node,
                                 weft_lazy_value *out, weft_error *error);
weft_status weft_value_subscript(weft_graph_builder *builder, const name_scope *scope,
                                 const weft_node *node, weft_lazy_value *out, weft_error *error);
/** Append values of the tuned parameters that a call leaves open to its keys (fusion/graph/settings.c).
 *  out  in the arena; NULL: there are none */
weft_status weft_call_setting(weft_graph_builder *builder, weft_element_request *request,
                              const weft_call_setting_of **out, weft_error *error);
weft_status weft_function_call(weft_graph_builder *builder, const weft_node *node,
                               weft_lazy_value *out, weft_error *error);
bool weft_is_function(const weft_graph_builder *builder, const char *name);
weft_status weft_unknown_function(weft_graph_builder *builder, const weft_node *node,
                                  weft_error *error);
/** Add the arithmetic of an expression to a tree; *root: its last node. */
weft_status weft_tree_build(weft_graph_builder *builder, const name_scope *scope,
                            const weft_node *node, tree *t, int *root, weft_error *error);
weft_status weft_tree_add(weft_graph_builder *builder, tree *t, weft_arithmetic node, int *out,
                          weft_error *error);
bool weft_arithmetic_equal(const weft_arithmetic *x, const weft_arithmetic *y);
/** Renumber the operands of a node by moved[]. */
void weft_arithmetic_move(weft_arithmetic *node, const int *moved);
weft_status weft_tree_operand(weft_graph_builder *builder, tree *t, const weft_operand *operand,
                              weft_location place, int *root, weft_error *error);
/** Combine the shape and index set of a tree with those of one more operand: each must be equal, or
 *  one of the two a scalar (uniform).  Errors  WEFT_ERROR_SHAPE, WEFT_ERROR_TYPE */
weft_status weft_tree_widen(const weft_graph_builder *builder, tree *t, const weft_shape *shape,
                            int index_set, weft_location place, weft_error *error);
/** fusion/graph/formula.c: the script's formula of this name, or NULL; inline a call of it. */
const weft_script_expression *weft_formula_find(const weft_graph_builder *builder,
                                                const char *name);
weft_status weft_formula_inline(weft_graph_builder *builder, const name_scope *outer,
                                const weft_node *node, const weft_script_expression *expression,
                                tree *t, int *root, weft_error *error);
/** fusion/graph/table.c: add the arithmetic of table(N, s) or table_slope(N, s). */
weft_status weft_table_inline(weft_graph_builder *builder, const name_scope *scope,
                              const weft_node *node, tree *t, int *root, weft_error *error);
weft_status weft_tree_make_call(weft_graph_builder *builder, const tree *t, int index_set,
                                weft_location place, weft_operand *out, weft_error *error);

/** fusion/graph/apply.c: is this a call `apply(A, v)` of a declared operator? Its value, for
 *  operators that are product kernels. */
bool weft_is_apply(const weft_graph_builder *builder, const weft_node *node);
weft_status weft_graph_apply(weft_graph_builder *builder, const weft_node *node,
                             weft_lazy_value *out, weft_error *error);
/** fusion/graph/accumulate.c: one accumulating statement. */
weft_status weft_graph_accumulate(weft_graph_builder *builder,
                                  const weft_script_statement *statement, weft_error *error);
/** fusion/graph/update.c: `update name = value;`, the next value in the memory of an input. */
weft_status weft_graph_update(weft_graph_builder *builder, const weft_script_statement *statement,
                              weft_error *error);
/** fusion/graph/directives.c: the script's fuse blocks; `using variant N` of a statement whose call
 *  is in the graph already.
 *  Errors  WEFT_ERROR_TYPE: the function has no such variant (lists them), or the value is not a
 *          call */
weft_status weft_graph_fuses(weft_graph_builder *builder, weft_error *error);
weft_status weft_graph_variant(weft_graph_builder *builder, const weft_script_statement *statement,
                               weft_error *error);
/** fusion/graph/dead_code.c: remove calls and values that no returned value depends on. */
weft_status weft_graph_eliminate_dead(weft_arena *arena, weft_graph *graph, weft_error *error);
