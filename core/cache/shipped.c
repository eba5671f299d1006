/* Finds the cache of kernels that are installed with Weft. */
#include "core/base/process.h"
#include "core/cache/cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From the folder of the program or library: in the folder of a build, and where they are installed. */
static const char *const places[] = {"weft-kernels", "../" WEFT_LIBDIR "/weft/kernels",
                                     "weft/kernels"};
enum { N_PLACES = sizeof places / sizeof *places };

void weft_cache_open_shipped(weft_cache *cache, const char *set, const weft_monitor *monitor) {
    const char *const named = secure_getenv("WEFT_SHIPPED");
    const bool is_named = named && named[0];
    char own[PATH_MAX], reason[1200];
    struct stat info, folder;
    *cache = (weft_cache){.folder = -1, .monitor = monitor};
    if ((is_named && strcmp(named, "none") == 0) || !weft_find_own_file(own, sizeof own) ||
        stat(own, &info) != 0)
        return;
    *strrchr(own, '/') = '\0';
    /* Whoever may write into the folder of this program may replace the program. */
    if (stat(own, &folder) == 0) {
        info.st_gid = folder.st_gid;
        info.st_mode = folder.st_mode;
    }
    for (int i = 0; i < (is_named ? 1 : N_PLACES) && cache->folder < 0; ++i) {
        bool missing = false;
        const int length = snprintf(cache->path, sizeof cache->path, "%s/%s/%s",
                                    is_named ? named : own, is_named ? "" : places[i], set);
        if (length < 0 || (size_t)length >= sizeof cache->path)
            continue;
        cache->folder = weft_cache_folder_open(cache->path, &info, &missing, reason, sizeof reason);
        /* In a build, `weft` is a program, below which there is no folder. */
        missing |= cache->folder < 0 && stat(cache->path, &folder) != 0 && errno == ENOTDIR;
        if (cache->folder < 0 && (is_named || !missing))
            weft_log(monitor, WEFT_LOG_WARNING, "shipped kernels are not used: %s", reason);
    }
}
