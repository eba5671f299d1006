/* String literals: escapes, adjacent literals, f-strings. */
#include "forms/read/private.h"

#include <string.h>

typedef struct ufl_literal {
    const char *start, *end; /* between the quotes */
    bool raw, format;
} ufl_literal;

static ufl_literal open_literal(const ufl_token *token) {
    ufl_literal made = {.start = token->start, .end = token->start + token->length};
    while (*made.start != '"' && *made.start != '\'') {
        made.raw = made.raw || *made.start == 'r' || *made.start == 'R';
        made.format = made.format || *made.start == 'f' || *made.start == 'F';
        ++made.start;
    }
    char quote = *made.start;
    bool triple = made.end - made.start >= 6 && made.start[1] == quote && made.start[2] == quote;
    made.start += triple ? 3 : 1;
    made.end -= triple ? 3 : 1;
    return made;
}

/* The value of a part of a literal: escapes resolved, "{{" read as "{" in a format. */
static ufl_syntax *string_part(ufl_parser *parser, const ufl_literal *literal, const char *start,
                               const char *end, ufl_place place) {
    static const char letters[] = "n\nt\tr\r\\\\'\'\"\"a\ab\bf\fv\v";
    ufl_syntax *node = ufl_syntax_make(parser, UFL_STRING, place);
    char *text = ufl_alloc(parser->context, (size_t)(end - start) + 1, 1);
    if (!node || !text)
        return NULL;
    size_t n = 0;
    for (const char *at = start; at < end; ++at) {
        if (literal->format && (*at == '{' || *at == '}') && at + 1 < end && at[1] == *at)
            ++at;
        if (*at != '\\' || literal->raw || at + 1 == end) {
            text[n++] = *at;
            continue;
        }
        ++at;
        size_t k = 0;
        while (letters[k] && letters[k] != *at)
            k += 2;
        if (letters[k]) {
            text[n++] = letters[k + 1];
        } else if (*at != '\n') {
            text[n++] = '\\';
            text[n++] = *at;
        }
    }
    node->text = text;
    node->length = n;
    return node;
}

static bool refuse_format(ufl_parser *parser, ufl_place place, const char *message) {
    parser->context->place = place;
    ufl_fail(parser->context, WEFT_ERROR_SYNTAX, "%s", message);
    return false;
}

/* The part {expression} of an f-string between two addresses. */
static bool add_expression(ufl_parser *parser, ufl_syntax *node, const char *start, const char *end,
                           ufl_place place) {
    for (const char *c = start; c < end; ++c)
        if (*c == ':' || *c == '!' || *c == '{')
            return refuse_format(parser, place,
                                 "format specifications in f-strings are not supported");
    if (!ufl_enter(parser))
        return false;
    ufl_parser inner = {.context = parser->context, .nesting = parser->nesting};
    inner.tokens = ufl_tokenize(parser->context, start, (size_t)(end - start), place, 1);
    ufl_syntax *expression = inner.tokens ? ufl_parse_expression_list(&inner) : NULL;
    --parser->nesting;
    if (expression && ufl_token_now(&inner)->kind != UFL_TOKEN_END)
        expression = ufl_unexpected(&inner, "'}' of the f-string");
    return ufl_syntax_add(parser, node, expression);
}

/* Append the parts of "text{expression}text" to a format node. */
static bool add_parts(ufl_parser *parser, ufl_syntax *node, const ufl_literal *literal,
                      ufl_place place) {
    const char *at = literal->start, *begin = at;
    while (at < literal->end) {
        if (!literal->format || (*at != '{' && *at != '}')) {
            ++at;
            continue;
        }
        if (at + 1 < literal->end && at[1] == *at) {
            at += 2;
            continue;
        }
        const char *close = memchr(at, '}', (size_t)(literal->end - at));
        if (*at == '}' || !close)
            return refuse_format(parser, place, "a brace of this f-string has no partner");
        if (at > begin &&
            !ufl_syntax_add(parser, node, string_part(parser, literal, begin, at, place)))
            return false;
        if (!add_expression(parser, node, at + 1, close, place))
            return false;
        at = begin = close + 1;
    }
    bool empty = begin == literal->end && begin > literal->start;
    return empty ||
           ufl_syntax_add(parser, node, string_part(parser, literal, begin, literal->end, place));
}

ufl_syntax *ufl_parse_strings(ufl_parser *parser) {
    ufl_syntax *node = ufl_syntax_make(parser, UFL_FORMAT, ufl_token_now(parser)->place);
    if (!node)
        return NULL;
    for (; ufl_token_now(parser)->kind == UFL_TOKEN_STRING; ++parser->at) {
        ufl_literal literal = open_literal(ufl_token_now(parser));
        if (!add_parts(parser, node, &literal, ufl_token_now(parser)->place))
            return NULL;
    }
    bool plain = node->n_items == 1 && node->items[0]->kind == UFL_STRING;
    return plain ? node->items[0] : node;
}
