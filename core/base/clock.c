/* Reads the monotonic clock and the peak memory of the process. */
#include "core/weft_core.h"

#include <sys/resource.h>
#include <time.h>

double weft_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

size_t weft_memory_peak(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (size_t)usage.ru_maxrss * 1024; /* in kilobytes on Linux */
}
