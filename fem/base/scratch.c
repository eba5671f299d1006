/* Allocates temporary memory on huge pages, and copies arrays to a device. */
#include "fem/base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

void *weft_scratch_make(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)HUGE_PAGE, &bytes))
        return NULL;
    if (bytes < 3 * (size_t)HUGE_PAGE)
        return malloc(bytes - HUGE_PAGE + 1);
    bytes &= ~((size_t)HUGE_PAGE - 1);
    void *array = aligned_alloc(HUGE_PAGE, bytes);
    if (array)
        (void)madvise(array, bytes, MADV_HUGEPAGE); /* advice only: small pages also work */
    return array;
}

weft_status weft_memory_place(weft_device *device, const void *array, size_t count, size_t size,
                              weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_make_unset(device, count * size, out, error));
    TRY(weft_memory_write(*out, 0, array, count * size, error));
done:
    return status;
}
