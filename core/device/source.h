/** Generated sources: copies, kept on request (WEFT_KEEP), and keys in the cache.
 *  In: a module's name and source. Out: a file in the given directory, or a key. */
#pragma once

#include "core/weft_core.h"

/** Turn a module's name into a file name, of letters, digits and "-_." only. */
void weft_source_name(const char *name, char *out, size_t size);
/** Write a generated source to FOLDER/NAME.SUFFIX. Failures are logged.
 *  folder  NULL: write nothing */
void weft_source_keep(const char *folder, const weft_monitor *monitor, const char *name,
                      const char *suffix, const char *source);
/** Hash a source without its comments, so that a script or form file in another folder, or with another line
 *  before a statement, gives the same module.
 *  maker  what else decides: the kind of module, the machine */
weft_status weft_source_key(const char *maker, const char *source, char out[33], weft_error *error);
