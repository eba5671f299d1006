/* Lists the names of a script with the parser only, for programs that do not compile it yet. */
#include "fusion/script/private.h"
#include "fusion/weft_outline.h"

#include <string.h>

struct weft_outline {
    weft_arena *arena;
    script_parser parser;
};

weft_status weft_outline_make(const weft_fragment *fragments, int n_fragments, weft_outline **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_outline *made = NULL;
    TRY(weft_arena_make(&arena, error));
    made = weft_arena_alloc(arena, 1, sizeof *made);
    if (!made)
        TRY(weft_script_no_memory(error));
    *made = (weft_outline){.arena = arena, .parser = {.arena = arena, .loop = -1, .error = error}};
    made->parser.script = weft_arena_alloc(arena, 1, sizeof *made->parser.script);
    if (!made->parser.script)
        TRY(weft_script_no_memory(error));
    TRY(weft_script_read_texts(&made->parser, fragments, n_fragments));
    *out = made;
    arena = NULL;
done:
    weft_arena_free(&arena);
    return status;
}

void weft_script_add_included(const weft_fragment *fragments, int n_fragments, weft_text *out) {
    weft_outline *outline = NULL;
    bool includes = false;
    for (int i = 0; i < n_fragments; ++i)
        includes |= fragments[i].text && strstr(fragments[i].text, "include");
    if (!includes || weft_outline_make(fragments, n_fragments, &outline, NULL) != WEFT_OK)
        return;
    const weft_script *script = outline->parser.script;
    for (int i = n_fragments; i < script->n_sources; ++i)
        weft_text_add(out, "%s\n", script->sources[i].text);
    weft_outline_free(&outline);
}

bool weft_outline_reserved(const char *word) {
    return weft_script_reserved(word);
}

void weft_outline_free(weft_outline **outline) {
    if (!outline || !*outline)
        return;
    weft_arena *arena = (*outline)->arena;
    *outline = NULL;
    weft_arena_free(&arena);
}

int weft_outline_names(const weft_outline *outline) {
    return outline->parser.n_names;
}

bool weft_outline_returns(const weft_outline *outline) {
    return outline->parser.script->n_returns > 0;
}

/* ---- names ---- */

static bool reads(const weft_node *node, const char *name) {
    if (node->kind == NODE_NAME && strcmp(node->name, name) == 0)
        return true;
    for (int i = 0; i < node->n_children; ++i)
        if (reads(node->children[i], name))
            return true;
    return false;
}

static bool is_read(const weft_script *script, const char *name) {
    for (int i = 0; i < script->n_statements; ++i)
        if (reads(script->statements[i].value, name))
            return true;
    for (int i = 0; i < script->n_loops; ++i)
        if (reads(script->loops[i].most, name) || reads(script->loops[i].condition, name))
            return true;
    return false;
}

static void report(const weft_outline *outline, const script_name *name, weft_outline_name *out) {
    static const weft_name_kind kinds[] = {
        [SCRIPT_INDEX] = WEFT_NAME_INDEX,           [SCRIPT_CONNECTIVITY] = WEFT_NAME_CONNECTIVITY,
        [SCRIPT_INPUT] = WEFT_NAME_INPUT,           [SCRIPT_PARAMETER] = WEFT_NAME_PARAMETER,
        [SCRIPT_EXPRESSION] = WEFT_NAME_EXPRESSION, [SCRIPT_OPERATOR] = WEFT_NAME_OPERATOR,
        [SCRIPT_PROCEDURE] = WEFT_NAME_PROCEDURE,   [SCRIPT_ASSIGNED] = WEFT_NAME_VALUE,
        [SCRIPT_ACCUMULATED] = WEFT_NAME_VALUE};
    *out = (weft_outline_name){.name = name->name,
                               .kind = kinds[name->kind],
                               .in_loop = name->loop >= 0,
                               .accumulated = name->kind == SCRIPT_ACCUMULATED,
                               .read = is_read(outline->parser.script, name->name)};
}

void weft_outline_describe(const weft_outline *outline, int i, weft_outline_name *out) {
    report(outline, &outline->parser.names[i], out);
}

bool weft_outline_find(const weft_outline *outline, const char *name, weft_outline_name *out) {
    const script_name *found = weft_script_find(&outline->parser, name);
    if (found && out)
        report(outline, found, out);
    return found != NULL;
}

/* ---- the text without its return statements ---- */

static char *position(char *text, weft_location place) {
    for (int line = 1; line < place.line; ++line)
        text = strchr(text, '\n') + 1;
    return text + place.column - 1;
}

weft_status weft_outline_strip(const weft_outline *outline, int fragment, char *text,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_source *source = &outline->parser.script->sources[fragment];
    weft_arena *scratch = NULL;
    weft_token *tokens = NULL;
    int n = 0;
    TRY(weft_arena_make(&scratch, error));
    TRY(weft_tokens_make(scratch, source, &tokens, &n, error));
    for (int i = 0, start = -1; i < n; ++i) {
        const weft_token *token = &tokens[i];
        if (token->kind == TOKEN_NAME && strcmp(token->text, "return") == 0)
            start = i;
        for (int k = start; start >= 0 && strcmp(token->text, ";") == 0 && k <= i; ++k)
            memset(position(text, tokens[k].place), ' ', strlen(tokens[k].text));
        if (strcmp(token->text, ";") == 0)
            start = -1;
    }
done:
    weft_arena_free(&scratch);
    return status;
}
