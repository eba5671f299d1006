/* Appends to growing text, and finds whole words in text. */
#include "core/base/number.h"
#include "core/weft_core.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reserve space for `more` bytes and the terminator. */
static bool text_grow(weft_text *text, size_t more) {
    size_t need;
    if (text->failed)
        return false;
    if (__builtin_add_overflow(text->length, more, &need) ||
        __builtin_add_overflow(need, (size_t)1, &need)) {
        text->failed = true;
        return false;
    }
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity <= SIZE_MAX / 2 ? text->capacity * 2 : need;
    if (capacity < 256)
        capacity = 256;
    if (capacity < need)
        capacity = need;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void weft_text_add(weft_text *text, const char *format, ...) {
    va_list arguments;
    if (text->failed)
        return;
    size_t left = text->capacity - text->length;
    va_start(arguments, format);
    int length =
        weft_print_list(text->data ? text->data + text->length : NULL, left, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if ((size_t)length >= left) {
        if (!text_grow(text, (size_t)length)) {
            if (text->data)
                text->data[text->length] = '\0';
            return;
        }
        va_start(arguments, format);
        weft_print_list(text->data + text->length, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    text->length += (size_t)length;
}

void weft_text_add_bytes(weft_text *text, const char *bytes, size_t length) {
    if (!text_grow(text, length))
        return;
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void weft_text_free(weft_text *text) {
    if (!text)
        return;
    free(text->data);
    *text = (weft_text){0};
}

static bool is_of_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

bool weft_has_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = text; length > 0 && (at = strstr(at, word)); ++at)
        if ((at == text || !is_of_name(at[-1])) && !is_of_name(at[length]))
            return true;
    return false;
}
