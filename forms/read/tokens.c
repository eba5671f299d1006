/* Splits the text of a form file into tokens, with indentation as Python has it. */
#include "forms/read/private.h"

#include <ctype.h>
#include <string.h>

enum { INDENTS_MAX = 100 };

typedef struct ufl_lexer {
    ufl_context *context;
    const char *at, *end, *line_start;
    int line, first_column; /* column of line_start */
    int brackets;
    int indents[INDENTS_MAX], n_indents;
    bool line_begins;
    ufl_token *tokens;
    size_t n;
} ufl_lexer;

static ufl_place place_of(const ufl_lexer *lexer, const char *at) {
    return (ufl_place){lexer->line, (int)(at - lexer->line_start) + lexer->first_column};
}

static bool fail(ufl_lexer *lexer, const char *at, weft_status status, const char *message) {
    lexer->context->place = place_of(lexer, at);
    ufl_fail(lexer->context, status, "%s", message);
    return false;
}

static bool add(ufl_lexer *lexer, ufl_token_kind kind, const char *start, size_t length) {
    lexer->tokens = ufl_grow(lexer->context, lexer->tokens, lexer->n, sizeof *lexer->tokens);
    if (!lexer->tokens)
        return false;
    lexer->tokens[lexer->n++] = (ufl_token){kind, start, length, place_of(lexer, start)};
    return true;
}

/* Is the character one of the set? A zero byte never is. */
static bool is_in(char c, const char *set) {
    return c != '\0' && strchr(set, c);
}

/* Step over one line end: LF, CR LF or CR. */
static bool skip_line_end(ufl_lexer *lexer) {
    if (lexer->at < lexer->end && *lexer->at == '\r') {
        ++lexer->at;
        if (lexer->at < lexer->end && *lexer->at == '\n')
            ++lexer->at;
    } else if (lexer->at < lexer->end && *lexer->at == '\n') {
        ++lexer->at;
    } else {
        return false;
    }
    ++lexer->line;
    lexer->line_start = lexer->at;
    lexer->first_column = 1;
    return true;
}

/* Indentation of the line that begins here, as INDENT and DEDENT tokens. Blank lines have none. */
static bool begin_line(ufl_lexer *lexer) {
    int width = 0;
    for (; lexer->at < lexer->end; ++lexer->at) {
        if (*lexer->at == ' ')
            ++width;
        else if (*lexer->at == '\t')
            width = (width / 8 + 1) * 8;
        else if (*lexer->at == '\f')
            width = 0;
        else
            break;
    }
    if (lexer->at == lexer->end || is_in(*lexer->at, "#\r\n"))
        return true;
    lexer->line_begins = false;
    if (width > lexer->indents[lexer->n_indents - 1]) {
        if (lexer->n_indents == INDENTS_MAX)
            return fail(lexer, lexer->at, WEFT_ERROR_UNSUPPORTED, "blocks are nested too deeply");
        lexer->indents[lexer->n_indents++] = width;
        return add(lexer, UFL_TOKEN_INDENT, lexer->at, 0);
    }
    while (width < lexer->indents[lexer->n_indents - 1]) {
        --lexer->n_indents;
        if (!add(lexer, UFL_TOKEN_DEDENT, lexer->at, 0))
            return false;
    }
    return width == lexer->indents[lexer->n_indents - 1] ||
           fail(lexer, lexer->at, WEFT_ERROR_SYNTAX,
                "the indentation of this line is that of no block around it");
}

static bool is_name_start(char c) {
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *at, const char *end) {
    while (at < end && (is_digit(*at) || *at == '_'))
        ++at;
    return at;
}

static bool lex_number(ufl_lexer *lexer) {
    const char *start = lexer->at, *end = lexer->end, *at = skip_digits(start, end);
    bool is_float = false;
    if (end - start > 1 && start[0] == '0' && is_in(start[1], "xXoObB"))
        return fail(lexer, start, WEFT_ERROR_UNSUPPORTED,
                    "hexadecimal, octal and binary numbers are not supported in form files");
    if (at < end && *at == '.') {
        is_float = true;
        at = skip_digits(at + 1, end);
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        const char *digits = at + 1;
        if (digits < end && (*digits == '+' || *digits == '-'))
            ++digits;
        if (digits < end && is_digit(*digits)) {
            is_float = true;
            at = skip_digits(digits, end);
        }
    }
    bool is_complex = at < end && (*at == 'j' || *at == 'J');
    at += is_complex;
    if (at < end && is_name_start(*at))
        return fail(lexer, start, WEFT_ERROR_SYNTAX, "a number is followed by a letter");
    lexer->at = at;
    ufl_token_kind kind = is_complex ? UFL_TOKEN_COMPLEX
                          : is_float ? UFL_TOKEN_FLOAT
                                     : UFL_TOKEN_INTEGER;
    return add(lexer, kind, start, (size_t)(at - start));
}

/* Are the quotes that end a string here? */
static bool string_ends(const ufl_lexer *lexer, char quote, bool triple) {
    return *lexer->at == quote && (!triple || (lexer->end - lexer->at >= 3 &&
                                               lexer->at[1] == quote && lexer->at[2] == quote));
}

/* A string from its quotes on; start is that of the prefix. */
static bool lex_string(ufl_lexer *lexer, const char *start) {
    char quote = *lexer->at;
    ufl_place place = place_of(lexer, start);
    bool triple = lexer->end - lexer->at >= 3 && lexer->at[1] == quote && lexer->at[2] == quote;
    lexer->at += triple ? 3 : 1;
    for (;;) {
        if (lexer->at >= lexer->end || (!triple && is_in(*lexer->at, "\r\n"))) {
            lexer->context->place = place;
            ufl_fail(lexer->context, WEFT_ERROR_SYNTAX, "this string does not end");
            return false;
        }
        if (string_ends(lexer, quote, triple))
            break;
        if (*lexer->at == '\\' && lexer->end - lexer->at >= 2) {
            ++lexer->at;
            if (!skip_line_end(lexer))
                ++lexer->at;
        } else if (!skip_line_end(lexer)) {
            ++lexer->at;
        }
    }
    lexer->at += triple ? 3 : 1;
    if (!add(lexer, UFL_TOKEN_STRING, start, (size_t)(lexer->at - start)))
        return false;
    lexer->tokens[lexer->n - 1].place = place;
    return true;
}

static bool lex_name(ufl_lexer *lexer) {
    const char *start = lexer->at;
    while (lexer->at < lexer->end && (is_name_start(*lexer->at) || is_digit(*lexer->at)))
        ++lexer->at;
    size_t length = (size_t)(lexer->at - start);
    if (length <= 2 && lexer->at < lexer->end && is_in(*lexer->at, "\"'") &&
        strspn(start, "rRbBuUfF") >= length)
        return lex_string(lexer, start);
    if (length > 255)
        return fail(lexer, start, WEFT_ERROR_SYNTAX, "a name has at most 255 characters");
    return add(lexer, UFL_TOKEN_NAME, start, length);
}

static bool lex_symbol(ufl_lexer *lexer) {
    static const char *const symbols[] = {
        "**=", "//=", "...", "**", "//", "==", "!=", "<=", ">=", "+=", "-=",
        "*=",  "/=",  "%=",  "->", ":=", "<<", ">>", "|=", "&=", "^=", "@="};
    size_t left = (size_t)(lexer->end - lexer->at), length = 1;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0] && length == 1; ++i) {
        size_t n = strlen(symbols[i]);
        if (n <= left && memcmp(lexer->at, symbols[i], n) == 0)
            length = n;
    }
    char c = *lexer->at;
    if (!is_in(c, "+-*/%()[]{},:.;=<>^@|&~!") || (c == '!' && length == 1))
        return fail(lexer, lexer->at, WEFT_ERROR_SYNTAX, "this character has no meaning here");
    if (is_in(c, "([{"))
        ++lexer->brackets;
    if (is_in(c, ")]}") && lexer->brackets > 0)
        --lexer->brackets;
    const char *start = lexer->at;
    lexer->at += length;
    return add(lexer, UFL_TOKEN_SYMBOL, start, length);
}

static bool lex_one(ufl_lexer *lexer) {
    char c = *lexer->at;
    if (c == '#') {
        while (lexer->at < lexer->end && !is_in(*lexer->at, "\r\n"))
            ++lexer->at;
        return true;
    }
    if (c == '\n' || c == '\r') {
        if (lexer->brackets == 0 && !lexer->line_begins) {
            lexer->line_begins = true;
            if (!add(lexer, UFL_TOKEN_NEWLINE, lexer->at, 0))
                return false;
        }
        return skip_line_end(lexer);
    }
    if (c == ' ' || c == '\t' || c == '\f') {
        ++lexer->at;
        return true;
    }
    if (c == '\\') {
        ++lexer->at;
        return skip_line_end(lexer) || lexer->at == lexer->end ||
               fail(lexer, lexer->at - 1, WEFT_ERROR_SYNTAX,
                    "'\\' continues a line at its end alone");
    }
    if (is_digit(c) || (c == '.' && lexer->end - lexer->at > 1 && is_digit(lexer->at[1])))
        return lex_number(lexer);
    if (is_name_start(c))
        return lex_name(lexer);
    if (c == '"' || c == '\'')
        return lex_string(lexer, lexer->at);
    return lex_symbol(lexer);
}

const ufl_token *ufl_tokenize(ufl_context *context, const char *text, size_t length,
                              ufl_place place, int brackets) {
    ufl_lexer lexer = {.context = context,
                       .at = text,
                       .end = text + length,
                       .line_start = text,
                       .line = place.line,
                       .first_column = place.column,
                       .brackets = brackets,
                       .n_indents = 1,
                       .line_begins = brackets == 0};
    if (memchr(text, '\0', length)) {
        context->place = place;
        return ufl_fail(context, WEFT_ERROR_INPUT, "the file is not text: it has a zero byte");
    }
    while (lexer.at < lexer.end) {
        if (lexer.line_begins && lexer.brackets == 0) {
            if (!begin_line(&lexer))
                return NULL;
            if (lexer.at == lexer.end)
                break;
        }
        if (!lex_one(&lexer))
            return NULL;
    }
    bool ends = !lexer.line_begins && lexer.brackets == 0; /* the last line has no line end */
    if (ends && !add(&lexer, UFL_TOKEN_NEWLINE, lexer.at, 0))
        return NULL;
    for (; lexer.n_indents > 1; --lexer.n_indents)
        if (!add(&lexer, UFL_TOKEN_DEDENT, lexer.at, 0))
            return NULL;
    return add(&lexer, UFL_TOKEN_END, lexer.at, 0) ? lexer.tokens : NULL;
}
