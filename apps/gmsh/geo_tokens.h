/** The words of a .geo file, as Gmsh's scanner (Parser/Gmsh.l of its sources) reads them. */
#pragma once

#include "apps/gmsh/weft_gmsh.h"

typedef enum geo_kind { GEO_END, GEO_NAME, GEO_STRING, GEO_NUMBER, GEO_SYMBOL } geo_kind;

/** text is borrowed from the file: a string without its quotes, a symbol of one character. */
typedef struct geo_token {
    geo_kind kind;
    const char *text;
    size_t length;
    int line, column; /* from 1 */
} geo_token;

typedef struct geo_reader {
    const char *text, *end, *at, *line_start;
    int line;
    bool code_on_line; /* a token has come on this line */
    /* Gmsh returns to the line after a For, a Call or a Macro, and skips what an If leaves out
     * without regard to quotes: after this, what is in a string or comment here may be a command
     * there. */
    bool ambiguous;
    geo_token hidden; /* the first command in a string or comment; its column is not set */
    bool (*is_command)(const char *word, size_t length, bool before_quote);
    const char *broken; /* what Gmsh cannot read, or NULL; its line is in `hidden` */
} geo_reader;

/** text [length] is borrowed. */
geo_reader geo_reader_make(const char *text, size_t length,
                           bool (*is_command)(const char *, size_t, bool));
/** The next token; GEO_END at the end, and where `broken` was set. */
geo_token geo_next(geo_reader *reader);
bool geo_is(const geo_token *token, const char *text);
