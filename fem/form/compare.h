/** Test vectors, the difference of two vectors, and what a device does not support. */
#pragma once

#include "core/weft_core.h"

/** Fill v [n] with pseudo-random numbers in [-1, 1). */
weft_status weft_write_synthetic(weft_device *device, weft_memory *v, int64_t n, weft_error *error);
/** *difference = |a - b| / |a|, Euclidean norms; a, b [n] doubles on the device. */
weft_status weft_relative_difference(weft_device *device, weft_memory *a, weft_memory *b, int64_t n,
                                     double *difference, weft_error *error);

/** Whether a status is WEFT_ERROR_UNSUPPORTED, which leads to another method: returns WEFT_OK and
 *  sets *unsupported. Other errors are returned, and `why` is copied to *error. */
weft_status weft_status_supported(weft_status status, const weft_error *why, bool *unsupported,
                                  weft_error *error);
