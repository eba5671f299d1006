/* Compares vectors and makes test vectors. */
#include "fem/form/compare.h"

#include "core/base/number.h"
#include "fem/multigrid/multigrid.h"
#include "fusion/setup/setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Two numbers of each block of threads; see kernels/setup/values.cu. */
enum { THREADS = 256 };

/* The sums of a^2 and (a - b)^2. */
static weft_status sum_on_device(weft_device *device, weft_memory *a, weft_memory *b, int64_t n,
                                 double sums[2], weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_blocks = (n + THREADS - 1) / THREADS;
    const size_t bytes = (size_t)n_blocks * 2 * sizeof(double);
    weft_setup *setup = NULL;
    weft_memory *memory = NULL;
    double *parts = malloc(bytes + 1);
    if (!parts)
        TRY(weft_out_of_memory(error, "comparing two vectors"));
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_memory_make_unset(device, bytes, &memory, error));
    const weft_setup_kernel kernel = {"values", "differences", n, n_blocks, 0};
    TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){a, b, memory}, 3, error));
    TRY(weft_memory_read(memory, 0, parts, bytes, error));
    for (int64_t i = 0; i < 2 * n_blocks; ++i)
        sums[i % 2] += parts[i];
done:
    free(parts);
    weft_memory_free(&memory);
    weft_setup_free(&setup);
    return status;
}

static weft_status sum_on_host(weft_memory *a, weft_memory *b, int64_t n, double sums[2],
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)n * sizeof(double);
    double *x = weft_array_make((size_t)n, sizeof *x), *y = weft_array_make((size_t)n, sizeof *y);
    if (!x || !y)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "no memory to compare two vectors"));
    TRY(weft_memory_read(a, 0, x, bytes, error));
    TRY(weft_memory_read(b, 0, y, bytes, error));
    for (int64_t i = 0; i < n; ++i) {
        sums[0] += x[i] * x[i];
        sums[1] += (x[i] - y[i]) * (x[i] - y[i]);
    }
done:
    free(x);
    free(y);
    return status;
}

weft_status weft_relative_difference(weft_device *device, weft_memory *a, weft_memory *b, int64_t n,
                                     double *relative, weft_error *error) {
    weft_status status = WEFT_OK;
    double sums[2] = {0, 0};
    TRY(weft_setup_on_device(device) ? sum_on_device(device, a, b, n, sums, error)
                                     : sum_on_host(a, b, n, sums, error));
    *relative = sums[1] == 0 ? 0 : sqrt(sums[1] / sums[0]);
done:
    return status;
}

weft_status weft_write_synthetic(weft_device *device, weft_memory *v, int64_t n,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_setup *setup = NULL;
    double *values = NULL;
    if (weft_setup_on_device(device)) {
        const weft_setup_kernel kernel = {"values", "synthetic", n, 0, 0};
        TRY(weft_setup_make(device, &setup, error));
        TRY(weft_setup_launch(setup, &kernel, &v, 1, error));
        goto done;
    }
    values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "a vector"));
    for (int64_t i = 0; i < n; ++i)
        values[i] = weft_random_entry(i);
    TRY(weft_memory_write(v, 0, values, (size_t)n * sizeof *values, error));
done:
    free(values);
    weft_setup_free(&setup);
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
