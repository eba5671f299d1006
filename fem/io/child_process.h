/** Calls that run in a process of their own, so that a library that crashes, aborts, exits, prints
 *  or cannot close what it opened ends as one error here. HDF5 does all of this where memory or the
 *  disk is exhausted; this process never starts it. */
#pragma once

#include "core/weft_core.h"

#include <sys/types.h>

/** Runs in the child, which has a copy of all memory and prints nothing. What the parent is to get
 *  is written to the file `out`; the error comes back by itself, also where the child crashes after
 *  setting it. */
typedef weft_status (*weft_child_call)(void *user, int out, weft_error *error);

typedef struct weft_child {
    pid_t pid; /* 0: none */
    int from;  /* what the child writes to `out`; -1: none */
    struct weft_child_page *page;
} weft_child;
#define WEFT_CHILD_NONE ((weft_child){0, -1, NULL})

/** Start a child. Call weft_child_end in any case.
 *  Errors  WEFT_ERROR_MEMORY: no process can be started */
weft_status weft_child_start(weft_child_call call, void *user, const char *path, weft_child *out,
                             weft_error *error);
/** Exactly n bytes of what the child wrote; false: there are fewer, because it failed. */
bool weft_child_read(const weft_child *child, void *out, size_t n);
/** Wait for the child, or kill it first, and take its status and error. Safe on WEFT_CHILD_NONE.
 *  Errors  those of the call; WEFT_ERROR_MEMORY where it ended in any other way */
weft_status weft_child_end(weft_child *child, bool kill_it, const char *path, weft_error *error);
/** Both, for a call that writes nothing to `out`. */
weft_status weft_child_run(weft_child_call call, void *user, const char *path, weft_error *error);
/** In the child: write all n bytes. */
weft_status weft_child_write(int out, const void *bytes, size_t n, weft_error *error);
