/** What fusion/script/operators.c (where operators are applied) and fusion/script/operator_inline.c (what their scripts
 * declare) share. */
#pragma once

#include "fusion/script/private.h"

typedef struct script_renaming {
    const char *from, *to;
} script_renaming;

/* The script of one operator and what its declarations are called in ours. */
typedef struct written_operator {
    const weft_operator_choice *choice;
    weft_script *script; /* NULL: not read yet */
    script_renaming *names;
    int n_names;
} written_operator;

typedef struct operator_writer {
    script_parser *parser;
    written_operator *operators;
    int n_operators;
    weft_script_statement *made; /* the statements as they become */
    int n_made;
    int n_splits; /* in what has been written out so far */
} operator_writer;

/** What names[] makes of a name: itself where it is not among them. */
const char *weft_script_renamed(const script_renaming *names, int n, const char *name);
/** A name that nothing has yet: the first of NAME, NAME_1, NAME_2, ... after the prefix. */
weft_status weft_script_fresh_name(script_parser *parser, const char *prefix, const char *name,
                                   const char **out);
weft_status weft_script_declare_name(script_parser *parser, const char *name, weft_location place,
                                     script_name_kind kind);
/** A copy with other names. */
weft_status weft_script_node_copy(script_parser *parser, const weft_node *from,
                                  const script_renaming *names, int n, weft_node **out);
/** Read and check an operator's script; its declarations join ours. */
weft_status weft_script_read_operator(operator_writer *w, written_operator *op);
