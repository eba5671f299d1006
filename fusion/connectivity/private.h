/* What connectivity.c, schedule.c and cell_colours.c share, and programs of the last. Not
 * installed. */
#ifndef WEFT_CONNECTIVITY_INTERNAL_H
#define WEFT_CONNECTIVITY_INTERNAL_H

#include "fusion/connectivity/edge_patches.h"

typedef struct weft_connectivity_form weft_connectivity_form;
typedef struct weft_cell_colours weft_cell_colours;

struct weft_connectivity {
    weft_device *device;
    const int32_t *indices;
    int64_t n_from, n_to;
    int width;
    weft_connectivity_form *forms; /* each of these: NULL until it is asked for */
    weft_stars *stars;
    weft_edge_stars *edge_stars;
    weft_cell_colours *colours;
};

/** The order in which blocks of `lanes` instances may store through a connectivity: chunks of
 *  consecutive blocks, coloured so that two chunks of a colour share no target.
 *  Depends on the indices and on lanes only. Temporary memory: 8 bytes a target.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_schedule_make(const weft_connectivity *connectivity, int lanes,
                               weft_schedule **out, weft_error *error);

/** Instances by colour: no two of a colour share a target, so that they may add to it side by side
 *  (an instance may have a target twice). One colour runs after the other. */
struct weft_cell_colours {
    int n_colours;
    int64_t *start;      /* [n_colours + 1] where a colour would begin, were they in one list */
    weft_memory **order; /* [n_colours] uint32_t, the instances of a colour, ascending */
    bool is_serial_last; /* the last colour is what found no place in WEFT_CELL_COLOURS: its
                            instances share targets, and one thread runs them in their order */
};
enum { WEFT_CELL_COLOURS = 256 }; /* at most, beside the serial one */

/** Depends on the indices only. Temporary memory: 8 bytes a target, 6 an instance.
 *  Errors  WEFT_ERROR_MEMORY; WEFT_ERROR_UNSUPPORTED: 2^32 instances or more */
weft_status weft_cell_colours_make(const weft_connectivity *connectivity, weft_cell_colours **out,
                                   weft_error *error);
void weft_cell_colours_free(weft_cell_colours **colours);
/** The same, kept with the connectivity. Borrowed. */
weft_status weft_connectivity_colours(weft_connectivity *connectivity,
                                      const weft_cell_colours **out, weft_error *error);

#endif
