/* Runs tasks on a pool of threads with work stealing. */
#include "core/base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The upper part of `state` numbers the jobs: while it is odd, the job is open and workers may
 * join. The lower 16 bits count the workers that have joined. When no item is left, the caller
 * closes the job and waits only for the workers that joined, so sleeping workers do not delay small
 * jobs. The job's fields are written only while it is closed and no worker is in it. */
#define STATE_JOINED ((uint64_t)0xFFFF)
#define STATE_STEP ((uint64_t)0x10000)

enum { MOST_THREADS = 4096, SPINS = 2000, SPINS_SHARED = 50 };

typedef struct thread_part {
    _Alignas(64) atomic_llong next;
    int64_t last;
} thread_part;

typedef struct worker {
    struct weft_threads *threads;
    pthread_t thread;
    int index;
} worker;

struct weft_threads {
    int n;
    int spins;
    worker *workers;    /* [n - 1], for thread indices from 1 */
    thread_part *parts; /* [n] */
    weft_task task;
    void *user;
    pthread_mutex_t busy;  /* held for the length of a job */
    pthread_mutex_t mutex; /* protects the two conditions */
    pthread_cond_t job_opened, worker_left;
    atomic_int sleeping;
    atomic_bool caller_waits, stop;
    _Alignas(64) _Atomic uint64_t state;
};

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool is_open(uint64_t state) {
    return (state / STATE_STEP) & 1;
}

static void take_items(weft_threads *threads, int index) {
    for (int k = 0; k < threads->n; ++k) {
        thread_part *part = &threads->parts[(index + k) % threads->n];
        for (;;) {
            if (atomic_load_explicit(&part->next, memory_order_relaxed) >= part->last)
                break;
            int64_t i = atomic_fetch_add_explicit(&part->next, 1, memory_order_relaxed);
            if (i >= part->last)
                break;
            threads->task(threads->user, i);
        }
    }
}

/* Is there a job other than the last one seen, or a request to stop? */
static bool is_called(weft_threads *threads, uint64_t seen) {
    uint64_t state = atomic_load(&threads->state);
    return (is_open(state) && state / STATE_STEP != seen) || atomic_load(&threads->stop);
}

static void wait_for_job(weft_threads *threads, uint64_t seen) {
    for (int i = 0; i < threads->spins; ++i) {
        if (is_called(threads, seen))
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&threads->mutex);
    /* Counted before the look at the state; the caller opens the job before its look at the count.
     */
    atomic_fetch_add(&threads->sleeping, 1);
    while (!is_called(threads, seen))
        pthread_cond_wait(&threads->job_opened, &threads->mutex);
    atomic_fetch_sub(&threads->sleeping, 1);
    pthread_mutex_unlock(&threads->mutex);
}

static void *work(void *user) {
    worker *self = user;
    weft_threads *threads = self->threads;
    uint64_t seen = 0;
    for (;;) {
        wait_for_job(threads, seen);
        if (atomic_load(&threads->stop))
            return NULL;
        uint64_t state = atomic_load(&threads->state);
        while (is_open(state) && state / STATE_STEP != seen &&
               !atomic_compare_exchange_weak(&threads->state, &state, state + 1))
            ;
        if (!is_open(state) || state / STATE_STEP == seen)
            continue;
        seen = state / STATE_STEP;
        take_items(threads, self->index);
        state = atomic_fetch_sub(&threads->state, 1) - 1;
        if ((state & STATE_JOINED) == 0 && atomic_load(&threads->caller_waits)) {
            pthread_mutex_lock(&threads->mutex);
            pthread_cond_signal(&threads->worker_left);
            pthread_mutex_unlock(&threads->mutex);
        }
    }
}

static bool somebody_joined(weft_threads *threads) {
    return (atomic_load(&threads->state) & STATE_JOINED) != 0;
}

static void wait_for_workers(weft_threads *threads) {
    for (int i = 0; i < threads->spins; ++i) {
        if (!somebody_joined(threads))
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&threads->mutex);
    atomic_store(&threads->caller_waits, true);
    while (somebody_joined(threads))
        pthread_cond_wait(&threads->worker_left, &threads->mutex);
    atomic_store(&threads->caller_waits, false);
    pthread_mutex_unlock(&threads->mutex);
}

void weft_threads_run(weft_threads *threads, int64_t n, weft_task task, void *user) {
    if (!threads || threads->n < 2 || n < 2 || pthread_mutex_trylock(&threads->busy) != 0) {
        for (int64_t i = 0; i < n; ++i)
            task(user, i);
        return;
    }
    int64_t share = n / threads->n, rest = n % threads->n, first = 0;
    for (int t = 0; t < threads->n; ++t) {
        atomic_store_explicit(&threads->parts[t].next, first, memory_order_relaxed);
        first += share + (t < rest);
        threads->parts[t].last = first;
    }
    threads->task = task;
    threads->user = user;
    atomic_fetch_add(&threads->state, STATE_STEP);
    if (atomic_load(&threads->sleeping) > 0) {
        pthread_mutex_lock(&threads->mutex);
        pthread_cond_broadcast(&threads->job_opened);
        pthread_mutex_unlock(&threads->mutex);
    }
    take_items(threads, 0);
    atomic_fetch_add(&threads->state, STATE_STEP);
    wait_for_workers(threads);
    pthread_mutex_unlock(&threads->busy);
}

int weft_threads_count(const weft_threads *threads) {
    return threads ? threads->n : 1;
}

static void stop_workers(weft_threads *threads, int n_started) {
    pthread_mutex_lock(&threads->mutex);
    atomic_store(&threads->stop, true);
    pthread_cond_broadcast(&threads->job_opened);
    pthread_mutex_unlock(&threads->mutex);
    for (int i = 0; i < n_started; ++i)
        pthread_join(threads->workers[i].thread, NULL);
}

static void pool_free(weft_threads *threads) {
    pthread_cond_destroy(&threads->job_opened);
    pthread_cond_destroy(&threads->worker_left);
    pthread_mutex_destroy(&threads->mutex);
    pthread_mutex_destroy(&threads->busy);
    free(threads->workers);
    free(threads->parts);
    free(threads);
}

static weft_threads *pool_make(int n) {
    weft_threads *threads = aligned_alloc(64, (sizeof *threads + 63) & ~(size_t)63);
    if (!threads)
        return NULL;
    memset(threads, 0, sizeof *threads);
    pthread_mutex_init(&threads->busy, NULL);
    pthread_mutex_init(&threads->mutex, NULL);
    pthread_cond_init(&threads->job_opened, NULL);
    pthread_cond_init(&threads->worker_left, NULL);
    threads->n = n;
    threads->spins = n <= weft_threads_available() ? SPINS : SPINS_SHARED;
    threads->workers = calloc((size_t)n, sizeof *threads->workers);
    threads->parts = aligned_alloc(64, (size_t)n * sizeof *threads->parts);
    if (!threads->workers || !threads->parts) {
        pool_free(threads);
        return NULL;
    }
    memset(threads->parts, 0, (size_t)n * sizeof *threads->parts);
    return threads;
}

weft_status weft_threads_make(int n, weft_threads **out, weft_error *error) {
    if (n < 1 || n > MOST_THREADS)
        return weft_error_set(error, WEFT_ERROR_USAGE, "%d threads: between 1 and %d are possible",
                              n, (int)MOST_THREADS);
    weft_threads *threads = pool_make(n);
    if (!threads)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for %d threads", n);
    for (int i = 0; i + 1 < n; ++i) {
        threads->workers[i].threads = threads;
        threads->workers[i].index = i + 1;
        int number = pthread_create(&threads->workers[i].thread, NULL, work, &threads->workers[i]);
        if (number != 0) {
            stop_workers(threads, i);
            pool_free(threads);
            weft_error_set(error, WEFT_ERROR_DEVICE, "cannot start thread %d of %d: %s", i + 2, n,
                           strerror(number));
            weft_error_hint(error, "ask for fewer threads, as in host:%d, or raise ulimit -u",
                            i + 1);
            return WEFT_ERROR_DEVICE;
        }
    }
    *out = threads;
    return WEFT_OK;
}

void weft_threads_free(weft_threads **threads) {
    if (!threads || !*threads)
        return;
    stop_workers(*threads, (*threads)->n - 1);
    pool_free(*threads);
    *threads = NULL;
}
