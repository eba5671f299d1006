/* What every kind of communicator can do, made from the operations of its table. */
#include "core/comm/comm.h"
#include "core/base/number.h"
#include "core/base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SUM_TOLERANCE = 1e-6; /* of shares, which are written as decimal numbers */

int weft_comm_rank(const weft_comm *comm) {
    return comm ? comm->rank : 0;
}

int weft_comm_size(const weft_comm *comm) {
    return comm ? comm->size : 1;
}

int weft_comm_processors(const weft_comm *comm) {
    return comm ? comm->processors : weft_threads_available();
}

const char *weft_comm_kind(const weft_comm *comm) {
    return comm ? comm->kind->name : "none";
}

void weft_comm_free(weft_comm **out) {
    weft_comm *comm = out ? *out : NULL;
    if (!comm)
        return;
    comm->kind->free(comm);
    free(comm->shares);
    free(comm);
    *out = NULL;
}

weft_status weft_comm_failed(int rank, const char *what, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_DEVICE, "rank %d has failed%s%s", rank,
                          what[0] ? ": " : "", what);
}

weft_status weft_comm_gather(weft_comm *comm, const void *mine, size_t bytes, void *all,
                             weft_error *error) {
    if (weft_comm_size(comm) > 1)
        return comm->kind->gather(comm, mine, bytes, all, error);
    if (bytes > 0)
        memcpy(all, mine, bytes);
    return WEFT_OK;
}

weft_status weft_comm_broadcast(weft_comm *comm, void *bytes, size_t n, int from,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_message *messages = NULL;
    const int size = weft_comm_size(comm);
    if (size == 1)
        goto done;
    messages = calloc((size_t)size, sizeof *messages);
    if (!messages)
        TRY(weft_out_of_memory(error, "messages between ranks"));
    int n_sent = 0;
    for (int r = 0; r < size && comm->rank == from; ++r)
        if (r != from)
            messages[n_sent++] = (weft_message){r, bytes, n};
    messages[n_sent] = (weft_message){from, bytes, n};
    TRY(weft_comm_exchange(comm, messages, n_sent, messages + n_sent, comm->rank != from, error));
done:
    free(messages);
    return status;
}

int weft_comm_local_rank(const weft_comm *comm) {
    return comm ? comm->local : 0;
}

void weft_comm_stage(weft_comm *comm) {
    if (comm)
        comm->staged = true;
}

bool weft_comm_is_staged(const weft_comm *comm) {
    return comm && comm->staged;
}

bool weft_comm_is_mixed(const weft_comm *comm) {
    return comm && comm->mixed;
}

const double *weft_comm_shares(const weft_comm *comm) {
    return comm ? comm->shares : NULL;
}

weft_status weft_comm_share_out(weft_comm *comm, const double *shares, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    double sum = 0, least = INFINITY;
    for (int r = 0; r < n; ++r) {
        sum += shares[r];
        least = fmin(least, shares[r]);
    }
    if (n != weft_comm_size(comm))
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "%d share%s for %d rank%s", n,
                           n == 1 ? "" : "s", weft_comm_size(comm),
                           weft_comm_size(comm) == 1 ? "" : "s"));
    if (!(least > 0) || !(fabs(sum - 1) <= SUM_TOLERANCE))
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           least > 0 ? "the shares add up to %g, expected 1"
                                     : "a share is %g, expected a positive number",
                           least > 0 ? sum : least));
    if (!comm)
        goto done;
    free(comm->shares);
    comm->shares = malloc((size_t)n * sizeof *shares);
    if (!comm->shares)
        TRY(weft_out_of_memory(error, "the shares of ranks"));
    memcpy(comm->shares, shares, (size_t)n * sizeof *shares);
done:
    return status;
}

static weft_status read_shares(const char *text, double *shares, int most, int *n,
                               weft_error *error) {
    for (const char *at = text; *n < most; ++at) {
        char *end = NULL;
        shares[(*n)++] = weft_number_read(at, &end);
        if (end == at || (*end != ',' && *end != '\0'))
            return weft_error_set(error, WEFT_ERROR_USAGE, "'%.60s' is not a list of shares", text);
        if (*end == '\0')
            break;
        at = end;
    }
    return WEFT_OK;
}

weft_status weft_comm_share_text(weft_comm *comm, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    int most = 1, n = 0;
    for (const char *at = text; at && (at = strchr(at, ',')); ++at)
        ++most;
    double *shares = calloc((size_t)most, sizeof *shares);
    if (!text)
        goto done;
    if (!shares)
        TRY(weft_out_of_memory(error, "the shares of ranks"));
    TRY(read_shares(text, shares, most, &n, error));
    TRY(weft_comm_share_out(comm, shares, n, error));
done:
    free(shares);
    if (status != WEFT_OK) {
        weft_error_location(error, "--shares", NULL, 0, 0);
        weft_error_hint(error, "give each rank a positive share of 1: 0.1,0.9");
    }
    return status;
}

weft_status weft_comm_sum(weft_comm *comm, int64_t *value, weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(comm);
    int64_t few[64], *all = size > 64 ? malloc((size_t)size * sizeof *all) : few, sum = 0;
    if (!all)
        TRY(weft_out_of_memory(error, "a sum over ranks"));
    TRY(weft_comm_gather(comm, value, sizeof *value, all, error));
    for (int r = 0; r < size; ++r)
        sum += all[r];
    *value = sum;
done:
    if (all != few)
        free(all);
    return status;
}

weft_status weft_comm_maximum(weft_comm *comm, double *value, weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(comm);
    double few[64], *all = size > 64 ? malloc((size_t)size * sizeof *all) : few;
    if (!all)
        TRY(weft_out_of_memory(error, "a maximum over ranks"));
    TRY(weft_comm_gather(comm, value, sizeof *value, all, error));
    for (int r = 0; r < size; ++r)
        if (isnan(all[r]) || all[r] > *value)
            *value = all[r];
done:
    if (all != few)
        free(all);
    return status;
}

weft_status weft_comm_exchange(weft_comm *comm, const weft_message *sent, int n_sent,
                               const weft_message *received, int n_received, weft_error *error) {
    return weft_comm_size(comm) > 1
               ? comm->kind->exchange(comm, sent, n_sent, received, n_received, error)
               : WEFT_OK;
}

/* A status with its message, as ranks exchange it. */
typedef struct outcome {
    weft_status status;
    weft_error error;
} outcome;

weft_status weft_comm_agree(weft_comm *comm, weft_status status, weft_error *error) {
    const int size = weft_comm_size(comm);
    outcome mine = {.status = status}, first = {.status = WEFT_OK};
    int failed = size;
    if (size == 1)
        return status;
    if (status != WEFT_OK && error)
        mine.error = *error;
    double least = status == WEFT_OK ? -size : -comm->rank;
    weft_status reached = weft_comm_maximum(comm, &least, error);
    if (reached != WEFT_OK)
        return status != WEFT_OK ? status : reached;
    failed = (int)-least;
    if (failed == size)
        return WEFT_OK;
    first = mine;
    reached = weft_comm_broadcast(comm, &first, sizeof first, failed, error);
    if (reached != WEFT_OK)
        return reached;
    if (error)
        *error = first.error;
    return first.status;
}

void weft_comm_abandon(weft_comm *comm, const weft_error *error) {
    if (weft_comm_size(comm) > 1)
        comm->kind->abandon(comm, error);
}
