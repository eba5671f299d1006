/** Plug-ins: C against the headers of a library that is found at run time, compiled by the host's compiler when they are first
 *  asked for, and kept in the kernel cache. Not installed.
 *
 *      In: a library that has been opened, a source of kernels/plugins.  Out: its functions.
 *
 *  Decision  docs/decisions/0068-plug-ins-are-compiled-against-headers.md */
#pragma once

#include "fem/external/private.h"

typedef struct weft_plugin weft_plugin;
/** Compile the source NAME.c of kernels/plugins, or load it from the cache: against the headers of a library that uses MPI, by the
 *  compiler of that; otherwise by the compiler of kernels, with the library's headers in place of their #include and,
 *  since a machine with a GPU need not have CUDA's own, the few types that libraries take from these.
 *  library    as weft_external_library_open has opened it, for the folder of its headers
 *  functions  the table that the plug-in's weft_plugin_open fills
 *  out        caller's; weft_plugin_free, after which no function may be called
 *  Errors     WEFT_ERROR_UNSUPPORTED (no headers beside the library, no mpicc, or a build that the plug-in refuses),
 *             WEFT_ERROR_COMPILER, WEFT_ERROR_MEMORY */
weft_status weft_plugin_make(const weft_external_library *library, void *handle, void *functions,
                             weft_plugin **out, weft_error *error);
void weft_plugin_free(weft_plugin **plugin);
