#include "app_fem.h"
#include "weft_tool.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a script returns -------------------------------------------------------------- */

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The next name at or after *at, comments left out; its length, or 0 at the end. */
static size_t next_name(const char **at) {
    const char *c = *at;
    while (*c && !isalpha((unsigned char)*c) && *c != '_') {
        if (*c == '#')
            c += strcspn(c, "\n");
        else if (isdigit((unsigned char)*c))
            while (is_name(*c) || *c == '.')
                ++c;
        else
            ++c;
    }
    *at = c;
    while (is_name(*c))
        ++c;
    return (size_t)(c - *at);
}

static int count_name(const weft_tool_scripts *scripts, const char *name, size_t length) {
    int n = 0;
    for (int i = 0; i < scripts->n; ++i) {
        const char *at = scripts->fragments[i].text;
        for (size_t found = next_name(&at); found > 0; found = next_name(&at)) {
            n += found == length && strncmp(at, name, length) == 0;
            at += found;
        }
    }
    return n;
}

/* Does a statement start here? At the start of a line, before '=' or '[...] +='. */
static bool is_target(const char *text, const char *at, size_t length) {
    if (at != text && at[-1] != '\n')
        return false;
    at += length;
    at += strspn(at, " \t");
    if (*at == '[') {
        at += strcspn(at, "]\n");
        at += *at == ']';
        at += strspn(at, " \t");
        return at[0] == '+' && at[1] == '=';
    }
    return *at == '=';
}

/* Takes over the text. */
static void add_fragment(weft_tool_scripts *scripts, const char *name, char *text) {
    scripts->texts[scripts->n] = text;
    scripts->fragments[scripts->n++] = (weft_fragment){name, text};
}

static weft_status add_returns(weft_tool_scripts *scripts, weft_error *error) {
    weft_text text = {0};
    for (int i = 0; i < scripts->n; ++i) {
        const char *start = scripts->fragments[i].text, *at = start;
        for (size_t length = next_name(&at); length > 0; length = next_name(&at)) {
            if (is_target(start, at, length) && count_name(scripts, at, length) == 1)
                weft_text_add(&text, "%s%.*s", text.data ? ", " : "return ", (int)length, at);
            at += length;
        }
    }
    if (!text.data)
        return WEFT_OK; /* the compiler says what is missing */
    weft_text_add(&text, ";\n");
    if (text.failed) {
        weft_text_free(&text);
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    }
    add_fragment(scripts, "what is returned", text.data);
    return WEFT_OK;
}

weft_status weft_tool_scripts_read(const char *const *names, int n, weft_tool_scripts *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < n; ++i) {
        char *text = NULL;
        TRY(app_script_read(names[i], &text, error));
        add_fragment(out, names[i], text);
    }
    if (count_name(out, "return", 6) == 0)
        TRY(add_returns(out, error));
done:
    return status;
}

void weft_tool_scripts_clear(weft_tool_scripts *scripts) {
    for (int i = 0; i < scripts->n; ++i)
        free(scripts->texts[i]);
    scripts->n = 0;
}
