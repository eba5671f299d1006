/* Chooses the limits for reading a file, and measures this process. */
#include "core/base/reading_limits.h"
#include "core/base/file.h"
#include "core/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const double least_memory = 1e9, memory_per_byte = 64, memory_share = 0.75;
static const double meshing_seconds = 3600, least_seconds = 300, seconds_per_byte = 1e-5;

weft_status weft_reading_limits_find(const char *path, bool meshed, weft_reading_limits wanted,
                                     weft_reading_limits *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *memory = getenv("WEFT_MESH_MEMORY"), *seconds = getenv("WEFT_MESH_TIME");
    const double machine = memory_share * (double)weft_memory_available();
    struct stat info;
    if (wanted.memory <= 0 && memory && *memory)
        TRY(weft_parse_bytes("WEFT_MESH_MEMORY", memory, &wanted.memory, error));
    if (wanted.seconds <= 0 && seconds && *seconds)
        TRY(weft_parse_seconds("WEFT_MESH_TIME", seconds, &wanted.seconds, error));
    const double bytes = stat(path, &info) == 0 ? (double)info.st_size : 0;
    if (wanted.memory <= 0)
        wanted.memory = meshed ? machine : fmin(least_memory + memory_per_byte * bytes, machine);
    if (wanted.seconds <= 0)
        wanted.seconds = meshed ? meshing_seconds : least_seconds + seconds_per_byte * bytes;
    *out = wanted;
done:
    return status;
}

/* statm: pages of address space, pages in memory, ... */
double weft_process_bytes(bool resident) {
    char text[128], *at = text;
    double pages = 0;
    (void)weft_system_file_read("/proc/self/statm", text, sizeof text);
    for (int i = 0; i <= resident; ++i)
        pages = weft_number_read(at, &at);
    return pages * (double)sysconf(_SC_PAGESIZE);
}
