/** Hierarchies of uniformly refined meshes, for geometric multigrid.
 *
 *      In: a coarse mesh.  Out: the meshes of all levels, and the lists that connect them.
 *
 *  A P1 function on one level is one on the next finer level: its value at node i is the mean of
 *  those at the two parents of i. With
 *
 *      weft_connectivity_make(device, level->parents, level->mesh->n_nodes, 2,
 *                             coarser->mesh->n_nodes, &parents, error)
 *
 *  bound to `connectivity parents : nodes -> coarse[2]` of a script with `index nodes plain`,
 *  prolongation is a map of a gather, `dot(half, c[parents])` with `input half : real[2]`, and its
 *  transpose, restriction, an accumulation, `q[parents] += r*half`. With WEFT_SCATTER_GATHERED each
 *  coarse node then sums the contributions of its fine nodes in ascending order
 *  (weft_connectivity_transposed): no atomics, the same result for any number of threads. */
#ifndef WEFT_HIERARCHY_H
#define WEFT_HIERARCHY_H

#include "fem/weft_form.h"
#include "fem/weft_order.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A mesh and its relation to the next coarser level. All arrays belong to the hierarchy. Child k of
 *  cell c of the coarser level is cell 2^d c + k. */
typedef struct weft_hierarchy_level {
    weft_mesh *mesh;
    /* [n_nodes][2] nodes of the coarser level: the ends of the edge whose midpoint a node is; twice
     * the same for a node that exists there. The coarsest: NULL */
    int32_t *parents;
} weft_hierarchy_level;

/** Meshes, each refined once to make the next. Free with weft_hierarchy_free. */
typedef struct weft_hierarchy {
    int n_levels;
    weft_hierarchy_level *levels; /* [n_levels], [0] the coarsest */
    double order_seconds;         /* that the order of the coarsest took */
} weft_hierarchy;

/** How to make a hierarchy. */
typedef struct weft_hierarchy_options {
    size_t size; /* sizeof(weft_hierarchy_options) */
    int times;   /* refinements, 0 to 12; there is one level more */
    /* order the coarsest level, as weft_mesh_order with the two following; refinement keeps the
     * locality of its numbers */
    bool ordered;
    weft_ordering ordering;
    int64_t part_nodes;
} weft_hierarchy_options;
static inline weft_hierarchy_options weft_hierarchy_options_default(void) {
    weft_hierarchy_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

/** Refine a mesh uniformly and keep every level.
 *  device  borrowed, as for weft_mesh_order and weft_mesh_refine; the result does not depend on it
 *  coarse  taken over and set to NULL, also on errors
 *  out     caller's; weft_hierarchy_free
 *  Nodes, cells, facets  of the finest mesh as from weft_mesh_order and weft_mesh_refine
 *  Shapes  cell 2^d c + k is child k of Bey's subdivision of cell c, with the vertices of cell c
 *          in the order in which the mesh has them. For this, the vertices of tetrahedra are
 *          rotated about the first one, except in the finest mesh
 *  Memory  the meshes of all levels, and 8 bytes per node of each level but the coarsest; during the call, that of weft_mesh_refine
 *  Errors  those of weft_mesh_refine; *out untouched */
weft_status weft_hierarchy_make(weft_device *device, weft_mesh **coarse,
                                const weft_hierarchy_options *options, const weft_monitor *monitor,
                                weft_hierarchy **out, weft_error *error);
void weft_hierarchy_free(weft_hierarchy **hierarchy);
/** Bytes of the parents, and of all meshes but the finest. */
size_t weft_hierarchy_bytes(const weft_hierarchy *hierarchy);

/** Average data of the finest cells over children, level by level. Children have equal volumes, so
 *  that for P1 and coefficients that are constant in each cell, the form of a coarse level with the
 *  averaged coefficients is the Galerkin operator: restriction, fine operator, prolongation.
 *  context     its device must have the data
 *  components  of each cell: 1, or those of a tensor
 *  data        [n_levels]; the last is given, the others are written
 *  Layout      as weft_program_bind for lists over cells: [block][component][lane] of double
 *  Memory      during the call, 8 bytes per cell of the finest level and component
 *  Errors      WEFT_ERROR_SHAPE: memory too small, 2^31 values or more on a level;
 *              WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_hierarchy_average_cells(weft_context *context, const weft_hierarchy *hierarchy,
                                         int components, weft_memory *const *data,
                                         weft_error *error);

/** Barycentric coordinates of the vertices of a child in the cell that was refined: a P1 function
 *  with the values c at the vertices of the cell has P c at those of the child. So the cell's share
 *  of a Galerkin matrix is the sum of P^T K P over its children, for any local matrices K.
 *  dimension  d, 2 or 3
 *  kind       k for child k, 0 .. 2^d - 1; tetrahedra: 8 + k and 16 + k if its vertices were
 *             rotated by one and two places afterwards, for children of its own
 *  out        P, [d+1][d+1] in rows: vertex of the child, vertex of the cell; entries 0, 1/2, 1 */
void weft_hierarchy_child_weights(int dimension, int kind, double *out);
enum { WEFT_CHILD_KINDS_2 = 4, WEFT_CHILD_KINDS_3 = 24 };
/** The kinds of all children of a level; those of triangles and of the finest level are k.
 *  level   >= 1
 *  out     [n_cells of the coarser level][2^d], from weft_array_make; caller's; free()
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_hierarchy_child_kinds(weft_device *device, const weft_hierarchy *hierarchy,
                                       int level, int32_t **out, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
