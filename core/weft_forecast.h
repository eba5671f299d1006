/** Memory estimates: what is about to be made on a device, refused before any of it is made where it cannot
 *  fit. */
#ifndef WEFT_FORECAST_H
#define WEFT_FORECAST_H

#include "core/weft_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Arrays that are about to be made on a device. Start from {0}. */
enum { WEFT_FORECAST_ARRAYS = 48, WEFT_FORECAST_NAME = 40 };
typedef struct weft_forecast_array {
    char name[WEFT_FORECAST_NAME];
    size_t bytes;
} weft_forecast_array;
typedef struct weft_forecast {
    weft_forecast_array arrays[WEFT_FORECAST_ARRAYS]; /* in the order of their first mention */
    int n_arrays;
    size_t bytes; /* of all; SIZE_MAX where that overflows */
} weft_forecast;
/** count * size bytes under a name; what has the same name is added to it, and what has no place
 *  in the list is added to its last array, "others". */
void weft_forecast_add(weft_forecast *forecast, const char *name, size_t count, size_t size);
/** Log the arrays with their total and what the device has free (level info), and refuse what
 * cannot fit before any of it is made. hint    what needs less, for the error; may be NULL Errors
 * WEFT_ERROR_MEMORY (names the largest arrays) */
weft_status weft_forecast_check(const weft_forecast *forecast, const weft_device *device,
                                const char *hint, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
