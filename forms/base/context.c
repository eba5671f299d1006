/* Memory, places and errors of the form compiler. */
#include "core/base/number.h"
#include "forms/base/base.h"

#include <stdio.h>
#include <string.h>

void *ufl_fail(ufl_context *context, weft_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ufl_fail_list(context, status, format, arguments);
    va_end(arguments);
    return NULL;
}

void ufl_fail_list(ufl_context *context, weft_status status, const char *format,
                   va_list arguments) {
    if (context->status != WEFT_OK)
        return;
    context->status = weft_error_set_list(context->error, status, format, arguments);
    if (context->place.line > 0)
        weft_error_location(context->error, context->file, context->text, context->place.line,
                            context->place.column);
}

void *ufl_hint(ufl_context *context, const char *format, ...) {
    if (!context->error || context->error->hint[0])
        return NULL;
    va_list arguments;
    va_start(arguments, format);
    weft_error_hint_list(context->error, format, arguments);
    va_end(arguments);
    return NULL;
}

void *ufl_alloc(ufl_context *context, size_t count, size_t size) {
    if (count > (size_t)UFL_MEMORY_MAX / (size ? size : 1) ||
        context->bytes + count * size > (size_t)UFL_MEMORY_MAX)
        return ufl_fail(context, WEFT_ERROR_MEMORY, "the form file needs more than %d MB of memory",
                        UFL_MEMORY_MAX / (1024 * 1024));
    void *made = weft_arena_alloc(context->arena, count > 0 ? count : 1, size);
    if (!made) {
        if (context->status == WEFT_OK)
            context->status = weft_out_of_memory(context->error, "a form file");
        return NULL;
    }
    context->bytes += count * size;
    return made;
}

char *ufl_copy(ufl_context *context, const char *text, size_t length) {
    char *made = ufl_alloc(context, length + 1, 1);
    if (made && length > 0)
        memcpy(made, text, length);
    return made;
}

char *ufl_print(ufl_context *context, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = weft_print_list(NULL, 0, format, arguments);
    va_end(arguments);
    char *made = length < 0 ? NULL : ufl_alloc(context, (size_t)length + 1, 1);
    if (made)
        weft_print_list(made, (size_t)length + 1, format, again);
    va_end(again);
    return made;
}

void *ufl_grow(ufl_context *context, void *array, size_t n, size_t size) {
    if (n > 0 && (n < 8 || (n & (n - 1)) != 0)) /* 8, 16, 32, ... elements fill the array */
        return array;
    void *grown = ufl_alloc(context, n < 8 ? 8 : 2 * n, size);
    if (grown && n > 0)
        memcpy(grown, array, n * size);
    return grown;
}

const char *ufl_shape_text(const int *shape, int rank, char *out, size_t size) {
    size_t length = 0;
    length += (size_t)snprintf(out, size, "(");
    for (int i = 0; i < rank && length < size; ++i)
        length += (size_t)snprintf(out + length, size - length, "%s%d", i ? ", " : "", shape[i]);
    if (length < size)
        snprintf(out + length, size - length, rank == 1 ? ",)" : ")");
    return out;
}
