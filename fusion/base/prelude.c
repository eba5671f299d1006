/* Writes a target's prelude: its template with values filled in. */
#include "fusion/base/prelude.h"
#include "fusion/embedded_preludes.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct prelude_writer {
    weft_text *out;
    const weft_prelude_value *values;
    span columns, row; /* of the current table */
} prelude_writer;

#define EACH "//@ each "

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* The line at `text`, including its newline. */
static span line_at(const char *text) {
    const size_t length = strcspn(text, "\n");
    return (span){text, length + (text[length] == '\n')};
}

/* Part number k of a line "a; b; c"; parts after the last one are empty. */
static span part(span line, int k) {
    const char *p = line.text, *end = line.text + line.length;
    for (; k > 0 && p < end; --k) {
        const char *found = memchr(p, ';', (size_t)(end - p));
        p = found ? found + 1 : end;
    }
    while (p < end && *p == ' ')
        ++p;
    const size_t length = strcspn(p, ";\n");
    return (span){p, length < (size_t)(end - p) ? length : (size_t)(end - p)};
}

static bool are_equal(span a, span b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static span value_of(const prelude_writer *w, span name) {
    for (const weft_prelude_value *value = w->values; value->name; ++value)
        if (are_equal(name, (span){value->name, strlen(value->name)}))
            return (span){value->text, strlen(value->text)};
    for (int k = 0; part(w->columns, k).length > 0; ++k)
        if (are_equal(name, part(w->columns, k)))
            return part(w->row, k);
    assert(!"a prelude names a value that its target does not have");
    return (span){"", 0};
}

/* Write text with values filled in; a value may contain the names of others. */
static void write_text(const prelude_writer *w, span text) {
    const char *p = text.text, *end = p + text.length;
    for (;;) {
        const char *at = memchr(p, '@', (size_t)(end - p));
        const char *close = at ? memchr(at + 1, '@', (size_t)(end - at - 1)) : NULL;
        if (!close)
            break;
        weft_text_add_bytes(w->out, p, (size_t)(at - p));
        write_text(w, value_of(w, (span){at + 1, (size_t)(close - at - 1)}));
        const bool is_whole_line = at == text.text && close + 2 == end && close[1] == '\n';
        p = close + 1 + is_whole_line;
    }
    weft_text_add_bytes(w->out, p, (size_t)(end - p));
}

/* Writes the lines from `text` to `//@ end` once for each row; returns the text after them. */
static const char *write_table(const prelude_writer *w, const char *text) {
    span line = line_at(text);
    prelude_writer each = *w;
    each.columns = (span){text + strlen(EACH), line.length - strlen(EACH)};
    const char *rows = text + line.length, *body = rows, *end = strstr(rows, "//@ end\n");
    assert(end != NULL);
    while (body < end && starts_with(body, "//@ "))
        body += line_at(body).length;
    for (; rows < body; rows += line.length) {
        line = line_at(rows);
        each.row = (span){rows + 4, line.length - 4};
        for (const char *p = body; p < end; p += line_at(p).length)
            write_text(&each, line_at(p));
    }
    return end + line_at(end).length;
}

void weft_prelude_write(const char *file, const weft_prelude_value *values, weft_text *out) {
    const weft_embedded_file *found = weft_embedded_preludes;
    while (found->name && strcmp(found->name, file) != 0)
        ++found;
    assert(found->name != NULL);
    const prelude_writer w = {.out = out, .values = values, .columns = {"", 0}, .row = {"", 0}};
    for (const char *p = found->text; *p != '\0';) {
        const span line = line_at(p);
        if (starts_with(p, EACH)) {
            p = write_table(&w, p);
            continue;
        }
        if (!starts_with(p, "//@"))
            write_text(&w, line);
        p += line.length;
    }
}
