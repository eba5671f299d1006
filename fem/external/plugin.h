/** Plug-ins: C against the headers of a library that is found at run time, compiled by the host's compiler when they are first
 *  asked for, and kept in the kernel cache. Not installed.
 *
 *      In: a library that has been opened, a source of kernels/plugins.  Out: its functions.
 *
 *  Decision  docs/decisions/0068-plug-ins-are-compiled-against-headers.md */
#pragma once

#include "fem/external/private.h"

typedef struct weft_plugin weft_plugin;
/** Compile the source NAME.c, or load it from the cache, with the header of the library in place of its #include <NAME.h>.
 *  CUDA's own headers, which a machine with a GPU need not have, are replaced by the few types that libraries take from them.
 *  library    as weft_external_library_open has opened it, for the folder of its header
 *  functions  the table that the plug-in's weft_plugin_open fills
 *  out        caller's; weft_plugin_free, after which no function may be called
 *  Errors     WEFT_ERROR_UNSUPPORTED (no header beside the library), WEFT_ERROR_COMPILER, WEFT_ERROR_MEMORY */
weft_status weft_plugin_make(const weft_external_library *library, void *handle, void *functions,
                             weft_plugin **out, weft_error *error);
void weft_plugin_free(weft_plugin **plugin);
