/* Grows arrays in an arena, and finds elements by name. */
#include "fusion/base/array.h"

#include <string.h>

weft_status weft_no_memory(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while compiling");
}

/* The capacity follows from n: it is doubled at 8, 16, 32, ... */
void *weft_array_grow(weft_arena *arena, void *array, int n, size_t size) {
    if (n != 0 && (n < 8 || (n & (n - 1)) != 0))
        return array;
    void *grown = weft_arena_alloc(arena, n == 0 ? 8 : 2 * (size_t)n, size);
    if (grown && n > 0)
        memcpy(grown, array, (size_t)n * size);
    return grown;
}

int weft_name_index(const void *first, int n, size_t size, const char *wanted) {
    for (int i = 0; i < n; ++i)
        if (strcmp(*(const char *const *)((const char *)first + (size_t)i * size), wanted) == 0)
            return i;
    return -1;
}
