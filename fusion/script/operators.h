/** Inlining of operator scripts: shared by operators.c (applications) and operator_inline.c
 *  (declarations). */
#pragma once

#include "fusion/script/private.h"

typedef struct script_renaming {
    const char *from, *to;
} script_renaming;

/* The script of one operator, and the names of its declarations in the main script. */
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
    weft_script_statement *made; /* resulting statements */
    int n_made;
    int n_splits; /* in the operator scripts inlined so far */
} operator_writer;

/** The new name of a name by names[]; the name itself if it is not listed. */
const char *weft_script_renamed(const script_renaming *names, int n, const char *name);
/** An unused name: prefix, then the first free one of NAME, NAME_1, NAME_2, ... */
weft_status weft_script_fresh_name(script_parser *parser, const char *prefix, const char *name,
                                   const char **out);
weft_status weft_script_declare_name(script_parser *parser, const char *name, weft_location place,
                                     script_name_kind kind);
/** Copy an expression with names replaced. */
weft_status weft_script_node_copy(script_parser *parser, const weft_node *from,
                                  const script_renaming *names, int n, weft_node **out);
/** Read and check an operator's script, and add its declarations to the main script. */
weft_status weft_script_read_operator(operator_writer *w, written_operator *op);
