/** A pool of threads, and what this process may use. */
#pragma once

#include "core/weft_core.h"

/** A pool of n threads, the caller's being one of them. Workers spin for some microseconds after a
 *  job and then sleep. A pool that is busy (a task that starts a job of its own, or two threads
 *  with one device) runs the second job on the caller's thread alone.
 *  Threads that cannot be started are done without: weft_threads_count tells. */
typedef struct weft_threads weft_threads;
weft_status weft_threads_make(int n, weft_threads **out, weft_error *error);
void weft_threads_free(weft_threads **threads);
int weft_threads_count(const weft_threads *threads);
/** task(user, i) for i in [0, n), each once, on any thread; returns when all are done. A thread
 *  starts with its own contiguous part, the same every time, and then helps the others.
 *  threads may be NULL: in order of i on the caller's thread. */
void weft_threads_run(weft_threads *threads, int64_t n, weft_task task, void *user);
/** Processors this process may use: its affinity mask and the limits of its control groups. */
int weft_threads_available(void);
