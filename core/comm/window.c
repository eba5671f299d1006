/* Makes memory on each rank's GPU that the GPUs of the other ranks reach. */
#include "core/comm/window.h"
#include "core/base/number.h"
#include "core/device/device.h"

#include <stdlib.h>
#include <string.h>

struct weft_window {
    weft_device *device;
    int rank, size;
    weft_memory *memory;
    void **addresses; /* [size]; NULL: not reached */
    bool *opened;     /* [size] to be left again */
};

/* What ranks tell each other of their memory, and afterwards whether they reach those of the others. */
typedef struct offer {
    weft_reach reach;
    bool is_reachable;
} offer;
typedef struct outcome {
    bool reached;
    char why[200];
} outcome;

static const weft_peer_table *peer_of(const weft_device *device) {
    return device->table->peer;
}

static void reach_all(weft_window *window, const offer *all, outcome *out) {
    weft_error reason = {0};
    *out = (outcome){.reached = true};
    for (int r = 0; r < window->size && out->reached; ++r) {
        if (r == window->rank)
            window->addresses[r] = weft_memory_address(window->memory);
        else if (!all[r].is_reachable || !window->memory)
            weft_error_set(&reason, WEFT_ERROR_UNSUPPORTED, "ranks do not all have a GPU");
        else
            (void)peer_of(window->device)
                ->reach(window->device, &all[r].reach, &window->addresses[r], &window->opened[r],
                        &reason);
        out->reached = window->addresses[r] != NULL;
    }
    if (!out->reached)
        (void)weft_print(out->why, sizeof out->why, "%s", reason.message);
}

/* The first reason that a rank has. */
static weft_status agree(weft_comm *comm, const outcome *mine, char *why, size_t size,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = weft_comm_size(comm);
    outcome *all = calloc((size_t)n, sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, "memory that ranks reach"));
    TRY(weft_comm_gather(comm, mine, sizeof *mine, all, error));
    (void)weft_print(why, size, "%s", "");
    for (int r = n - 1; r >= 0; --r)
        if (!all[r].reached)
            (void)weft_print(why, size, "%s", all[r].why);
done:
    free(all);
    return status;
}

weft_status weft_window_make(weft_comm *comm, weft_device *device, size_t bytes, weft_window **out,
                             char *why, size_t size, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = weft_comm_size(comm);
    weft_window *made = calloc(1, sizeof *made);
    offer mine = {.is_reachable = peer_of(device) != NULL}, *all = calloc((size_t)n, sizeof *all);
    outcome reached;
    if (made)
        *made = (weft_window){.device = device,
                              .rank = weft_comm_rank(comm),
                              .size = n,
                              .addresses = calloc((size_t)n, sizeof *made->addresses),
                              .opened = calloc((size_t)n, sizeof *made->opened)};
    if (!made || !all || !made->addresses || !made->opened)
        TRY(weft_out_of_memory(error, "memory that ranks reach"));
    if (mine.is_reachable) {
        TRY(weft_memory_make_reachable(device, bytes, &made->memory, error));
        TRY(weft_device_wait(device, error)); /* it is zeroed before another rank writes */
        TRY(peer_of(device)->describe(made->memory, &mine.reach, error));
    }
    TRY(weft_comm_gather(comm, &mine, sizeof mine, all, error));
    reach_all(made, all, &reached);
    TRY(agree(comm, &reached, why, size, error));
    if (why[0] == '\0') {
        *out = made;
        made = NULL;
    }
done:
    weft_window_free(&made);
    free(all);
    return status;
}

void weft_window_free(weft_window **out) {
    weft_window *window = out ? *out : NULL;
    if (!window)
        return;
    for (int r = 0; r < window->size && window->opened; ++r)
        if (window->opened[r])
            peer_of(window->device)->leave(window->device, window->addresses[r]);
    weft_memory_free(&window->memory);
    free(window->addresses);
    free(window->opened);
    free(window);
    *out = NULL;
}

int64_t weft_window_address(const weft_window *window, int rank) {
    return (int64_t)(uintptr_t)window->addresses[rank];
}
