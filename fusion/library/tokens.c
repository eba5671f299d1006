/* Splits kernel files into tokens, and reads them one by one. */
#include "core/base/number.h"
#include "fusion/base/array.h"
#include "fusion/base/intrinsics.h"
#include "fusion/library/private.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

weft_location weft_reader_line(const kernel_reader *reader, int line) {
    return (weft_location){reader->source, line, 1};
}

weft_status weft_reader_memory(kernel_reader *reader) {
    return weft_error_set(reader->error, WEFT_ERROR_MEMORY, "out of memory while reading %s",
                          reader->source->name);
}

typedef struct scanner {
    const char *text, *end;
    weft_location place;
} scanner;

static void advance(scanner *s, size_t n) {
    for (; n > 0; --n, ++s->text) {
        if (*s->text == '\n') {
            ++s->place.line;
            s->place.column = 1;
        } else {
            ++s->place.column;
        }
    }
}

static bool starts(const scanner *s, const char *with) {
    size_t i = 0;
    while (with[i] != '\0' && s->text + i < s->end && s->text[i] == with[i])
        ++i;
    return with[i] == '\0';
}

/* Skip blanks and comments; false at an unterminated comment. */
static bool skip_blanks(scanner *s) {
    while (s->text < s->end) {
        if (isspace((unsigned char)*s->text)) {
            advance(s, 1);
        } else if (starts(s, "//")) {
            while (s->text < s->end && *s->text != '\n')
                advance(s, 1);
        } else if (starts(s, "/*")) {
            advance(s, 2);
            while (s->text < s->end && !starts(s, "*/"))
                advance(s, 1);
            if (s->text >= s->end)
                return false;
            advance(s, 2);
        } else {
            break;
        }
    }
    return true;
}

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static size_t symbol_length(const scanner *s) {
    static const char *const doubles[] = {"->", "++", "--", "+=", "-=", "*=", "/=", "%=",
                                          "<=", ">=", "==", "!=", "&&", "||", "<<", ">>"};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; ++i)
        if (starts(s, doubles[i]))
            return 2;
    return *s->text != '\0' && strchr("()[]{},;:=+-*/%<>!&|.?~^", *s->text) ? 1 : 0;
}

static weft_status scan_token(kernel_reader *reader, scanner *s, weft_token *token) {
    if (!skip_blanks(s))
        return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, token->place,
                             "this comment does not end: '*/' is missing");
    *token = (weft_token){.kind = TOKEN_END, .place = s->place, .text = ""};
    if (s->text >= s->end)
        return WEFT_OK;
    size_t length;
    char c = *s->text;
    if (isalpha((unsigned char)c) || c == '_') {
        token->kind = TOKEN_NAME;
        for (length = 1; s->text + length < s->end && is_name(s->text[length]);)
            ++length;
    } else if (isdigit((unsigned char)c) ||
               (c == '.' && s->text + 1 < s->end && isdigit((unsigned char)s->text[1]))) {
        token->kind = TOKEN_NUMBER;
        length = weft_token_number_length(s->text, &token->integer);
        if (s->text + length < s->end && is_name(s->text[length]))
            return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, s->place,
                                 "a number with a suffix: write it without (2 or 0.5 or 1e-3)");
    } else {
        token->kind = TOKEN_SYMBOL;
        length = symbol_length(s);
        if (length == 0 && c == '#')
            return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, s->place,
                                 "kernel bodies have no preprocessor: '#' is not allowed");
        if (length == 0)
            return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, s->place,
                                 isprint((unsigned char)c)
                                     ? "the character '%c' is not allowed here"
                                     : "the byte 0x%02x is not allowed here",
                                 (unsigned char)c);
    }
    token->text = weft_arena_copy(reader->scratch, s->text, length);
    if (!token->text)
        return weft_reader_memory(reader);
    if (token->kind == TOKEN_NUMBER)
        token->number = weft_number_read(token->text, NULL);
    advance(s, length);
    return WEFT_OK;
}

weft_status weft_kernel_tokens_make(kernel_reader *reader, const char *text, size_t length,
                                    weft_location place, const weft_location *use) {
    weft_status status = WEFT_OK;
    scanner s = {text, text + length, place};
    int n = 0;
    weft_token *tokens = NULL;
    if (reader->scratch)
        weft_arena_clear(reader->scratch);
    else
        TRY(weft_arena_make(&reader->scratch, reader->error));
    do {
        tokens = weft_array_grow(reader->scratch, tokens, n, sizeof *tokens);
        if (!tokens)
            TRY(weft_reader_memory(reader));
        tokens[n].place = s.place;
        TRY(scan_token(reader, &s, &tokens[n]));
    } while (tokens[n++].kind != TOKEN_END);
    for (int i = 0; use && i < n; ++i)
        tokens[i].place = *use;
    reader->token = reader->start = tokens;
done:
    return status;
}

bool weft_reader_is(const kernel_reader *reader, const char *text) {
    const char *found = reader->token->text; /* "" at the end */
    return found[0] == text[0] && found[0] != '\0' && strcmp(found, text) == 0;
}

bool weft_reader_accept(kernel_reader *reader, const char *text) {
    bool found = weft_reader_is(reader, text);
    if (found)
        ++reader->token;
    return found;
}

const char *weft_reader_found(const kernel_reader *reader) {
    return reader->token->kind == TOKEN_END ? "the end" : reader->token->text;
}

weft_status weft_reader_expect(kernel_reader *reader, const char *text, const char *what) {
    if (weft_reader_accept(reader, text))
        return WEFT_OK;
    const weft_token *token = reader->token;
    return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, token->place,
                         "expected '%s' %s, found %s%s%s", text, what,
                         token->kind == TOKEN_END ? "" : "'", weft_reader_found(reader),
                         token->kind == TOKEN_END ? "" : "'");
}

/* Names like LANES or M_PI, which may be macros of the prelude or of <math.h>. */
static bool is_macro_name(const char *name) {
    size_t n = 0;
    for (; name[n] != '\0'; ++n)
        if (islower((unsigned char)name[n]))
            return false;
    return n >= 3;
}

weft_status weft_reader_new_name(kernel_reader *reader, const char *what, const char **out) {
    static const char *const reserved[] = {
        "real",   "int",    "scalar", "t",        "for",      "if",       "else",     "return",
        "while",  "do",     "goto",   "break",    "continue", "switch",   "case",     "default",
        "float",  "double", "char",   "short",    "long",     "signed",   "unsigned", "void",
        "const",  "static", "extern", "register", "volatile", "restrict", "inline",   "auto",
        "struct", "union",  "enum",   "typedef",  "sizeof",   "asm",      "typeof",   "main",
        "unix",   "linux",  "over",   "select",   "use",      "infinity"};
    const weft_token *token = reader->token;
    if (token->kind != TOKEN_NAME)
        return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, token->place,
                             "expected %s, found %s", what, weft_reader_found(reader));
    size_t length = strlen(token->text);
    bool taken = strncmp(token->text, "v_", 2) == 0 || strncmp(token->text, "weft_", 5) == 0 ||
                 token->text[0] == '_' || token->text[length - 1] == '_' ||
                 is_macro_name(token->text);
    taken = taken || weft_intrinsic_find(token->text) ||
            weft_name_index(reserved, (int)(sizeof reserved / sizeof *reserved), sizeof *reserved,
                            token->text) >= 0;
    if (taken) {
        weft_status status = weft_error_at(reader->error, WEFT_ERROR_SYNTAX, token->place,
                                           "'%s' cannot be %s: it is reserved", token->text, what);
        weft_error_hint(reader->error,
                        "choose a name that is not a C keyword, an intrinsic or 't' (the thread), "
                        "does not begin with v_, weft_ or _, does not end with _, and from three "
                        "characters on has a small letter (the others are the prelude's)");
        return status;
    }
    *out = weft_arena_copy(reader->arena, token->text, length);
    ++reader->token;
    return *out ? WEFT_OK : weft_reader_memory(reader);
}
