/* Keeps the names of a script and the reserved words: declaring, finding, suggesting. */
#include "fusion/base/intrinsics.h"
#include "fusion/script/private.h"

#include <stdio.h>
#include <string.h>

/* The first STATEMENT_WORDS of them start statements. */
static const char *const reserved_words[] = {
    "index",  "connectivity", "input",    "parameter", "expression", "return",
    "update", "repeat",       "operator", "real",      "over",       "plain",
    "while",  "and",          "fuse",     "split",     "together",   "pi"};
enum { STATEMENT_WORDS = 9 };

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

const char *weft_script_kind_words(script_name_kind kind) {
    static const char *const words[] = {[SCRIPT_INDEX] = "an index set",
                                        [SCRIPT_CONNECTIVITY] = "a connectivity",
                                        [SCRIPT_INPUT] = "an input",
                                        [SCRIPT_PARAMETER] = "a parameter",
                                        [SCRIPT_EXPRESSION] = "an expression",
                                        [SCRIPT_OPERATOR] = "an operator",
                                        [SCRIPT_PROCEDURE] = "a procedure",
                                        [SCRIPT_ASSIGNED] = "assigned",
                                        [SCRIPT_ACCUMULATED] =
                                            "the target of an accumulating store"};
    return words[kind];
}

bool weft_script_reserved(const char *name) {
    return weft_name_index(reserved_words, COUNT(reserved_words), sizeof *reserved_words, name) >=
           0;
}

const char *const *weft_script_statement_words(size_t *n) {
    *n = STATEMENT_WORDS;
    return reserved_words;
}

script_name *weft_script_find(const script_parser *parser, const char *name) {
    const int i = WEFT_FIND_NAME(parser->names, parser->n_names, name);
    return i >= 0 ? &parser->names[i] : NULL;
}

weft_status weft_script_declare(script_parser *parser, const weft_token *token,
                                script_name_kind kind) {
    weft_status status = WEFT_OK;
    const script_name *earlier = weft_script_find(parser, token->text);
    if (earlier) {
        weft_error_at(parser->error, WEFT_ERROR_TYPE, token->place, "'%s' is already %s (%s:%d:%d)",
                      token->text, weft_script_kind_words(earlier->kind),
                      earlier->place.source->name, earlier->place.line, earlier->place.column);
        bool outside = parser->loop >= 0 && earlier->loop != parser->loop &&
                       kind == SCRIPT_ASSIGNED &&
                       (earlier->kind == SCRIPT_ASSIGNED || earlier->kind == SCRIPT_INPUT ||
                        earlier->kind == SCRIPT_ACCUMULATED);
        weft_error_hint(parser->error,
                        outside ? "its next value in a loop is an update: update %s = ..."
                                : "every name is given once: choose another name here",
                        token->text);
        TRY(WEFT_ERROR_TYPE);
    }
    if (kind == SCRIPT_EXPRESSION && weft_formula_arguments(token->text) > 0)
        TRY(weft_error_at(
            parser->error, WEFT_ERROR_TYPE, token->place,
            "'%s' is a function of the language: choose another name for the expression",
            token->text));
    if (parser->n_names >= WEFT_NAMES_MAX)
        TRY(weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, token->place,
                          "more than %d names in one script", WEFT_NAMES_MAX));
    const script_name name = {token->text, kind, token->place, parser->loop};
    SCRIPT_APPEND(parser, parser->names, parser->n_names, name);
done:
    return status;
}

void weft_script_suggest(weft_error *error, const char *name, const char *const *names, size_t n,
                         const char *lead) {
    if (!error)
        return;
    const char *nearest = weft_nearest_name(name, names, n);
    if (nearest) {
        weft_error_hint(error, "did you mean '%s'?", nearest);
        return;
    }
    if (!lead || n == 0)
        return;
    char list[sizeof error->hint] = "";
    for (size_t i = 0, length = 0; i < n; ++i) {
        if (length + strlen(names[i]) + 6 > sizeof list) {
            memcpy(list + length, ", ...", 6);
            break;
        }
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "",
                                   names[i]);
    }
    weft_error_hint(error, "%s %s", lead, list);
}

bool weft_script_suggest_kind(const script_parser *parser, const char *name, script_name_kind kind,
                              const char *lead) {
    const char *names[WEFT_NAMES_MAX];
    size_t n = 0;
    for (int i = 0; i < parser->n_names; ++i)
        if (parser->names[i].kind == kind ||
            (kind == SCRIPT_ASSIGNED && parser->names[i].kind == SCRIPT_ACCUMULATED))
            names[n++] = parser->names[i].name;
    weft_script_suggest(parser->error, name, names, n, lead);
    return n > 0;
}

weft_status weft_script_require(const script_parser *parser, const weft_token *token,
                                script_name_kind kind) {
    const script_name *found = weft_script_find(parser, token->text);
    if (found && found->kind == kind)
        return WEFT_OK;
    const char *words = weft_script_kind_words(kind);
    if (found)
        weft_error_at(parser->error, WEFT_ERROR_TYPE, token->place, "'%s' is %s, not %s",
                      token->text, weft_script_kind_words(found->kind), words);
    else
        weft_error_at(parser->error, WEFT_ERROR_TYPE, token->place,
                      "'%s' is not %s that was declared before", token->text, words);
    weft_script_suggest_kind(parser, token->text, kind, "declared before:");
    return WEFT_ERROR_TYPE;
}
