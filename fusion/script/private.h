/** What the files that make a script share: the parser, the names declared so far, limits.
 *
 *      fusion/script/script.c              fragments, options, integer expressions
 *      fusion/script/statements.c        statements
 *      fusion/script/loops.c         loops and operators
 *      fusion/script/operators.c     operators whose script is known: written out
 *      fusion/script/operator_inline.c         what such a script declares
 *      fusion/script/expressions.c   expressions
 *      fusion/script/conditions.c    comparisons
 *      fusion/script/names.c        names, reserved words
 *      fusion/script/check.c        what is checked once everything is read
 *      fusion/script/print.c        back to text
 *      fusion/script/outline.c      what a script says, for programs that do not compile it yet */
#pragma once

#include "fusion/base/array.h"
#include "fusion/script/script.h"

enum {
    WEFT_NAME_MAX = 63,         /* characters of a name */
    WEFT_NODES_MAX = 65536,     /* nodes of all expressions of one script */
    WEFT_NESTING_MAX = 200,     /* parentheses, signs and powers inside one another */
    WEFT_LOOPS_MAX = 64,        /* loops of one script */
    WEFT_DEPTH_MAX = 8,         /* loops inside one another */
    WEFT_HEIGHT_MAX = 2000 /* of an expression's tree: a + b + c + ... has one level an operator */
};

typedef enum script_name_kind {
    SCRIPT_INDEX,
    SCRIPT_CONNECTIVITY,
    SCRIPT_INPUT,
    SCRIPT_PARAMETER,
    SCRIPT_EXPRESSION,
    SCRIPT_OPERATOR,
    SCRIPT_ASSIGNED,
    SCRIPT_ACCUMULATED
} script_name_kind;

typedef struct script_name {
    const char *name;
    script_name_kind kind;
    weft_location place; /* of the first one */
    int loop;         /* where it was assigned: a loop, or -1 */
} script_name;

typedef struct script_parser {
    weft_arena *arena;
    weft_script *script;
    script_name *names;
    int n_names;
    const weft_token *tokens; /* of the text being read */
    int position;
    int nesting, n_nodes;
    int fuse;        /* the block being read, from 1, or 0 */
    int loop, depth; /* the loop being read, or -1, and how many it stands in with itself */
    weft_error *error;
} script_parser;

/** fusion/script/directives.c */
weft_status weft_script_parse_split(script_parser *parser);
weft_status weft_script_parse_fuse(script_parser *parser);
/** After 'using', behind the value of a statement. */
weft_status weft_script_parse_using(script_parser *parser, weft_script_statement *statement);
/** " using variant 2", or nothing. */
void weft_script_print_using(const weft_script_statement *statement, weft_text *out);
/** What ends before a statement, or after the last; and what starts before one. */
void weft_script_print_directives_end(const weft_script *script, int statement, weft_text *out);
void weft_script_print_directives_start(const weft_script *script, int statement, weft_text *out);

weft_status weft_script_no_memory(weft_error *error);
/** Read texts into parser->script, which is empty. */
weft_status weft_script_read_texts(script_parser *parser, const weft_fragment *fragments, int n);

/** Append one element to an array of the script; needs `status` and the label done. */
#define SCRIPT_APPEND(parser, array, n, element)                                                   \
    do {                                                                                           \
        void *grown = weft_array_room((parser)->arena, (array), (n), sizeof *(array));             \
        if (!grown) {                                                                              \
            status = weft_script_no_memory((parser)->error);                                       \
            goto done;                                                                             \
        }                                                                                          \
        (array) = grown;                                                                           \
        (array)[(n)++] = (element);                                                                \
    } while (0)

/* ---- reading tokens (fusion/script/expressions.c) ---- */

const weft_token *weft_script_token(const script_parser *parser);
bool weft_script_at(const script_parser *parser, const char *symbol_or_word);
/** Step over the symbol or word if it is there. */
bool weft_script_accept(script_parser *parser, const char *symbol_or_word);
/** Step over it, or fail with "expected ';' after the statement, found 'return'"; what: "after the
 * statement". */
weft_status weft_script_expect(script_parser *parser, const char *symbol_or_word, const char *what);
/** SYNTAX error "expected WANTED, found TOKEN" at the current token. */
weft_status weft_script_unexpected(const script_parser *parser, const char *wanted);
/** A name that is no reserved word; what: "an index set". */
weft_status weft_script_expect_name(script_parser *parser, const char *what,
                                    const weft_token **out);
/** sum, the grammar's start for expressions. */
weft_status weft_script_parse_expression(script_parser *parser, weft_node **out);
/** condition: comparisons joined by `and`. */
weft_status weft_script_parse_condition(script_parser *parser, weft_node **out);
/** Is this what other languages call select, such as if? Its first argument is a condition too. */
bool weft_script_is_conditional(const char *name);
/** Is the current token < > <= or >= ? */
bool weft_script_at_comparison(const script_parser *parser);
/** Where a comparison stands at the current token and must not: say how conditions are written. */
void weft_script_hint_condition(const script_parser *parser);
/** The operator that a token spells. */
char weft_script_op(const char *text);
weft_status weft_script_make_binary(script_parser *parser, const weft_token *symbol, weft_node *a,
                                    weft_node *b, weft_node **out);
/** A node of one's own making. */
weft_status weft_script_node_make(script_parser *parser, weft_node_kind kind, weft_location place,
                                  weft_node **out);

/* ---- statements (fusion/script/statements.c) ---- */

/** All statements up to the end of the text. */
weft_status weft_script_parse_statements(script_parser *parser);
/** One of them. */
weft_status weft_script_parse_statement(script_parser *parser);

/* ---- loops and operators (fusion/script/loops.c, fusion/script/operators.c) ---- */

/** After 'repeat' and 'operator'. */
weft_status weft_script_parse_repeat(script_parser *parser);
weft_status weft_script_parse_operator(script_parser *parser);
/** Calls of apply: each names an operator and takes one list. */
weft_status weft_script_check_applies(const script_parser *parser);
/** Give each apply a statement of its own, NAME = apply(A, LIST), and write out the operators that
 * options have a script for. */
weft_status weft_script_write_operators(script_parser *parser, const weft_compile_options *options);

/* ---- names (fusion/script/names.c) ---- */

const char *weft_script_kind_words(script_name_kind kind); /* "an index set" */
bool weft_script_reserved(const char *name);
script_name *weft_script_find(const script_parser *parser, const char *name);
/** Declare a new name; TYPE error where it exists already. */
weft_status weft_script_declare(script_parser *parser, const weft_token *token,
                                script_name_kind kind);
/** Check that a name is there and of a kind; else TYPE error with the nearest name of that kind. */
weft_status weft_script_require(const script_parser *parser, const weft_token *token,
                                script_name_kind kind);
/** "did you mean 'x'?" where one of n names is near, else "LEAD a, b, c" where lead is not NULL. */
void weft_script_suggest(weft_error *error, const char *name, const char *const *names, size_t n,
                         const char *lead);
/** Names of the statements, for suggestions. */
const char *const *weft_script_statement_words(size_t *n);

/* ---- checks (fusion/script/check.c) ---- */

/** The body of an expression: its arguments, pi, numbers and intrinsics only. */
weft_status weft_script_check_body(const weft_script_expression *expression, weft_error *error);
/** Sizes, widths, parameters of functions, returned names. */
weft_status weft_script_check(const script_parser *parser);
