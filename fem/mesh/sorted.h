/** Meshes with sorted cells. In: a mesh. Out: the same, with the vertices of each cell in ascending order. */
#pragma once

#include "fem/weft_mesh.h"

/** A mesh with the same nodes and cells in the same order; but for its list of cells it borrows all from `mesh`.
 *  out     caller's; weft_mesh_sorted_free
 *  Errors  WEFT_ERROR_UNSUPPORTED (cells that are not straight simplices, parts of ranks), WEFT_ERROR_MEMORY */
weft_status weft_mesh_sort(const weft_mesh *mesh, weft_mesh **out, weft_error *error);
void weft_mesh_sorted_free(weft_mesh **mesh);
