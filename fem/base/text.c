/* Text of messages: points, and appending and cutting. */
#include "fem/base/text.h"
#include "core/base/number.h"
#include "fem/weft_function.h"

#include <string.h>

void weft_error_append(weft_error *error, const char *format, ...) {
    if (!error)
        return;
    size_t used = strlen(error->message);
    va_list arguments;
    va_start(arguments, format);
    weft_print_list(error->message + used, sizeof error->message - used, format, arguments);
    va_end(arguments);
}

void weft_copy_cut(char *out, size_t size, const char *text) {
    size_t length = strlen(text);
    if (length >= size)
        length = size - 1;
    memmove(out, text, length);
    out[length] = '\0';
}

const char *weft_point_text(const double *point, int dimension, char out[64]) {
    if (dimension == 3)
        (void)weft_print(out, 64, "(%g, %g, %g)", point[0], point[1], point[2]);
    else if (dimension == 1)
        (void)weft_print(out, 64, "%g", point[0]);
    else
        (void)weft_print(out, 64, "(%g, %g)", point[0], point[1]);
    return out;
}
