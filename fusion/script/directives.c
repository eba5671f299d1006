/* Parses and prints scheduling directives: split, fuse with its block shape, together, variants of
 * calls. */
#include "fusion/script/private.h"

#include <string.h>

static const char *const choice_words[FUSE_CHOICES] = {"block", "threads", "iterations", "stride"};

/* A choice: integer | name of a parameter. */
static weft_status parse_choice(script_parser *parser, const char *wanted, weft_node **out) {
    weft_status status = WEFT_OK;
    const weft_token *token = weft_script_token(parser);
    const bool number = token->kind == TOKEN_NUMBER && token->integer;
    if (!number && (token->kind != TOKEN_NAME || weft_script_reserved(token->text)))
        TRY(weft_script_unexpected(parser, wanted));
    TRY(weft_script_node_make(parser, number ? NODE_NUMBER : NODE_NAME, token->place, out));
    (*out)->number = token->number;
    (*out)->integer = number;
    (*out)->name = token->text;
    ++parser->position;
done:
    return status;
}

/* using: 'variant' choice */
weft_status weft_script_parse_using(script_parser *parser, weft_script_statement *statement) {
    weft_status status = WEFT_OK;
    const weft_location place = weft_script_token(parser)->place;
    if (weft_script_accept(parser, "variant")) {
        TRY(parse_choice(parser, "the number of a variant", &statement->variant));
        if (weft_node_is_apply(statement->value))
            status = weft_error_at(parser->error, WEFT_ERROR_TYPE, place,
                                   "the product with an operator has no variants");
        goto done;
    }
    status = weft_script_unexpected(parser, "'variant' after 'using'");
    for (int i = 0; i < FUSE_CHOICES; ++i)
        if (weft_script_at(parser, choice_words[i]))
            weft_error_hint(parser->error, "that is chosen for a kernel: fuse %s 64 { ... }",
                            choice_words[i]);
done:
    return status;
}

void weft_script_print_using(const weft_script_statement *statement, weft_text *out) {
    if (!statement->variant)
        return;
    weft_text_add(out, " using variant ");
    weft_node_print(statement->variant, out);
}

/* choices: {('block' | 'threads' | 'iterations' | 'stride') choice}, each once at most */
static weft_status parse_choices(script_parser *parser, weft_script_fuse *fuse) {
    weft_status status = WEFT_OK;
    while (!weft_script_at(parser, "{")) {
        const weft_token *token = weft_script_token(parser);
        int choice = 0;
        while (choice < FUSE_CHOICES && !weft_script_accept(parser, choice_words[choice]))
            ++choice;
        if (choice == FUSE_CHOICES) {
            status = weft_script_unexpected(parser,
                                            "'{' before the statements that are to share a kernel");
            if (token->kind == TOKEN_NAME)
                weft_script_suggest(parser->error, token->text, choice_words, FUSE_CHOICES,
                                    "the words before '{' are");
            goto done;
        }
        if (fuse->choices[choice])
            TRY(weft_error_at(parser->error, WEFT_ERROR_SYNTAX, token->place,
                              "'%s' is listed twice", token->text));
        TRY(parse_choice(parser, "a number", &fuse->choices[choice]));
    }
done:
    return status;
}

/* split: 'split' ';' */
weft_status weft_script_parse_split(script_parser *parser) {
    weft_status status = WEFT_OK;
    TRY(weft_script_expect(parser, ";", "after 'split'"));
    ++parser->script->n_splits;
done:
    return status;
}

/* '{' statement {statement} '}' of a block that starts with `word` */
static weft_status parse_block(script_parser *parser, const char *word, weft_location place) {
    weft_status status = WEFT_OK;
    const weft_script *script = parser->script;
    const int first = script->n_statements;
    while (!weft_script_accept(parser, "}")) {
        if (weft_script_token(parser)->kind == TOKEN_END) {
            status = weft_script_unexpected(parser, "'}' to end the block");
            weft_error_hint(parser->error, "the block starts at %s:%d:%d", place.source->name,
                            place.line, place.column);
            goto done;
        }
        if (weft_script_at(parser, "repeat") || weft_script_at(parser, "split"))
            TRY(weft_error_at(parser->error, WEFT_ERROR_SYNTAX, weft_script_token(parser)->place,
                              "'%s' is not allowed inside a %s block",
                              weft_script_token(parser)->text, word));
        TRY(weft_script_parse_statement(parser));
    }
    if (script->n_statements == first)
        status = weft_error_at(parser->error, WEFT_ERROR_TYPE, place,
                               "there is no statement in this block");
done:
    return status;
}

const char *const weft_script_combinations[WEFT_SCRIPT_COMBINATIONS] = {
    "inter_block", "inner_block", "inner_thread"};

/* together: 'together' ['inter_block' | 'inner_block' | 'inner_thread'] '{' statement {statement}
 * '}' */
weft_status weft_script_parse_together(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_location place = parser->tokens[parser->position - 1].place;
    weft_script_together block = {.combination = -1, .place = place};
    if (parser->together > 0 || parser->fuse > 0)
        TRY(weft_error_at(parser->error, WEFT_ERROR_SYNTAX, place,
                          "a %s block must not contain a together block",
                          parser->fuse > 0 ? "fuse" : "together"));
    for (int i = 0; i < WEFT_SCRIPT_COMBINATIONS && block.combination < 0; ++i)
        if (weft_script_accept(parser, weft_script_combinations[i]))
            block.combination = i;
    if (!weft_script_accept(parser, "{")) {
        const weft_token *token = weft_script_token(parser);
        status =
            weft_script_unexpected(parser, "'{' before the statements that are to share a launch");
        if (token->kind == TOKEN_NAME)
            weft_script_suggest(parser->error, token->text, weft_script_combinations,
                                WEFT_SCRIPT_COMBINATIONS, "the words before '{' are");
        goto done;
    }
    SCRIPT_APPEND(parser, script->togethers, script->n_togethers, block);
    parser->together = script->n_togethers;
    TRY(parse_block(parser, "together", place));
done:
    parser->together = 0;
    return status;
}

/* fuse: 'fuse' choices '{' statement {statement} '}' */
weft_status weft_script_parse_fuse(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_location place = parser->tokens[parser->position - 1].place;
    weft_script_fuse fuse = {.place = place};
    if (parser->fuse > 0)
        TRY(weft_error_at(parser->error, WEFT_ERROR_SYNTAX, place,
                          "a fuse block must not contain another one"));
    TRY(parse_choices(parser, &fuse));
    TRY(weft_script_expect(parser, "{", "before the statements that are to share a kernel"));
    SCRIPT_APPEND(parser, script->fuses, script->n_fuses, fuse);
    parser->fuse = script->n_fuses;
    TRY(parse_block(parser, "fuse", place));
done:
    parser->fuse = 0;
    return status;
}

static int fuse_of(const weft_script *script, int statement) {
    return statement >= 0 && statement < script->n_statements ? script->statements[statement].fuse
                                                              : 0;
}

static int together_of(const weft_script *script, int statement) {
    return statement >= 0 && statement < script->n_statements
               ? script->statements[statement].together
               : 0;
}

void weft_script_print_directives_end(const weft_script *script, int statement, weft_text *out) {
    const int was = fuse_of(script, statement - 1), shared = together_of(script, statement - 1);
    if (was > 0 && was != fuse_of(script, statement))
        weft_text_add(out, "}\n");
    if (shared > 0 && shared != together_of(script, statement))
        weft_text_add(out, "}\n");
}

void weft_script_print_directives_start(const weft_script *script, int statement, weft_text *out) {
    const int fuse = fuse_of(script, statement), together = together_of(script, statement);
    for (int i = statement > 0 ? script->statements[statement - 1].part : 0;
         i < script->statements[statement].part; ++i)
        weft_text_add(out, "split;\n");
    if (together > 0 && together != together_of(script, statement - 1)) {
        const int how = script->togethers[together - 1].combination;
        weft_text_add(out, "together %s%s{\n", how >= 0 ? weft_script_combinations[how] : "",
                      how >= 0 ? " " : "");
    }
    if (fuse == 0 || fuse == fuse_of(script, statement - 1))
        return;
    weft_text_add(out, "fuse ");
    for (int i = 0; i < FUSE_CHOICES; ++i) {
        const weft_node *choice = script->fuses[fuse - 1].choices[i];
        if (!choice)
            continue;
        weft_text_add(out, "%s ", choice_words[i]);
        weft_node_print(choice, out);
        weft_text_add(out, " ");
    }
    weft_text_add(out, "{\n");
}
