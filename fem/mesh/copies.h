/** What a device that ordered or refined a mesh still has of it, so that it need not be written there
 *  again. Not installed.
 *
 *      In: an ordered or refined mesh.  Out: its nodes and cells on the device. */
#pragma once

#include "fem/weft_mesh.h"

/** Each is NULL or what the mesh has on the host. Free with weft_mesh_copies_free, before the device;
 *  outdated once the mesh changes. */
typedef struct weft_mesh_copies {
    weft_memory *x;     /* [n_nodes][d] double */
    weft_memory *cells; /* [n_cells][v] int32_t */
} weft_mesh_copies;
/** Accepts NULL and {0}; leaves {0}. */
void weft_mesh_copies_free(weft_mesh_copies *copies);
