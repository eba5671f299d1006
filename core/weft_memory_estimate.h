/** Memory estimates. In: the arrays that will be allocated on a device.
 *  Out: an error before the first allocation if they do not fit. */
#ifndef WEFT_MEMORY_ESTIMATE_H
#define WEFT_MEMORY_ESTIMATE_H

#include "core/weft_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Arrays to be allocated on a device. Start from {0}. */
enum { WEFT_MEMORY_ESTIMATE_ARRAYS = 48, WEFT_MEMORY_ESTIMATE_NAME = 40 };
typedef struct weft_memory_estimate_array {
    char name[WEFT_MEMORY_ESTIMATE_NAME];
    size_t bytes;
} weft_memory_estimate_array;
typedef struct weft_memory_estimate {
    /* in order of their first mention */
    weft_memory_estimate_array arrays[WEFT_MEMORY_ESTIMATE_ARRAYS];
    int n_arrays;
    size_t bytes; /* total; SIZE_MAX on overflow */
} weft_memory_estimate;
/** Add an array of count * size bytes. Arrays of the same name are summed; when the list is full,
 *  further arrays are summed in its last entry, "others". */
void weft_memory_estimate_add(weft_memory_estimate *estimate, const char *name, size_t count,
                              size_t size);
/** Log the arrays, their total and the device's free memory (level info), and compare the two.
 *  hint    how to use less memory, for the error; may be NULL
 *  Errors  WEFT_ERROR_MEMORY: they do not fit (names the largest arrays) */
weft_status weft_memory_estimate_check(const weft_memory_estimate *estimate,
                                       const weft_device *device, const char *hint,
                                       weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
