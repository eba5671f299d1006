/** Calls in a child process. If a library crashes, aborts, exits, prints or cannot close its files,
 *  as HDF5 does if memory or the disk is exhausted, the result here is a single error. This process
 *  itself never initialises HDF5. Not installed.
 *
 *      In: a function.  Out: its status, its error, and the bytes that it writes.
 *
 *  Decision  docs/decisions/0034-result-files-survive-a-crash.md */
#pragma once

#include "core/base/reading_limits.h"

#include <sys/types.h>

/** Runs in the child, which has a copy of all memory, and whose output is discarded. Data for the
 *  parent are written to the file `out`. The status and the error are returned automatically, also
 *  if the child crashes after setting the error. */
typedef weft_status (*weft_child_call)(void *user, int out, weft_error *error);

typedef struct weft_child {
    pid_t pid; /* 0: none */
    int from;  /* the file from which to read what the child writes to `out`; -1: none */
    struct weft_child_page *page;
    weft_reading_limits limits;
} weft_child;
#define WEFT_CHILD_NONE ((weft_child){0, -1, NULL, {0, 0}})

/** Start a child.
 *  path    for messages
 *  limits  borrowed, bytes beyond what this process has and seconds of processor time; NULL: none
 *  out     weft_child_end, also after an error
 *  Errors  WEFT_ERROR_MEMORY (no process can be started) */
weft_status weft_child_start(weft_child_call call, void *user, const char *path,
                             const weft_reading_limits *limits, weft_child *out, weft_error *error);
/** Read exactly n bytes of what the child wrote. Returns false if there are fewer, because the
 *  child failed. */
bool weft_child_read(const weft_child *child, void *out, size_t n);
/** Wait for the child, after killing it if kill_it, and return its status and error. Accepts
 *  WEFT_CHILD_NONE.
 *  Errors  those of the call; WEFT_ERROR_MEMORY if the child ended in any other way */
weft_status weft_child_end(weft_child *child, bool kill_it, const char *path, weft_error *error);
/** Start and end a child, for a call that writes nothing to `out`. */
weft_status weft_child_run(weft_child_call call, void *user, const char *path, weft_error *error);
/** In the child: write all n bytes. */
weft_status weft_child_write(int out, const void *bytes, size_t n, weft_error *error);
