/** Memory for the time of one computation, and copies on a device. */
#pragma once

#include "core/weft_core.h"

/** count * size bytes for the time of one computation, not zeroed, on huge pages where the system
 *  has them; pages never written cost nothing. NULL on overflow or no memory. Free with free(). */
void *weft_scratch_make(size_t count, size_t size);

/** Memory that holds a copy of an array, count * size bytes. *out is the caller's, also on errors.
 */
weft_status weft_memory_place(weft_device *device, const void *array, size_t count, size_t size,
                              weft_memory **out, weft_error *error);
