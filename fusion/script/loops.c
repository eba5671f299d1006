/* Parses loops and operator declarations, and makes the checks that do not need types. */
#include "fusion/script/private.h"

#include <string.h>

static weft_status loop_start(script_parser *parser, const weft_token *word, int *out) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    if (script->n_loops == WEFT_LOOPS_MAX || parser->depth == WEFT_DEPTH_MAX) {
        bool many = script->n_loops == WEFT_LOOPS_MAX;
        status =
            weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, word->place,
                          many ? "more than %d loops" : "more than %d loops inside one another",
                          many ? WEFT_LOOPS_MAX : WEFT_DEPTH_MAX);
        goto done;
    }
    weft_script_loop loop = {
        .first = script->n_statements, .parent = parser->loop, .place = word->place};
    *out = script->n_loops;
    SCRIPT_APPEND(parser, script->loops, script->n_loops, loop);
done:
    return status;
}

/* The statements of a loop, up to the closing brace. */
static weft_status loop_body(script_parser *parser, int loop) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const int outside = parser->loop;
    parser->loop = loop;
    ++parser->depth;
    while (!weft_script_accept(parser, "}")) {
        if (weft_script_token(parser)->kind == TOKEN_END) {
            weft_location place = script->loops[loop].place;
            status = weft_script_unexpected(parser, "'}' to end the loop");
            weft_error_hint(parser->error, "the loop starts at %s:%d:%d", place.source->name,
                            place.line, place.column);
            goto done;
        }
        TRY(weft_script_parse_statement(parser));
    }
    script->loops[loop].last = script->n_statements;
    if (script->loops[loop].first == script->n_statements)
        status = weft_error_at(parser->error, WEFT_ERROR_TYPE, script->loops[loop].place,
                               "there is no statement in this loop");
done:
    parser->loop = outside;
    --parser->depth;
    return status;
}

/* loop: 'repeat' 'at' 'most' sum 'while' '(' condition ')' '{' statement {statement} '}' */
weft_status weft_script_parse_repeat(script_parser *parser) {
    weft_status status = WEFT_OK;
    static const char form[] = "as in repeat at most 100 while (a > b) { ... }";
    weft_node *most = NULL, *condition = NULL;
    int loop = 0;
    TRY(loop_start(parser, &parser->tokens[parser->position - 1], &loop));
    TRY(weft_script_expect(parser, "at", form));
    TRY(weft_script_expect(parser, "most", form));
    TRY(weft_script_parse_expression(parser, &most));
    TRY(weft_script_expect(parser, "while", "and a condition after the number of iterations"));
    TRY(weft_script_expect(parser, "(", "before the condition"));
    TRY(weft_script_parse_condition(parser, &condition));
    TRY(weft_script_expect(parser, ")", "after the condition"));
    TRY(weft_script_expect(parser, "{", "before the statements of the loop"));
    parser->script->loops[loop].most = most;
    parser->script->loops[loop].condition = condition;
    TRY(loop_body(parser, loop));
done:
    return status;
}

/* operator: 'operator' name {',' name} 'over' name ';' */
weft_status weft_script_parse_operator(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_token *name = NULL, *over = NULL;
    const int first = script->n_operators;
    do {
        TRY(weft_script_expect_name(parser, "an operator", &name));
        TRY(weft_script_declare(parser, name, SCRIPT_OPERATOR));
        weft_script_operator made = {.name = name->text, .place = name->place};
        SCRIPT_APPEND(parser, script->operators, script->n_operators, made);
    } while (weft_script_accept(parser, ","));
    TRY(weft_script_expect(parser, "over", "and an index set after the operator's name"));
    TRY(weft_script_expect_name(parser, "an index set", &over));
    TRY(weft_script_require(parser, over, SCRIPT_INDEX));
    TRY(weft_script_expect(parser, ";", "after the statement"));
    for (int i = first; i < script->n_operators; ++i) {
        script->operators[i].over = over->text;
        script->operators[i].over_place = over->place;
    }
done:
    return status;
}

bool weft_node_is_apply(const weft_node *node) {
    return node->kind == NODE_CALL && strcmp(node->name, "apply") == 0;
}

static weft_status check_operator(const script_parser *parser, const weft_node *node) {
    const char *name = node->kind == NODE_NAME ? node->name : "";
    const script_name *found = weft_script_find(parser, name);
    if (found && found->kind == SCRIPT_OPERATOR)
        return WEFT_OK;
    if (node->kind != NODE_NAME)
        weft_error_at(parser->error, WEFT_ERROR_TYPE, node->place,
                      "expected the name of an operator: apply(A, v)");
    else if (found)
        weft_error_at(parser->error, WEFT_ERROR_TYPE, node->place, "'%s' is %s, not an operator",
                      name, weft_script_kind_words(found->kind));
    else
        weft_error_at(parser->error, WEFT_ERROR_TYPE, node->place, "there is no operator '%s'",
                      name);
    if (!weft_script_suggest_kind(parser, name, SCRIPT_OPERATOR, "the operators are"))
        weft_error_hint(parser->error, "declare it: operator A over nodes;");
    return WEFT_ERROR_TYPE;
}

static weft_status check_applies(const script_parser *parser, const weft_node *node) {
    weft_status status = WEFT_OK;
    int first = 0;
    if (weft_node_is_apply(node)) {
        if (node->n_children != 2 || node->n_keys > 0)
            TRY(weft_error_at(parser->error, WEFT_ERROR_TYPE, node->place,
                              "'apply' takes an operator and a list: apply(A, v)"));
        TRY(check_operator(parser, node->children[0]));
        first = 1;
    }
    if (node->kind == NODE_NAME) {
        const script_name *found = weft_script_find(parser, node->name);
        if (found && found->kind == SCRIPT_OPERATOR) {
            weft_error_at(parser->error, WEFT_ERROR_TYPE, node->place,
                          "'%s' is an operator and has no value", node->name);
            weft_error_hint(parser->error, "its product with a list v is apply(%s, v)", node->name);
            TRY(WEFT_ERROR_TYPE);
        }
    }
    for (int i = first; i < node->n_children; ++i)
        TRY(check_applies(parser, node->children[i]));
done:
    return status;
}

static const weft_node *find_call(const weft_node *node, const char *name) {
    if (node->kind == NODE_CALL && strcmp(node->name, name) == 0)
        return node;
    for (int i = 0; i < node->n_children; ++i) {
        const weft_node *found = find_call(node->children[i], name);
        if (found)
            return found;
    }
    return NULL;
}

weft_status weft_script_check_applies(const script_parser *parser) {
    weft_status status = WEFT_OK;
    const weft_script *script = parser->script;
    for (int i = 0; i < script->n_statements; ++i)
        TRY(check_applies(parser, script->statements[i].value));
    for (int i = 0; i < script->n_loops; ++i) {
        const weft_node *parts[] = {script->loops[i].most, script->loops[i].condition};
        for (int k = 0; k < 2; ++k) {
            TRY(check_applies(parser, parts[k]));
            const weft_node *apply = find_call(parts[k], "apply");
            if (apply)
                TRY(weft_error_at(parser->error, WEFT_ERROR_TYPE, apply->place,
                                  "the condition of a loop takes uniform values, not lists"));
        }
    }
done:
    return status;
}
