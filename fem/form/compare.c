/* Makes test vectors, and tells what a device does not support. */
#include "fem/form/compare.h"

#include "core/base/number.h"
#include "fem/multigrid/multigrid.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>

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
