/** Arrays that grow in an arena. */
#pragma once

#include "core/weft_core.h"

/** Set WEFT_ERROR_MEMORY, and return it. */
weft_status weft_no_memory(weft_error *error);
/** Make room for one more element.
 *  array     has n elements of `size` bytes and room for *capacity; in the arena
 *  Returns   the array, perhaps moved; NULL: out of memory */
void *weft_array_grow(weft_arena *arena, void *array, int n, int *capacity, size_t size);
/** The same without a stored capacity. */
void *weft_array_room(weft_arena *arena, void *array, int n, size_t size);
/** The index of the element whose member `name` equals `wanted`; -1: none. */
#define WEFT_FIND_NAME(array, n, wanted)                                                           \
    ((n) > 0 ? weft_name_index(&(array)->name, n, sizeof *(array), wanted) : -1)
/** The same, for n names that are `size` bytes apart. */
int weft_name_index(const void *first, int n, size_t size, const char *wanted);
