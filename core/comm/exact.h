/** Exact sums of several ranks. In: what each rank has. Out: the sums of all, the same on each. Not installed. */
#pragma once

#include "core/base/exact.h"
#include "core/weft_comm.h"

/** Join the sums [n] of all ranks. All ranks call it; nothing happens with a communicator that is NULL.
 *  Errors  those of weft_comm_gather; WEFT_ERROR_MEMORY */
weft_status weft_comm_join_sums(weft_comm *comm, weft_exact_sum *sums, int64_t n,
                                weft_error *error);
