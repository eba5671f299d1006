/* Parses the statements of scripts: declarations, assignments, accumulations, updates, returns. */
#include "fusion/script/private.h"

#include <limits.h>
#include <string.h>

static weft_status expect_end(script_parser *parser) {
    return weft_script_expect(parser, ";", "after the statement");
}

/* index: 'index' name ['plain'] ['up' 'to' name] {',' ...} ';'
 * `up` and `to` are words only here, so that they remain names elsewhere. */
static weft_status parse_index(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_token *name = NULL;
    do {
        TRY(weft_script_expect_name(parser, "an index set", &name));
        TRY(weft_script_declare(parser, name, SCRIPT_INDEX));
        weft_script_index index = {
            .name = name->text, .plain = weft_script_accept(parser, "plain"), .place = name->place};
        if (weft_script_accept(parser, "up")) {
            TRY(weft_script_expect(parser, "to", "as in basis up to j"));
            TRY(weft_script_expect_name(parser, "an input", &name));
            index.up_to = name->text;
        }
        SCRIPT_APPEND(parser, script->indices, script->n_indices, index);
    } while (weft_script_accept(parser, ","));
    TRY(expect_end(parser));
done:
    return status;
}

/* connectivity: 'connectivity' name ':' name '->' name '[' sum ']' ['ordered'] ';'
 * `ordered` is a word only here, so that it remains a name elsewhere. */
static weft_status parse_connectivity(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_token *name = NULL, *from = NULL, *to = NULL;
    weft_script_connectivity connectivity = {0};
    TRY(weft_script_expect_name(parser, "a connectivity", &name));
    TRY(weft_script_expect(parser, ":", "after the connectivity's name"));
    TRY(weft_script_expect_name(parser, "an index set", &from));
    TRY(weft_script_require(parser, from, SCRIPT_INDEX));
    TRY(weft_script_expect(parser, "->", "between the two index sets"));
    TRY(weft_script_expect_name(parser, "an index set", &to));
    TRY(weft_script_require(parser, to, SCRIPT_INDEX));
    TRY(weft_script_expect(parser, "[",
                           "and the number of entries, as in dofs : cells -> nodes[3]"));
    TRY(weft_script_parse_expression(parser, &connectivity.width));
    TRY(weft_script_expect(parser, "]", "after the number of entries"));
    connectivity.is_ordered = weft_script_accept(parser, "ordered");
    TRY(weft_script_expect(parser, ";",
                           connectivity.is_ordered ? "after the statement"
                                                   : "or 'ordered' after the connectivity"));
    TRY(weft_script_declare(parser, name, SCRIPT_CONNECTIVITY));
    connectivity.name = name->text;
    connectivity.from = from->text;
    connectivity.to = to->text;
    connectivity.place = name->place;
    connectivity.from_place = from->place;
    connectivity.to_place = to->place;
    SCRIPT_APPEND(parser, script->connectivities, script->n_connectivities, connectivity);
    script->indices[WEFT_FIND_NAME(script->indices, script->n_indices, to->text)].plain = true;
done:
    return status;
}

/* pairs := [('symmetric' | 'triangular') ('lower' | 'upper') ['packed']]
 * These are words only here, so that they remain names elsewhere. */
static weft_status parse_pairs(script_parser *parser, weft_pairs *out) {
    weft_status status = WEFT_OK;
    out->symmetric = weft_script_accept(parser, "symmetric");
    if (!out->symmetric && !weft_script_accept(parser, "triangular"))
        goto done;
    out->triangle = weft_script_accept(parser, "lower")   ? TRIANGLE_LOWER
                    : weft_script_accept(parser, "upper") ? TRIANGLE_UPPER
                                                          : TRIANGLE_NONE;
    if (out->triangle == TRIANGLE_NONE)
        TRY(weft_script_unexpected(parser, "the triangle that is stored, 'lower' or 'upper'"));
    out->packed = weft_script_accept(parser, "packed");
done:
    return status;
}

/* The product of two index sets, made where a list over it is declared first. */
static weft_status product_index(script_parser *parser, const weft_token *first,
                                 const weft_token *second, const char **name) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    weft_script_index product = {
        .plain = true, .first = first->text, .second = second->text, .place = first->place};
    if (strcmp(first->text, second->text) == 0) {
        weft_error_at(parser->error, WEFT_ERROR_TYPE, second->place,
                      "a list over two index sets needs two different ones");
        weft_error_hint(parser->error, "declare a second one, which may have the same size");
        TRY(WEFT_ERROR_TYPE);
    }
    TRY(parse_pairs(parser, &product.pairs));
    product.name = weft_arena_print(parser->arena, "%s, %s%s", first->text, second->text,
                                    weft_pairs_words(product.pairs));
    if (!product.name)
        TRY(weft_no_memory(parser->error));
    *name = product.name;
    for (int i = 0; i < script->n_indices; ++i) {
        weft_script_index *index = &script->indices[i];
        if (strcmp(index->name, product.name) == 0)
            goto done;
        index->plain |=
            strcmp(index->name, first->text) == 0 || strcmp(index->name, second->text) == 0;
    }
    SCRIPT_APPEND(parser, script->indices, script->n_indices, product);
done:
    return status;
}

/* type: 'real' ['[' sum {',' sum} ']'] ['over' name [',' name pairs]] */
static weft_status parse_type(script_parser *parser, weft_script_input *input) {
    weft_status status = WEFT_OK;
    const weft_token *token = weft_script_token(parser);
    if (!weft_script_accept(parser, "real")) {
        status = weft_script_unexpected(parser, "the type 'real'");
        if (weft_script_at(parser, "float") || weft_script_at(parser, "double"))
            weft_error_hint(parser->error,
                            "write 'real': an option says whether it is float or double");
        else if (token->kind == TOKEN_NAME)
            weft_script_suggest(parser->error, token->text, (const char *const[]){"real"}, 1, NULL);
        goto done;
    }
    if (weft_script_accept(parser, "[")) {
        do {
            token = weft_script_token(parser);
            if (input->rank == WEFT_RANK_MAX)
                TRY(weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, token->place,
                                  "more than %d sizes", WEFT_RANK_MAX));
            TRY(weft_script_parse_expression(parser, &input->sizes[input->rank]));
            ++input->rank;
        } while (weft_script_accept(parser, ","));
        TRY(weft_script_expect(parser, "]", "after the sizes"));
    }
    if (weft_script_accept(parser, "over")) {
        TRY(weft_script_expect_name(parser, "an index set", &token));
        TRY(weft_script_require(parser, token, SCRIPT_INDEX));
        input->over = token->text;
        input->over_place = token->place;
        if (weft_script_accept(parser, ",")) {
            const weft_token *first = token;
            TRY(weft_script_expect_name(parser, "a second index set", &token));
            TRY(weft_script_require(parser, token, SCRIPT_INDEX));
            TRY(product_index(parser, first, token, &input->over));
        }
    }
done:
    return status;
}

/* input: 'input' name {',' name} ':' type ';' */
static weft_status parse_input(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_token *name = NULL;
    weft_script_input type = {0};
    const int first = script->n_inputs;
    do {
        TRY(weft_script_expect_name(parser, "an input", &name));
        TRY(weft_script_declare(parser, name, SCRIPT_INPUT));
        weft_script_input input = {.name = name->text, .place = name->place};
        SCRIPT_APPEND(parser, script->inputs, script->n_inputs, input);
    } while (weft_script_accept(parser, ","));
    TRY(weft_script_expect(parser, ":", "and a type after the input's name"));
    TRY(parse_type(parser, &type));
    TRY(expect_end(parser));
    for (int i = first; i < script->n_inputs; ++i) {
        type.name = script->inputs[i].name;
        type.place = script->inputs[i].place;
        script->inputs[i] = type;
    }
done:
    return status;
}

/* parameter: 'parameter' name '=' ['-'] integer {',' name '=' ['-'] integer} ';' */
static weft_status parse_parameter(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_token *name = NULL;
    do {
        TRY(weft_script_expect_name(parser, "a parameter", &name));
        TRY(weft_script_declare(parser, name, SCRIPT_PARAMETER));
        TRY(weft_script_expect(parser, "=", "and a number after the parameter's name"));
        bool negative = weft_script_accept(parser, "-");
        const weft_token *value = weft_script_token(parser);
        if (value->kind != TOKEN_NUMBER || !value->integer || value->number > INT_MAX)
            TRY(weft_script_unexpected(parser, "an integer"));
        ++parser->position;
        int magnitude = (int)value->number;
        weft_script_parameter parameter = {name->text, negative ? -magnitude : magnitude,
                                           name->place};
        SCRIPT_APPEND(parser, script->parameters, script->n_parameters, parameter);
    } while (weft_script_accept(parser, ","));
    TRY(expect_end(parser));
done:
    return status;
}

static weft_status parse_expression_arguments(script_parser *parser,
                                              weft_script_expression *expression) {
    weft_status status = WEFT_OK;
    const weft_token *argument = NULL;
    do {
        TRY(weft_script_expect_name(parser, "an argument", &argument));
        if (weft_name_index(expression->arguments, expression->n_arguments, sizeof(char *),
                            argument->text) >= 0)
            TRY(weft_error_at(parser->error, WEFT_ERROR_TYPE, argument->place,
                              "'%s' is an argument already", argument->text));
        if (expression->n_arguments == WEFT_ARGUMENTS_MAX)
            TRY(weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, argument->place,
                              "more than %d arguments", WEFT_ARGUMENTS_MAX));
        SCRIPT_APPEND(parser, expression->arguments, expression->n_arguments, argument->text);
    } while (weft_script_accept(parser, ","));
done:
    return status;
}

/* by_group: {',' name ':' sum}      formulas of groups after that of all others */
static weft_status parse_by_group(script_parser *parser, weft_script_expression *expression) {
    weft_status status = WEFT_OK;
    const weft_token *group = NULL;
    weft_node *body = NULL;
    TRY(weft_script_add_body(parser, expression, NULL, expression->body));
    while (weft_script_accept(parser, ",")) {
        TRY(weft_script_expect_name(parser, "a group", &group));
        TRY(weft_script_expect(parser, ":", "after the name of the group"));
        TRY(weft_script_parse_expression(parser, &body));
        TRY(weft_script_check_body(expression, body, parser->error));
        TRY(weft_script_add_body(parser, expression, group->text, body));
    }
done:
    return status;
}

/* expression: 'expression' name '(' name {',' name} ')' ['over' name] '=' sum by_group ';' */
static weft_status parse_expression_statement(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_token *name = NULL;
    weft_script_expression expression = {0};
    TRY(weft_script_expect_name(parser, "an expression", &name));
    TRY(weft_script_declare(parser, name, SCRIPT_EXPRESSION));
    expression.name = name->text;
    expression.place = name->place;
    TRY(weft_script_expect(parser, "(", "and the arguments after the expression's name"));
    TRY(parse_expression_arguments(parser, &expression));
    TRY(weft_script_expect(parser, ")", "to end the arguments"));
    if (weft_script_accept(parser, "over")) {
        TRY(weft_script_expect_name(parser, "an index set", &name));
        TRY(weft_script_require(parser, name, SCRIPT_INDEX));
        expression.over = name->text;
    }
    TRY(weft_script_expect(parser, "=", "and a default after the expression's arguments"));
    TRY(weft_script_parse_expression(parser, &expression.body));
    TRY(weft_script_check_body(&expression, expression.body, parser->error));
    TRY(parse_by_group(parser, &expression));
    TRY(expect_end(parser));
    SCRIPT_APPEND(parser, script->expressions, script->n_expressions, expression);
done:
    return status;
}

/* return: 'return' name {',' name} ';' */
static weft_status parse_return(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_token *name = NULL;
    do {
        TRY(weft_script_expect_name(parser, "a result", &name));
        const int known = WEFT_FIND_NAME(script->returns, script->n_returns, name->text);
        if (known >= 0) {
            const weft_location first = script->returns[known].place;
            TRY(weft_error_at(parser->error, WEFT_ERROR_TYPE, name->place,
                              "'%s' is returned already (%s:%d:%d)", name->text, first.source->name,
                              first.line, first.column));
        }
        if (script->n_returns == WEFT_NAMES_MAX)
            TRY(weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, name->place,
                              "more than %d results", WEFT_NAMES_MAX));
        weft_script_return result = {name->text, name->place};
        SCRIPT_APPEND(parser, script->returns, script->n_returns, result);
    } while (weft_script_accept(parser, ","));
    TRY(expect_end(parser));
done:
    return status;
}

/* The target of an accumulation is a new name, an input, or an earlier target. */
static weft_status declare_target(script_parser *parser, const weft_token *name) {
    const script_name *found = weft_script_find(parser, name->text);
    if (!found)
        return weft_script_declare(parser, name, SCRIPT_ACCUMULATED);
    if (found->kind == SCRIPT_INPUT ||
        (found->kind == SCRIPT_ACCUMULATED && found->loop == parser->loop))
        return WEFT_OK;
    weft_error_at(parser->error, WEFT_ERROR_TYPE, name->place,
                  "'%s' is %s (%s:%d:%d): nothing can be added to it", name->text,
                  weft_script_kind_words(found->kind), found->place.source->name, found->place.line,
                  found->place.column);
    weft_error_hint(parser->error, "the target of += is a new name or an input");
    return WEFT_ERROR_TYPE;
}

/* maps: '[' name [',' name] ']' */
static weft_status parse_maps(script_parser *parser, weft_script_statement *statement) {
    weft_status status = WEFT_OK;
    const weft_token *connectivity = NULL;
    do {
        TRY(weft_script_expect_name(parser, "a connectivity", &connectivity));
        TRY(weft_script_require(parser, connectivity, SCRIPT_CONNECTIVITY));
        if (statement->n_connectivities == 2)
            TRY(weft_error_at(parser->error, WEFT_ERROR_SYNTAX, connectivity->place,
                              "an accumulating store goes through one or two connectivities"));
        statement->connectivities[statement->n_connectivities] = connectivity->text;
        statement->map_places[statement->n_connectivities++] = connectivity->place;
    } while (weft_script_accept(parser, ","));
    TRY(weft_script_expect(parser, "]", "after the connectivity"));
    if (weft_script_at(parser, "=")) {
        status = weft_script_unexpected(parser, "'+='");
        weft_error_hint(parser->error, "a store through a connectivity adds: write +=");
        goto done;
    }
    TRY(weft_script_expect(parser, "+=", "after the target of a store"));
done:
    return status;
}

/* The error for a token that cannot start a statement. */
static weft_status no_statement(script_parser *parser) {
    const weft_token *token = weft_script_token(parser);
    if (token->kind != TOKEN_NAME)
        return weft_script_unexpected(parser, "a statement");
    if (weft_script_reserved(token->text))
        return weft_error_at(parser->error, WEFT_ERROR_SYNTAX, token->place,
                             "expected a statement, found the reserved word '%s'", token->text);
    size_t n = 0;
    const char *const *words = weft_script_statement_words(&n);
    weft_error_at(parser->error, WEFT_ERROR_SYNTAX, token->place, "'%s' does not start a statement",
                  token->text);
    if (strcmp(token->text, "if") == 0) {
        weft_error_hint(parser->error,
                        "a value that depends on a condition is select(a < b, x, y)");
        return WEFT_ERROR_SYNTAX;
    }
    weft_script_suggest(parser->error, token->text, words, n,
                        "a statement is NAME = ..., NAME[MAP] += ..., or starts with");
    return WEFT_ERROR_SYNTAX;
}

/* value: sum ['using' using]; then append the statement to the script. */
static weft_status parse_value(script_parser *parser, weft_script_statement *statement) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    TRY(weft_script_parse_expression(parser, &statement->value));
    if (weft_script_accept(parser, "using"))
        TRY(weft_script_parse_using(parser, statement));
    TRY(expect_end(parser));
    if (script->n_statements == WEFT_STATEMENTS_MAX)
        TRY(weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, statement->place,
                          "more than %d statements", WEFT_STATEMENTS_MAX));
    statement->loop = parser->loop;
    statement->part = script->n_splits;
    statement->fuse = parser->fuse;
    statement->together = parser->together;
    SCRIPT_APPEND(parser, script->statements, script->n_statements, *statement);
done:
    return status;
}

/* update: 'update' name '=' sum ';' */
static weft_status parse_update(script_parser *parser) {
    weft_status status = WEFT_OK;
    const weft_token *name = NULL;
    weft_script_statement statement = {.update = true};
    TRY(weft_script_expect_name(parser, "the list to update", &name));
    statement.name = name->text;
    statement.place = name->place;
    TRY(weft_script_expect(parser, "=", "after the name"));
    TRY(parse_value(parser, &statement));
done:
    return status;
}

/* assignment: name '=' sum ';'      accumulation: name maps '+=' sum ';' */
static weft_status parse_assignment(script_parser *parser) {
    weft_status status = WEFT_OK;
    const weft_token *name = weft_script_token(parser);
    weft_script_statement statement = {.name = name->text, .place = name->place};
    ++parser->position;
    statement.accumulate = weft_script_accept(parser, "[");
    if (weft_script_at(parser, "+=")) {
        status = weft_script_unexpected(parser, "'='");
        weft_error_hint(parser->error,
                        "an accumulating store names its connectivity: %s[dofs] += ...",
                        name->text);
        goto done;
    }
    if (statement.accumulate) {
        TRY(parse_maps(parser, &statement));
        TRY(declare_target(parser, name));
    } else {
        TRY(weft_script_expect(parser, "=", "after the name"));
        TRY(weft_script_declare(parser, name, SCRIPT_ASSIGNED));
    }
    TRY(parse_value(parser, &statement));
done:
    return status;
}

/* statement: one of the words below, an assignment or an accumulation */
weft_status weft_script_parse_statement(script_parser *parser) {
    static const struct {
        const char *word;
        weft_status (*parse)(script_parser *parser);
    } statements[] = {
        {"index", parse_index},
        {"connectivity", parse_connectivity},
        {"input", parse_input},
        {"parameter", parse_parameter},
        {"return", parse_return},
        {"expression", parse_expression_statement},
        {"update", parse_update},
        {"repeat", weft_script_parse_repeat},
        {"operator", weft_script_parse_operator},
        {"split", weft_script_parse_split},
        {"fuse", weft_script_parse_fuse},
        {"together", weft_script_parse_together},
    };
    const bool in_loop = parser->loop >= 0;
    if (in_loop && !weft_script_at(parser, "update") && !weft_script_at(parser, "repeat") &&
        !weft_script_at(parser, "split") && !weft_script_at(parser, "fuse") &&
        !weft_script_at(parser, "together"))
        for (size_t i = 0; i < sizeof statements / sizeof statements[0]; ++i)
            if (weft_script_at(parser, statements[i].word))
                return weft_error_at(parser->error, WEFT_ERROR_SYNTAX,
                                     weft_script_token(parser)->place, "'%s' must be outside loops",
                                     statements[i].word);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; ++i)
        if (weft_script_accept(parser, statements[i].word))
            return statements[i].parse(parser);
    const weft_token *token = weft_script_token(parser);
    if (weft_script_at_procedure_word(parser))
        return weft_script_parse_procedure_word(parser);
    if (token->kind == TOKEN_NAME && token[1].kind == TOKEN_SYMBOL &&
        strcmp(token[1].text, "(") == 0 && weft_script_procedure(parser, token->text))
        return weft_script_parse_call(parser);
    /* two names in a row are a misspelt word, as in `idnex cells;` */
    bool assignment = token->kind == TOKEN_NAME && !weft_script_reserved(token->text) &&
                      token[1].kind == TOKEN_SYMBOL && strcmp(token[1].text, "(") != 0;
    return assignment ? parse_assignment(parser) : no_statement(parser);
}

weft_status weft_script_parse_statements(script_parser *parser) {
    weft_status status = WEFT_OK;
    while (weft_script_token(parser)->kind != TOKEN_END)
        TRY(weft_script_parse_statement(parser));
done:
    return status;
}
