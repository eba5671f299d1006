/* Device memory of stars, filled by many tasks at once. */
#include "core/weft_core.h"
#include "fusion/connectivity/vertex_patches.h"

#include <stdlib.h>

weft_status weft_star_no_memory(const char *what, int64_t n, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the %s of %lld cells", what,
                   (long long)n);
    weft_error_hint(error, "use a coarser mesh or a machine with more memory");
    return WEFT_ERROR_MEMORY;
}

weft_status weft_star_place(weft_device *device, const char *what, size_t count, size_t size,
                            weft_memory **memory, void **array, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_make(device, count * size, memory, error));
    *array = weft_memory_host(*memory);
    if (!*array && !(*array = weft_array_make(count, size)))
        status = weft_star_no_memory(what, (int64_t)count, error);
done:
    return status;
}

weft_status weft_star_send(weft_memory *memory, void *array, weft_error *error) {
    if (!array || array == weft_memory_host(memory))
        return WEFT_OK;
    return weft_memory_write(memory, 0, array, weft_memory_bytes(memory), error);
}

void weft_star_drop(weft_memory *memory, void *array) {
    if (!memory || array != weft_memory_host(memory))
        free(array);
}
