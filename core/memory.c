#include "weft_core.h"

#include <stdlib.h>
#include <string.h>

void *weft_array_make(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)WEFT_PADDING + 63, &bytes))
        return NULL;
    bytes &= ~(size_t)63;
    void *array = aligned_alloc(64, bytes);
    if (array)
        memset(array, 0, bytes);
    return array;
}
