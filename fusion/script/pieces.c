/* Splits the text of an expression into formulas by group: `FORMULA; @GROUP=FORMULA; ...`. */
#include "fusion/weft_compile.h"

#include <string.h>

/* The first ';' outside parentheses and quotes, or the end. */
static const char *piece_end(const char *text) {
    int depth = 0;
    bool quoted = false;
    for (; *text && !(*text == ';' && depth <= 0 && !quoted); ++text) {
        quoted ^= *text == '"';
        if (!quoted)
            depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    }
    return text;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip(const char *text) {
    while (is_blank(*text))
        ++text;
    return text;
}

bool weft_formula_by_group(const char *text) {
    for (; text && *text; text = piece_end(text), text += *text == ';') {
        text = skip(text);
        if (*text == '@')
            return true;
    }
    return false;
}

static weft_status refuse(const char *whole, const char *at, const char *origin,
                          const char *message, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_SYNTAX, "%s", message);
    weft_error_location(error, origin, whole, 1, (int)(at - whole) + 1);
    weft_error_hint(error, "formulas by group are written @GROUP=FORMULA; a name with other "
                           "characters than letters, digits and _ in quotes: @\"GROUP\"=FORMULA");
    return WEFT_ERROR_SYNTAX;
}

/* GROUP '=' or '"' GROUP '"' '=', in which "" is one quote. */
static weft_status read_group(const char *whole, const char **at, const char *end,
                              weft_formula_piece *out, const char *origin, weft_error *error) {
    const char *c = skip(*at + 1), *start = c;
    const bool quoted = *c == '"';
    size_t n = 0;
    bool closed = !quoted;
    for (c += quoted; c < end; ++c) {
        if (quoted && *c == '"' && c[1] != '"') {
            closed = true;
            ++c;
            break;
        }
        if (!quoted && (*c == '=' || is_blank(*c)))
            break;
        c += quoted && *c == '"';
        if (n + 1 == sizeof out->group)
            return refuse(whole, start, origin, "this name of a group is too long", error);
        out->group[n++] = *c;
    }
    out->group[n] = '\0';
    c = skip(c);
    if (!closed)
        return refuse(whole, start, origin, "this quote is not closed", error);
    if (n == 0)
        return refuse(whole, start, origin, "expected the name of a group after '@'", error);
    if (c >= end || *c != '=')
        return refuse(whole, c < end ? c : end, origin, "expected '=' after the name of the group",
                      error);
    *at = c + 1;
    return WEFT_OK;
}

weft_status weft_formula_next(const char **text, weft_formula_piece *out, const char *origin,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const char *start = skip(*text), *end = piece_end(start);
    out->group[0] = '\0';
    if (*start == '@')
        TRY(read_group(*text, &start, end, out, origin, error));
    start = skip(start);
    out->text = start;
    out->length = (size_t)(end - start);
    while (out->length > 0 && is_blank(start[out->length - 1]))
        --out->length;
    if (out->length == 0)
        TRY(refuse(*text, start, origin, "a formula is missing here", error));
    *text = skip(*end ? end + 1 : end);
done:
    return status;
}
