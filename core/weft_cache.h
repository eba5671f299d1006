/** The on-disk cache of compiled kernels, for tools that list or clear it.
 *  In: a cache directory (NULL: the default). Out: its entries, verified. */
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
/** List the entries of a cache directory and verify each (header, hash, size).
 *  directory  NULL: the default
 *  out        [*n], malloc'd
 *  Errors     WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_cache_list(const char *directory, weft_cache_entry **out, size_t *n,
                            weft_error *error);
/** Remove cache entries. Files that are not cache entries are left alone.
 *  directory     NULL: the default
 *  only_invalid  remove the invalid entries alone
 *  n_removed     number of entries removed */
weft_status weft_cache_clear(const char *directory, bool only_invalid, size_t *n_removed,
                             weft_error *error);
/** The path of the default directory.
 *  Errors  WEFT_ERROR_IO: there is no home directory */
weft_status weft_cache_directory(char *out, size_t size, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
