/* Escapes user text for other languages: JSON, markup, C comments, Graphviz, gnuplot, Markdown.
 *
 * Decision  docs/decisions/0051-text-is-converted-in-one-file.md */
#include "core/weft_escape.h"

#include <string.h>

static const char REPLACEMENT[] = "\xEF\xBF\xBD"; /* U+FFFD in UTF-8 */

/* The code point of a UTF-8 character of this length, or -1 if it is truncated, overlong, a
 * surrogate or beyond Unicode. */
static int32_t decode(const unsigned char *c, int length) {
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int32_t code = length == 1 ? c[0] : c[0] & (0x7F >> length);
    for (int i = 1; i < length; ++i) {
        if ((c[i] & 0xC0) != 0x80)
            return -1;
        code = code << 6 | (c[i] & 0x3F);
    }
    const bool right =
        code >= least[length] && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
    return right ? code : -1;
}

/* Bidirectional marks, embeddings, overrides and isolates; line and paragraph separators. */
static bool is_directional(int32_t code) {
    return code == 0x061C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

int weft_character_length(const char *at, bool *shown) {
    const unsigned char *c = (const unsigned char *)at;
    const int length = c[0] < 0x80 ? 1 : c[0] < 0xC0 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    *shown = false;
    if (c[0] == 0)
        return 0;
    const int32_t code = length == 0 || c[0] > 0xF4 ? -1 : decode(c, length);
    if (code < 0)
        return 1; /* an invalid byte; the next byte may start a character */
    *shown = code >= 0x20 && !(code >= 0x7F && code < 0xA0) && code != 0xFFFE && code != 0xFFFF &&
             !is_directional(code);
    return length;
}

/* Add each displayable character as `spell` returns it (NULL: unchanged), and any other as
 * `replace` returns it, or as U+FFFD. */
static void add_each(weft_text *text, const char *string, const char *(*spell)(char),
                     const char *(*replace)(char)) {
    bool shown;
    int length;
    for (const char *c = string ? string : ""; (length = weft_character_length(c, &shown)) > 0;
         c += length) {
        const char *spelled = shown ? (length == 1 ? spell(*c) : NULL) : replace(*c);
        if (spelled)
            weft_text_add_bytes(text, spelled, strlen(spelled));
        else
            weft_text_add_bytes(text, shown ? c : REPLACEMENT, shown ? (size_t)length : 3);
    }
}

static const char *as_it_is(char c) {
    (void)c;
    return NULL;
}

/* ---- JSON ---- */

static const char *spell_json(char c) {
    return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL;
}

static const char *replace_json(char c) {
    static const char *const escapes[32] = {
        "",        "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007",
        "\\u0008", "\\t",     "\\n",     "\\u000b", "\\u000c", "\\r",     "\\u000e", "\\u000f",
        "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015", "\\u0016", "\\u0017",
        "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f"};
    return (unsigned char)c < 0x20 ? escapes[(unsigned char)c] : NULL;
}

void weft_text_add_json(weft_text *text, const char *string) {
    weft_text_add_bytes(text, "\"", 1);
    add_each(text, string, spell_json, replace_json);
    weft_text_add_bytes(text, "\"", 1);
}

/* ---- HTML, SVG, XML ---- */

static const char *spell_markup(char c) {
    return c == '&'    ? "&amp;"
           : c == '<'  ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&#39;"
                       : NULL;
}

static const char *keep_lines(char c) {
    return c == '\n' ? "\n" : c == '\t' ? "\t" : NULL;
}

void weft_text_add_markup(weft_text *text, const char *string) {
    add_each(text, string, spell_markup, keep_lines);
}

/* ---- comments of C and CUDA ---- */

void weft_text_add_comment(weft_text *text, const char *string) {
    for (const char *c = string ? string : ""; *c; ++c) {
        const bool plain = *c >= 0x20 && *c < 0x7F && *c != '*' && *c != '?' && *c != '\\';
        weft_text_add_bytes(text, plain ? c : "_", 1);
    }
}

/* ---- Graphviz ---- */

/* In a Graphviz label, '&' starts a character entity and '\' an escape sequence. */
static const char *spell_dot(char c) {
    return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '&' ? "&amp;" : NULL;
}

static const char *break_dot(char c) {
    return c == '\n' ? "\\n" : c == '\t' ? " " : NULL;
}

void weft_text_add_dot(weft_text *text, const char *string) {
    add_each(text, string, spell_dot, break_dot);
}

/* ---- gnuplot ---- */

static const char *spell_gnuplot(char c) {
    return c == '\'' ? "''" : NULL;
}

static const char *blank(char c) {
    return c == '\n' || c == '\t' ? " " : NULL;
}

void weft_text_add_gnuplot(weft_text *text, const char *string) {
    weft_text_add_bytes(text, "'", 1);
    add_each(text, string, spell_gnuplot, blank);
    weft_text_add_bytes(text, "'", 1);
}

/* ---- Markdown ---- */

static const char *spell_markdown(char c) {
    static const char marks[] = "\\`*[]<>|&!~$",
                      escaped[][3] = {"\\\\", "\\`", "\\*", "\\[", "\\]", "\\<",
                                      "\\>",  "\\|", "\\&", "\\!", "\\~", "\\$"};
    const char *at = strchr(marks, c);
    return at ? escaped[at - marks] : NULL;
}

void weft_text_add_markdown(weft_text *text, const char *string) {
    add_each(text, string, spell_markdown, blank);
}

/* ---- terminals ---- */

static const char *replace_terminal(char c) {
    return c == '\n' ? "\n" : c == '\t' ? "\t" : "?";
}

void weft_text_add_terminal(weft_text *text, const char *string) {
    add_each(text, string, as_it_is, replace_terminal);
}
