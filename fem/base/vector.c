/* Makes vectors that host and device share where possible, and copies them otherwise. */
#include "fem/weft_space.h"

#include <stdlib.h>

weft_status weft_vector_make(weft_device *device, int64_t n, double **values, weft_memory **memory,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double *array = weft_array_make((size_t)n, sizeof *array);
    if (!array)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_memory_wrap(device, array, (size_t)n * sizeof *array, memory, error));
    *values = array;
    array = NULL;
done:
    free(array);
    return status;
}

weft_status weft_vector_pull(const weft_memory *memory, double *values, int64_t n,
                             weft_error *error) {
    if (weft_memory_host(memory) == values)
        return WEFT_OK;
    return weft_memory_read(memory, 0, values, (size_t)n * sizeof *values, error);
}

weft_status weft_vector_push(weft_memory *memory, const double *values, int64_t n,
                             weft_error *error) {
    if (weft_memory_host(memory) == values)
        return WEFT_OK;
    return weft_memory_write(memory, 0, values, (size_t)n * sizeof *values, error);
}
