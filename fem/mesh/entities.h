/** Edges, faces and facets of meshes. Not installed.
 *
 *      mesh -> numbers of its entities;  facets -> the cells on their sides */
#pragma once

#include "fem/weft_mesh.h"

/** The entities of one dimension, numbered by their lowest vertex. Free with weft_entities_free;
 *  initialise with {0}. */
typedef struct weft_entities {
    int dimension, per_cell;
    int64_t n;
    int32_t *number; /* [n_cells][per_cell], in the order of the reference cell */
    /* [n_nodes + 1]: number of entities whose lowest vertex is below this one, so that those of
     * vertex i are first[i] .. first[i + 1] */
    int32_t *first;
} weft_entities;
/** device     borrowed, for its threads; NULL: one
 *  dimension  1 to d
 *  out        weft_entities_free
 *  Memory     during the call, 12 bytes for each entity of each cell
 *  Errors     WEFT_ERROR_UNSUPPORTED (2^32 entities of cells, counted with repetitions),
 *             WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_entities_make(weft_device *device, const weft_mesh *mesh, int dimension,
                               weft_entities *out, weft_error *error);
void weft_entities_free(weft_entities *entities);
/** Vertices of an entity of a cell, as node numbers. Returns their number. */
int weft_entity_nodes(const weft_mesh *mesh, int64_t cell, int dimension, int local,
                      int32_t nodes[8]);

/** The three lowest of n nodes, ascending; 0 where there are fewer. Changes the order of nodes. */
void weft_entity_lowest(int n, int32_t *nodes, uint32_t out[3]);

/** For each entity the two lowest slots cell * per_cell + local at which it is; -1: there is none.
 *  counts  [n], or NULL: gets the number of its cells
 *  slots   [n][2] */
void weft_entity_slots(const weft_mesh *mesh, const weft_entities *entities, int64_t *slots,
                       int32_t *counts);
/** The entity that has these n nodes, in any order; -1: there is none. slots as above. */
int64_t weft_entity_find(const weft_mesh *mesh, const weft_entities *entities, const int64_t *slots,
                         int n, const int32_t *nodes);
/** weft_entity_slots of n facets alone, without numbering all.
 *  device  borrowed, for its threads; NULL: one
 *  nodes   [n][vertices of a facet], in any order
 *  slots   [n][2]
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_facet_slots(weft_device *device, const weft_mesh *mesh, int64_t n,
                             const int32_t *nodes, int64_t *slots, weft_error *error);

/** The facets of a group with the cells on their sides. Free with weft_sides_free; initialise with
 *  {0}. Facet i is facet local[i][s] of cell cells[i][s]. */
typedef struct weft_sides {
    int64_t n;
    int n_sides;          /* 1 or 2 */
    int32_t *cells;       /* [n][n_sides] */
    unsigned char *local; /* [n][n_sides] */
} weft_sides;
/** The facets of a group (-1: the whole boundary), in the order of weft_mesh_group_facets, each
 *  with one of its cells, that of the lowest number.
 *  device  borrowed, for its threads; NULL: one
 *  Errors  WEFT_ERROR_UNSUPPORTED, WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_sides_of_group(weft_device *device, const weft_mesh *mesh, int group,
                                weft_sides *out, weft_error *error);
/** Those of them that have a cell of a group of cells on one side, each with that cell.
 *  cells   the group, in the mesh
 *  two     the number of facets that have one on both sides, which are left out
 *  Errors  as weft_sides_of_group */
weft_status weft_sides_of_cells(weft_device *device, const weft_mesh *mesh, int group, int cells,
                                weft_sides *out, int64_t *two, weft_error *error);
/** Those of them that are on the boundary, in the order of weft_mesh_group_facets.
 *  Errors  WEFT_ERROR_UNSUPPORTED, WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_sides_exterior(weft_device *device, const weft_mesh *mesh, int group,
                                weft_sides *out, weft_error *error);
/** The facets of a group that are between two cells; the first cell has the lower number. -1: all, by their
 *  lowest vertex.
 *  Errors  WEFT_ERROR_UNSUPPORTED, WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_sides_interior(weft_device *device, const weft_mesh *mesh, int group,
                                weft_sides *out, weft_error *error);
void weft_sides_free(weft_sides *sides);
/** The order of a cell's vertices in which a facet becomes weft_cell.base with its vertices
 *  ascending; on quadrilateral facets the lowest vertex first, then the lower of its neighbours. So
 *  the two cells of a facet see the same point of it at the same reference coordinates.
 *  vertices  [v] of the cell, in the new order */
void weft_side_order(const weft_mesh *mesh, int64_t cell, int local, int vertices[8]);
