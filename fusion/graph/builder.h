/** A graph under construction. In: the statements of a script. Out: the meaning of each name. */
#pragma once

#include "fusion/graph/graph.h"

enum { TREE_BUCKETS = 256 };

/** Pending arithmetic that was copied into a tree, where it ends in node `root`. */
typedef struct tree_copy {
    const struct tree *source;
    int root;
} tree_copy;

/** Elementwise arithmetic that is not a call yet. */
typedef struct tree {
    weft_arithmetic *nodes;
    int n;
    weft_operand *operands;
    int n_operands;
    weft_shape shape;
    int index_set;
    tree_copy *copies;
    int n_copies;
    /* equal nodes are found by hash: 1 + the last node of each bucket, 0: none; [n] the node before, or -1 */
    int buckets[TREE_BUCKETS], *next;
} tree;

/** The meaning of a name or a subexpression: an operand, or pending arithmetic on uniform values
 *  and constants, which is computed wherever it is used. */
typedef struct weft_lazy_value {
    weft_operand operand; /* valid if arithmetic is NULL */
    tree *arithmetic;
} weft_lazy_value;

typedef struct binding {
    const char *name;
    weft_lazy_value lazy;
    weft_location place;
} binding;

typedef struct weft_graph_builder {
    weft_arena *arena;
    const weft_library *library;
    const weft_script *script;
    weft_graph *graph;
    binding *names;
    int n_names;
    /* [n_values] for lists that could be accumulated into; line 0: not read yet */
    weft_location *first_read;
    int n_first_read;
    const weft_script_statement *statement; /* current statement, or NULL */
    bool keep_apart;                        /* do not merge the next call with an equal one */
    int depth;                              /* of nested inlined expressions */
} weft_graph_builder;

/** fusion/graph/graph.c: add the declarations and statements of builder->script to the graph, but
 *  no returns; builder->names has the meaning of each name. */
weft_status weft_graph_statements(weft_graph_builder *builder, weft_error *error);
const binding *weft_binding_find(const weft_graph_builder *builder, const char *name);
