/** Copies of generated sources, kept on request (WEFT_KEEP).
 *  In: a module's name and source. Out: a file in the given directory. */
#pragma once

#include "core/weft_core.h"

/** Turn a module's name into a file name, of letters, digits and "-_." only. */
void weft_source_name(const char *name, char *out, size_t size);
/** Write a generated source to FOLDER/NAME.SUFFIX. Failures are logged.
 *  folder  NULL: write nothing */
void weft_source_keep(const char *folder, const weft_monitor *monitor, const char *name,
                      const char *suffix, const char *source);
