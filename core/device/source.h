/** Generated sources that are kept on request. */
#pragma once

#include "core/weft_core.h"

/** A module's name as a file's: letters, digits and "-_." only. */
void weft_source_name(const char *name, char *out, size_t size);
/** Keep a generated source as FOLDER/NAME.SUFFIX (folder NULL: do not); what goes wrong is logged.
 */
void weft_source_keep(const char *folder, const weft_monitor *monitor, const char *name,
                      const char *suffix, const char *source);
