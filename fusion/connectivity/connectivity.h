/** What programs take from a connectivity. In: index arrays. Out: interleaved, transposed, colored and
 *  patched adjacency. */
#pragma once

#include "fusion/weft_program.h"

weft_status weft_connectivity_interleaved(weft_connectivity *connectivity, int lanes,
                                          weft_memory **out, weft_error *error);
weft_status weft_connectivity_schedule(weft_connectivity *connectivity, int lanes,
                                       const weft_schedule **out, weft_error *error);
/** start [n_to + 1] int64_t; positions [n_from * width] uint32_t or int64_t (see *wide): the
 * component index cell block layout ((cell / lanes) * width + local) * lanes + cell % lanes,
 * ascending. */
weft_status weft_connectivity_transposed(weft_connectivity *connectivity, int lanes,
                                         weft_memory **start, weft_memory **positions,
                                         weft_error *error);

typedef struct weft_cell_colours weft_cell_colours;
/** Instances by colour: no two of a colour share a target, so that they may add to it side by side
 *  (an element may have a target twice). One colour runs after the other. */
struct weft_cell_colours {
    int n_colours;
    int64_t *start;      /* [n_colours + 1] where a colour would begin, were they in one list */
    weft_memory **order; /* [n_colours] uint32_t, the elements of a colour, ascending */
    bool is_serial_last; /* the last colour is what found no place in WEFT_CELL_COLOURS: its
                            elements share targets, and one thread runs them in their order */
};
enum { WEFT_CELL_COLOURS = 256 }; /* at most, beside the serial one */

/** Depends on the indices only. Temporary memory: 8 bytes a target, 6 an element.
 *  Errors  WEFT_ERROR_MEMORY; WEFT_ERROR_UNSUPPORTED: 2^32 elements or more */
void weft_cell_colours_free(weft_cell_colours **colours);
/** The same, kept with the connectivity. Borrowed. */
weft_status weft_connectivity_colours(weft_connectivity *connectivity,
                                      const weft_cell_colours **out, weft_error *error);
