/* What fusion/connectivity/connectivity.c, fusion/connectivity/chunk_colouring.c and fusion/connectivity/cell_colouring.c share, and programs of the last. Not
 * installed. */
#ifndef WEFT_CONNECTIVITY_INTERNAL_H
#define WEFT_CONNECTIVITY_INTERNAL_H

#include "core/weft_core.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/connectivity/edge_patches.h"
#include "fusion/connectivity/vertex_patches.h"
#include "fusion/weft_program.h"

typedef struct weft_connectivity_form weft_connectivity_form;

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

#endif
