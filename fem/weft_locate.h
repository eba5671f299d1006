/** Location of points in meshes, by a tree of bounding boxes.
 *
 *      In: cells, points.  Out: the cell of each point, and its coordinates in the cell. */
#ifndef WEFT_LOCATE_H
#define WEFT_LOCATE_H

#include "fem/weft_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Cells in which points are located, simplices unless they have a map; all borrowed. */
typedef struct weft_locator_cells {
    int dimension;
    int64_t n_cells; /* < 2^31 */
    const double *x; /* [..][dimension] */
    /* [n_cells][dimension+1], of either orientation; cells without volume contain no point */
    const int32_t *cells;
    int n_nodes;   /* of a cell with a map, in place of dimension+1 */
    double margin; /* how far a cell may reach beyond its nodes, relative to their extent */
    /** The map: coordinates of a point in a cell, [dimension]; NULL: barycentric ones. Returns how far the
     *  point is inside, negative outside. Called by several threads. */
    double (*coordinates)(const void *user, int64_t cell, const double *point, double *out);
    const void *user;
} weft_locator_cells;
typedef struct weft_locator weft_locator;
/** device     borrowed, for its threads (NULL: one); results do not depend on their number
 *  cells      copied; its arrays must outlive the locator
 *  out        caller's; weft_locator_free
 *  Memory     16 to 24 bytes per cell, twice that during the call
 *  Errors     WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_locator_make(weft_device *device, const weft_locator_cells *cells,
                              weft_locator **out, weft_error *error);
void weft_locator_free(weft_locator **locator);
/** Find the cells that contain points, as weft_mesh_locate does: of several, the one with the lowest
 *  number.
 *  points       [n][dimension]
 *  nearest      give points outside the nearest point of all cells, by its cell and coordinates; of
 *               simplices only
 *  cells        [n]; -1: outside, by more than 1e-10 in a barycentric coordinate, or NaN
 *  barycentric  [n][dimension+1], or with a map [n][dimension]; 0 for points outside
 *  Errors       WEFT_ERROR_MEMORY */
weft_status weft_locator_find(const weft_locator *locator, const double *points, int64_t n,
                              bool nearest, int64_t *cells, double *barycentric, weft_error *error);
/** Find the cell that contains a point, by a scan over all cells: for single probes.
 *  point        [d]
 *  cell         -1: outside, by more than 1e-10 in a barycentric coordinate
 *  barycentric  [d+1] coordinates in the cell */
void weft_mesh_locate(const weft_mesh *mesh, const double *point, int64_t *cell,
                      double *barycentric);
/** Find the cells of points in a mesh: a few points by a scan over all cells, more by a tree.
 *  Otherwise as weft_locator_find without `nearest`.
 *  Errors  also WEFT_ERROR_UNSUPPORTED (cells that are not simplices) */
weft_status weft_mesh_locate_points(weft_device *device, const weft_mesh *mesh,
                                    const double *points, int64_t n, int64_t *cells,
                                    double *barycentric, weft_error *error);

/** The same for any cells, curved ones too, with reference coordinates.
 *  xi      [n][d]
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_mesh_locate_cells(weft_device *device, const weft_mesh *mesh, const double *points,
                                   int64_t n, int64_t *cells, double *xi, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
