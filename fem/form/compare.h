/** Test vectors, and what a device does not support. */
#pragma once

#include "core/weft_core.h"

/** Fill v [n] with pseudo-random numbers in [-1, 1). */
weft_status weft_write_synthetic(weft_device *device, weft_memory *v, int64_t n, weft_error *error);

/** Whether a status is WEFT_ERROR_UNSUPPORTED, which leads to another method: returns WEFT_OK and
 *  sets *unsupported. Other errors are returned, and `why` is copied to *error. */
weft_status weft_status_supported(weft_status status, const weft_error *why, bool *unsupported,
                                  weft_error *error);
