/** Construction of meshes. Not installed.
 *
 *      In: nodes, cells and facets, as read or made.  Out: a checked mesh; refined meshes. */
#pragma once

#include "fem/mesh/copies.h"
#include "fem/weft_fem.h"

/** Vertices of the facets of a cell: facet k is opposite vertex k. Seen from outside a positively
 *  oriented cell they are counterclockwise (2D: with the cell on the left). */
extern const int weft_facet_vertices_2[3][2];
extern const int weft_facet_vertices_3[4][3];

/** weft_mesh_make for a reader that has already dropped n_left_nodes unused nodes of the file. */
weft_status weft_mesh_make_from(weft_mesh_data *data, const char *source, int64_t n_left_nodes,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error);
/** square:n (dimension 2) or cube:n (3), the same for any number of threads.
 *  device  borrowed, for its threads; NULL: one
 *  Errors  WEFT_ERROR_USAGE: n out of range; WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_mesh_make_grid(weft_device *device, int dimension, int64_t n, weft_mesh **out,
                                weft_error *error);
/** Find the group of cells of this name; the group of cells or facets.
 *  Errors  WEFT_ERROR_INPUT (no such group; lists the groups, and suggests the nearest name) */
weft_status weft_mesh_cell_group(const weft_mesh *mesh, const char *name, int *group,
                                 weft_error *error);
weft_status weft_mesh_any_group(const weft_mesh *mesh, const char *name, int *group,
                                weft_error *error);
/** The coordinates of the nodes of a group of points.
 *  origin  names what refers to it, in messages
 *  out     [*n][d]; free()
 *  Errors  WEFT_ERROR_INPUT: there is no such group, or it is not one of points; WEFT_ERROR_MEMORY */
weft_status weft_mesh_group_points(const weft_mesh *mesh, const char *name, const char *origin,
                                   double **out, int64_t *n, weft_error *error);
/** Set n_coincident, and warn where it is not 0.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_mesh_find_coincident(weft_mesh *mesh, const weft_monitor *monitor,
                                      weft_error *error);
/** The reference cell of the data's cells. */
const weft_cell *weft_mesh_data_cell(const weft_mesh_data *data);
/** Reverse inverted intervals, quadrilaterals and hexahedra: mirror them along their first axis.
 *  n_flipped  gets their number
 *  Errors     WEFT_ERROR_INPUT (cells that are flat or twisted: the first one, a hint) */
weft_status weft_boxes_orient(weft_mesh_data *data, const char *source, int64_t *n_flipped,
                              weft_error *error);
/** Entries of data.cells in a row. */
int weft_mesh_data_width(const weft_mesh_data *data);
/** Nodes of a curved cell; 0: the cells are straight. */
int weft_mesh_curve_nodes(const weft_mesh *mesh);
/** Replace cells of degree 2, whose node numbers are in range, by their vertices.
 *  curve     gets weft_mesh.curve; free()
 *  n_others  gets the number of nodes that are not a vertex of a cell
 *  Errors    WEFT_ERROR_MEMORY */
weft_status weft_curve_split(weft_mesh_data *data, double **curve, int64_t *n_others,
                             weft_error *error);
/** Bring the nodes into the order of the vertices after weft_curve_split, and check the cells.
 *  Errors  WEFT_ERROR_INPUT (folded cells: the first one, a hint), WEFT_ERROR_MEMORY */
weft_status weft_curve_follow(const weft_mesh_data *data, const char *source, double *curve,
                              weft_error *error);
/** How far cells are from cubes, or these cut into simplices, and the whole from a cube, by a sample: the root mean square of
 *  inverse edges of a box times their geometric mean; 1 for a cube, about sqrt(s/2) for squares stretched by s. */
typedef struct weft_mesh_shape {
    double cells, domain;
} weft_mesh_shape;
weft_mesh_shape weft_mesh_shape_of(const weft_mesh *mesh);
/** The determinant of the first d rows and columns. */
double weft_determinant(int d, double a[3][3]);
/** Append a cell to a message: its number, nodes and location. */
void weft_error_append_cell(weft_error *error, const weft_mesh_data *data, int64_t cell);
/** Sort the cells of each group, and remove duplicates. */
void weft_group_cells_sort(weft_mesh *mesh);
/** Copy the lists of points of the data, whose nodes are in range, into the mesh and its groups.
 *  Errors  WEFT_ERROR_INPUT: a node out of range; WEFT_ERROR_MEMORY */
weft_status weft_points_make(weft_mesh *mesh, const weft_mesh_data *data, const char *source,
                             weft_error *error);
/** Give the nodes new numbers; -1: they are left out. */
void weft_points_renumber(weft_mesh *mesh, const int32_t *new_number);
/** The lists of a refined mesh.
 *  number    of a node in the refined mesh
 *  midpoint  the same of the middle of two nodes; -1: they are not an edge
 *  Errors    WEFT_ERROR_MEMORY */
weft_status weft_points_refine(const weft_mesh *from, weft_mesh *to, const void *user,
                               int32_t (*number)(const void *user, int32_t node),
                               int32_t (*midpoint)(const void *user, int32_t a, int32_t b),
                               weft_error *error);
void weft_points_free(weft_point_lists *points);
/** A hash of nodes and cells, 32 digits and a terminator. */
void weft_mesh_hash(const weft_mesh *mesh, char out[33]);
/** Free the arrays and set them to NULL. */
void weft_mesh_data_free(weft_mesh_data *data);
/** Signed volume of a cell, positive if it is positively oriented.
 *  x      [..][dimension]
 *  nodes  [dimension+1] */
double weft_cell_volume(int dimension, const double *x, const int32_t *nodes);

/** The facets of positively oriented cells. Free nodes and number with free(). */
typedef struct weft_facets {
    int64_t n_facets, n_boundary_facets;
    int32_t *nodes;  /* [n_facets][d], from weft_array_make; boundary first, by lowest node */
    int32_t *number; /* [n_group_facets]: facet of each group facet; -1: not a facet of any cell */
} weft_facets;
/** Defects found by weft_facets_find. Cells and nodes count from 0. */
typedef struct weft_facet_faults {
    /* duplicate cells: their number, the first one, and its original */
    int64_t n_doubled, doubled, original;
    int64_t n_non_manifold;  /* facets of three cells or more */
    int32_t non_manifold[3]; /* nodes of the first such facet */
} weft_facet_faults;
/** Find the boundary and the facets of groups.
 *  data    borrowed; node numbers in range, nodes of a cell distinct, n_cells < 2^31
 *  faults  gets the defects, which are not errors of this function
 *  Memory  during the call, 8 bytes per cell and 4 to 8 per node
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_facets_find(const weft_mesh_data *data, weft_facets *out,
                             weft_facet_faults *faults, weft_error *error);

/** weft_facets_find for all cell types. */
weft_status weft_facets_find_any(const weft_mesh_data *data, weft_facets *out,
                                 weft_facet_faults *faults, weft_error *error);

/** Are the maps from the reference cell affine? Those of straight simplices are. */
bool weft_mesh_is_affine(const weft_mesh *mesh);
/** Whether the mesh consists of triangles or tetrahedra.
 *  what    the operation, for the message: "refining"
 *  Errors  WEFT_ERROR_UNSUPPORTED, with a hint */
weft_status weft_mesh_need_simplices(const weft_mesh *mesh, const char *what, weft_error *error);
/** Whether weft_mesh_refine accepts the mesh and the number of steps.
 *  Errors  those of weft_mesh_refine, except WEFT_ERROR_MEMORY and 2^31 nodes */
weft_status weft_mesh_refine_check(const weft_mesh *mesh, int times, weft_error *error);
/** Refine levels[0].mesh until each level has a mesh, as weft_mesh_refine would.
 *  hierarchy  gets the meshes and parents of the other levels, in the numbering of
 *             weft_mesh_refine: children of cell c are cells 2^d c .. 2^d c + 2^d - 1. Vertices of
 *             tetrahedra are rotated in all meshes except the finest
 *  copies     NULL, or those of levels[0]; become those of the finest level
 *  Errors     2^31 nodes, WEFT_ERROR_MEMORY; the hierarchy then has some of the levels */
weft_status weft_mesh_refine_levels(weft_device *device, weft_hierarchy *hierarchy,
                                    const weft_monitor *monitor, weft_mesh_copies *copies,
                                    weft_error *error);
/** The two vertices of a refined cell whose mean is a vertex of a child of this kind, see
 *  weft_hierarchy_child_weights; twice the same where the child has a vertex of the cell. */
void weft_mesh_refined_ends(int dimension, int kind, int vertex, int ends[2]);
