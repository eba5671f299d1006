/* Frees what a device has of a mesh. */
#include "fem/mesh/copies.h"

void weft_mesh_copies_free(weft_mesh_copies *copies) {
    if (!copies)
        return;
    weft_memory_free(&copies->x);
    weft_memory_free(&copies->cells);
}
