/* Copies between host and GPU through pinned buffers. Each thread takes the next piece and a buffer of
 * its own: while it copies on the host, the pieces of others are transferred. */
#include "core/cuda/cuda.h"

#include <string.h>

#define PIECE ((size_t)1 << 20) /* bytes of a piece and of a pinned buffer */
enum { EVENT_WITHOUT_TIME = 2 };

typedef struct transfer {
    weft_device *device;
    weft_cu_pointer array;
    char *host;
    size_t n;
    bool reads;
    atomic_llong next; /* piece */
    atomic_bool failed;
    weft_status status; /* of the first failure, as the error; both protected by mutex */
    weft_error error;
    pthread_mutex_t mutex, stages[WEFT_CUDA_STAGES];
} transfer;

/* Allocate a pinned buffer when it is first used. */
static weft_status stage_make(weft_cuda_state *state, int k, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cuda_driver *driver = &state->driver;
    if (!state->staged[k])
        TRY(weft_cuda_check(state, driver->cuEventCreate(&state->staged[k], EVENT_WITHOUT_TIME),
                            "making an event", error));
    if (!state->stage[k])
        TRY(weft_cuda_check(state, driver->cuMemHostAlloc(&state->stage[k], PIECE, 0),
                            "making a pinned buffer of 1 MB", error));
done:
    return status;
}

void weft_cuda_stages_free(weft_cuda_state *state) {
    for (int i = 0; i < WEFT_CUDA_STAGES; ++i) {
        if (state->stage[i])
            (void)state->driver.cuMemFreeHost(state->stage[i]);
        if (state->staged[i])
            (void)state->driver.cuEventDestroy(state->staged[i]);
        state->stage[i] = NULL;
        state->staged[i] = NULL;
    }
}

/* The buffer is free once its event has come. */
static weft_status write_piece(const transfer *t, int k, size_t at, size_t n, weft_error *error) {
    static const char what[] = "writing an array";
    weft_status status = WEFT_OK;
    weft_cuda_state *state = t->device->state;
    const weft_cuda_driver *driver = &state->driver;
    TRY(weft_cuda_check(state, driver->cuEventSynchronize(state->staged[k]), what, error));
    memcpy(state->stage[k], t->host + at, n);
    TRY(weft_cuda_check(state,
                        driver->cuMemcpyHtoDAsync(t->array + at, state->stage[k], n, state->stream),
                        what, error));
    TRY(weft_cuda_check(state, driver->cuEventRecord(state->staged[k], state->stream), what,
                        error));
done:
    return status;
}

/* In the same stream, so that it follows earlier transfers from the buffer. */
static weft_status read_piece(const transfer *t, int k, size_t at, size_t n, weft_error *error) {
    static const char what[] = "reading an array";
    weft_status status = WEFT_OK;
    weft_cuda_state *state = t->device->state;
    const weft_cuda_driver *driver = &state->driver;
    TRY(weft_cuda_check(state,
                        driver->cuMemcpyDtoHAsync(state->stage[k], t->array + at, n, state->stream),
                        what, error));
    TRY(weft_cuda_check(state, driver->cuEventRecord(state->staged[k], state->stream), what,
                        error));
    TRY(weft_cuda_check(state, driver->cuEventSynchronize(state->staged[k]), what, error));
    memcpy(t->host + at, state->stage[k], n);
done:
    return status;
}

static weft_status move_piece(transfer *t, int64_t i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = t->device->state;
    const int k = (int)(i % WEFT_CUDA_STAGES);
    const size_t at = (size_t)i * PIECE, n = t->n - at < PIECE ? t->n - at : PIECE;
    TRY(weft_cuda_enter(state, error));
    pthread_mutex_lock(&t->stages[k]);
    status = stage_make(state, k, error);
    if (status == WEFT_OK)
        status = t->reads ? read_piece(t, k, at, n, error) : write_piece(t, k, at, n, error);
    pthread_mutex_unlock(&t->stages[k]);
    weft_cuda_leave(state);
done:
    return status;
}

/* Pieces are taken in order, whoever takes them, so that those under way have different buffers. */
static void move_next(void *user, int64_t ignored) {
    transfer *t = user;
    weft_error error = {0};
    const int64_t i = atomic_fetch_add(&t->next, 1);
    (void)ignored;
    if (atomic_load(&t->failed))
        return;
    const weft_status status = move_piece(t, i, &error);
    if (status == WEFT_OK)
        return;
    pthread_mutex_lock(&t->mutex);
    if (t->status == WEFT_OK) {
        t->status = status;
        t->error = error;
    }
    pthread_mutex_unlock(&t->mutex);
    atomic_store(&t->failed, true);
}

static weft_status move(transfer *t, weft_error *error) {
    weft_cuda_state *state = t->device->state;
    const int64_t n_pieces = (int64_t)((t->n + PIECE - 1) / PIECE);
    pthread_mutex_init(&t->mutex, NULL);
    for (int i = 0; i < WEFT_CUDA_STAGES; ++i)
        pthread_mutex_init(&t->stages[i], NULL);
    pthread_mutex_lock(&state->transfers);
    weft_threads_run(t->device->threads, n_pieces, move_next, t);
    pthread_mutex_unlock(&state->transfers);
    for (int i = 0; i < WEFT_CUDA_STAGES; ++i)
        pthread_mutex_destroy(&t->stages[i]);
    pthread_mutex_destroy(&t->mutex);
    if (t->status != WEFT_OK && error)
        *error = t->error;
    return t->status;
}

weft_status weft_cuda_write(weft_device *device, weft_cu_pointer to, const void *from, size_t n,
                            weft_error *error) {
    transfer t = {.device = device, .array = to, .host = (char *)(uintptr_t)from, .n = n};
    return move(&t, error);
}

weft_status weft_cuda_read(weft_device *device, void *to, weft_cu_pointer from, size_t n,
                           weft_error *error) {
    transfer t = {.device = device, .array = from, .host = to, .n = n, .reads = true};
    return move(&t, error);
}
