/** Reads the text of a form file.
 *  In: UTF-8 text, with or without byte order mark, any line ends. Out: a syntax tree in the arena, or
 *  the first error with its place.
 *  The language is a part of Python: assignments, def, for, if, import, del, return, pass, break,
 *  continue and expressions; statements outside it are refused by name.
 *
 *      tokens.c       text to tokens, with indentation
 *      statements.c   statements
 *      expressions.c  expressions, by precedence
 *      strings.c      string literals and f-strings */
#pragma once

#include "forms/base/base.h"

typedef enum ufl_syntax_kind {
    /* statements */
    UFL_BLOCK,      /* items: statements */
    UFL_EXPRESSION, /* items[0] */
    UFL_ASSIGN,     /* items: value, targets from left to right */
    UFL_AUGMENT,    /* items: target, value; text: "+" of "+=" */
    UFL_DEF,        /* text: name; items: body, parameters (UFL_PARAMETER) */
    UFL_RETURN,     /* items: value, or none */
    UFL_FOR,        /* items: target, sequence, body */
    UFL_IF,         /* items: condition, block, optionally other block */
    UFL_PASS,
    UFL_BREAK,
    UFL_CONTINUE,
    UFL_DEL,    /* items: targets */
    UFL_IMPORT, /* text: module; name: what it is bound to, or NULL */
    UFL_FROM,   /* text: module; items: UFL_NAME with text and name ("as"), none: "*" */
    /* expressions */
    UFL_INTEGER,
    UFL_REAL_NUMBER,
    UFL_STRING, /* text, length */
    UFL_FORMAT, /* f-string; items: strings and expressions */
    UFL_NAME,   /* text */
    UFL_TRUE,
    UFL_FALSE,
    UFL_NONE,
    UFL_ELLIPSIS,
    UFL_TUPLE,
    UFL_LIST,
    UFL_DICT,          /* items: key, value, key, value, ... */
    UFL_SUBSCRIPT,     /* items: value, index */
    UFL_SLICE,         /* items: first, last, step; NULL where left out */
    UFL_ATTRIBUTE,     /* items[0]; text */
    UFL_CALL,          /* items: function, arguments; UFL_KEYWORD and UFL_STARRED among them */
    UFL_KEYWORD,       /* text = items[0] */
    UFL_STARRED,       /* *items[0] */
    UFL_UNARY,         /* text: "-", "+", "not"; items[0] */
    UFL_BINARY,        /* text: "+", ...; items[0], items[1] */
    UFL_LOGICAL,       /* text: "and", "or"; items[0], items[1] */
    UFL_COMPARISON,    /* items: operands; operators[k] between k and k + 1 */
    UFL_CHOICE,        /* items[1] if items[0] else items[2] */
    UFL_COMPREHENSION, /* items: element, then target, sequence, condition for each "for" */
    UFL_LAMBDA,        /* items: body, parameters */
    UFL_PARAMETER      /* text; items[0]: default value, if any */
} ufl_syntax_kind;

typedef struct ufl_syntax {
    ufl_syntax_kind kind;
    ufl_place place;
    const char *text, *name;
    size_t length; /* of a string */
    union {
        int64_t integer;
        double number;
    };
    struct ufl_syntax **items;
    int n_items;
    const char **operators;
} ufl_syntax;

/** Parse a whole file.
 *  Errors  WEFT_ERROR_SYNTAX, WEFT_ERROR_UNSUPPORTED (refused by name), WEFT_ERROR_INPUT (not text,
 *          too long) */
const ufl_syntax *ufl_read(ufl_context *context, const char *text, size_t length);
/** Parse one expression that fills the text, such as the repr of a form.
 *  place  of the text's first character in the file */
const ufl_syntax *ufl_read_expression(ufl_context *context, const char *text, size_t length,
                                      ufl_place place);
