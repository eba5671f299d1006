/* Allocates zeroed, aligned and padded arrays, on huge pages if they are large. */
#include "core/weft_core.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Arrays of at least HUGE_ENOUGH bytes request huge pages: without them, gathers over large meshes
 * spend much of their time on TLB misses. */
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_ENOUGH ((size_t)8 << 20)

static void *array_make(size_t bytes, size_t first_zero) {
    if (__builtin_add_overflow(bytes, (size_t)WEFT_PADDING + 63, &bytes))
        return NULL;
    bytes &= ~(size_t)63;
    bool huge = bytes >= HUGE_ENOUGH;
    void *array = NULL;
    if (posix_memalign(&array, huge ? HUGE_PAGE : 64, bytes) != 0)
        return NULL;
    if (huge)
        (void)madvise(array, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE); /* optional */
    memset((char *)array + first_zero, 0, bytes - first_zero);
    return array;
}

void *weft_array_make(size_t count, size_t size) {
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : array_make(bytes, 0);
}

void *weft_array_make_unset(uint64_t bytes) {
    return bytes > SIZE_MAX ? NULL : array_make((size_t)bytes, (size_t)bytes);
}
