/* Keeps the names of a script and the reserved words: declaring, finding, suggesting. */
#include "fusion/base/intrinsics.h"
#include "fusion/script/private.h"

#include <string.h>

/* The first STATEMENT_WORDS of them start statements. */
static const char *const reserved_words[] = {
    "index",  "connectivity", "input",    "parameter", "expression", "return",
    "update", "repeat",       "operator", "real",      "over",       "plain",
    "while",  "and",          "fuse",     "split",     "pi"};
enum { STATEMENT_WORDS = 9 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *weft_script_kind_words(script_name_kind kind) {
    switch (kind) {
    case SCRIPT_INDEX:
        return "an index set";
    case SCRIPT_CONNECTIVITY:
        return "a connectivity";
    case SCRIPT_INPUT:
        return "an input";
    case SCRIPT_PARAMETER:
        return "a parameter";
    case SCRIPT_EXPRESSION:
        return "an expression";
    case SCRIPT_OPERATOR:
        return "an operator";
    case SCRIPT_ASSIGNED:
        return "assigned";
    case SCRIPT_ACCUMULATED:
        return "the target of an accumulating store";
    }
    return "a name";
}

bool weft_script_reserved(const char *name) {
    for (size_t i = 0; i < COUNT(reserved_words); ++i)
        if (strcmp(name, reserved_words[i]) == 0)
            return true;
    return false;
}

const char *const *weft_script_statement_words(size_t *n) {
    *n = STATEMENT_WORDS;
    return reserved_words;
}

script_name *weft_script_find(const script_parser *parser, const char *name) {
    for (int i = 0; i < parser->n_names; ++i)
        if (strcmp(parser->names[i].name, name) == 0)
            return &parser->names[i];
    return NULL;
}

weft_status weft_script_declare(script_parser *parser, const weft_token *token,
                                script_name_kind kind) {
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
        return WEFT_ERROR_TYPE;
    }
    if (kind == SCRIPT_EXPRESSION && weft_formula_arguments(token->text) > 0)
        return weft_error_at(parser->error, WEFT_ERROR_TYPE, token->place,
                             "'%s' is a function of the language: choose another name for the "
                             "expression",
                             token->text);
    if (parser->n_names >= WEFT_NAMES_MAX)
        return weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, token->place,
                             "more than %d names in one script", WEFT_NAMES_MAX);
    script_name *names =
        weft_array_room(parser->arena, parser->names, parser->n_names, sizeof *names);
    if (!names)
        return weft_script_no_memory(parser->error);
    names[parser->n_names++] = (script_name){token->text, kind, token->place, parser->loop};
    parser->names = names;
    return WEFT_OK;
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
    char list[sizeof error->hint];
    size_t length = 0;
    list[0] = '\0';
    for (size_t i = 0; i < n; ++i) {
        size_t more = strlen(names[i]);
        if (length + more + 6 > sizeof list) {
            memcpy(list + length, ", ...", 6);
            break;
        }
        if (i > 0) {
            memcpy(list + length, ", ", 2);
            length += 2;
        }
        memcpy(list + length, names[i], more + 1);
        length += more;
    }
    weft_error_hint(error, "%s %s", lead, list);
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
    const char *names[WEFT_NAMES_MAX];
    size_t n = 0;
    for (int i = 0; i < parser->n_names; ++i)
        if (parser->names[i].kind == kind)
            names[n++] = parser->names[i].name;
    weft_script_suggest(parser->error, token->text, names, n, "declared before:");
    return WEFT_ERROR_TYPE;
}
