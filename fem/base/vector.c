/* Makes vectors that host and device share where possible, and copies them otherwise. */
#include "core/weft_core.h"
#include "fem/weft_space.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>
#include <string.h>

/* Large arrays are zeroed by all threads: most of the time is the kernel's, for new pages. */
enum { CHUNK = 1 << 19 };

typedef struct zeroing {
    double *values;
    int64_t n;
} zeroing;

static void chunk_zero(void *user, int64_t chunk) {
    const zeroing *z = user;
    const int64_t first = chunk * CHUNK, left = z->n - first;
    memset(z->values + first, 0, (size_t)(left < CHUNK ? left : CHUNK) * sizeof *z->values);
}

weft_status weft_vector_make(weft_device *device, int64_t n, double **values, weft_memory **memory,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    double *array = weft_array_make_unset((uint64_t)n * sizeof *array);
    if (!array)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_device_for(device, (n + CHUNK - 1) / CHUNK, chunk_zero, &(zeroing){array, n}, error));
    TRY(weft_setup_on_device(device) /* zeros need not be written there */
            ? weft_memory_make(device, (size_t)n * sizeof *array, memory, error)
            : weft_memory_wrap(device, array, (size_t)n * sizeof *array, memory, error));
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
