/* Fills errors with message, location and hint, and formats them with a caret. */
#include "core/base/number.h"
#include "core/weft_escape.h"

#include <stdio.h>
#include <string.h>

enum {
    /* A line is shown from its start when the column is below WINDOW_LIMIT, and else from
     * WINDOW_BEFORE bytes before the column, after an ellipsis. The rule depends on the column
     * alone, so weft_error_text finds the caret without another field. */
    WINDOW_LIMIT = 180,
    WINDOW_BEFORE = 120,
    ELLIPSIS = 3
};

static bool is_continuation(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Copy text; if it is too long, cut it at a character boundary and add an ellipsis. */
static void copy_cut(char *out, size_t size, const char *text, size_t length) {
    if (length < size) {
        memmove(out, text, length);
        out[length] = '\0';
        return;
    }
    size_t end = size - 1 - ELLIPSIS;
    while (end > 0 && is_continuation(text[end]))
        --end;
    memmove(out, text, end);
    memcpy(out + end, "...", ELLIPSIS + 1);
}

int weft_message_print(char *out, size_t size, const char *format, va_list arguments) {
    char head[512]; /* the format before its first line feed, which prints what is one line */
    const size_t n = strcspn(format, "\n");
    const bool many_lines = format[n] && n < sizeof head;
    va_list again;
    va_copy(again, arguments);
    const int length = weft_print_list(out, size, format, arguments);
    snprintf(head, sizeof head, "%.*s", many_lines ? (int)n : 0, format);
    const int line = many_lines ? weft_print_list(NULL, 0, head, again) : length;
    va_end(again);
    for (char *c = out; length >= 0 && *c; ++c)
        if (((unsigned char)*c < 0x20 && *c != '\t' && !(*c == '\n' && c - out >= line)) ||
            *c == 0x7F)
            *c = '?';
    return length;
}

static void print_cut(char *out, size_t size, const char *format, va_list arguments) {
    /* Format into a local buffer: the arguments may point into the error that is being filled. */
    char buffer[2048];
    int length = weft_message_print(buffer, sizeof buffer, format, arguments);
    if (length < 0) {
        copy_cut(out, size, format, strlen(format));
        return;
    }
    size_t whole = (size_t)length;
    size_t held = whole < sizeof buffer ? whole : sizeof buffer - 1;
    copy_cut(out, size, buffer, held);
}

weft_status weft_error_set_list(weft_error *error, weft_status status, const char *format,
                                va_list arguments) {
    if (error) {
        print_cut(error->message, sizeof error->message, format, arguments);
        error->status = status;
        error->file[0] = '\0';
        error->line = 0;
        error->column = 0;
        error->source_line[0] = '\0';
        error->hint[0] = '\0';
    }
    return status;
}

weft_status weft_error_set(weft_error *error, weft_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    weft_error_set_list(error, status, format, arguments);
    va_end(arguments);
    return status;
}

weft_status weft_out_of_memory(weft_error *error, const char *what) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory%s%s", what ? " for " : "",
                          what ? what : "");
}

static size_t window_start(int column) {
    return column > WINDOW_LIMIT ? (size_t)(column - 1 - WINDOW_BEFORE) : 0;
}

static void copy_line(weft_error *error, const char *text) {
    for (int line = 1; line < error->line; ++line) {
        const char *end = strchr(text, '\n');
        if (!end)
            return;
        text = end + 1;
    }
    size_t length = strcspn(text, "\r\n");
    size_t start = window_start(error->column);
    if (start > length)
        start = length;
    char *out = error->source_line;
    size_t capacity = sizeof error->source_line, lead = 0;
    if (start > 0) {
        memcpy(out, "...", ELLIPSIS);
        lead = ELLIPSIS;
    }
    copy_cut(out + lead, capacity - lead, text + start, length - start);
    /* Replace bytes of an incomplete character at the cut by dots: valid UTF-8, same length. */
    for (char *c = out + lead; start > 0 && is_continuation(*c); ++c)
        *c = '.';
    for (char *c = out; *c; ++c)
        if ((unsigned char)*c < 0x20 && *c != '\t')
            *c = ' ';
}

void weft_error_location(weft_error *error, const char *file, const char *text, int line,
                         int column) {
    if (!error)
        return;
    if (file)
        copy_cut(error->file, sizeof error->file, file, strlen(file));
    else
        error->file[0] = '\0';
    error->line = line;
    error->column = column;
    error->source_line[0] = '\0';
    if (text && line > 0)
        copy_line(error, text);
}

void weft_error_hint_list(weft_error *error, const char *format, va_list arguments) {
    if (error)
        print_cut(error->hint, sizeof error->hint, format, arguments);
}

void weft_error_hint(weft_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    weft_error_hint_list(error, format, arguments);
    va_end(arguments);
}

weft_status weft_error_refuse(weft_error *error, weft_status status, const char *message,
                              const char *hint) {
    weft_error_set(error, status, "%s", message);
    weft_error_hint(error, "%s", hint);
    return status;
}

/* Output that counts the bytes beyond its capacity, as snprintf does. */
typedef struct text_sink {
    char *out;
    size_t size, length;
} text_sink;

static void sink_bytes(text_sink *sink, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; ++i, ++sink->length)
        if (sink->length + 1 < sink->size)
            sink->out[sink->length] = bytes[i];
}

static void sink_string(text_sink *sink, const char *string) {
    sink_bytes(sink, string, strlen(string));
}

/* Add text from the user's files with terminal control characters shown as '?'.
 *  feed  a line feed, or what takes its place */
static void sink_foreign(text_sink *sink, const char *string, const char *feed) {
    bool shown;
    for (int length; (length = weft_character_length(string, &shown)) > 0; string += length)
        if (*string == '\n')
            sink_string(sink, feed);
        else if (shown || *string == '\t')
            sink_bytes(sink, string, (size_t)length);
        else
            sink_bytes(sink, "?", 1);
}

static void sink_place(text_sink *sink, const weft_error *error) {
    char number[32];
    sink_foreign(sink, error->file[0] ? error->file : error->line > 0 ? "input" : "", "?");
    if (error->line > 0) {
        snprintf(number, sizeof number, ":%d", error->line);
        sink_string(sink, number);
        if (error->column > 0) {
            snprintf(number, sizeof number, ":%d", error->column);
            sink_string(sink, number);
        }
    }
    if (error->file[0] || error->line > 0)
        sink_string(sink, ": ");
}

/* Put the caret under the character that starts at the column: one blank for each character before
 * it, with tabs kept so that it lines up at any tab width. */
static void sink_caret(text_sink *sink, const weft_error *error) {
    size_t start = window_start(error->column);
    size_t before = (size_t)error->column - 1 - start + (start > 0 ? (size_t)ELLIPSIS : 0);
    size_t length = strlen(error->source_line);
    sink_string(sink, "\n    ");
    for (size_t i = 0; i < before && i < length; ++i) {
        char c = error->source_line[i];
        if (!is_continuation(c))
            sink_string(sink, c == '\t' ? "\t" : " ");
    }
    sink_string(sink, "^");
}

size_t weft_error_text(const weft_error *error, char *out, size_t size) {
    text_sink sink = {out, out ? size : 0, 0};
    if (error) {
        sink_place(&sink, error);
        sink_string(&sink, "error: ");
        sink_foreign(&sink, error->message, "\n");
        if (error->source_line[0]) {
            sink_string(&sink, "\n    ");
            sink_foreign(&sink, error->source_line, "\n");
            if (error->column > 0)
                sink_caret(&sink, error);
        }
        if (error->hint[0]) {
            sink_string(&sink, "\nhint: ");
            sink_foreign(&sink, error->hint, "\n");
        }
    }
    if (sink.size > 0)
        sink.out[sink.length < sink.size ? sink.length : sink.size - 1] = '\0';
    return sink.length;
}

int weft_status_exit_code(weft_status status) {
    switch (status) {
    case WEFT_OK:
        return 0;
    case WEFT_ERROR_USAGE:
    case WEFT_ERROR_INPUT:
    case WEFT_ERROR_SYNTAX:
    case WEFT_ERROR_TYPE:
    case WEFT_ERROR_SHAPE:
    case WEFT_ERROR_IO:
    case WEFT_ERROR_UNSUPPORTED:
        return 2;
    case WEFT_ERROR_MEMORY:
    case WEFT_ERROR_DEVICE:
    case WEFT_ERROR_COMPILER:
    case WEFT_ERROR_INTERNAL:
    case WEFT_ERROR_CANCELLED:
        break;
    }
    return 3;
}

const char *weft_status_name(weft_status status) {
    switch (status) {
    case WEFT_OK:
        return "ok";
    case WEFT_ERROR_USAGE:
        return "usage";
    case WEFT_ERROR_INPUT:
        return "input";
    case WEFT_ERROR_SYNTAX:
        return "syntax";
    case WEFT_ERROR_TYPE:
        return "type";
    case WEFT_ERROR_SHAPE:
        return "shape";
    case WEFT_ERROR_IO:
        return "io";
    case WEFT_ERROR_UNSUPPORTED:
        return "unsupported";
    case WEFT_ERROR_MEMORY:
        return "memory";
    case WEFT_ERROR_DEVICE:
        return "device";
    case WEFT_ERROR_COMPILER:
        return "compiler";
    case WEFT_ERROR_INTERNAL:
        return "internal";
    case WEFT_ERROR_CANCELLED:
        return "cancelled";
    }
    return "unknown";
}
