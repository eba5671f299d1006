/** Arrays that grow in an arena. */
#pragma once

#include "core/weft_core.h"

weft_status weft_no_memory(weft_error *error);
/** Room for one more element in an array that has n; NULL: no memory. */
void *weft_array_grow(weft_arena *arena, void *array, int n, int *capacity, size_t size);
/** The same where nobody keeps the capacity. */
void *weft_array_room(weft_arena *arena, void *array, int n, size_t size);
