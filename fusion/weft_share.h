/** What ranks have of index sets. In: which elements are this rank's own. Out: reductions over the elements of all ranks. */
#ifndef WEFT_SHARE_H
#define WEFT_SHARE_H

#include "core/weft_comm.h"
#include "fusion/weft_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a rank has of an index set: its elements, and which of them are its own; the others are copies of elements that
 *  other ranks own. Reductions of programs that are compiled `distributed` count what is owned, on all ranks. */
typedef struct weft_share {
    weft_comm *comm;            /* borrowed; NULL: one rank */
    weft_memory *owned;         /* uint8_t [n]: 1 or 0; borrowed */
    const unsigned char *marks; /* the same on the host; NULL: that of the memory; borrowed */
    /* on a GPU: int64_t [4 + ranks], through which kernels of ranks exchange sums (kernels/prelude/ranks_cuda.h); borrowed */
    weft_memory *team;
    bool in_kernels; /* they do; else the host joins what ranks have */
    /* copy the values of other ranks' elements from these. NULL: the elements are only counted
     *  list    [n], on the device: float, if single, else double
     *  active  uint32_t: 0 when it runs: nothing is copied; NULL: 1 */
    weft_status (*update)(void *user, weft_memory *list, bool single, weft_memory *active,
                          weft_error *error);
    void *user;
} weft_share;
/** Set it for an index set. Sums have the same bits for any parts. Bound connectivities set those of theirs that have one.
 *  share   borrowed; must outlive the program
 *  Errors  WEFT_ERROR_USAGE (no such index set) */
weft_status weft_program_share(weft_program *program, const char *index_set,
                               const weft_share *share, weft_error *error);
/** What this rank has of the two index sets, for programs that the connectivity is bound to: an element that leads to others
 *  belongs to the rank that owns the lowest of these.
 *  to      borrowed; must outlive the connectivity
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE */
weft_status weft_connectivity_share(weft_connectivity *connectivity, const weft_share *to,
                                    weft_error *error);
/** Those two; NULL: not known. Borrowed. */
const weft_share *weft_connectivity_from_share(const weft_connectivity *connectivity);
const weft_share *weft_connectivity_to_share(const weft_connectivity *connectivity);

#ifdef __cplusplus
}
#endif
#endif
