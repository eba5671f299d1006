/* Ranks that are threads of one process: they meet at a barrier and read each other's memory. */
#include "core/base/threads.h"
#include "core/comm/comm.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL = 256, /* bytes that a rank leaves where all read them, for one barrier instead of two */
    SPINS = 300, /* polls of a rank that waits, before it sleeps */
    WITHOUT_SPIN = 0
};

/* What a rank shows to others between two barriers. */
typedef struct slot {
    const void *bytes;
    const weft_message *sent;
    int n_sent;
    unsigned char small[2][SMALL]; /* of one call and the next */
    size_t calls[2];               /* what it calls: the bytes of a gather; EXCHANGE */
    char padding[64];
} slot;

typedef struct meeting {
    int size, n_alive; /* ranks, and those that have not been freed */
    int spins;
    atomic_int arrived, failed; /* failed: rank + 1; 0: none */
    atomic_uint round;
    pthread_mutex_t mutex;
    pthread_cond_t turned;
    weft_error error; /* of the rank that has failed */
    slot *slots;      /* [size] */
} meeting;

typedef struct thread_rank {
    meeting *meeting;
    unsigned calls; /* so far */
} thread_rank;

static meeting *meeting_of(const weft_comm *comm) {
    return ((thread_rank *)comm->state)->meeting;
}

/* ---- the barrier ----------------------------------------------------------------------------- */

static weft_status report(meeting *m, weft_error *error) {
    const int failed = atomic_load(&m->failed);
    return failed ? weft_comm_failed(failed - 1, m->error.message, error) : WEFT_OK;
}

static weft_status barrier(meeting *m, weft_error *error) {
    const unsigned round = atomic_load(&m->round);
    if (atomic_load(&m->failed))
        return report(m, error);
    if (atomic_fetch_add(&m->arrived, 1) + 1 == m->size) {
        atomic_store(&m->arrived, 0);
        pthread_mutex_lock(&m->mutex);
        atomic_fetch_add(&m->round, 1);
        pthread_cond_broadcast(&m->turned);
        pthread_mutex_unlock(&m->mutex);
        return WEFT_OK;
    }
    for (int i = 0; i < m->spins && atomic_load(&m->round) == round; ++i)
        if (i % 64 == 63)
            sched_yield();
    pthread_mutex_lock(&m->mutex);
    while (atomic_load(&m->round) == round && !atomic_load(&m->failed))
        pthread_cond_wait(&m->turned, &m->mutex);
    pthread_mutex_unlock(&m->mutex);
    return atomic_load(&m->round) != round ? WEFT_OK : report(m, error);
}

/* ---- operations ------------------------------------------------------------------------------ */

static const size_t EXCHANGE = SIZE_MAX;

/* Say what this rank calls. Returns where it leaves that: others read it after the next barrier, and nobody writes there before
 * the barrier after that one. */
static unsigned announce(weft_comm *comm, size_t call) {
    thread_rank *own = comm->state;
    const unsigned half = own->calls++ % 2;
    own->meeting->slots[comm->rank].calls[half] = call;
    return half;
}

static void abandon(weft_comm *comm, const weft_error *error) {
    meeting *m = meeting_of(comm);
    pthread_mutex_lock(&m->mutex);
    if (!atomic_load(&m->failed)) {
        if (error)
            m->error = *error;
        atomic_store(&m->failed, comm->rank + 1);
    }
    pthread_cond_broadcast(&m->turned);
    pthread_mutex_unlock(&m->mutex);
}

/* Do all ranks make the same call? Else none of their numbers would be right. */
static weft_status compare_calls(weft_comm *comm, unsigned half, weft_error *error) {
    weft_status status = WEFT_OK;
    const slot *slots = meeting_of(comm)->slots;
    for (int r = 0; r < comm->size && status == WEFT_OK; ++r)
        if (slots[r].calls[half] != slots[comm->rank].calls[half])
            status = weft_error_set(error, WEFT_ERROR_INTERNAL,
                                    "ranks %d and %d make different calls", comm->rank, r);
    if (status != WEFT_OK)
        abandon(comm, error);
    return status;
}

/* Small values are copied twice, so that nobody changes what another rank still reads: the next gather takes the other
 * half, and the one after that begins behind a barrier which all reach after they have read. */
static weft_status gather_small(weft_comm *comm, const void *mine, size_t bytes, void *all,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    meeting *m = meeting_of(comm);
    const unsigned half = announce(comm, bytes);
    memcpy(m->slots[comm->rank].small[half], mine, bytes);
    TRY(barrier(m, error));
    TRY(compare_calls(comm, half, error));
    for (int r = 0; r < m->size; ++r)
        memcpy((unsigned char *)all + (size_t)r * bytes, m->slots[r].small[half], bytes);
done:
    return status;
}

static weft_status gather_large(weft_comm *comm, const void *mine, size_t bytes, void *all,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    meeting *m = meeting_of(comm);
    const unsigned half = announce(comm, bytes);
    m->slots[comm->rank].bytes = mine;
    TRY(barrier(m, error));
    TRY(compare_calls(comm, half, error));
    for (int r = 0; r < m->size; ++r)
        memcpy((unsigned char *)all + (size_t)r * bytes, m->slots[r].bytes, bytes);
    TRY(barrier(m, error));
done:
    return status;
}

static weft_status gather(weft_comm *comm, const void *mine, size_t bytes, void *all,
                          weft_error *error) {
    return (bytes <= SMALL ? gather_small : gather_large)(comm, mine, bytes, all, error);
}

/* The message that a rank sends to another; NULL: there is none. */
static const weft_message *message_to(const slot *from, int rank) {
    for (int i = 0; i < from->n_sent; ++i)
        if (from->sent[i].rank == rank)
            return &from->sent[i];
    return NULL;
}

static weft_status copy_message(const weft_comm *comm, const weft_message *wanted,
                                weft_error *error) {
    const weft_message *found = message_to(&meeting_of(comm)->slots[wanted->rank], comm->rank);
    if (!found || found->n != wanted->n)
        return weft_error_set(error, WEFT_ERROR_INTERNAL,
                              "rank %d expects %zu bytes of rank %d, which sends %zu", comm->rank,
                              wanted->n, wanted->rank, found ? found->n : 0);
    if (wanted->n > 0)
        memcpy(wanted->bytes, found->bytes, wanted->n);
    return WEFT_OK;
}

static weft_status exchange(weft_comm *comm, const weft_message *sent, int n_sent,
                            const weft_message *received, int n_received, weft_error *error) {
    weft_status status = WEFT_OK;
    meeting *m = meeting_of(comm);
    const unsigned half = announce(comm, EXCHANGE);
    m->slots[comm->rank].sent = sent;
    m->slots[comm->rank].n_sent = n_sent;
    TRY(barrier(m, error));
    TRY(compare_calls(comm, half, error));
    weft_status copied = WEFT_OK;
    for (int i = 0; i < n_received && copied == WEFT_OK; ++i)
        copied = copy_message(comm, &received[i], error);
    TRY(barrier(m, copied == WEFT_OK ? error : NULL)); /* others still read what this rank sends */
    if (copied != WEFT_OK)
        abandon(comm, error);
    status = copied;
done:
    return status;
}

/* ---- make and free --------------------------------------------------------------------------- */

static void meeting_free(meeting *m) {
    pthread_cond_destroy(&m->turned);
    pthread_mutex_destroy(&m->mutex);
    free(m->slots);
    free(m);
}

static void rank_free(weft_comm *comm) {
    thread_rank *own = comm->state;
    meeting *m = own->meeting;
    pthread_mutex_lock(&m->mutex);
    const bool is_last = --m->n_alive == 0;
    pthread_mutex_unlock(&m->mutex);
    if (is_last)
        meeting_free(m);
    free(own);
}

static const weft_comm_kind_row threads_row = {.name = "threads",
                                               .gather = gather,
                                               .exchange = exchange,
                                               .abandon = abandon,
                                               .free = rank_free};

static weft_status meeting_make(int n, meeting **out, weft_error *error) {
    meeting *made = calloc(1, sizeof *made);
    if (made)
        made->slots = calloc((size_t)n, sizeof *made->slots);
    if (!made || !made->slots) {
        free(made);
        return weft_out_of_memory(error, "ranks");
    }
    made->size = n;
    made->spins = n <= weft_threads_available() ? SPINS : WITHOUT_SPIN;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->turned, NULL);
    *out = made;
    return WEFT_OK;
}

static weft_status rank_make(meeting *m, int rank, weft_comm **out, weft_error *error) {
    weft_comm *comm = calloc(1, sizeof *comm);
    thread_rank *own = calloc(1, sizeof *own);
    if (!comm || !own) {
        free(comm);
        free(own);
        return weft_out_of_memory(error, "ranks");
    }
    own->meeting = m;
    ++m->n_alive;
    const int processors = weft_threads_available() / m->size;
    *comm = (weft_comm){.kind = &threads_row,
                        .rank = rank,
                        .size = m->size,
                        .local = rank,
                        .processors = processors > 1 ? processors : 1,
                        .state = own};
    *out = comm;
    return WEFT_OK;
}

weft_status weft_comm_threads_make(int n, weft_comm **out, weft_error *error) {
    weft_status status = WEFT_OK;
    meeting *m = NULL;
    int n_made = 0;
    if (n < 1 || n > WEFT_RANKS_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "%d ranks: there can be 1 to %d", n,
                           WEFT_RANKS_MAX));
    TRY(meeting_make(n, &m, error));
    for (; n_made < n; ++n_made)
        TRY(rank_make(m, n_made, &out[n_made], error));
done:
    if (status != WEFT_OK && m && n_made == 0)
        meeting_free(m);
    for (int r = 0; status != WEFT_OK && r < n_made; ++r)
        weft_comm_free(&out[r]); /* the last one frees the meeting */
    return status;
}
