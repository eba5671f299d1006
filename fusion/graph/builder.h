/** A graph under construction. In: the statements of a script. Out: what each name stands for. */
#pragma once

#include "fusion/graph/graph.h"

/** Elementwise arithmetic not yet made a call. */
typedef struct tree {
    weft_arithmetic *nodes;
    int n, capacity;
    weft_operand *operands;
    int n_operands, operand_capacity;
    weft_shape shape;
    int index_set;
} tree;

/** What a name or a subexpression stands for: a value seen some way, or arithmetic on uniforms
 *  and constants that is computed wherever it is used. */
typedef struct weft_lazy_value {
    weft_operand operand; /* when arithmetic is NULL */
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
    int value_capacity, call_capacity;
    binding *names;
    int n_names, name_capacity;
    weft_location *first_read; /* [n_values], of lists that could be accumulated into; line 0:
                                  never */
    int first_read_capacity;
    const weft_script_statement *statement; /* being read, or NULL */
    bool keep_apart;                        /* the next call is not merged with an equal one */
    int depth;                              /* of expressions inlined in expressions */
} weft_graph_builder;

/** fusion/graph/graph.c: the graph of builder->script's statements, nothing returned yet: builder->names says
 *  what each name stands for. */
weft_status weft_graph_statements(weft_graph_builder *builder, weft_error *error);
const binding *weft_binding_find(const weft_graph_builder *builder, const char *name);
