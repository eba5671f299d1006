/* Compiles sources into the kernel cache on threads of the device's own. */
#include "core/device/device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Half of the processors: kernels that are needed first are compiled beside them. */
enum { THREADS_MOST = 16 };

/* A source of a module. Jobs stay in the list, so that none is given twice. */
typedef struct job {
    char *name, *source; /* NULL once a thread has taken them */
    char hash[33];
    struct job *next;
} job;

struct weft_store_queue {
    weft_device *device;
    pthread_mutex_t mutex; /* protects what follows */
    pthread_cond_t changed;
    job *first, *last, *waiting; /* waiting: the first that no thread has taken */
    pthread_t threads[THREADS_MOST];
    int n_threads, n_idle, most;
    bool ends;
};

static void job_free(job **freed) {
    if (*freed) {
        free((*freed)->name);
        free((*freed)->source);
    }
    free(*freed);
    *freed = NULL;
}

static job *job_make(const char *name, const char *source) {
    job *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->name = strdup(name);
    made->source = strdup(source);
    weft_hash(source, strlen(source), made->hash);
    if (!made->name || !made->source)
        job_free(&made);
    return made;
}

static void *work(void *user);

/* With the mutex held. */
static void start_thread(weft_store_queue *queue) {
    if (queue->n_idle == 0 && queue->n_threads < queue->most &&
        pthread_create(&queue->threads[queue->n_threads], NULL, work, queue) == 0)
        ++queue->n_threads;
}

/* The next job, or NULL at the end. */
static job *job_take(weft_store_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    ++queue->n_idle;
    while (!queue->waiting && !queue->ends)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    --queue->n_idle;
    job *taken = queue->ends ? NULL : queue->waiting;
    if (taken)
        queue->waiting = taken->next;
    pthread_mutex_unlock(&queue->mutex);
    return taken;
}

/* One thread finds what is in the cache already; the others start where something is not. Failures come
 * again where the module is made. */
static void *work(void *user) {
    weft_store_queue *queue = user;
    const weft_device_table *table = queue->device->table;
    for (job *taken; (taken = job_take(queue));) {
        weft_error ignored;
        if (!table->module_stored(queue->device, taken->source)) {
            pthread_mutex_lock(&queue->mutex);
            if (queue->waiting)
                start_thread(queue);
            pthread_mutex_unlock(&queue->mutex);
            (void)table->module_store(queue->device, taken->name, taken->source, &ignored);
        }
        free(taken->name);
        free(taken->source);
        taken->name = taken->source = NULL;
    }
    return NULL;
}

static weft_store_queue *queue_of(weft_device *device) {
    weft_store_queue *found = atomic_load(&device->store_queue), *made;
    if (found)
        return found;
    made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    const int half = (weft_threads_available() + 1) / 2;
    made->device = device;
    made->most = half < THREADS_MOST ? half : THREADS_MOST;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    if (atomic_compare_exchange_strong(&device->store_queue, &found, made))
        return made;
    pthread_cond_destroy(&made->changed);
    pthread_mutex_destroy(&made->mutex);
    free(made);
    return found;
}

void weft_module_store_later(weft_device *device, const char *name, const char *source) {
    const weft_device_table *table = device->table;
    weft_store_queue *queue = table->module_store && table->module_stored ? queue_of(device) : NULL;
    job *made = queue ? job_make(name, source) : NULL;
    bool is_known = false;
    if (!made)
        return;
    pthread_mutex_lock(&queue->mutex);
    for (const job *known = queue->first; known && !is_known; known = known->next)
        is_known = strcmp(known->hash, made->hash) == 0;
    if (!is_known) {
        *(queue->last ? &queue->last->next : &queue->first) = made;
        queue->last = made;
        queue->waiting = queue->waiting ? queue->waiting : made;
        made = NULL;
        if (queue->n_threads == 0)
            start_thread(queue);
        pthread_cond_signal(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    job_free(&made);
}

void weft_store_queue_end(weft_device *device) {
    weft_store_queue *queue = atomic_exchange(&device->store_queue, NULL);
    if (!queue)
        return;
    pthread_mutex_lock(&queue->mutex);
    queue->ends = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    for (int i = 0; i < queue->n_threads; ++i)
        pthread_join(queue->threads[i], NULL);
    for (job *next; queue->first; queue->first = next) {
        next = queue->first->next;
        job_free(&queue->first);
    }
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}
