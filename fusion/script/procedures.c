/* Procedures: statements under a name, which a call repeats with other names. They are written in place token by token, so
 * that nothing after the parser knows them.
 *
 *      formals       stand for what the call gives: a name, or an expression where nothing is assigned to it
 *      other names   that the procedure assigns are its own, another one for each call: r becomes r__3
 *
 * include reads a file of statements once: one that is shipped (kernels/procedures), or NAME.weft beside the script. */
#include "fusion/embedded_procedures.h"
#include "fusion/script/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 16 /* calls in calls */ };

typedef struct words {
    const char **list;
    int n;
} words;

struct script_procedure {
    const char *name;
    words formals, own;       /* own: names that it gives a value, besides formals */
    bool *assigned, *defined; /* [formals.n] formals that it gives a value; by = */
    const weft_token *body;
    int n;
    struct script_procedure *next;
};

static bool is(const weft_token *token, const char *text) {
    return token->kind != TOKEN_END && strcmp(token->text, text) == 0;
}

static int find(const words *all, const char *name) {
    for (int i = 0; i < all->n; ++i)
        if (strcmp(all->list[i], name) == 0)
            return i;
    return -1;
}

static weft_status add(script_parser *parser, words *all, const char *name) {
    weft_status status = WEFT_OK;
    SCRIPT_APPEND(parser, all->list, all->n, name);
done:
    return status;
}

script_procedure *weft_script_procedure(const script_parser *parser, const char *name) {
    script_procedure *one = parser->procedures;
    while (one && strcmp(one->name, name) != 0)
        one = one->next;
    return one;
}

/* ---- definitions ---- */

/* Does a statement start at token i of the body? */
static bool starts(const weft_token *body, int i) {
    return i == 0 || is(&body[i - 1], ";") || is(&body[i - 1], "{") || is(&body[i - 1], "}");
}

/* The name that the statement at token i gives a value, by = (not an update) or +=; NULL: none. */
static const char *assigned_at(const weft_token *body, int i, bool *updates) {
    const int name = i + is(&body[i], "update");
    *updates = name > i || is(&body[name + 1], "[");
    return body[name].kind == TOKEN_NAME && (is(&body[name + 1], "=") || is(&body[name + 1], "["))
               ? body[name].text
               : NULL;
}

static weft_status note_value(script_parser *parser, script_procedure *made, const char *name,
                              bool updates) {
    const int formal = find(&made->formals, name);
    if (formal >= 0) {
        made->assigned[formal] = true;
        made->defined[formal] |= !updates;
    } else if (!updates && find(&made->own, name) < 0) {
        return add(parser, &made->own, name);
    }
    return WEFT_OK;
}

/* What a call of another procedure gives a value: token i is its name. */
static weft_status note_call(script_parser *parser, script_procedure *made, int i) {
    weft_status status = WEFT_OK;
    const script_procedure *called = weft_script_procedure(parser, made->body[i].text);
    int formal = 0, depth = 0;
    for (i += 2; called && i < made->n && !is(&made->body[i], ";"); ++i) {
        const weft_token *token = &made->body[i];
        const bool alone = token->kind == TOKEN_NAME && depth == 0 &&
                           (is(token + 1, ",") || is(token + 1, ")")) &&
                           (is(token - 1, ",") || is(token - 1, "("));
        if (alone && formal < called->formals.n && called->assigned[formal])
            TRY(note_value(parser, made, token->text, !called->defined[formal]));
        formal += depth == 0 && is(token, ",");
        depth += (is(token, "(") || is(token, "[")) - (is(token, ")") || is(token, "]"));
    }
done:
    return status;
}

static weft_status find_names(script_parser *parser, script_procedure *made) {
    weft_status status = WEFT_OK;
    made->assigned = weft_arena_alloc(parser->arena, (size_t)made->formals.n + 1, sizeof(bool));
    made->defined = weft_arena_alloc(parser->arena, (size_t)made->formals.n + 1, sizeof(bool));
    if (!made->assigned || !made->defined)
        TRY(weft_script_no_memory(parser->error));
    for (int i = 0; i < made->n; ++i) {
        bool updates = false;
        const char *name = starts(made->body, i) ? assigned_at(made->body, i, &updates) : NULL;
        if (name)
            TRY(note_value(parser, made, name, updates));
        else if (starts(made->body, i) && made->body[i].kind == TOKEN_NAME &&
                 is(&made->body[i + 1], "("))
            TRY(note_call(parser, made, i));
    }
done:
    return status;
}

static weft_status outside_blocks(const script_parser *parser, const char *word) {
    if (parser->loop < 0 && parser->fuse == 0 && parser->together == 0)
        return WEFT_OK;
    return weft_error_at(parser->error, WEFT_ERROR_SYNTAX, weft_script_token(parser)->place,
                         "'%s' must be outside loops and other blocks", word);
}

static weft_status parse_formals(script_parser *parser, script_procedure *made) {
    weft_status status = WEFT_OK;
    const weft_token *name = NULL;
    TRY(weft_script_expect(parser, "(", "after the procedure's name"));
    while (!weft_script_at(parser, ")")) {
        if (made->formals.n > 0)
            TRY(weft_script_expect(parser, ",", "or ')' after an argument"));
        TRY(weft_script_expect_name(parser, "an argument", &name));
        if (find(&made->formals, name->text) >= 0)
            TRY(weft_error_at(parser->error, WEFT_ERROR_TYPE, name->place, "'%s' is used twice",
                              name->text));
        if (made->formals.n == WEFT_ARGUMENTS_MAX)
            TRY(weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, name->place,
                              "more than %d arguments", WEFT_ARGUMENTS_MAX));
        TRY(add(parser, &made->formals, name->text));
    }
    ++parser->position;
done:
    return status;
}

/* procedure: 'procedure' name '(' [name {',' name}] ')' '{' {statement} '}' */
static weft_status parse_procedure(script_parser *parser) {
    weft_status status = WEFT_OK;
    const weft_token *name = NULL, *open = NULL;
    script_procedure *made = weft_arena_alloc(parser->arena, 1, sizeof *made);
    if (!made)
        TRY(weft_script_no_memory(parser->error));
    TRY(outside_blocks(parser, "procedure"));
    TRY(weft_script_expect_name(parser, "a procedure", &name));
    TRY(weft_script_declare(parser, name, SCRIPT_PROCEDURE));
    made->name = name->text;
    TRY(parse_formals(parser, made));
    open = weft_script_token(parser);
    TRY(weft_script_expect(parser, "{", "before the statements of the procedure"));
    made->body = weft_script_token(parser);
    for (int depth = 1; depth > 0; ++parser->position) {
        const weft_token *token = weft_script_token(parser);
        if (token->kind == TOKEN_END)
            TRY(weft_error_at(parser->error, WEFT_ERROR_SYNTAX, open->place,
                              "there is no '}' for this '{'"));
        depth += is(token, "{") - is(token, "}");
        made->n += depth > 0;
    }
    TRY(find_names(parser, made));
    made->next = parser->procedures;
    parser->procedures = made;
done:
    return status;
}

/* ---- files ---- */

/* FOLDER/NAME.weft, where the including text is a file; NULL: it is not. */
static const char *path_beside(script_parser *parser, const weft_token *name) {
    const char *from = name->place.source->name, *slash = strrchr(from, '/');
    const size_t length = strlen(from);
    if (length < 5 || strcmp(from + length - 5, ".weft") != 0)
        return NULL;
    return weft_arena_print(parser->arena, "%.*s%s.weft", slash ? (int)(slash - from + 1) : 0, from,
                            name->text);
}

static weft_status no_file(const script_parser *parser, const weft_token *name, const char *path) {
    const char *names[64];
    size_t n = 0;
    for (const weft_embedded_file *one = weft_embedded_procedures; one->name && n < 64; ++one)
        names[n++] = weft_arena_copy(parser->arena, one->name, strlen(one->name) - 5);
    weft_error_at(parser->error, WEFT_ERROR_INPUT, name->place,
                  path ? "there is no shipped '%s', nor a file %s" : "there is no shipped '%s'",
                  name->text, path);
    weft_script_suggest(parser->error, name->text, names, n, "shipped are");
    return WEFT_ERROR_INPUT;
}

/* The text of what is included, and its name. */
static weft_status read_included(script_parser *parser, const weft_token *name, const char **origin,
                                 char **read, const char **text) {
    weft_status status = WEFT_OK;
    const char *path = path_beside(parser, name);
    const weft_embedded_file *one = weft_embedded_procedures;
    while (one->name && (strncmp(one->name, name->text, strlen(name->text)) != 0 ||
                         strcmp(one->name + strlen(name->text), ".weft") != 0))
        ++one;
    if (one->name) {
        *origin = weft_arena_print(parser->arena, "kernels/procedures/%s", one->name);
        *text = one->text;
        if (!*origin)
            status = weft_script_no_memory(parser->error);
        goto done;
    }
    if (!path || access(path, F_OK) != 0)
        TRY(no_file(parser, name, path));
    TRY(weft_file_read(path, read, NULL, parser->error));
    *origin = path;
    *text = *read;
done:
    return status;
}

/* include: 'include' name ';' */
static weft_status parse_include(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_token *name = NULL;
    const char *origin = NULL, *text = NULL;
    char *read = NULL;
    TRY(outside_blocks(parser, "include"));
    TRY(weft_script_expect_name(parser, "a file of statements", &name));
    TRY(weft_script_expect(parser, ";", "after the statement"));
    TRY(read_included(parser, name, &origin, &read, &text));
    for (int i = 0; i < script->n_sources; ++i)
        if (script->sources[i].name && strcmp(script->sources[i].name, origin) == 0)
            goto done;
    if (script->n_sources == parser->sources_most)
        TRY(weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, name->place,
                          "more than %d included files", WEFT_INCLUDES_MAX));
    const weft_token *tokens = parser->tokens;
    const int position = parser->position;
    TRY(weft_script_start_text(parser, &script->sources[script->n_sources++], origin, text));
    TRY(weft_script_parse_statements(parser));
    parser->tokens = tokens;
    parser->position = position;
done:
    free(read);
    return status;
}

bool weft_script_at_procedure_word(const script_parser *parser) {
    const weft_token *token = weft_script_token(parser);
    return token->kind == TOKEN_NAME && token[1].kind == TOKEN_NAME &&
           (is(token, "procedure") || is(token, "include"));
}

weft_status weft_script_parse_procedure_word(script_parser *parser) {
    return is(&parser->tokens[parser->position++], "include") ? parse_include(parser)
                                                              : parse_procedure(parser);
}

/* ---- calls ---- */

typedef struct actual {
    const weft_token *tokens;
    int n;
} actual;

typedef struct call {
    script_parser *parser;
    const script_procedure *procedure;
    const weft_token *place;
    actual *actuals;
    const char **own; /* [procedure->own.n] the names of this call */
    weft_token *tokens;
    int n;
} call;

static weft_status put(call *c, weft_token token) {
    weft_status status = WEFT_OK;
    script_parser *parser = c->parser;
    SCRIPT_APPEND(parser, c->tokens, c->n, token);
done:
    return status;
}

static weft_status check_actual(const call *c, int i) {
    const actual *one = &c->actuals[i];
    if (one->n == 0)
        return weft_error_at(c->parser->error, WEFT_ERROR_SYNTAX, one->tokens->place,
                             "expected an argument, found '%s'", one->tokens->text);
    if (!c->procedure->assigned[i] || (one->n == 1 && one->tokens->kind == TOKEN_NAME))
        return WEFT_OK;
    return weft_error_at(c->parser->error, WEFT_ERROR_TYPE, one->tokens->place,
                         "'%s' assigns to its argument '%s', which must be a name here",
                         c->procedure->name, c->procedure->formals.list[i]);
}

static weft_status wrong_count(const call *c, int n) {
    weft_status status = WEFT_OK;
    weft_text formals = {0};
    for (int i = 0; i < c->procedure->formals.n; ++i)
        weft_text_add(&formals, "%s%s", i > 0 ? ", " : "", c->procedure->formals.list[i]);
    status = weft_error_at(c->parser->error, WEFT_ERROR_TYPE, c->place->place,
                           "'%s' takes %d arguments, and %d are given", c->procedure->name,
                           c->procedure->formals.n, n);
    weft_error_hint(c->parser->error, "its arguments are (%s)", formals.data ? formals.data : "");
    weft_text_free(&formals);
    return status;
}

/* '(' [argument {',' argument}] ')' ';' */
static weft_status read_actuals(call *c) {
    weft_status status = WEFT_OK;
    script_parser *parser = c->parser;
    int n = 0;
    c->actuals = weft_arena_alloc(parser->arena, WEFT_ARGUMENTS_MAX + 1, sizeof *c->actuals);
    if (!c->actuals)
        TRY(weft_script_no_memory(parser->error));
    for (bool more = !weft_script_accept(parser, ")"); more; ++n) {
        actual one = {.tokens = weft_script_token(parser)};
        for (int depth = 0;; ++one.n, ++parser->position) {
            const weft_token *token = weft_script_token(parser);
            if (token->kind == TOKEN_END || is(token, ";"))
                TRY(weft_script_unexpected(parser, "')' after the arguments"));
            if (depth == 0 && (is(token, ",") || is(token, ")")))
                break;
            depth += (is(token, "(") || is(token, "[")) - (is(token, ")") || is(token, "]"));
        }
        if (n < WEFT_ARGUMENTS_MAX)
            c->actuals[n] = one;
        more = weft_script_accept(parser, ",");
        if (!more)
            TRY(weft_script_expect(parser, ")", "after the arguments"));
    }
    TRY(weft_script_expect(parser, ";", "after the statement"));
    if (n != c->procedure->formals.n)
        TRY(wrong_count(c, n));
    for (int i = 0; i < n; ++i)
        TRY(check_actual(c, i));
done:
    return status;
}

static weft_status name_own(call *c) {
    weft_status status = WEFT_OK;
    script_parser *parser = c->parser;
    const words *own = &c->procedure->own;
    c->own = weft_arena_alloc(parser->arena, (size_t)own->n + 1, sizeof *c->own);
    if (!c->own)
        TRY(weft_script_no_memory(parser->error));
    ++parser->n_calls;
    for (int i = 0; i < own->n; ++i) {
        c->own[i] = weft_arena_print(parser->arena, "%s__%d", own->list[i], parser->n_calls);
        if (!c->own[i])
            TRY(weft_script_no_memory(parser->error));
    }
done:
    return status;
}

/* Is the token a key, as in f(a, degree = 4)? */
static bool is_key(const weft_token *body, int i) {
    return i > 0 && is(&body[i + 1], "=") && (is(&body[i - 1], ",") || is(&body[i - 1], "("));
}

/* Is the formal at token i, for which 1 is given, the first factor of a product? It is left out, with the sign. */
static bool is_unit(const call *c, int i, const actual *one) {
    const weft_token *token = &c->procedure->body[i];
    const bool first = i > 0 && (is(token - 1, "=") || is(token - 1, "(") || is(token - 1, ",") ||
                                 is(token - 1, "+"));
    return first && is(token + 1, "*") && one->n == 1 && is(one->tokens, "1");
}

static weft_status put_actual(call *c, const actual *one, const weft_token *formal) {
    weft_status status = WEFT_OK;
    weft_token bracket = {.kind = TOKEN_SYMBOL, .place = formal->place, .text = "("};
    if (one->n > 1)
        TRY(put(c, bracket));
    for (int i = 0; i < one->n; ++i)
        TRY(put(c, one->tokens[i]));
    bracket.text = ")";
    if (one->n > 1)
        TRY(put(c, bracket));
done:
    return status;
}

static weft_status expand(call *c) {
    weft_status status = WEFT_OK;
    const script_procedure *p = c->procedure;
    for (int i = 0; i < p->n; ++i) {
        weft_token token = p->body[i];
        const bool named = token.kind == TOKEN_NAME && !is_key(p->body, i);
        const int formal = named ? find(&p->formals, token.text) : -1;
        const int own = named && formal < 0 ? find(&p->own, token.text) : -1;
        if (own >= 0)
            token.text = c->own[own];
        if (formal >= 0 && is_unit(c, i, &c->actuals[formal])) {
            ++i;
            continue;
        }
        TRY(formal >= 0 ? put_actual(c, &c->actuals[formal], &token) : put(c, token));
    }
    TRY(put(c, (weft_token){.kind = TOKEN_END, .place = c->place->place, .text = ""}));
done:
    return status;
}

weft_status weft_script_parse_call(script_parser *parser) {
    weft_status status = WEFT_OK;
    call c = {.parser = parser, .place = weft_script_token(parser)};
    const weft_location place = c.place->place;
    c.procedure = weft_script_procedure(parser, c.place->text);
    parser->position += 2; /* the name, '(' */
    TRY(read_actuals(&c));
    if (parser->call_depth == DEPTH_MAX)
        TRY(weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, place,
                          "procedures call each other more than %d deep: do they call themselves?",
                          DEPTH_MAX));
    TRY(name_own(&c));
    TRY(expand(&c));
    const weft_token *tokens = parser->tokens;
    const int position = parser->position;
    ++parser->call_depth;
    parser->tokens = c.tokens;
    parser->position = 0;
    status = weft_script_parse_statements(parser);
    --parser->call_depth;
    parser->tokens = tokens;
    parser->position = position;
    if (status != WEFT_OK && parser->error && !*parser->error->hint)
        weft_error_hint(parser->error, "in the procedure '%s', called at %s:%d:%d",
                        c.procedure->name, place.source->name, place.line, place.column);
done:
    return status;
}
