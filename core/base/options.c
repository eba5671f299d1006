/* Options that begin with their size. */
#include "core/base/options.h"

#include <string.h>

void weft_options_clear(void *options, size_t size) {
    memset(options, 0, size);
    memcpy(options, &size, sizeof size);
}

weft_status weft_options_check(const char *type, size_t size, size_t known, weft_error *error) {
    if (size == known)
        return WEFT_OK;
    if (size == 0) {
        weft_error_set(error, WEFT_ERROR_USAGE, "%s without its size", type);
        weft_error_hint(error, "start from %s_default(), or set its member size to sizeof(%s)",
                        type, type);
    } else {
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "made for another version of Weft: %s has %zu bytes, but %zu in Weft %s",
                       type, size, known, weft_version());
        weft_error_hint(error,
                        "compile with the headers of the library that the program runs with");
    }
    return WEFT_ERROR_USAGE;
}
