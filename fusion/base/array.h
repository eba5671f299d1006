/** Arrays that grow in an arena. */
#pragma once

#include "core/weft_core.h"

/** Set WEFT_ERROR_MEMORY, and return it. */
weft_status weft_no_memory(weft_error *error);
/** Allocate n elements for a pointer: WEFT_OK, or the status of weft_no_memory. */
#define WEFT_ALLOC(arena, pointer, n, error)                                                       \
    (((pointer) = weft_arena_alloc(arena, n, sizeof *(pointer))) != NULL ? (weft_status)WEFT_OK    \
                                                                         : weft_no_memory(error))
/** Grow for one more element.
 *  array     has n elements of `size` bytes, all of which were added by this function; in the arena
 *  Returns   the array, perhaps moved; NULL: out of memory */
void *weft_array_grow(weft_arena *arena, void *array, int n, size_t size);
/** Append an element: WEFT_OK, or the status of weft_no_memory. */
#define WEFT_APPEND(arena, array, n, element, error)                                               \
    (((array) = weft_array_grow(arena, array, n, sizeof *(array))) != NULL                         \
         ? ((array)[(n)++] = (element), (weft_status)WEFT_OK)                                      \
         : weft_no_memory(error))
/** The index of the element whose member `name` equals `wanted`; -1: none. */
#define WEFT_FIND_NAME(array, n, wanted)                                                           \
    ((n) > 0 ? weft_name_index(&(array)->name, n, sizeof *(array), wanted) : -1)
/** The same, for n names that are `size` bytes apart. */
int weft_name_index(const void *first, int n, size_t size, const char *wanted);
