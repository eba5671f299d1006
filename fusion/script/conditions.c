/* Parses the conditions of loops and of select: comparisons joined by `and`. */
#include "fusion/base/intrinsics.h"
#include "fusion/script/private.h"

#include <string.h>

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

char weft_script_op(const char *text) {
    for (int i = 0; i < N_CONDITION_OPS; ++i)
        if (strcmp(condition_ops[i].text, text) == 0)
            return condition_ops[i].op;
    return text[0];
}

bool weft_script_is_conditional(const char *name) {
    const char *instead = weft_formula_instead(name);
    return instead && strncmp(instead, "select(a < b", 12) == 0;
}

bool weft_script_at_comparison(const script_parser *parser) {
    const weft_token *token = weft_script_token(parser);
    return token->kind == TOKEN_SYMBOL && weft_op_compares(weft_script_op(token->text));
}

void weft_script_hint_condition(const script_parser *parser) {
    if (weft_script_at_comparison(parser) || weft_script_at(parser, "and"))
        weft_error_hint(parser->error,
                        "a condition is allowed only in select(a < b, x, y): x where a < b, "
                        "else y");
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
    TRY(weft_script_make_binary(parser, token, left, right, out));
done:
    return status;
}

/* condition: comparison {'and' comparison} */
weft_status weft_script_parse_condition(script_parser *parser, weft_node **out) {
    return weft_script_parse_chain(parser, parse_comparison, "and", "and", out);
}
