/* Exchanges values of dofs between GPUs: chunk by chunk from kernel to kernel, or packed, by the host. */
#include "fem/space/exchange.h"
#include "core/comm/window.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1024,
    WORDS = 5,
    THREADS = 256
}; /* WORDS, THREADS: as in kernels/setup/exchange.cu */

struct weft_exchange {
    weft_comm *comm;
    weft_device *device;
    weft_setup *setup;
    weft_memory *team; /* borrowed */
    weft_memory *dofs; /* int32_t: all that is sent, then all that is received */
    int64_t n_sent, n_received;
    /* by kernels */
    weft_window *window;
    int n_blocks;
    weft_memory *state, *starts, *chunks, *always;
    /* by the host */
    weft_memory *sent_dofs, *received_dofs, *packed;
    double *out, *in;
    weft_message *messages; /* [2 n] */
    size_t bytes;           /* of a number of these */
    int n;
};

/* ---- by kernels ------------------------------------------------------------------------------ */

/* At least one, so that neither end gets ahead of the other where numbers go one way. */
static int64_t chunks_of(int64_t n) {
    return n > 0 ? (n + CHUNK - 1) / CHUNK : 1;
}

/* Where a rank's messages arrive, in the memory of the receiver. */
typedef struct inbox {
    int64_t numbers, flags, stride; /* bytes from its start; from one epoch to the next */
} inbox;

typedef struct tables {
    int64_t *starts, *chunks;
    int64_t n; /* chunks so far */
} tables;

/* Blocks of a message's chunks begin at a place that both ends know. */
static int block_of(const weft_exchange *exchange, int rank, int64_t chunk) {
    const int mine = weft_comm_rank(exchange->comm);
    const int64_t low = mine < rank ? mine : rank, high = mine < rank ? rank : mine;
    return (int)((7 * low + 13 * high + chunk) % exchange->n_blocks);
}

/* The chunks of a block, of what is sent or received. */
static void add_block(const weft_exchange *exchange, const weft_partner *partners,
                      const inbox *boxes, bool sends, int block, tables *out) {
    int64_t first = sends ? 0 : exchange->n_sent;
    for (int i = 0; i < exchange->n; ++i) {
        const int64_t n = sends ? partners[i].n_sent : partners[i].n_received;
        const int owner = sends ? partners[i].rank : weft_comm_rank(exchange->comm);
        const int64_t base = weft_window_address(exchange->window, owner);
        for (int64_t c = 0; c < chunks_of(n); ++c) {
            const int64_t at = c * CHUNK, count = n - at < CHUNK ? n - at : CHUNK;
            if (block_of(exchange, partners[i].rank, c) != block)
                continue;
            const int64_t words[WORDS] = {base + boxes[i].numbers + at * (int64_t)sizeof(double),
                                          base + boxes[i].flags + c * (int64_t)sizeof(int64_t),
                                          first + at, count, boxes[i].stride};
            memcpy(out->chunks + WORDS * out->n++, words, sizeof words);
        }
        first += n;
    }
}

/* Tell each partner where its numbers go.
 *  mine, theirs  [n] */
static weft_status exchange_boxes(weft_exchange *exchange, const weft_partner *partners,
                                  const inbox *mine, inbox *theirs, weft_error *error) {
    weft_message *sent = exchange->messages, *received = sent + exchange->n;
    for (int i = 0; i < exchange->n; ++i) {
        sent[i] = (weft_message){partners[i].rank, (void *)(uintptr_t)&mine[i], sizeof mine[i]};
        received[i] = (weft_message){partners[i].rank, &theirs[i], sizeof theirs[i]};
    }
    return weft_comm_exchange(exchange->comm, sent, exchange->n, received, exchange->n, error);
}

/* As many blocks as run at once on every GPU, on all ranks. */
static weft_status agree_on_blocks(weft_exchange *exchange, int64_t chunks, weft_error *error) {
    weft_status status = WEFT_OK;
    double most = (double)chunks,
           blocks = -(double)weft_device_limits(exchange->device)->multiprocessors;
    TRY(weft_comm_maximum(exchange->comm, &most, error));
    TRY(weft_comm_maximum(exchange->comm, &blocks, error));
    blocks = -blocks < most ? -blocks : most;
    exchange->n_blocks = blocks > 1 ? (int)blocks : 1;
done:
    return status;
}

static weft_status put(weft_exchange *exchange, const void *list, size_t bytes, weft_memory **out,
                       weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_make(exchange->device, bytes, out, error));
    if (list)
        TRY(weft_memory_write(*out, 0, list, bytes, error));
done:
    return status;
}

static weft_status send_tables(weft_exchange *exchange, const weft_partner *partners,
                               const inbox *mine, const inbox *theirs, int64_t n_chunks,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_starts = 2 * ((size_t)exchange->n_blocks + 1);
    const uint32_t yes = 1;
    tables made = {.starts = calloc(n_starts, sizeof(int64_t)),
                   .chunks = calloc((size_t)n_chunks * WORDS + 1, sizeof(int64_t))};
    if (!made.starts || !made.chunks)
        TRY(weft_out_of_memory(error, "what ranks exchange"));
    for (int way = 0; way < 2; ++way) {
        int64_t *starts = made.starts + way * (exchange->n_blocks + 1);
        for (int b = 0; b < exchange->n_blocks; ++b) {
            starts[b] = made.n;
            add_block(exchange, partners, way == 0 ? theirs : mine, way == 0, b, &made);
        }
        starts[exchange->n_blocks] = made.n;
    }
    TRY(put(exchange, made.starts, n_starts * sizeof(int64_t), &exchange->starts, error));
    TRY(put(exchange, made.chunks, ((size_t)n_chunks * WORDS + 1) * sizeof(int64_t),
            &exchange->chunks, error));
    TRY(put(exchange, NULL, 2 * sizeof(int64_t), &exchange->state, error));
    TRY(put(exchange, &yes, sizeof yes, &exchange->always, error));
done:
    free(made.starts);
    free(made.chunks);
    return status;
}

static weft_status prepare_kernels(weft_exchange *exchange, const weft_partner *partners,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = exchange->n;
    inbox *mine = calloc(2 * (size_t)n + 1, sizeof *mine), *theirs = mine ? mine + n : NULL;
    int64_t numbers = 0, flags = 0, chunks = 0;
    char why[200];
    if (!mine)
        TRY(weft_out_of_memory(error, "what ranks exchange"));
    for (int i = 0; i < n; ++i) {
        mine[i] = (inbox){.numbers = numbers * (int64_t)sizeof(double),
                          .flags = flags * (int64_t)sizeof(int64_t)};
        numbers += partners[i].n_received;
        flags += chunks_of(partners[i].n_received);
        chunks += chunks_of(partners[i].n_sent);
    }
    for (int i = 0; i < n; ++i) {
        mine[i].flags += numbers * (int64_t)sizeof(double);
        mine[i].stride = (numbers + flags) * (int64_t)sizeof(double);
    }
    TRY(weft_window_make(exchange->comm, exchange->device,
                         2 * (size_t)(numbers + flags) * sizeof(double) + sizeof(double),
                         &exchange->window, why, sizeof why, error));
    if (!exchange->window)
        TRY(weft_error_set(error, WEFT_ERROR_DEVICE, "GPUs of ranks: %s", why));
    TRY(agree_on_blocks(exchange, chunks > flags ? chunks : flags, error));
    TRY(exchange_boxes(exchange, partners, mine, theirs, error));
    TRY(send_tables(exchange, partners, mine, theirs, chunks + flags, error));
done:
    free(mine);
    return status;
}

static weft_status run_kernels(weft_exchange *exchange, weft_memory *list, bool single,
                               weft_memory *active, weft_error *error) {
    const weft_setup_kernel kernel = {.file = "exchange",
                                      .name = single ? "exchange_float" : "exchange_double",
                                      .n = (int64_t)exchange->n_blocks * THREADS,
                                      .n_blocks = exchange->n_blocks};
    weft_memory *const arguments[] = {exchange->state,
                                      exchange->team,
                                      exchange->starts,
                                      exchange->chunks,
                                      exchange->dofs,
                                      list,
                                      active ? active : exchange->always};
    return weft_setup_launch(exchange->setup, &kernel, arguments, 7, error);
}

/* ---- by the host ----------------------------------------------------------------------------- */

static weft_status prepare_host(weft_exchange *exchange, const weft_partner *partners,
                                const int32_t *dofs, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_out = (size_t)exchange->n_sent, n_in = (size_t)exchange->n_received;
    exchange->out = malloc(n_out * sizeof(double) + 1);
    exchange->in = malloc(n_in * sizeof(double) + 1);
    if (!exchange->out || !exchange->in)
        TRY(weft_out_of_memory(error, "what ranks exchange"));
    TRY(put(exchange, NULL, (n_out > n_in ? n_out : n_in) * sizeof(double), &exchange->packed,
            error));
    TRY(put(exchange, dofs, n_out * sizeof *dofs, &exchange->sent_dofs, error));
    TRY(put(exchange, dofs + n_out, n_in * sizeof *dofs, &exchange->received_dofs, error));
    for (int i = 0; i < exchange->n; ++i) { /* run_on_host says where they are, and how long */
        exchange->messages[i] = (weft_message){partners[i].rank, NULL, (size_t)partners[i].n_sent};
        exchange->messages[exchange->n + i] =
            (weft_message){partners[i].rank, NULL, (size_t)partners[i].n_received};
    }
    exchange->bytes = 1;
done:
    return status;
}

static weft_status move(weft_exchange *exchange, const char *kernel, int64_t n, weft_memory *dofs,
                        weft_memory *list, weft_error *error) {
    const weft_setup_kernel one = {.file = "exchange", .name = kernel, .n = n};
    weft_memory *const arguments[] = {dofs, list, exchange->packed};
    return weft_setup_launch(exchange->setup, &one, arguments, 3, error);
}

/* Messages of so many bytes a number, one after another. */
static void set_messages(weft_exchange *exchange, size_t bytes) {
    char *out = (char *)exchange->out, *in = (char *)exchange->in;
    for (int i = 0; i < exchange->n; ++i) {
        weft_message *sent = &exchange->messages[i], *received = sent + exchange->n;
        const size_t n_sent = sent->n / exchange->bytes, n_received = received->n / exchange->bytes;
        *sent = (weft_message){sent->rank, out, n_sent * bytes};
        *received = (weft_message){received->rank, in, n_received * bytes};
        out += n_sent * bytes;
        in += n_received * bytes;
    }
    exchange->bytes = bytes;
}

static weft_status run_on_host(weft_exchange *exchange, weft_memory *list, bool single,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = single ? sizeof(float) : sizeof(double);
    set_messages(exchange, bytes);
    TRY(move(exchange, single ? "exchange_pack_float" : "exchange_pack", exchange->n_sent,
             exchange->sent_dofs, list, error));
    TRY(weft_memory_read(exchange->packed, 0, exchange->out, (size_t)exchange->n_sent * bytes,
                         error));
    TRY(weft_comm_exchange(exchange->comm, exchange->messages, exchange->n,
                           exchange->messages + exchange->n, exchange->n, error));
    TRY(weft_memory_write(exchange->packed, 0, exchange->in, (size_t)exchange->n_received * bytes,
                          error));
    TRY(move(exchange, single ? "exchange_unpack_float" : "exchange_unpack", exchange->n_received,
             exchange->received_dofs, list, error));
done:
    return status;
}

/* ---- both ------------------------------------------------------------------------------------ */

static weft_status list_dofs(weft_exchange *exchange, const weft_partner *partners, int32_t **out,
                             weft_error *error) {
    int64_t at = 0;
    for (int i = 0; i < exchange->n; ++i) {
        exchange->n_sent += partners[i].n_sent;
        exchange->n_received += partners[i].n_received;
    }
    *out = malloc((size_t)(exchange->n_sent + exchange->n_received) * sizeof **out + 1);
    if (!*out)
        return weft_out_of_memory(error, "what ranks exchange");
    for (int i = 0; i < exchange->n; at += partners[i++].n_sent)
        memcpy(*out + at, partners[i].sent, (size_t)partners[i].n_sent * sizeof **out);
    for (int i = 0; i < exchange->n; at += partners[i++].n_received)
        memcpy(*out + at, partners[i].received, (size_t)partners[i].n_received * sizeof **out);
    return WEFT_OK;
}

weft_status weft_exchange_make(weft_comm *comm, weft_device *device, weft_team *team,
                               const weft_partner *partners, int n, weft_exchange **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_exchange *made = calloc(1, sizeof *made);
    int32_t *dofs = NULL;
    if (!made)
        TRY(weft_out_of_memory(error, "what ranks exchange"));
    *made = (weft_exchange){.comm = comm, .device = device, .team = weft_team_memory(team), .n = n};
    made->messages = calloc(2 * (size_t)n + 1, sizeof *made->messages);
    if (!made->messages)
        TRY(weft_out_of_memory(error, "what ranks exchange"));
    TRY(weft_setup_make(device, &made->setup, error));
    TRY(list_dofs(made, partners, &dofs, error));
    if (weft_team_in_kernels(team)) {
        TRY(put(made, dofs, (size_t)(made->n_sent + made->n_received) * sizeof *dofs, &made->dofs,
                error));
        TRY(prepare_kernels(made, partners, error));
    } else {
        TRY(prepare_host(made, partners, dofs, error));
    }
    *out = made;
    made = NULL;
done:
    free(dofs);
    weft_exchange_free(&made);
    return status;
}

void weft_exchange_free(weft_exchange **out) {
    weft_exchange *exchange = out ? *out : NULL;
    if (!exchange)
        return;
    weft_memory **const memories[] = {
        &exchange->dofs,   &exchange->state,     &exchange->starts,        &exchange->chunks,
        &exchange->always, &exchange->sent_dofs, &exchange->received_dofs, &exchange->packed};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    weft_window_free(&exchange->window);
    weft_setup_free(&exchange->setup);
    free(exchange->out);
    free(exchange->in);
    free(exchange->messages);
    free(exchange);
    *out = NULL;
}

weft_status weft_exchange_run(weft_exchange *exchange, weft_memory *list, bool single,
                              weft_memory *active, weft_error *error) {
    return exchange->window ? run_kernels(exchange, list, single, active, error)
                            : run_on_host(exchange, list, single, error);
}
