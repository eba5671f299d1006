/** What the files that make a script share: the parser, the names declared so far, limits.
 *
 *      script.c              fragments, options, integer expressions
 *      script_parse.c        statements
 *      script_expression.c   expressions
 *      script_names.c        names, reserved words, intrinsics
 *      script_check.c        what is checked once everything is read
 *      script_print.c        back to text */
#ifndef SCRIPT_INTERNAL_H
#define SCRIPT_INTERNAL_H

#include "fusion_internal.h"

enum {
    WEFT_TEXT_MAX = 256 * 1024, /* bytes of one text */
    WEFT_NAME_MAX = 63,         /* characters of a name */
    WEFT_NAMES_MAX = 4096,      /* names that one script declares, assigns or returns */
    WEFT_STATEMENTS_MAX = 4096, /* assignments and accumulating stores */
    WEFT_NODES_MAX = 65536,     /* nodes of all expressions of one script */
    WEFT_NESTING_MAX = 200,     /* parentheses, signs and powers inside one another */
    WEFT_HEIGHT_MAX = 2000 /* of an expression's tree: a + b + c + ... has one level an operator */
};

typedef enum script_name_kind {
    SCRIPT_INDEX,
    SCRIPT_CONNECTIVITY,
    SCRIPT_INPUT,
    SCRIPT_PARAMETER,
    SCRIPT_EXPRESSION,
    SCRIPT_ASSIGNED,
    SCRIPT_ACCUMULATED
} script_name_kind;

typedef struct script_name {
    const char *name;
    script_name_kind kind;
    weft_place place; /* of the first one */
} script_name;

typedef struct script_parser {
    weft_arena *arena;
    weft_script *script;
    script_name *names;
    int n_names;
    const weft_token *tokens; /* of the text being read */
    int position;
    int nesting, n_nodes;
    weft_error *error;
} script_parser;

weft_status script_no_memory(weft_error *error);
/** Room for one more element in an array of the arena that has n; NULL: no memory. */
void *script_grow(weft_arena *arena, void *array, int n, size_t size);

/* ---- reading tokens (script_expression.c) ---- */

const weft_token *script_token(const script_parser *parser);
bool script_at(const script_parser *parser, const char *symbol_or_word);
/** Step over the symbol or word if it is there. */
bool script_accept(script_parser *parser, const char *symbol_or_word);
/** Step over it, or fail with "expected ';' after the statement, found 'return'"; what: "after the
 * statement". */
weft_status script_expect(script_parser *parser, const char *symbol_or_word, const char *what);
/** SYNTAX error "expected WANTED, found TOKEN" at the current token. */
weft_status script_unexpected(const script_parser *parser, const char *wanted);
/** A name that is no reserved word; what: "an index set". */
weft_status script_expect_name(script_parser *parser, const char *what, const weft_token **out);
/** sum, the grammar's start for expressions. */
weft_status script_parse_expression(script_parser *parser, weft_node **out);

/* ---- statements (script_parse.c) ---- */

/** All statements up to the end of the text. */
weft_status script_parse_statements(script_parser *parser);

/* ---- names (script_names.c) ---- */

const char *script_kind_words(script_name_kind kind); /* "an index set" */
bool script_reserved(const char *name);
script_name *script_find(const script_parser *parser, const char *name);
/** Declare a new name; TYPE error where it exists already. */
weft_status script_declare(script_parser *parser, const weft_token *token, script_name_kind kind);
/** Check that a name is there and of a kind; else TYPE error with the nearest name of that kind. */
weft_status script_require(const script_parser *parser, const weft_token *token,
                           script_name_kind kind);
/** "did you mean 'x'?" where one of n names is near, else "LEAD a, b, c" where lead is not NULL. */
void script_suggest(weft_error *error, const char *name, const char *const *names, size_t n,
                    const char *lead);
/** Names of the statements, for suggestions. */
const char *const *script_statement_words(size_t *n);
/** Arguments that an intrinsic (sqrt, min, ...) takes, or 0. */
int script_intrinsic_arguments(const char *name);
const char *const *script_intrinsics(size_t *n);

/* ---- checks (script_check.c) ---- */

/** The body of an expression: its arguments, pi, numbers and intrinsics only. */
weft_status script_check_body(const weft_script_expression *expression, weft_error *error);
/** Sizes, widths, parameters of functions, returned names. */
weft_status script_check(const script_parser *parser);

#endif
