/* Parses expressions by precedence. */
#include "core/base/number.h"
#include "forms/read/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Binary operators from the weakest on; "**" is read with the postfix operators. */
static const struct {
    const char *symbol;
    int level;
} binary[] = {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4}, {"+", 5},
              {"-", 5}, {"*", 6}, {"/", 6}, {"//", 6}, {"%", 6},  {"@", 6}};
enum { N_BINARY = sizeof binary / sizeof binary[0], LEVEL_TOP = 7 };

static ufl_syntax *parse_unary(ufl_parser *parser);
static ufl_syntax *parse_logical(ufl_parser *parser, const char *word);

static void *refuse(ufl_parser *parser, ufl_place place, const char *what) {
    parser->context->place = place;
    return ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED, "%s is not supported in form files",
                    what);
}

/* A node of one operand, or of two where b is not NULL. */
static ufl_syntax *join(ufl_parser *parser, ufl_syntax_kind kind, ufl_place place, const char *text,
                        ufl_syntax *a, ufl_syntax *b) {
    ufl_syntax *node = ufl_syntax_make(parser, kind, place);
    if (!node || !ufl_syntax_add(parser, node, a) || (b && !ufl_syntax_add(parser, node, b)))
        return NULL;
    node->text = text;
    return node;
}

static ufl_syntax *parse_number(ufl_parser *parser) {
    const ufl_token *token = ufl_token_now(parser);
    bool is_float = token->kind == UFL_TOKEN_FLOAT;
    ufl_syntax *node =
        ufl_syntax_make(parser, is_float ? UFL_REAL_NUMBER : UFL_INTEGER, token->place);
    char digits[400];
    size_t n = 0;
    if (!node)
        return NULL;
    parser->context->place = token->place;
    if (token->length >= sizeof digits)
        return ufl_fail(parser->context, WEFT_ERROR_SYNTAX, "this number has too many digits");
    for (size_t i = 0; i < token->length; ++i)
        if (token->start[i] != '_')
            digits[n++] = token->start[i];
    digits[n] = '\0';
    errno = 0;
    if (is_float)
        node->number = weft_number_read(digits, NULL);
    else
        node->integer = strtoll(digits, NULL, 10);
    if (errno == ERANGE && !is_float)
        return ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED,
                        "integers of form files have at most 18 digits");
    ++parser->at;
    return node;
}

/* comprehension: ('for' targets 'in' or_test ['if' or_test])+ */
static ufl_syntax *parse_comprehension(ufl_parser *parser, ufl_syntax *element) {
    ufl_syntax *node = join(parser, UFL_COMPREHENSION, element->place, NULL, element, NULL);
    while (node && ufl_accept(parser, "for")) {
        if (!ufl_syntax_add(parser, node, ufl_parse_targets(parser)) ||
            !ufl_expect(parser, "in", "after the names of a comprehension") ||
            !ufl_syntax_add(parser, node, parse_logical(parser, "or")))
            return NULL;
        ufl_syntax *condition = ufl_syntax_make(parser, UFL_TRUE, element->place);
        while (condition && ufl_at(parser, "if")) {
            ufl_place place = ufl_token_now(parser)->place;
            ++parser->at;
            ufl_syntax *next = parse_logical(parser, "or");
            condition = next ? join(parser, UFL_LOGICAL, place, "and", condition, next) : NULL;
        }
        if (!ufl_syntax_add(parser, node, condition))
            return NULL;
    }
    return node;
}

/* An item of a list or an argument of a call. */
static ufl_syntax *parse_item(ufl_parser *parser) {
    ufl_syntax *item = ufl_parse_expression(parser);
    return item && ufl_at(parser, "for") ? parse_comprehension(parser, item) : item;
}

/* Items up to a closing bracket, separated by commas. */
static bool parse_items(ufl_parser *parser, ufl_syntax *node, const char *close, bool *comma) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, "',' or '%s'", close);
    *comma = false;
    while (!ufl_at(parser, close)) {
        if (ufl_at(parser, "*"))
            return refuse(parser, ufl_token_now(parser)->place, "'*' in a list") != NULL;
        if (!ufl_syntax_add(parser, node, parse_item(parser)))
            return false;
        *comma = ufl_accept(parser, ",");
        if (!*comma && !ufl_at(parser, close)) {
            ufl_unexpected(parser, wanted);
            return false;
        }
    }
    ++parser->at;
    return true;
}

static ufl_syntax *parse_bracket(ufl_parser *parser) {
    bool round = ufl_at(parser, "("), comma = false;
    ufl_syntax *node =
        ufl_syntax_make(parser, round ? UFL_TUPLE : UFL_LIST, ufl_token_now(parser)->place);
    ++parser->at;
    if (!node || !ufl_enter(parser) || !parse_items(parser, node, round ? ")" : "]", &comma))
        return NULL;
    --parser->nesting;
    bool one = node->n_items == 1 && !comma;
    bool alone = one && (round || node->items[0]->kind == UFL_COMPREHENSION);
    return alone ? node->items[0] : node;
}

static ufl_syntax *parse_dict(ufl_parser *parser) {
    ufl_syntax *node = ufl_syntax_make(parser, UFL_DICT, ufl_token_now(parser)->place);
    ++parser->at;
    if (!node || !ufl_enter(parser))
        return NULL;
    while (!ufl_at(parser, "}")) {
        if (!ufl_syntax_add(parser, node, ufl_parse_expression(parser)) ||
            !ufl_expect(parser, ":", "after the key of a dictionary") ||
            !ufl_syntax_add(parser, node, ufl_parse_expression(parser)))
            return NULL;
        if (!ufl_accept(parser, ",") && !ufl_at(parser, "}"))
            return ufl_unexpected(parser, "',' or '}'");
    }
    ++parser->at;
    --parser->nesting;
    return node;
}

/* An operand: a literal, a name or a bracket. */
static ufl_syntax *parse_atom(ufl_parser *parser) {
    static const struct {
        const char *word;
        ufl_syntax_kind kind;
    } words[] = {
        {"True", UFL_TRUE}, {"False", UFL_FALSE}, {"None", UFL_NONE}, {"...", UFL_ELLIPSIS}};
    const ufl_token *token = ufl_token_now(parser);
    if (token->kind == UFL_TOKEN_INTEGER || token->kind == UFL_TOKEN_FLOAT)
        return parse_number(parser);
    if (token->kind == UFL_TOKEN_COMPLEX) {
        parser->context->place = token->place;
        ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED, "complex numbers are not supported");
        return ufl_hint(parser->context, "Weft computes with real numbers: write the real and the "
                                         "imaginary part as two functions of a mixed space");
    }
    if (token->kind == UFL_TOKEN_STRING)
        return ufl_parse_strings(parser);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (ufl_accept(parser, words[i].word))
            return ufl_syntax_make(parser, words[i].kind, token->place);
    if (ufl_at(parser, "(") || ufl_at(parser, "["))
        return parse_bracket(parser);
    if (ufl_at(parser, "{"))
        return parse_dict(parser);
    if (ufl_at(parser, "yield") || ufl_at(parser, "await")) {
        char what[32];
        snprintf(what, sizeof what, "'%.*s'", (int)token->length, token->start);
        return refuse(parser, token->place, what);
    }
    if (token->kind != UFL_TOKEN_NAME || ufl_is_reserved(token))
        return ufl_unexpected(parser, "an expression");
    ufl_syntax *node = ufl_syntax_make(parser, UFL_NAME, token->place);
    if (node)
        node->text = ufl_expect_name(parser, "a name");
    return node && node->text ? node : NULL;
}

static ufl_syntax *parse_argument(ufl_parser *parser) {
    const ufl_token *token = ufl_token_now(parser);
    if (ufl_at(parser, "**"))
        return refuse(parser, token->place, "'**' in a call");
    if (ufl_accept(parser, "*")) {
        ufl_syntax *list = ufl_parse_expression(parser);
        return list ? join(parser, UFL_STARRED, token->place, NULL, list, NULL) : NULL;
    }
    if (token->kind == UFL_TOKEN_NAME && ufl_token_is(token + 1, "=")) {
        const char *name = ufl_expect_name(parser, "the name of an argument");
        ++parser->at;
        ufl_syntax *value = name ? ufl_parse_expression(parser) : NULL;
        return value ? join(parser, UFL_KEYWORD, token->place, name, value, NULL) : NULL;
    }
    return parse_item(parser);
}

/* The arguments of a call, at its "(". */
static ufl_syntax *parse_call(ufl_parser *parser, ufl_syntax *function) {
    ufl_syntax *node = join(parser, UFL_CALL, function->place, NULL, function, NULL);
    ++parser->at;
    if (!node || !ufl_enter(parser))
        return NULL;
    while (!ufl_at(parser, ")")) {
        if (!ufl_syntax_add(parser, node, parse_argument(parser)))
            return NULL;
        if (!ufl_accept(parser, ",") && !ufl_at(parser, ")"))
            return ufl_unexpected(parser, "',' or ')' after an argument");
    }
    ++parser->at;
    --parser->nesting;
    return node;
}

/* One index: an expression or first:last:step. */
static ufl_syntax *parse_index(ufl_parser *parser) {
    ufl_place place = ufl_token_now(parser)->place;
    ufl_syntax *parts[3] = {NULL, NULL, NULL};
    int n = 0;
    for (;; ++n) {
        if (!ufl_at(parser, ":") && !ufl_at(parser, ",") && !ufl_at(parser, "]")) {
            parts[n] = ufl_parse_expression(parser);
            if (!parts[n])
                return NULL;
        }
        if (n == 2 || !ufl_accept(parser, ":"))
            break;
    }
    if (n == 0)
        return parts[0] ? parts[0] : ufl_unexpected(parser, "an index");
    ufl_syntax *node = ufl_syntax_make(parser, UFL_SLICE, place);
    ufl_syntax **items = ufl_alloc(parser->context, 3, sizeof *items);
    if (!node || !items)
        return NULL;
    memcpy(items, parts, sizeof parts);
    node->items = items;
    node->n_items = 3;
    return node;
}

static ufl_syntax *parse_subscript(ufl_parser *parser, ufl_syntax *value) {
    ufl_place place = ufl_token_now(parser)->place;
    ++parser->at;
    if (!ufl_enter(parser))
        return NULL;
    ufl_syntax *index = parse_index(parser);
    if (index && ufl_at(parser, ",")) {
        ufl_syntax *tuple = join(parser, UFL_TUPLE, place, NULL, index, NULL);
        while (tuple && ufl_accept(parser, ",") && !ufl_at(parser, "]"))
            if (!ufl_syntax_add(parser, tuple, parse_index(parser)))
                return NULL;
        index = tuple;
    }
    if (!index || !ufl_expect(parser, "]", "after the index"))
        return NULL;
    --parser->nesting;
    return join(parser, UFL_SUBSCRIPT, value->place, NULL, value, index);
}

static ufl_syntax *parse_attribute(ufl_parser *parser, ufl_syntax *value) {
    ++parser->at;
    ufl_place place = ufl_token_now(parser)->place;
    const char *name = ufl_expect_name(parser, "the name of an attribute");
    return name ? join(parser, UFL_ATTRIBUTE, place, name, value, NULL) : NULL;
}

/* postfix: atom (call | subscript | '.' name)* ['**' unary] */
static ufl_syntax *parse_postfix(ufl_parser *parser) {
    ufl_syntax *node = parse_atom(parser);
    for (int chain = 0; node; ++chain) {
        ufl_place place = ufl_token_now(parser)->place;
        if (chain > UFL_NESTING_MAX) {
            parser->context->place = place;
            return ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED,
                            "more than %d calls and indices in a row", UFL_NESTING_MAX);
        }
        if (ufl_at(parser, "(")) {
            node = parse_call(parser, node);
        } else if (ufl_at(parser, "[")) {
            node = parse_subscript(parser, node);
        } else if (ufl_at(parser, ".")) {
            node = parse_attribute(parser, node);
        } else if (ufl_accept(parser, "**")) {
            if (!ufl_enter(parser))
                return NULL;
            ufl_syntax *exponent = parse_unary(parser);
            --parser->nesting;
            return exponent ? join(parser, UFL_BINARY, place, "**", node, exponent) : NULL;
        } else {
            break;
        }
    }
    return node;
}

static ufl_syntax *parse_unary(ufl_parser *parser) {
    ufl_place place = ufl_token_now(parser)->place;
    const char *sign = ufl_at(parser, "-") ? "-" : ufl_at(parser, "+") ? "+" : NULL;
    if (ufl_at(parser, "~"))
        return refuse(parser, place, "'~'");
    if (!sign)
        return parse_postfix(parser);
    ++parser->at;
    if (!ufl_enter(parser))
        return NULL;
    ufl_syntax *operand = parse_unary(parser);
    --parser->nesting;
    return operand ? join(parser, UFL_UNARY, place, sign, operand, NULL) : NULL;
}

static int binary_row(const ufl_parser *parser) {
    for (int i = 0; i < N_BINARY; ++i)
        if (ufl_at(parser, binary[i].symbol))
            return i;
    return -1;
}

/* Operands joined by operators of at least a level. */
static ufl_syntax *parse_binary(ufl_parser *parser, int level) {
    ufl_syntax *left = parse_unary(parser);
    for (int length = 0; left && level < LEVEL_TOP; ++length) {
        int row = binary_row(parser);
        if (row < 0 || binary[row].level < level)
            break;
        ufl_place place = ufl_token_now(parser)->place;
        if (length >= UFL_DEPTH_MAX) {
            parser->context->place = place;
            return ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED,
                            "an expression has more than %d operators in a row", UFL_DEPTH_MAX);
        }
        ++parser->at;
        ufl_syntax *right = parse_binary(parser, binary[row].level + 1);
        left = right ? join(parser, UFL_BINARY, place, binary[row].symbol, left, right) : NULL;
    }
    return left;
}

/* The comparison operator here, or NULL; steps over it. */
static const char *accept_comparison(ufl_parser *parser) {
    static const char *const symbols[] = {"<", ">", "<=", ">=", "==", "!=", "in"};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; ++i)
        if (ufl_accept(parser, symbols[i]))
            return symbols[i];
    if (ufl_at(parser, "not") && ufl_token_is(ufl_token_now(parser) + 1, "in")) {
        parser->at += 2;
        return "not in";
    }
    if (ufl_accept(parser, "is"))
        return ufl_accept(parser, "not") ? "is not" : "is";
    return NULL;
}

static ufl_syntax *parse_comparison(ufl_parser *parser) {
    ufl_syntax *first = parse_binary(parser, 1), *node = NULL;
    const char *symbol = NULL;
    ufl_place place = ufl_token_now(parser)->place;
    while (first && (symbol = accept_comparison(parser))) {
        node = node ? node : join(parser, UFL_COMPARISON, place, NULL, first, NULL);
        if (!node)
            return NULL;
        size_t n = (size_t)node->n_items - 1;
        node->operators = ufl_grow(parser->context, node->operators, n, sizeof *node->operators);
        if (!node->operators)
            return NULL;
        node->operators[n] = symbol;
        if (!ufl_syntax_add(parser, node, parse_binary(parser, 1)))
            return NULL;
    }
    return node ? node : first;
}

static ufl_syntax *parse_not(ufl_parser *parser) {
    ufl_place place = ufl_token_now(parser)->place;
    if (!ufl_accept(parser, "not"))
        return parse_comparison(parser);
    if (!ufl_enter(parser))
        return NULL;
    ufl_syntax *operand = parse_not(parser);
    --parser->nesting;
    return operand ? join(parser, UFL_UNARY, place, "not", operand, NULL) : NULL;
}

/* or_test: operands joined by "or", these by "and". */
static ufl_syntax *parse_logical(ufl_parser *parser, const char *word) {
    bool is_or = strcmp(word, "or") == 0;
    ufl_syntax *left = is_or ? parse_logical(parser, "and") : parse_not(parser);
    for (int length = 0; left && ufl_at(parser, word); ++length) {
        ufl_place place = ufl_token_now(parser)->place;
        if (length >= UFL_NESTING_MAX)
            return ufl_unexpected(parser, "the end of a long condition");
        ++parser->at;
        ufl_syntax *right = is_or ? parse_logical(parser, "and") : parse_not(parser);
        left = right ? join(parser, UFL_LOGICAL, place, word, left, right) : NULL;
    }
    return left;
}

static ufl_syntax *parse_lambda(ufl_parser *parser, ufl_place place) {
    ufl_syntax *list = ufl_syntax_make(parser, UFL_TUPLE, place);
    if (!list || !ufl_parse_parameters(parser, list, ":") ||
        !ufl_expect(parser, ":", "after the parameters of lambda"))
        return NULL;
    ufl_syntax *body = ufl_parse_expression(parser);
    ufl_syntax *node = body ? join(parser, UFL_LAMBDA, place, NULL, body, NULL) : NULL;
    for (int i = 0; node && i < list->n_items; ++i)
        if (!ufl_syntax_add(parser, node, list->items[i]))
            return NULL;
    return node;
}

/* value 'if' condition 'else' other, after the value. */
static ufl_syntax *parse_choice(ufl_parser *parser, ufl_syntax *value) {
    ufl_syntax *condition = parse_logical(parser, "or");
    if (!condition || !ufl_expect(parser, "else", "after the condition of this expression"))
        return NULL;
    ufl_syntax *node = join(parser, UFL_CHOICE, value->place, NULL, condition, value);
    return node && ufl_syntax_add(parser, node, ufl_parse_expression(parser)) ? node : NULL;
}

/* expression: lambda | or_test ['if' or_test 'else' expression] */
ufl_syntax *ufl_parse_expression(ufl_parser *parser) {
    ufl_place place = ufl_token_now(parser)->place;
    if (!ufl_enter(parser))
        return NULL;
    ufl_syntax *value = NULL;
    if (ufl_accept(parser, "lambda")) {
        value = parse_lambda(parser, place);
    } else {
        value = parse_logical(parser, "or");
        if (value && ufl_accept(parser, "if"))
            value = parse_choice(parser, value);
        if (value && ufl_at(parser, ":="))
            value = refuse(parser, ufl_token_now(parser)->place, "':='");
    }
    --parser->nesting;
    return value;
}

/* More expressions after a first one: a tuple. */
static ufl_syntax *parse_tuple(ufl_parser *parser, ufl_syntax *first,
                               ufl_syntax *(*next)(ufl_parser *)) {
    static const char *const ends[] = {"=", ")", ";", "in", "]", ":", "}"};
    if (!first || !ufl_at(parser, ","))
        return first;
    ufl_syntax *tuple = join(parser, UFL_TUPLE, first->place, NULL, first, NULL);
    while (tuple && ufl_accept(parser, ",")) {
        const ufl_token *token = ufl_token_now(parser);
        bool ended = token->kind == UFL_TOKEN_NEWLINE || token->kind == UFL_TOKEN_END;
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i)
            ended = ended || ufl_token_is(token, ends[i]);
        if (ended)
            break;
        if (!ufl_syntax_add(parser, tuple, next(parser)))
            return NULL;
    }
    return tuple;
}

ufl_syntax *ufl_parse_expression_list(ufl_parser *parser) {
    return parse_tuple(parser, ufl_parse_expression(parser), ufl_parse_expression);
}

ufl_syntax *ufl_parse_targets(ufl_parser *parser) {
    return parse_tuple(parser, parse_postfix(parser), parse_postfix);
}
