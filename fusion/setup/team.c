/* Lets the GPUs of several ranks write numbers into each other's memory. */
#include "fusion/setup/team.h"
#include "core/comm/window.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>

enum { HEAD = 4, AHEAD = 8, NUMBERS = 160 }; /* as in kernels/prelude/ranks_cuda.h */

struct weft_team {
    weft_window *window; /* NULL: one rank, or the host exchanges */
    weft_memory *memory;
    bool in_kernels;
};

static weft_status open_window(weft_team *team, weft_comm *comm, weft_device *device,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes =
        (size_t)AHEAD * (size_t)weft_comm_size(comm) * 2 * NUMBERS * sizeof(uint64_t);
    char why[200] = "as asked for";
    if (!weft_comm_is_staged(comm))
        TRY(weft_window_make(comm, device, bytes, &team->window, why, sizeof why, error));
    team->in_kernels = team->window != NULL;
    if (weft_comm_rank(comm) == 0)
        weft_log(weft_device_monitor(device), WEFT_LOG_INFO, "ranks exchange numbers by %s%s",
                 team->window ? "their GPUs" : "the host: ", team->window ? "" : why);
done:
    return status;
}

weft_status weft_team_make(weft_comm *comm, weft_device *device, weft_team **out,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(comm);
    weft_team *team = NULL;
    int64_t *words = NULL;
    if (!weft_setup_on_device(device))
        goto done;
    team = calloc(1, sizeof *team);
    words = calloc((size_t)size + HEAD, sizeof *words);
    if (!team || !words)
        TRY(weft_out_of_memory(error, "what ranks exchange sums through"));
    team->in_kernels = true;
    if (size > 1)
        TRY(open_window(team, comm, device, error));
    words[0] = team->window ? size : 0;
    words[1] = weft_comm_rank(comm);
    for (int r = 0; r < size && team->window; ++r)
        words[HEAD + r] = weft_window_address(team->window, r);
    TRY(weft_memory_make(device, ((size_t)size + HEAD) * sizeof *words, &team->memory, error));
    TRY(weft_memory_write(team->memory, 0, words, ((size_t)size + HEAD) * sizeof *words, error));
    *out = team;
    team = NULL;
done:
    free(words);
    weft_team_free(&team);
    return status;
}

void weft_team_free(weft_team **team) {
    if (!team || !*team)
        return;
    weft_memory_free(&(*team)->memory);
    weft_window_free(&(*team)->window);
    free(*team);
    *team = NULL;
}

weft_memory *weft_team_memory(const weft_team *team) {
    return team ? team->memory : NULL;
}

bool weft_team_in_kernels(const weft_team *team) {
    return team && team->in_kernels;
}
