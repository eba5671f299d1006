/** Memory estimates: what is about to be made on a device, refused before any of it is made where
 *  it cannot fit. */
#ifndef WEFT_MEMORY_ESTIMATE_H
#define WEFT_MEMORY_ESTIMATE_H

#include "core/weft_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Arrays that are about to be made on a device. Start from {0}. */
enum { WEFT_MEMORY_ESTIMATE_ARRAYS = 48, WEFT_MEMORY_ESTIMATE_NAME = 40 };
typedef struct weft_memory_estimate_array {
    char name[WEFT_MEMORY_ESTIMATE_NAME];
    size_t bytes;
} weft_memory_estimate_array;
typedef struct weft_memory_estimate {
    weft_memory_estimate_array arrays[WEFT_MEMORY_ESTIMATE_ARRAYS]; /* in the order of their first
                                                                       mention */
    int n_arrays;
    size_t bytes; /* of all; SIZE_MAX where that overflows */
} weft_memory_estimate;
/** count * size bytes under a name; what has the same name is added to it, and what has no place
 *  in the list is added to its last array, "others". */
void weft_memory_estimate_add(weft_memory_estimate *estimate, const char *name, size_t count,
                              size_t size);
/** Log the arrays with their total and what the device has free (level info), and refuse what
 * cannot fit before any of it is made. hint    what needs less, for the error; may be NULL Errors
 * WEFT_ERROR_MEMORY (names the largest arrays) */
weft_status weft_memory_estimate_check(const weft_memory_estimate *estimate,
                                       const weft_device *device, const char *hint,
                                       weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
