/** A pool of threads. In: n independent tasks. Out: all of them executed. */
#pragma once

#include "core/weft_core.h"

/** A pool of n threads, including the calling thread. Workers spin for some microseconds after a
 *  job and then sleep. If the pool is busy (a task starts another job, or two threads use one
 *  device), the second job runs on its calling thread alone. */
typedef struct weft_threads weft_threads;
/** Make a pool.
 *  out     caller's; weft_threads_free
 *  Errors  WEFT_ERROR_USAGE: n out of range; WEFT_ERROR_DEVICE: a thread cannot be started;
 *          WEFT_ERROR_MEMORY */
weft_status weft_threads_make(int n, weft_threads **out, weft_error *error);
void weft_threads_free(weft_threads **threads);
int weft_threads_count(const weft_threads *threads);
/** Run task(user, i) for each i in [0, n) and return when all are done. Each thread starts with its
 *  own contiguous range, the same in every job, and then steals work from the others.
 *  threads  NULL: in order of i on the calling thread */
void weft_threads_run(weft_threads *threads, int64_t n, weft_task task, void *user);
/** Number of processors that this process may use, by its affinity mask and control groups. */
int weft_threads_available(void);
/** The same without its affinity mask, which a launcher of several processes may set. */
int weft_threads_online(void);
