/** The cache of compiled kernels on the disk, for tools that list or clear it. */
#ifndef WEFT_CACHE_H
#define WEFT_CACHE_H

#include "core/weft_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_cache_entry {
    char key[33];
    char description[256]; /* "poisson, double, gcc 12.2.0, znver4" */
    size_t bytes;
    double age_seconds;
    bool valid;
} weft_cache_entry;
/** List the entries of a cache directory (NULL: the default). Each is verified (header, hash,
 * size). *out is malloc'd. */
weft_status weft_cache_list(const char *directory, weft_cache_entry **out, size_t *n,
                            weft_error *error);
/** Remove every entry (only_invalid: the invalid ones) and say how many. Touches nothing that is
 * not a cache entry. */
weft_status weft_cache_clear(const char *directory, bool only_invalid, size_t *n_removed,
                             weft_error *error);
/** The directory used by default, as text. WEFT_ERROR_IO when there is no home. */
weft_status weft_cache_directory(char *out, size_t size, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
