/* Sums the arrays of a memory estimate and compares them with the free memory. */
#include "core/base/number.h"
#include "core/device/device.h"

#include <stdio.h>
#include <string.h>

enum { NAMED = 4 }; /* number of arrays that the error names */

static size_t add(size_t a, size_t b) {
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

void weft_memory_estimate_add(weft_memory_estimate *estimate, const char *name, size_t count,
                              size_t size) {
    size_t bytes = size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size;
    char cut[WEFT_MEMORY_ESTIMATE_NAME];
    int i = 0;
    if (bytes == 0)
        return;
    snprintf(cut, sizeof cut, "%s", name);
    while (i < estimate->n_arrays && strcmp(estimate->arrays[i].name, cut) != 0)
        ++i;
    if (i >= WEFT_MEMORY_ESTIMATE_ARRAYS - 1) {
        i = WEFT_MEMORY_ESTIMATE_ARRAYS - 1;
        snprintf(cut, sizeof cut, "others");
    }
    if (i >= estimate->n_arrays) {
        memcpy(estimate->arrays[i].name, cut, sizeof cut);
        estimate->arrays[i].bytes = 0;
        estimate->n_arrays = i + 1;
    }
    estimate->arrays[i].bytes = add(estimate->arrays[i].bytes, bytes);
    estimate->bytes = add(estimate->bytes, bytes);
}

static weft_status refuse(const weft_memory_estimate *estimate, const weft_device *device,
                          size_t left, const char *hint, weft_error *error) {
    bool named[WEFT_MEMORY_ESTIMATE_ARRAYS] = {false};
    char list[300] = "";
    size_t used = 0;
    for (int n = 0; n < NAMED && n < estimate->n_arrays; ++n) {
        int most = -1;
        for (int i = 0; i < estimate->n_arrays; ++i)
            if (!named[i] && (most < 0 || estimate->arrays[i].bytes > estimate->arrays[most].bytes))
                most = i;
        named[most] = true;
        int length =
            weft_print(list + used, sizeof list - used, "%s%s %.4g MB", n > 0 ? ", " : "",
                       estimate->arrays[most].name, (double)estimate->arrays[most].bytes * 1e-6);
        used += length > 0 && (size_t)length < sizeof list - used ? (size_t)length : 0;
    }
    weft_error_set(error, WEFT_ERROR_MEMORY,
                   "this needs %.4g MB on %s, which has %.4g MB free; the largest arrays: %s",
                   (double)estimate->bytes * 1e-6, device->limits.name, (double)left * 1e-6, list);
    if (hint)
        weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_MEMORY;
}

weft_status weft_memory_estimate_check(const weft_memory_estimate *estimate,
                                       const weft_device *device, const char *hint,
                                       weft_error *error) {
    size_t left = weft_device_bytes_free(device);
    for (int i = 0; i < estimate->n_arrays; ++i)
        weft_log(device->monitor, WEFT_LOG_INFO, "memory: %-*s %10.3f MB",
                 WEFT_MEMORY_ESTIMATE_NAME - 1, estimate->arrays[i].name,
                 (double)estimate->arrays[i].bytes * 1e-6);
    weft_log(device->monitor, WEFT_LOG_INFO, "memory: %-*s %10.3f MB of %.3f MB free on %s",
             WEFT_MEMORY_ESTIMATE_NAME - 1, "in all", (double)estimate->bytes * 1e-6,
             (double)left * 1e-6, device->limits.name);
    return estimate->bytes > left ? refuse(estimate, device, left, hint, error) : WEFT_OK;
}
