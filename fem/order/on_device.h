/** Orderings computed by kernels of the device (kernels/setup), with the same results as the host's,
 *  bit for bit. Not installed.
 *
 *      In: a mesh, on a device on which set-up runs.  Out: new -> old node numbers, the renumbered
 *      mesh.
 *
 *  Decision  docs/decisions/0026-set-up-on-the-device-equals-the-host.md */
#pragma once

#include "fem/mesh/copies.h"
#include "fem/order/private.h"
#include "fusion/setup/setup.h"

/** weft_order_bisect.
 *  x       [n_nodes][d] double, the mesh's on the device
 *  old     [n_nodes] int32_t on the device, gets the old number of each new one
 *  Memory  during the call, 41 bytes per node on the device (triangles: 29)
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_order_bisect_on_device(weft_setup *setup, const weft_mesh *mesh, int64_t leaf,
                                        weft_memory *x, weft_memory *old, weft_error *error);

/** Points to be divided into sets; borrowed. */
typedef struct weft_points_on_device {
    int64_t n;
    int dimension;
    weft_memory *x; /* [n][dimension] double, finite */
} weft_points_on_device;
/** Range r has the points points[start[r]] .. points[start[r + 1] - 1], in no particular order; ranges may be
 *  empty. */
typedef struct weft_point_ranges {
    int64_t n;
    weft_memory *start, *points; /* int32_t [n + 1], int32_t [points] */
} weft_point_ranges;
/** Accepts {0}; leaves {0}. */
void weft_point_ranges_free(weft_point_ranges *ranges);
/** Bisect points by their coordinates into sets, which become the ranges that are not empty: of k sets, the
 *  first floor(k / 2) get floor(n floor(k / 2) / k) of n points, the lowest along the longest axis of their box.
 *  n_sets  1 to the number of points
 *  out     caller's; weft_point_ranges_free
 *  Memory  during the call, 41 bytes per point on the device
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_point_sets_on_device(weft_setup *setup, const weft_points_on_device *points,
                                      int64_t n_sets, weft_point_ranges *out, weft_error *error);

/** Simplices on the device.
 *  nodes   [n][width] int32_t, width 1 to 4
 *  from    NULL, or made; [n] int32_t: the old index of each simplex */
typedef struct weft_device_simplices {
    weft_memory *nodes, *from;
    int64_t n;
    int width;
} weft_device_simplices;
/** Accepts {0}; leaves {0}. */
void weft_device_simplices_free(weft_device_simplices *simplices);
/** weft_simplices_sort; nodes are replaced, from is made.
 *  new_of  [n_nodes] int32_t on the device
 *  Memory  during the call, 8 bytes more per simplex, 12 per node
 *  Errors  WEFT_ERROR_UNSUPPORTED: a node is the lowest of more than 4096 simplices; _MEMORY,
 *          _COMPILER, _DEVICE; the nodes are renumbered or not */
weft_status weft_simplices_sort_on_device(weft_setup *setup, weft_device_simplices *simplices,
                                          weft_memory *new_of, int64_t n_nodes, weft_error *error);

/** weft_mesh_renumber, for simplices, quadrilaterals and intervals.
 *  x, old  as for weft_order_bisect_on_device
 *  cells   NULL, or [n_cells], gets the old number of each new one
 *  copies  NULL, or {0}; gets the new nodes and cells
 *  Memory  during the call, on the device 40 bytes per tetrahedron, 40 per node
 *  Errors  WEFT_ERROR_UNSUPPORTED, as above, _MEMORY, _COMPILER: the mesh is unchanged; _DEVICE */
weft_status weft_mesh_renumber_on_device(weft_setup *setup, weft_mesh *mesh, weft_memory *x,
                                         weft_memory *old, int32_t *cells, weft_mesh_copies *copies,
                                         weft_error *error);

/** Bisect and renumber, as weft_mesh_order.
 *  renumbering  its arrays, or NULL for those that are not wanted
 *  copies       as above
 *  Errors       those of the two above */
weft_status weft_mesh_order_on_device(weft_device *device, weft_mesh *mesh, int64_t part_nodes,
                                      const weft_renumbering *renumbering, weft_mesh_copies *copies,
                                      weft_error *error);
