/** What kernels of several ranks exchange sums through (kernels/prelude/ranks_cuda.h).
 *
 *      the ranks' GPUs -> for each a list of where the others receive numbers
 *
 *  Where GPUs do not reach each other's memory, the host joins what they have. */
#pragma once

#include "core/weft_comm.h"
#include "core/weft_device.h"

typedef struct weft_team weft_team;
/** All ranks call it.
 *  comm    borrowed; NULL: one rank
 *  out     caller's; weft_team_free. NULL on devices whose kernels are not those of a GPU
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE; *out untouched */
weft_status weft_team_make(weft_comm *comm, weft_device *device, weft_team **out,
                           weft_error *error);
void weft_team_free(weft_team **team);
/** weft_share.team; NULL of NULL. Borrowed. */
weft_memory *weft_team_memory(const weft_team *team);
/** Do kernels exchange numbers without the host? */
bool weft_team_in_kernels(const weft_team *team);
