/** Temporary host memory, and copies of arrays on a device. */
#pragma once

#include "core/weft_core.h"

/** Allocate count * size bytes of temporary memory, not zeroed, on huge pages if available; pages
 *  that are never written use no memory. Returns NULL on overflow or if out of memory. Caller's;
 *  free(). */
void *weft_scratch_make(size_t count, size_t size);

/** Make a memory on the device with a copy of an array, count * size bytes.
 *  out     caller's, also after an error; weft_memory_free
 *  Errors  WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE */
weft_status weft_memory_place(weft_device *device, const void *array, size_t count, size_t size,
                              weft_memory **out, weft_error *error);
