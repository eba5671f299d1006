/** Shared by the files of this folder: tokens and the parser. */
#pragma once

#include "forms/read/read.h"

typedef enum ufl_token_kind {
    UFL_TOKEN_NAME,
    UFL_TOKEN_INTEGER,
    UFL_TOKEN_FLOAT,
    UFL_TOKEN_COMPLEX, /* refused by the parser, after the imports */
    UFL_TOKEN_STRING,  /* with prefix and quotes */
    UFL_TOKEN_SYMBOL,
    UFL_TOKEN_NEWLINE,
    UFL_TOKEN_INDENT,
    UFL_TOKEN_DEDENT,
    UFL_TOKEN_END
} ufl_token_kind;

typedef struct ufl_token {
    ufl_token_kind kind;
    const char *start;
    size_t length;
    ufl_place place;
} ufl_token;

typedef struct ufl_parser {
    ufl_context *context;
    const ufl_token *tokens;
    int at;
    int nesting;          /* brackets, blocks and operators that are open */
    int functions, loops; /* that contain the current statement */
} ufl_parser;

/** All tokens of a text, ended by UFL_TOKEN_END.
 *  place     of the first character
 *  brackets  how many brackets are open at the start: above 0 there are no lines, no indentation */
const ufl_token *ufl_tokenize(ufl_context *context, const char *text, size_t length,
                              ufl_place place, int brackets);

/* ---- the parser: NULL after an error ---- */

const ufl_token *ufl_token_now(const ufl_parser *parser);
bool ufl_token_is(const ufl_token *token, const char *word);
bool ufl_at(const ufl_parser *parser, const char *word);
bool ufl_accept(ufl_parser *parser, const char *word);
/** Step over the word, or fail: "expected ')' after the arguments, found 'x'". */
bool ufl_expect(ufl_parser *parser, const char *word, const char *where);
void *ufl_unexpected(ufl_parser *parser, const char *wanted);
/** A name that is not a reserved word, copied; NULL and an error otherwise. */
const char *ufl_expect_name(ufl_parser *parser, const char *what);
bool ufl_is_reserved(const ufl_token *token);
/** Count one more level of nesting; false and an error at the limit. */
bool ufl_enter(ufl_parser *parser);
ufl_syntax *ufl_syntax_make(ufl_parser *parser, ufl_syntax_kind kind, ufl_place place);
/** Append an item; false after an error or if the item is NULL. */
bool ufl_syntax_add(ufl_parser *parser, ufl_syntax *node, ufl_syntax *item);

ufl_syntax *ufl_parse_expression(ufl_parser *parser);      /* no commas */
ufl_syntax *ufl_parse_expression_list(ufl_parser *parser); /* commas make a tuple */
/** Targets of for: names, tuples, subscripts; ends before "in". */
ufl_syntax *ufl_parse_targets(ufl_parser *parser);
/** Parameters up to the token `end`, which is not consumed, appended to node. */
bool ufl_parse_parameters(ufl_parser *parser, ufl_syntax *node, const char *end);
/** Adjacent string tokens as one UFL_STRING or UFL_FORMAT. */
ufl_syntax *ufl_parse_strings(ufl_parser *parser);
