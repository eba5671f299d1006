/* Compares vectors that were computed in two ways, and makes test vectors. */
#include "fem/form/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

weft_status weft_relative_difference(const weft_memory *a, const weft_memory *b, int64_t n,
                                     double *relative, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)n * sizeof(double);
    double *x = weft_array_make((size_t)n, sizeof *x), *y = weft_array_make((size_t)n, sizeof *y);
    double sum = 0, difference = 0;
    if (!x || !y)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "no memory to compare two vectors"));
    TRY(weft_memory_read(a, 0, x, bytes, error));
    TRY(weft_memory_read(b, 0, y, bytes, error));
    for (int64_t i = 0; i < n; ++i) {
        sum += x[i] * x[i];
        difference += (x[i] - y[i]) * (x[i] - y[i]);
    }
    *relative = difference == 0 ? 0 : sqrt(difference / sum);
done:
    free(x);
    free(y);
    return status;
}

weft_status weft_write_synthetic(weft_memory *v, int64_t n, weft_error *error) {
    uint64_t state = 1;
    double *values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        return weft_out_of_memory(error, "a vector");
    for (int64_t i = 0; i < n; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        values[i] = (double)(int64_t)state * 0x1p-63;
    }
    weft_status status = weft_memory_write(v, 0, values, (size_t)n * sizeof *values, error);
    free(values);
    return status;
}

static weft_status products_apart(weft_device *device, int64_t n, weft_product_way way, void *user,
                                  double *difference, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *v = NULL, *y[2] = {NULL, NULL};
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &v, error));
    TRY(weft_write_synthetic(v, n, error));
    for (int which = 0; which < 2; ++which) {
        TRY(weft_memory_make(device, (size_t)n * sizeof(double), &y[which], error));
        TRY(way(user, which, v, y[which], error));
    }
    TRY(weft_relative_difference(y[0], y[1], n, difference, error));
done:
    weft_memory_free(&v);
    weft_memory_free(&y[0]);
    weft_memory_free(&y[1]);
    return status;
}

weft_status weft_status_supported(weft_status status, const weft_error *why, bool *unsupported,
                                  weft_error *error) {
    *unsupported = status == WEFT_ERROR_UNSUPPORTED;
    if (status == WEFT_OK || *unsupported)
        return WEFT_OK;
    if (error)
        *error = *why;
    return status;
}

weft_status weft_products_agree(weft_device *device, int64_t n, weft_product_way way, void *user,
                                bool *good, weft_error *why, weft_error *error) {
    weft_status status = WEFT_OK;
    double difference = 0;
    bool unsupported = false;
    status = products_apart(device, n, way, user, &difference, why);
    TRY(weft_status_supported(status, why, &unsupported, error));
    *good = !unsupported && difference <= WEFT_RELATIVE_DIFFERENCE_MAX;
    if (!unsupported)
        snprintf(why->message, sizeof why->message,
                 "its values depend on the numbering of a cell's vertices (by %.1e)", difference);
done:
    return status;
}
