/** Copies of dofs on a GPU that other ranks own get their values. Not installed.
 *
 *      lists of dofs that ranks send and receive -> one kernel per exchange; or kernels and the host
 *
 *  GPUs that reach each other's memory write into it, in captured loops too (kernels/setup/exchange.cu); for others the
 *  host passes messages on. */
#pragma once

#include "core/weft_core.h"
#include "fusion/setup/team.h"

/** What is exchanged with another rank: dofs, ascending. Borrowed. */
typedef struct weft_partner {
    int rank;
    int64_t n_sent, n_received;
    const int32_t *sent, *received;
} weft_partner;

typedef struct weft_exchange weft_exchange;
/** All ranks call it; who sends to a rank also receives from it.
 *  team     of the same ranks and device; borrowed, as comm and device are
 *  Errors   WEFT_ERROR_MEMORY, _DEVICE; *out untouched */
weft_status weft_exchange_make(weft_comm *comm, weft_device *device, weft_team *team,
                               const weft_partner *partners, int n, weft_exchange **out,
                               weft_error *error);
void weft_exchange_free(weft_exchange **exchange);
/** All ranks call it.
 *  single  the list has floats, else doubles
 *  active  uint32_t: where it is 0, nothing is exchanged; the same on all ranks. NULL: 1
 *  Errors  those of weft_comm_exchange and of launches */
weft_status weft_exchange_run(weft_exchange *exchange, weft_memory *list, bool single,
                              weft_memory *active, weft_error *error);
