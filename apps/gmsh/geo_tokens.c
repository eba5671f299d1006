/* The scanner of Gmsh, with its habits: no escapes in strings, strings of at most 1023 characters
 * over any number of lines, a comment of // up to a newline and not to a carriage return. */
#include "apps/gmsh/geo_tokens.h"

#include <string.h>

enum { STRING_MOST = 1023, LINE_MOST = 8000 }; /* Gmsh buffers 8192 bytes of a line */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

geo_reader geo_reader_make(const char *text, size_t length,
                           bool (*is_command)(const char *, size_t, bool)) {
    return (geo_reader){.text = text,
                        .end = text + length,
                        .at = text,
                        .line_start = text,
                        .line = 1,
                        .is_command = is_command};
}

bool geo_is(const geo_token *token, const char *text) {
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

static geo_token token_here(const geo_reader *r, geo_kind kind, const char *text, size_t length) {
    return (geo_token){kind, text, length, r->line, (int)(r->at - r->line_start) + 1};
}

static geo_token fail(geo_reader *r, const char *what) {
    r->broken = what;
    r->hidden = token_here(r, GEO_END, r->at, 0);
    r->at = r->end;
    return r->hidden;
}

/* Pass one character; lines that Gmsh would read in two pieces are ambiguous. */
static void step(geo_reader *r) {
    if (*r->at == '\n') {
        ++r->line;
        r->line_start = r->at + 1;
        r->code_on_line = false;
    } else if (r->at - r->line_start > LINE_MOST) {
        r->ambiguous = true;
    }
    ++r->at;
}

/* Remember the first command in what is a string or a comment for us. */
static void find_hidden(geo_reader *r, const geo_token *start, const char *to) {
    const char *from = start->text;
    int line = start->line;
    for (const char *c = from; c < to && r->hidden.kind == GEO_END; ++c) {
        line += *c == '\n';
        if (!is_letter(*c) || (c > from && is_letter(c[-1])))
            continue;
        size_t n = 1;
        while (c + n < to && (is_letter(c[n]) || is_digit(c[n])))
            ++n;
        const char *next = c + n;
        while (next < to && (*next == ' ' || *next == '\t'))
            ++next;
        if (r->is_command(c, n, next < to && (*next == '"' || *next == '\'')))
            r->hidden = (geo_token){GEO_NAME, c, n, line, 1};
    }
}

/* Gmsh skips what an If leaves out, and the body of a For or a Macro, by a simpler scanner: it sees
 * no strings after If, and it loses the character behind some letters, which may be the mark of a
 * string or comment. */
static void look_inside(geo_reader *r, const geo_token *start, const char *to, bool is_string) {
    static const char *const marks[] = {"/*", "*/", "//", "EndIf", "Else"};
    const char *first = start->text - (is_string ? 1 : 2);
    r->ambiguous |= first > r->text && is_letter(first[-1]);
    for (const char *c = start->text; c < to; ++c) {
        r->ambiguous |= *c == '\r' && c + 1 < r->end && c[1] != '\n';
        for (size_t i = 0; is_string && i < sizeof marks / sizeof *marks; ++i) {
            size_t n = strlen(marks[i]);
            r->ambiguous |= (size_t)(to - c) >= n && memcmp(c, marks[i], n) == 0;
        }
    }
    find_hidden(r, start, to);
}

static bool pass_comment(geo_reader *r) {
    geo_token start = token_here(r, GEO_SYMBOL, r->at + 2, 0);
    bool block = r->at[1] == '*', code = r->code_on_line;
    int line = r->line;
    step(r);
    step(r);
    while (r->at < r->end && *r->at) {
        if (block ? *r->at == '*' && r->at + 1 < r->end && r->at[1] == '/' : *r->at == '\n')
            break;
        step(r);
    }
    look_inside(r, &start, r->at, false);
    r->ambiguous |= code && r->line != line;
    if (block && (r->at >= r->end || !*r->at)) {
        fail(r, "a comment is not closed");
        return false;
    }
    if (block) {
        step(r);
        step(r);
    }
    return true;
}

static geo_token read_string(geo_reader *r) {
    char quote = *r->at;
    geo_token token = token_here(r, GEO_STRING, r->at + 1, 0);
    step(r);
    while (r->at < r->end && *r->at && *r->at != quote && r->at - token.text <= STRING_MOST)
        step(r);
    token.length = (size_t)(r->at - token.text);
    if (r->at >= r->end || *r->at != quote || token.length > STRING_MOST) {
        r->at = token.text - 1;
        r->line = token.line;
        return fail(r, token.length > STRING_MOST ? "a string has more than 1023 characters"
                                                  : "a string is not closed");
    }
    look_inside(r, &token, r->at, true);
    r->ambiguous |= r->line != token.line;
    step(r);
    r->code_on_line = true;
    return token;
}

/* digits, digits.digits, each with an exponent where digits follow the e */
static geo_token read_number(geo_reader *r) {
    geo_token token = token_here(r, GEO_NUMBER, r->at, 0);
    while (r->at < r->end && is_digit(*r->at))
        step(r);
    if (r->at < r->end && *r->at == '.') {
        step(r);
        while (r->at < r->end && is_digit(*r->at))
            step(r);
    }
    const char *e = r->at;
    if (e + 1 < r->end && (*e == 'e' || *e == 'E')) {
        ++e;
        e += e + 1 < r->end && (*e == '-' || *e == '+');
        while (e < r->end && is_digit(*e))
            r->at = ++e;
    }
    token.length = (size_t)(r->at - token.text);
    return token;
}

geo_token geo_next(geo_reader *r) {
    while (r->at < r->end) {
        char c = *r->at;
        if (c == '\0')
            return fail(r, "this file is not text: it contains a zero byte");
        if (c == '\r' && r->at + 1 < r->end && r->at[1] != '\n')
            r->ambiguous = true;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
            step(r);
            continue;
        }
        if (c == '/' && r->at + 1 < r->end && (r->at[1] == '/' || r->at[1] == '*')) {
            if (!pass_comment(r))
                return r->hidden;
            continue;
        }
        if (c == '"' || c == '\'')
            return read_string(r);
        r->code_on_line = true;
        if (is_digit(c) || (c == '.' && r->at + 1 < r->end && is_digit(r->at[1])))
            return read_number(r);
        geo_token token = token_here(r, GEO_SYMBOL, r->at, 1);
        step(r);
        if (is_letter(c)) {
            token.kind = GEO_NAME;
            while (r->at < r->end && (is_letter(*r->at) || is_digit(*r->at)))
                step(r);
            token.length = (size_t)(r->at - token.text);
        }
        return token;
    }
    return token_here(r, GEO_END, r->end, 0);
}
