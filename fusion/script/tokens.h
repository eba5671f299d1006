/** Tokens. In: named texts. Out: tokens with their places. */
#pragma once

#include "core/weft_core.h"

/** A named text; tokens and places point into it. */
typedef struct weft_source {
    const char *name, *text;
} weft_source;

typedef struct weft_location {
    const weft_source *source;
    int line, column; /* from 1 */
} weft_location;

typedef enum weft_token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER, /* 1, 1.5, 1e-3, .5 */
    TOKEN_SYMBOL, /* ( ) [ ] { } , ; : = + - * / ^ < > and -> += <= >= */
} weft_token_kind;

typedef struct weft_token {
    weft_token_kind kind;
    weft_location place;
    const char *text; /* terminated copy, in the arena */
    double number;
    bool integer; /* a number without decimal point or exponent */
} weft_token;

/** Set message and place at once; returns status. */
weft_status weft_error_at(weft_error *error, weft_status status, weft_location place,
                          const char *format, ...) WEFT_PRINTF(4, 5);

/** Bytes of the number at `text`, digits ['.' [digits]] [exponent] or '.' digits [exponent];
 *  *integer: it has neither point nor exponent. */
size_t weft_token_number_length(const char *text, bool *integer);
/** Split a text into tokens, ending with one TOKEN_END. `#` starts a comment to the end of line.
 *  Errors  WEFT_ERROR_SYNTAX with file, line, column; WEFT_ERROR_MEMORY */
weft_status weft_tokens_make(weft_arena *arena, const weft_source *source, weft_token **out, int *n,
                             weft_error *error);
