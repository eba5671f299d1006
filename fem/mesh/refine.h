/** One step of uniform refinement, on the host (refine.c) and on a device (refine_on_device.c). Not
 *  installed. */
#pragma once

#include "fem/mesh/copies.h"
#include "fem/mesh/mesh.h"
#include "fusion/setup/setup.h"

/** Sets and returns WEFT_ERROR_MEMORY. */
weft_status weft_refine_no_memory(const weft_mesh *mesh, weft_error *error);
/** A mesh with memory for what the mesh becomes when it is refined once.
 *  n_nodes  of the refined mesh
 *  out      weft_mesh_free, also on errors
 *  Errors   WEFT_ERROR_UNSUPPORTED: 2^31 nodes; _MEMORY */
weft_status weft_refine_alloc(const weft_mesh *mesh, int64_t n_nodes, weft_mesh **out,
                              weft_error *error);
/** Fill the groups of facets and cells of the refined mesh. */
void weft_refine_groups(const weft_mesh *mesh, weft_mesh *refined);

/** weft_mesh_refine by kernels of the device, as below; the mesh has no name.
 *  times   >= 1 */
weft_status weft_refine_on_device(weft_device *device, const weft_mesh *mesh, int times,
                                  weft_mesh **out, weft_error *error);
/** weft_mesh_refine_levels by kernels of the device (kernels/setup/refine.cu), bit for bit as on the
 *  host; the meshes have no names.
 *  n_made  gets the number of levels that are complete, at least 1, also on errors: whoever refines
 *          the last of them once more can continue
 *  copies  NULL, or {0}; gets nodes and cells of the finest level
 *  Memory  on the device, nodes, cells and facets of a level and those of the next coarser one, and
 *          during a step 24 bytes per coarser tetrahedron (12 per triangle) and 16 per node
 *  Errors  WEFT_ERROR_UNSUPPORTED: groups of points or periodic sides, a node of more than 1024 edges
 *          of cells, 2^31 nodes; _MEMORY, _COMPILER, _DEVICE */
weft_status weft_refine_levels_on_device(weft_device *device, weft_hierarchy *hierarchy,
                                         int *n_made, weft_mesh_copies *copies, weft_error *error);
