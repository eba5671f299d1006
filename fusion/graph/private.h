/** What graph.c, graph_values.c and graph_live.c share: a graph under construction. */
#ifndef GRAPH_INTERNAL_H
#define GRAPH_INTERNAL_H

#include "fusion/compile/compile.h"

#define UNIFORM (-1) /* the index set of lists over nothing */

/** Elementwise arithmetic not yet made a call. */
typedef struct tree {
    weft_arithmetic *nodes;
    int n, capacity;
    weft_operand *operands;
    int n_operands, operand_capacity;
    weft_shape shape;
    int index_set;
} tree;

/** What a name or a subexpression stands for: a datum seen some way, or arithmetic on uniforms
 *  and constants that is computed wherever it is used. */
typedef struct value {
    weft_operand operand; /* when arithmetic is NULL */
    tree *arithmetic;
} value;

typedef struct binding {
    const char *name;
    value value;
    weft_place place;
} binding;

typedef struct graph_builder {
    weft_arena *arena;
    const weft_library *library;
    const weft_script *script;
    weft_graph *graph;
    int data_capacity, call_capacity;
    binding *names;
    int n_names, name_capacity;
    weft_place *first_read; /* [n_data], of lists that could be accumulated into; line 0: never */
    int first_read_capacity;
    const weft_script_statement *statement; /* being read, or NULL */
    bool keep_apart;                        /* the next call is not merged with an equal one */
    int depth;                              /* of expressions inlined in expressions */
} graph_builder;

/** graph.c: the graph of builder->script's statements, nothing returned yet: builder->names says
 *  what each name stands for. */
weft_status weft_graph_statements(graph_builder *builder, weft_error *error);
/** graph_values.c: the value of an expression; calls are added to the graph on the way. */
weft_status weft_value_make(graph_builder *builder, const weft_node *node, value *out,
                            weft_error *error);
/** Make a value a list element that a function can take: arithmetic becomes a call over index_set
 * (or its own). */
weft_status weft_value_materialise(graph_builder *builder, const value *v, int index_set,
                                   weft_place place, weft_operand *out, weft_error *error);
/** A copy of an operand as the direct result of a call, unless it is one already. */
weft_status weft_value_copy(graph_builder *builder, const value *v, weft_place place,
                            weft_operand *out, weft_error *error);
/** A call that copies an operand, even one that is a call's result. */
weft_status weft_operand_copy(graph_builder *builder, const weft_operand *operand, weft_place place,
                              weft_operand *out, weft_error *error);
const binding *weft_binding_find(const graph_builder *builder, const char *name);
/** The name with a value that is nearest to this one, or NULL. */
weft_status weft_nearest_binding(const graph_builder *builder, const char *name, const char **near,
                                 weft_error *error);
weft_status weft_binding_add(graph_builder *builder, const char *name, const value *v,
                             weft_place place, weft_error *error);

/** Grow an arena array to hold one more element; NULL when out of memory. */
void *weft_array_grow(weft_arena *arena, void *array, int n, int *capacity, size_t size);
weft_status weft_datum_add(graph_builder *builder, const weft_datum *datum, int *id,
                           weft_error *error);
weft_status weft_call_add(graph_builder *builder, weft_call *call, const weft_shape *shape,
                          weft_operand *out, weft_error *error);
const char *weft_index_set_name(const weft_graph *graph, int index_set);
weft_status weft_no_memory(weft_error *error);

/* ---- graph_values.c, graph_arithmetic.c and graph_formula.c ---- */

/* Names that an expression body being inlined sees: its arguments. */
typedef struct name_scope {
    const weft_script_expression *expression; /* NULL: the script itself */
    const value *arguments;
    int n_bound, first_last; /* arguments from the one to before the other are undefined */
} name_scope;

weft_status weft_operand_of_name(graph_builder *builder, const weft_node *node, value *out,
                                 weft_error *error);
weft_status weft_value_subscript(graph_builder *builder, const name_scope *scope,
                                 const weft_node *node, value *out, weft_error *error);
weft_status weft_function_call(graph_builder *builder, const weft_node *node, value *out,
                               weft_error *error);
bool weft_is_function(const graph_builder *builder, const char *name);
weft_status weft_unknown_function(graph_builder *builder, const weft_node *node, weft_error *error);
/** Add the arithmetic of an expression to a tree; *root gets its last node. */
weft_status weft_tree_build(graph_builder *builder, const name_scope *scope, const weft_node *node,
                            tree *t, int *root, weft_error *error);
weft_status weft_tree_add(graph_builder *builder, tree *t, weft_arithmetic node, int *out,
                          weft_error *error);
/** Let a node's operands be those that moved[] says. */
void weft_arithmetic_move(weft_arithmetic *node, const int *moved);
weft_status weft_tree_operand(graph_builder *builder, tree *t, const weft_operand *operand,
                              weft_place place, int *root, weft_error *error);
/** Shapes and index sets of elementwise arithmetic: equal, or one of them a scalar. The tree gets
 * what it has with one more of these. */
weft_status weft_tree_widen(const graph_builder *builder, tree *t, const weft_shape *shape,
                            int index_set, weft_place place, weft_error *error);
/** graph_formula.c: the script's formula of that name, or NULL; and a call of it, written out. */
const weft_script_expression *weft_formula_find(const graph_builder *builder, const char *name);
weft_status weft_formula_inline(graph_builder *builder, const name_scope *outer,
                                const weft_node *node, const weft_script_expression *expression,
                                tree *t, int *root, weft_error *error);
weft_status weft_tree_make_call(graph_builder *builder, const tree *t, int index_set,
                                weft_place place, weft_operand *out, weft_error *error);

/** graph_apply.c: is this call `apply(A, v)` of a declared operator that is a rows routine? Its
 *  value. */
bool weft_is_apply(const graph_builder *builder, const weft_node *node);
weft_status weft_graph_apply(graph_builder *builder, const weft_node *node, value *out,
                             weft_error *error);
/** graph_accumulate.c: one accumulating statement. *capacity is that of graph->accumulations. */
weft_status weft_graph_accumulate(graph_builder *builder, const weft_script_statement *statement,
                                  int *capacity, weft_error *error);
/** graph_update.c: update name = value; the input's memory gets its next value. */
weft_status weft_graph_update(graph_builder *builder, const weft_script_statement *statement,
                              weft_error *error);
/** graph_wishes.c: the script's fuse blocks; and the variant that a statement, which is read, asks
 *  for. Errors WEFT_ERROR_TYPE: the function has no such variant (says which), its value is no
 * call */
weft_status weft_graph_fuses(graph_builder *builder, weft_error *error);
weft_status weft_graph_variant(graph_builder *builder, const weft_script_statement *statement,
                               weft_error *error);
/** graph_live.c: drop calls and data that nothing returned depends on. */
weft_status weft_graph_keep_live(weft_arena *arena, weft_graph *graph, weft_error *error);

/** fusion_levels.c: how many global barriers come before each call. */
void weft_levels_make(const weft_graph *graph, int *level);

/** May a call be computed anew at every row that the rows routine reads its result at? Then both
 *  share a kernel. level [n_calls]: of its operands' producers. */
bool weft_call_folds(const weft_graph *graph, const int *level, int call, int rows);
/** The call that the rows call of this fusion folds in, or -1; the rows call, or -1. */
int weft_fusion_folded(const weft_graph *graph, const weft_fusion *fusion);
int weft_fusion_rows(const weft_graph *graph, const weft_fusion *fusion);

/** implementations.c: is a datum of this fusion needed in memory after its kernel? The whole shape
 * behind an operand. */
bool weft_datum_leaves(const weft_graph *graph, const weft_fusion *fusion, int datum);
/** The datum whose memory a datum lives in: itself, or the input that it updates. */
int weft_datum_storage(const weft_graph *graph, int datum);
weft_shape weft_operand_whole(const weft_graph *graph, const weft_operand *operand);

#endif
