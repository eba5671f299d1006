/* The key of a generated source: a hash of everything but its comments, which name the file and the line of a script. */
#include "core/device/source.h"

#include <string.h>

/* A constant ends on its line at the latest. */
static size_t literal_length(const char *at) {
    size_t n = 1;
    while (at[n] && at[n] != '\n' && at[n] != at[0])
        n += at[n] == '\\' && at[n + 1] ? 2 : 1;
    return at[n] == at[0] ? n + 1 : n;
}

/* 0: there is no comment at this position. */
static size_t comment_length(const char *at) {
    if (at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? (size_t)(end - at) + 2 : strlen(at);
    }
    size_t n = 0;
    while (at[1] == '/' && at[n] && (at[n] != '\n' || at[n - 1] == '\\'))
        ++n;
    return n;
}

/* Bytes that no source has stand for a comment and each of its line breaks, which __LINE__ counts. */
static void add_comment(weft_text *out, const char *at, size_t length) {
    weft_text_add_bytes(out, "\1", 1);
    for (size_t i = 0; i < length; ++i)
        if (at[i] == '\n')
            weft_text_add_bytes(out, "\2", 1);
}

static void add_code(weft_text *out, const char *source) {
    for (const char *at = source; *at;) {
        size_t length = strcspn(at, "/\"'");
        weft_text_add_bytes(out, at, length);
        at += length;
        if (*at == '\0')
            return;
        length = *at == '/' ? comment_length(at) : 0;
        if (length > 0) {
            add_comment(out, at, length);
        } else {
            length = *at == '/' ? 1 : literal_length(at);
            weft_text_add_bytes(out, at, length);
        }
        at += length;
    }
}

weft_status weft_source_key(const char *maker, const char *source, char out[33],
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_text_add_bytes(&text, maker, strlen(maker));
    if (strstr(source, "R\"")) /* perhaps a raw string, which may hold anything */
        weft_text_add_bytes(&text, source, strlen(source));
    else
        add_code(&text, source);
    if (text.failed)
        status = weft_out_of_memory(error, "a kernel's source");
    else
        weft_hash(text.data, text.length, out);
    weft_text_free(&text);
    return status;
}
