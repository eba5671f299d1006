/** What reading a file may take in memory and time, so that a damaged or hostile one cannot take a machine.
 *
 *      In: a path, options, WEFT_MESH_MEMORY and WEFT_MESH_TIME.  Out: limits. */
#pragma once

#include "core/weft_core.h"

typedef struct weft_reading_limits {
    double memory, seconds; /* bytes; 0: no limit, or not given */
} weft_reading_limits;

/** The limits for a file: 1 GB and 64 times its size, but not more than three quarters of the machine's
 *  memory; 300 s and 10 s per megabyte.
 *  meshed  the file is a geometry, whose size says little: three quarters of the memory, and an hour
 *  wanted  replaces these; where it is 0, the environment does, if set
 *  Errors  WEFT_ERROR_USAGE (a variable of the environment is not an amount) */
weft_status weft_reading_limits_find(const char *path, bool meshed, weft_reading_limits wanted,
                                     weft_reading_limits *out, weft_error *error);
/** Bytes of this process: what it holds in memory, or its address space; 0: not known. */
double weft_process_bytes(bool resident);
