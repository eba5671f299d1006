/* Parses expressions and conditions, and reads tokens for all parsers of this folder. */
#include "fusion/base/intrinsics.h"
#include "fusion/script/private.h"

#include <stdio.h>
#include <string.h>

/* A node with the height of its tree, whose limit bounds the recursion of all later stages. */
typedef struct parsed_node {
    weft_node node;
    int height;
} parsed_node;

static int height_of(const weft_node *node) {
    return ((const parsed_node *)node)->height;
}

/* ---- operators ---- */

static const struct {
    char op;
    const char *text;
} condition_ops[] = {{COMPARE_LESS_EQUAL, "<="},
                     {COMPARE_GREATER_EQUAL, ">="},
                     {COMPARE_LESS, "<"},
                     {COMPARE_GREATER, ">"},
                     {CONDITION_AND, "and"}};
enum { N_COMPARISONS = 4, N_CONDITION_OPS = 5 };

bool weft_op_compares(char op) {
    for (int i = 0; i < N_COMPARISONS; ++i)
        if (condition_ops[i].op == op)
            return true;
    return false;
}

const char *weft_op_text(char op) {
    static const char *const plain[] = {"+", "-", "*", "/", "^"};
    for (int i = 0; i < N_CONDITION_OPS; ++i)
        if (condition_ops[i].op == op)
            return condition_ops[i].text;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i)
        if (*plain[i] == op)
            return plain[i];
    return "";
}

static char op_of(const char *text) {
    for (int i = 0; i < N_CONDITION_OPS; ++i)
        if (strcmp(condition_ops[i].text, text) == 0)
            return condition_ops[i].op;
    return text[0];
}

bool weft_script_is_conditional(const char *name) {
    const char *instead = weft_formula_instead(name);
    return instead && strncmp(instead, "select(a < b", 12) == 0;
}

/* ---- tokens ---- */

const weft_token *weft_script_token(const script_parser *parser) {
    return &parser->tokens[parser->position];
}

bool weft_script_at(const script_parser *parser, const char *symbol_or_word) {
    const weft_token *token = weft_script_token(parser);
    return (token->kind == TOKEN_SYMBOL || token->kind == TOKEN_NAME) &&
           strcmp(token->text, symbol_or_word) == 0;
}

bool weft_script_accept(script_parser *parser, const char *symbol_or_word) {
    bool there = weft_script_at(parser, symbol_or_word);
    if (there)
        ++parser->position;
    return there;
}

bool weft_script_at_comparison(const script_parser *parser) {
    const weft_token *token = weft_script_token(parser);
    return token->kind == TOKEN_SYMBOL && weft_op_compares(op_of(token->text));
}

/* If a misplaced comparison follows, hint how conditions are written. */
static void hint_condition(const script_parser *parser) {
    if (weft_script_at_comparison(parser) || weft_script_at(parser, "and"))
        weft_error_hint(
            parser->error,
            "a condition is allowed only in select(a < b, x, y): x where a < b, else y");
}

static void token_words(const weft_token *token, char *out, size_t size) {
    if (token->kind == TOKEN_END)
        snprintf(out, size, "the end of the text");
    else
        snprintf(out, size, "'%.*s%s'", 60, token->text, strlen(token->text) > 60 ? "..." : "");
}

/* The place of a missing token: the end of its line, not the first token of the next line. */
static weft_location missing_place(const script_parser *parser) {
    weft_location place = weft_script_token(parser)->place;
    if (parser->position > 0) {
        const weft_token *last = &parser->tokens[parser->position - 1];
        if (last->place.line < place.line) {
            place = last->place;
            place.column += (int)strlen(last->text);
        }
    }
    return place;
}

weft_status weft_script_expect(script_parser *parser, const char *symbol_or_word,
                               const char *what) {
    if (weft_script_accept(parser, symbol_or_word))
        return WEFT_OK;
    char found[80];
    token_words(weft_script_token(parser), found, sizeof found);
    weft_error_at(parser->error, WEFT_ERROR_SYNTAX, missing_place(parser),
                  "expected '%s' %s, found %s", symbol_or_word, what, found);
    hint_condition(parser);
    return WEFT_ERROR_SYNTAX;
}

weft_status weft_script_unexpected(const script_parser *parser, const char *wanted) {
    char found[80];
    token_words(weft_script_token(parser), found, sizeof found);
    weft_error_at(parser->error, WEFT_ERROR_SYNTAX, weft_script_token(parser)->place,
                  "expected %s, found %s", wanted, found);
    hint_condition(parser);
    return WEFT_ERROR_SYNTAX;
}

weft_status weft_script_expect_name(script_parser *parser, const char *what,
                                    const weft_token **out) {
    const weft_token *token = weft_script_token(parser);
    if (token->kind != TOKEN_NAME) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "the name of %s", what);
        return weft_script_unexpected(parser, wanted);
    }
    if (weft_script_reserved(token->text))
        return weft_error_at(parser->error, WEFT_ERROR_SYNTAX, token->place,
                             "expected the name of %s, found the reserved word '%s'", what,
                             token->text);
    ++parser->position;
    *out = token;
    return WEFT_OK;
}

/* ---- nodes ---- */

weft_status weft_script_node_make(script_parser *parser, weft_node_kind kind, weft_location place,
                                  weft_node **out) {
    if (++parser->n_nodes > WEFT_NODES_MAX)
        return weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, place,
                             "the expressions of this script have more than %d parts",
                             WEFT_NODES_MAX);
    parsed_node *parsed = weft_arena_alloc(parser->arena, 1, sizeof *parsed);
    if (!parsed)
        return weft_script_no_memory(parser->error);
    parsed->node.kind = kind;
    parsed->node.place = place;
    parsed->height = 1;
    *out = &parsed->node;
    return WEFT_OK;
}

static weft_status grow_height(const script_parser *parser, weft_node *node,
                               const weft_node *child) {
    parsed_node *parsed = (parsed_node *)node;
    if (parsed->height <= height_of(child))
        parsed->height = height_of(child) + 1;
    if (parsed->height <= WEFT_HEIGHT_MAX)
        return WEFT_OK;
    return weft_error_at(
        parser->error, WEFT_ERROR_UNSUPPORTED, node->place,
        "more than %d operations one after the other: split the expression into several statements",
        WEFT_HEIGHT_MAX);
}

weft_status weft_script_node_add(script_parser *parser, weft_node *node, weft_node *child) {
    weft_status status = WEFT_OK;
    SCRIPT_APPEND(parser, node->children, node->n_children, child);
    status = grow_height(parser, node, child);
done:
    return status;
}

static weft_status add_key(script_parser *parser, weft_node *node, const char *key,
                           weft_node *value) {
    weft_status status = WEFT_OK;
    int n_values = node->n_keys;
    SCRIPT_APPEND(parser, node->key_values, n_values, value);
    SCRIPT_APPEND(parser, node->keys, node->n_keys, key);
    status = grow_height(parser, node, value);
done:
    return status;
}

static weft_status make_binary(script_parser *parser, const weft_token *symbol, weft_node *a,
                               weft_node *b, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *node = NULL;
    TRY(weft_script_node_make(parser, NODE_BINARY, symbol->place, &node));
    node->op = op_of(symbol->text);
    TRY(weft_script_node_add(parser, node, a));
    TRY(weft_script_node_add(parser, node, b));
    *out = node;
done:
    return status;
}

/* ---- the grammar ---- */

static weft_status parse_unary(script_parser *parser, weft_node **out);

static weft_status enter(script_parser *parser) {
    if (++parser->nesting <= WEFT_NESTING_MAX + 1) /* the whole expression has none */
        return WEFT_OK;
    return weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, weft_script_token(parser)->place,
                         "more than %d parentheses, signs or powers inside one another: split the "
                         "expression into several statements",
                         WEFT_NESTING_MAX);
}

static weft_status check_key(const script_parser *parser, const weft_node *call,
                             const weft_token *key) {
    if (weft_name_index(call->keys, call->n_keys, sizeof *call->keys, key->text) >= 0)
        return weft_error_at(parser->error, WEFT_ERROR_SYNTAX, key->place,
                             "'%s' is given twice in this call", key->text);
    if (call->n_keys == WEFT_KEYS_MAX)
        return weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, key->place,
                             "more than %d parameters in one call", WEFT_KEYS_MAX);
    return WEFT_OK;
}

/* The first argument of select is a condition, and so is that of similar functions of other
 * languages: then the error is about the function's name. */
static weft_status parse_first_argument(script_parser *parser, const weft_token *name,
                                        weft_node **out) {
    weft_status status = WEFT_OK;
    const int start = parser->position;
    if (strcmp(name->text, "select") == 0) {
        status = weft_script_parse_condition(parser, out);
        goto done;
    }
    TRY(weft_script_parse_expression(parser, out));
    if (weft_script_is_conditional(name->text) && weft_script_at_comparison(parser)) {
        parser->position = start;
        TRY(weft_script_parse_condition(parser, out));
    }
done:
    return status;
}

/* call: name '(' [sum {',' sum}] {',' name '=' sum} ')'
 * select: 'select' '(' condition ',' sum ',' sum ')' */
static weft_status parse_call(script_parser *parser, const weft_token *name, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *node = NULL, *child = NULL;
    TRY(weft_script_node_make(parser, NODE_CALL, name->place, &node));
    node->name = name->text;
    TRY(weft_script_expect(parser, "(", "after the function's name"));
    for (bool more = !weft_script_at(parser, ")"); more; more = weft_script_accept(parser, ",")) {
        const weft_token *token = weft_script_token(parser);
        const bool condition = node->n_children == 0 && strcmp(name->text, "select") == 0;
        const bool key = !condition && token->kind == TOKEN_NAME && token[1].kind == TOKEN_SYMBOL &&
                         strcmp(token[1].text, "=") == 0;
        if (key) {
            TRY(check_key(parser, node, token));
            parser->position += 2;
        } else if (node->n_keys > 0)
            TRY(weft_error_at(parser->error, WEFT_ERROR_SYNTAX, token->place,
                              "arguments come before '%s = ...'", node->keys[0]));
        TRY(!key && node->n_children == 0 ? parse_first_argument(parser, name, &child)
                                          : weft_script_parse_expression(parser, &child));
        if (key)
            TRY(add_key(parser, node, token->text, child));
        else
            TRY(weft_script_node_add(parser, node, child));
    }
    TRY(weft_script_expect(parser, ")", "to end the arguments"));
    *out = node;
done:
    return status;
}

/* primary: number | name | call | '(' sum ')' */
static weft_status parse_primary(script_parser *parser, weft_node **out) {
    weft_status status = WEFT_OK;
    const weft_token *token = weft_script_token(parser);
    if (weft_script_accept(parser, "(")) {
        TRY(weft_script_parse_expression(parser, out));
        TRY(weft_script_expect(parser, ")", "to close the parenthesis"));
    } else if (token->kind == TOKEN_NUMBER) {
        ++parser->position;
        TRY(weft_script_node_make(parser, NODE_NUMBER, token->place, out));
        (*out)->number = token->number;
        (*out)->integer = token->integer;
    } else if (token->kind == TOKEN_NAME && weft_script_reserved(token->text) &&
               strcmp(token->text, "pi") != 0) {
        status = weft_error_at(parser->error, WEFT_ERROR_SYNTAX, token->place,
                               "expected a value, found the reserved word '%s'", token->text);
    } else if (token->kind == TOKEN_NAME) {
        ++parser->position;
        if (weft_script_at(parser, "("))
            TRY(parse_call(parser, token, out));
        else {
            TRY(weft_script_node_make(parser, NODE_NAME, token->place, out));
            (*out)->name = token->text;
        }
    } else {
        status = weft_script_unexpected(parser, "a value");
    }
done:
    return status;
}

/* postfix: primary {'[' sum {',' sum} ']'} */
static weft_status parse_postfix(script_parser *parser, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *node = NULL, *base = NULL, *child = NULL;
    TRY(parse_primary(parser, &base));
    for (const weft_token *token;
         token = weft_script_token(parser), weft_script_accept(parser, "[");) {
        TRY(weft_script_node_make(parser, NODE_SUBSCRIPT, token->place, &node));
        TRY(weft_script_node_add(parser, node, base));
        do {
            TRY(weft_script_parse_expression(parser, &child));
            TRY(weft_script_node_add(parser, node, child));
        } while (weft_script_accept(parser, ","));
        TRY(weft_script_expect(parser, "]", "after the subscript"));
        base = node;
    }
    *out = base;
done:
    return status;
}

/* power: postfix ['^' unary]      so that 2^-1, 2^3^4 = 2^(3^4) and -x^2 = -(x^2) */
static weft_status parse_power(script_parser *parser, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *base = NULL, *exponent = NULL;
    TRY(parse_postfix(parser, &base));
    const weft_token *token = weft_script_token(parser);
    if (weft_script_accept(parser, "^")) {
        TRY(parse_unary(parser, &exponent));
        TRY(make_binary(parser, token, base, exponent, &base));
    }
    *out = base;
done:
    return status;
}

/* unary: '-' unary | power */
static weft_status parse_unary(script_parser *parser, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *child = NULL;
    const weft_token *token = weft_script_token(parser);
    TRY(enter(parser));
    if (weft_script_accept(parser, "-")) {
        weft_node *node = NULL;
        TRY(parse_unary(parser, &child));
        TRY(weft_script_node_make(parser, NODE_NEGATE, token->place, &node));
        TRY(weft_script_node_add(parser, node, child));
        *out = node;
    } else {
        TRY(parse_power(parser, out));
    }
done:
    --parser->nesting;
    return status;
}

/* operand {symbol operand}, grouped from the left, for either of two symbols */
static weft_status parse_chain(script_parser *parser,
                               weft_status (*operand)(script_parser *, weft_node **),
                               const char *first, const char *second, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *node = NULL, *right = NULL;
    TRY(operand(parser, &node));
    for (const weft_token *token;
         token = weft_script_token(parser),
         weft_script_accept(parser, first) || weft_script_accept(parser, second);) {
        TRY(operand(parser, &right));
        TRY(make_binary(parser, token, node, right, &node));
    }
    *out = node;
done:
    return status;
}

/* product: unary {('*' | '/') unary} */
static weft_status parse_product(script_parser *parser, weft_node **out) {
    return parse_chain(parser, parse_unary, "*", "/", out);
}

/* sum: product {('+' | '-') product} */
weft_status weft_script_parse_expression(script_parser *parser, weft_node **out) {
    return parse_chain(parser, parse_product, "+", "-", out);
}

/* comparison: sum ('<' | '>' | '<=' | '>=') sum */
static weft_status parse_comparison(script_parser *parser, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *left = NULL, *right = NULL;
    TRY(weft_script_parse_expression(parser, &left));
    const weft_token *token = weft_script_token(parser);
    if (!weft_script_at_comparison(parser)) {
        status = weft_script_unexpected(parser, "a comparison: <, >, <= or >=");
        if (weft_script_at(parser, "="))
            weft_error_hint(parser->error, "real numbers are not compared for equality");
        goto done;
    }
    ++parser->position;
    TRY(weft_script_parse_expression(parser, &right));
    if (weft_script_at_comparison(parser)) {
        status = weft_script_unexpected(parser, "'and' between comparisons");
        weft_error_hint(parser->error, "a < b < c is written a < b and b < c");
        goto done;
    }
    TRY(make_binary(parser, token, left, right, out));
done:
    return status;
}

/* condition: comparison {'and' comparison} */
weft_status weft_script_parse_condition(script_parser *parser, weft_node **out) {
    return parse_chain(parser, parse_comparison, "and", "and", out);
}
