/* Splits script text into tokens, and prints them. */
#include "fusion/script/tokens.h"
#include "core/base/number.h"
#include "fusion/script/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Character classes of the C locale, whatever the locale of the process. */
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c) {
    return is_letter(c) || is_digit(c);
}

weft_status weft_error_at(weft_error *error, weft_status status, weft_location place,
                          const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    weft_error_set_list(error, status, format, arguments);
    va_end(arguments);
    if (place.source)
        weft_error_location(error, place.source->name, place.source->text, place.line,
                            place.column);
    return status;
}

typedef struct scanner {
    const weft_source *source;
    const char *at, *line_start;
    int line;
    weft_error *error;
} scanner;

static weft_location scanner_place(const scanner *s) {
    return (weft_location){s->source, s->line, (int)(s->at - s->line_start) + 1};
}

static void skip_blanks(scanner *s) {
    if (s->at == s->source->text && strncmp(s->at, "\xEF\xBB\xBF", 3) == 0)
        s->at += 3; /* byte order mark */
    for (;;) {
        s->at += strspn(s->at, " \t\r\v\f");
        if (*s->at == '#')
            s->at += strcspn(s->at, "\n");
        if (*s->at != '\n')
            return;
        ++s->at;
        ++s->line;
        s->line_start = s->at;
    }
}

/* The length in bytes of the UTF-8 character at c; 1 if it is invalid. */
static int character_length(const char *c) {
    unsigned char lead = (unsigned char)*c;
    int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    for (int i = 1; i < length; ++i)
        if (((unsigned char)c[i] & 0xC0) != 0x80)
            return 1;
    return length;
}

static weft_status bad_character(const scanner *s) {
    unsigned char byte = (unsigned char)*s->at;
    int length = character_length(s->at);
    if (byte >= 0x80 && length == 1)
        return weft_error_at(s->error, WEFT_ERROR_SYNTAX, scanner_place(s),
                             "byte 0x%02X: outside comments only ASCII is allowed", byte);
    if (byte >= 0x80)
        return weft_error_at(s->error, WEFT_ERROR_SYNTAX, scanner_place(s),
                             "'%.*s': outside comments only ASCII is allowed", length, s->at);
    if (byte < 0x20 || byte == 0x7F)
        return weft_error_at(s->error, WEFT_ERROR_SYNTAX, scanner_place(s),
                             "control character 0x%02X in the text", byte);
    weft_error_at(s->error, WEFT_ERROR_SYNTAX, scanner_place(s), "'%c' has no meaning here", byte);
    if (strchr("?&|!", byte)) {
        weft_error_hint(s->error,
                        byte == '?'
                            ? "a condition is written select(a < b, x, y): x where a < b, else y"
                            : "comparisons are joined by and: select(a < b and c < d, x, y)");
        return WEFT_ERROR_SYNTAX;
    }
    weft_error_hint(s->error,
                    "a script is made of names, numbers and ( ) [ ] , ; : = + - * / ^ -> +=");
    return WEFT_ERROR_SYNTAX;
}

/* number: digits ['.' [digits]] [exponent] | '.' digits [exponent]
 * exponent: (e|E) ['+'|'-'] digits */
size_t weft_token_number_length(const char *text, bool *integer) {
    const char *c = text;
    while (is_digit(*c))
        ++c;
    *integer = *c != '.';
    if (*c == '.')
        for (++c; is_digit(*c);)
            ++c;
    if (*c == 'e' || *c == 'E') {
        const char *digits = c + 1 + (c[1] == '+' || c[1] == '-');
        if (is_digit(*digits)) {
            for (c = digits; is_digit(*c);)
                ++c;
            *integer = false;
        }
    }
    return (size_t)(c - text);
}

static weft_status scan_number(const scanner *s, size_t *length, bool *integer) {
    *length = weft_token_number_length(s->at, integer);
    const char *c = s->at + *length;
    if (!is_word(*c) && *c != '.')
        return WEFT_OK;
    const char *end = c;
    while (is_word(*end) || *end == '.')
        ++end;
    weft_error_at(s->error, WEFT_ERROR_SYNTAX, scanner_place(s), "'%.*s' is not a number",
                  (int)(end - s->at < 60 ? end - s->at : 60), s->at);
    if (*integer && is_letter(*c) && !strchr(s->at, '.') && *s->at != '0')
        weft_error_hint(s->error, "a product is written with *: %.*s*%.*s",
                        (int)(c - s->at < 60 ? c - s->at : 60), s->at,
                        (int)(end - c < 60 ? end - c : 60), c);
    else
        weft_error_hint(s->error, "numbers are written like 2, 0.5 or 1e-3");
    return WEFT_ERROR_SYNTAX;
}

/* symbol: one of ( ) [ ] { } , ; : = + - * / ^ < > and -> += <= >= */
static weft_status scan_symbol(const scanner *s, size_t *length) {
    const char *c = s->at;
    bool with_equals = (c[0] == '+' || c[0] == '<' || c[0] == '>') && c[1] == '=';
    *length = (c[0] == '-' && c[1] == '>') || with_equals ? 2 : 1;
    if (c[0] == '*' && c[1] == '*') {
        weft_error_at(s->error, WEFT_ERROR_SYNTAX, scanner_place(s), "'**' has no meaning here");
        weft_error_hint(s->error, "a power is written with ^: x^2");
        return WEFT_ERROR_SYNTAX;
    }
    return strchr("()[],;:=+-*/^{}<>", *c) ? WEFT_OK : bad_character(s);
}

/* Find the next token: its kind, place and length; s->at points to its first byte. */
static weft_status scan(scanner *s, weft_token *token, size_t *length) {
    skip_blanks(s);
    token->place = scanner_place(s);
    *length = 0;
    char c = *s->at;
    if (c == '\0') {
        token->kind = TOKEN_END;
        return WEFT_OK;
    }
    if (is_letter(c)) {
        token->kind = TOKEN_NAME;
        while (is_word(s->at[*length]))
            ++*length;
        if (*length <= WEFT_NAME_MAX)
            return WEFT_OK;
        return weft_error_at(s->error, WEFT_ERROR_SYNTAX, token->place,
                             "this name has %zu characters, and %d are allowed", *length,
                             WEFT_NAME_MAX);
    }
    if (is_digit(c) || (c == '.' && is_digit(s->at[1]))) {
        token->kind = TOKEN_NUMBER;
        return scan_number(s, length, &token->integer);
    }
    token->kind = TOKEN_SYMBOL;
    return scan_symbol(s, length);
}

static weft_status token_value(weft_token *token, weft_error *error) {
    token->number = weft_number_read(token->text, NULL);
    if (isfinite(token->number))
        return WEFT_OK;
    return weft_error_at(error, WEFT_ERROR_SYNTAX, token->place,
                         "'%.60s' is too large for a double", token->text);
}

weft_status weft_tokens_make(weft_arena *arena, const weft_source *source, weft_token **out, int *n,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_token *tokens = NULL;
    size_t length = 0;
    int count = 0;
    if (strnlen(source->text, WEFT_TEXT_MAX + 1) > WEFT_TEXT_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_SYNTAX, "%s: the text is longer than %d KiB",
                           source->name, WEFT_TEXT_MAX / 1024));
    scanner s = {source, source->text, source->text, 1, error};
    do {
        weft_token token = {.kind = TOKEN_NAME};
        TRY(scan(&s, &token, &length));
        token.text = weft_arena_copy(arena, s.at, length);
        if (!token.text)
            TRY(weft_script_no_memory(error));
        if (token.kind == TOKEN_NUMBER)
            TRY(token_value(&token, error));
        TRY(WEFT_APPEND(arena, tokens, count, token, error));
        s.at += length;
    } while (tokens[count - 1].kind != TOKEN_END);
    *out = tokens;
    *n = count;
done:
    return status;
}

void weft_tokens_print(const weft_token *tokens, int n, weft_text *out) {
    static const char *const kinds[] = {"end", "name", "number", "symbol"};
    for (int i = 0; i < n; ++i)
        weft_text_add(out, "%5d:%-4d %-6s %s\n", tokens[i].place.line, tokens[i].place.column,
                      kinds[tokens[i].kind], tokens[i].text);
}
