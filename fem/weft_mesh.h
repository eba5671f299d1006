/** Meshes of one kind of cell (intervals, simplices, quadrilaterals, hexahedra), with groups of facets and cells.
 *
 *      In: files, arrays, sizes.  Out: checked meshes; refined, tiled and renumbered meshes. */
#ifndef WEFT_MESH_H
#define WEFT_MESH_H

#include "fem/weft_element.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A physical group of facets (dimension d-1), cells (dimension d) or, where d > 1, points. Groups
 *  of curves in 3D keep only their name. */
typedef struct weft_group {
    char name[256]; /* physical name; its number as text if it has none */
    int dimension;
    int64_t first_facet, n_facets; /* into weft_mesh.group_facets */
    int64_t first_cell, n_cells;   /* into weft_mesh.group_cells */
    int64_t first_point, n_points; /* into weft_point_lists.nodes */
    int number;                    /* of the physical group; 0: not known. Measures ds(2) name it */
} weft_group;

/** Nodes that a mesh file names: those of groups of points, and those that Gmsh's Periodic declares
 *  to be images of each other, as {number of the declaration, node, its image}. */
typedef struct weft_point_lists {
    int64_t n_nodes, n_pairs;
    int32_t *nodes; /* [n_nodes], by group; a node may be in several groups */
    int32_t *pairs; /* [n_pairs][3], ascending, without duplicates */
} weft_point_lists;

/** A mesh of cells of one type. Free with weft_mesh_free. Arrays come from weft_array_make (padded).
 *  Below, v and w are the numbers of vertices of a cell and of a facet: d+1 and d on simplices. */
typedef struct weft_mesh {
    int dimension;            /* d */
    weft_cell_type cell;      /* WEFT_POINT: triangles (d = 2) or tetrahedra; see weft_mesh_cell */
    int64_t n_nodes, n_cells; /* n_nodes < 2^31 */
    double *x;                /* [n_nodes][d], in the file's unit */
    int32_t *cells;           /* [n_cells][v], positively oriented */
    double *curve;    /* NULL: straight cells; else [n_cells][nodes of Lagrange degree 2][d] */
    int64_t n_facets; /* the whole boundary, then the interior facets that are in a group */
    int64_t n_boundary_facets; /* facets of exactly one cell */
    /* [n_facets][w]; counterclockwise as seen from outside its (first) cell; 2D: with
     * the cell on the left */
    int32_t *facets;
    int n_groups;
    weft_group *groups;
    int32_t *group_facets; /* facet numbers by group; a facet may be in several groups */
    int32_t *group_cells;  /* cell numbers by group, ascending in each group */
    weft_point_lists points;
    int64_t n_flipped_cells;  /* repaired: cells whose orientation was negative */
    int64_t n_dropped_nodes;  /* repaired: nodes of the input that no cell uses */
    int64_t n_ignored_facets; /* group facets that are not a facet of any cell */
    /* pairs of nodes on the boundary at one place: a crack, or parts that are not joined */
    int64_t n_coincident;
    char source[512];       /* file or "square:32" */
    struct weft_part *part; /* of a rank; NULL: the whole mesh */
    bool is_sorted; /* the vertices of each cell ascend, and cells have either orientation */
} weft_mesh;

/** Input of weft_mesh_make, not checked: any numbering and orientation. Arrays from
 *  weft_array_make. */
typedef struct weft_mesh_data {
    int dimension;
    weft_cell_type cell; /* WEFT_POINT: the simplex of this dimension */
    int64_t n_nodes, n_cells;
    double *x;      /* [n_nodes][d] */
    int32_t *cells; /* [n_cells][v], degree 2: [n_cells][nodes of the Lagrange element] */
    int degree;     /* of the geometry: 0, 1: straight cells; 2: curved ones */
    int n_groups;
    weft_group *groups; /* facets of group g: group_facet_nodes[first_facet .. + n_facets) */
    int64_t n_group_facets;
    int32_t *group_facet_nodes; /* [n_group_facets][w] */
    int64_t n_group_cells;
    int32_t *group_cells;    /* [n_group_cells]: of group g, [first_cell .. + n_cells) */
    weft_point_lists points; /* of group g, nodes[first_point .. + n_points); pairs in any order */
} weft_mesh_data;

/** Make a checked mesh: reverse inverted cells and drop unused nodes (both are counted), find the
 *  boundary, match group facets (those that are not a facet of any cell are ignored and counted),
 *  and remove repeated facets and cells from groups, and unused nodes from the lists of points.
 *  data    its arrays are taken over, i.e. freed or moved and set to NULL, also on errors
 *  source  for messages, which count nodes and cells from 1, in data's order
 *  out     caller's; weft_mesh_free
 *  Memory  during the call, 8 bytes per cell and 4 to 8 per node beyond data's arrays
 *  Errors  WEFT_ERROR_INPUT, with counts, the first offender and a hint: a coordinate that is NaN
 *          or infinite; a node number out of range; a cell without volume, i.e.
 *          |volume| <= 1e-14 h^d, h its longest edge; quadrilaterals and hexahedra whose det J is
 *          not of one sign at the vertices; a duplicate cell; a facet of three cells; no cells.
 *          WEFT_ERROR_UNSUPPORTED (2^31 nodes or cells), WEFT_ERROR_MEMORY */
weft_status weft_mesh_make(weft_mesh_data *data, const char *source, const weft_monitor *monitor,
                           weft_mesh **out, weft_error *error);
/** How files are read through Gmsh; zeros mean the defaults, listed by weft-gmsh --help. */
typedef struct weft_mesh_options {
    size_t size; /* sizeof(weft_mesh_options) */
    /* mesh size of a .geo file, in its unit: the value of its constant h, lc, cl, size or meshsize
     * if DefineConstant[] has one, otherwise the size of every cell; <= 0: as the file specifies */
    double cell_size;
    double memory, seconds; /* limits for Gmsh or HDF5, memory in bytes */
    bool trust_geo;         /* a .geo file may run programs and write files */
    weft_device *device;    /* borrowed, for its threads; NULL: one */
} weft_mesh_options;
static inline weft_mesh_options weft_mesh_options_default(void) {
    weft_mesh_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}
/** Read a mesh file, or make "square:N" or "cube:N" (simplices), "interval:N", "quads:N", "hexes:N".
 *  name     a path, in a format below
 *  options  borrowed; NULL: the defaults
 *  out      caller's; weft_mesh_free
 *  Formats  .vtkhdf; through the program weft-gmsh .geo, .msh (MSH 1, 2, 4.0, 4.1), .unv, .bdf,
 *           .nas, .vtk (legacy) and .mesh (Medit)
 *  Cells    those of the highest dimension in the file; 2D in the plane z = 0. Of a .geo file only those in physical groups, if any
 *  Units    the file's
 *  Errors   WEFT_ERROR_USAGE, _IO, _INPUT, _UNSUPPORTED (naming the file, with a hint), _MEMORY
 *           (also at Gmsh's limit); *out untouched */
weft_status weft_mesh_read_with(const char *name, const weft_mesh_options *options,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error);
/** weft_mesh_read_with, with weft_mesh_options.cell_size as the only option. */
weft_status weft_mesh_read(const char *name, double size, const weft_monitor *monitor,
                           weft_mesh **out, weft_error *error);
/** Whether the name's suffix is of a format that is read through Gmsh. */
bool weft_mesh_is_gmsh(const char *name);
/** Unit square, 2 n^2 right triangles; groups left, right, bottom, top. */
weft_status weft_mesh_make_square(int64_t n, weft_mesh **out, weft_error *error);
/** Unit interval, square or cube of n^d intervals, quadrilaterals or hexahedra. Groups left, right
 *  (x); d = 2: bottom, top (y); d = 3: front, back (y), bottom, top (z). */
weft_status weft_mesh_make_boxes(weft_cell_type cell, int64_t n, weft_mesh **out,
                                 weft_error *error);
/** Unit cube, 6 n^3 Kuhn tetrahedra; groups left, right (x), front, back (y), bottom, top (z). */
weft_status weft_mesh_make_cube(int64_t n, weft_mesh **out, weft_error *error);
/** Repeat a mesh counts[a] times along axis a (counts[2] is ignored in 2D), with its bounding box
 *  as the period, and merge the nodes where copies meet. Opposite sides must have matching meshes,
 *  as those of meshes/tile_square.geo and meshes/tile_cube.geo.
 *  device  borrowed, for its threads; NULL: one thread
 *  out     caller's; weft_mesh_free
 *  Nodes   copy by copy, x fastest, each in the tile's order; cells likewise
 *  Facets  those where copies meet are removed, also from groups; all others are kept
 *  Points  groups of points keep only their name
 *  Errors  WEFT_ERROR_INPUT (a node or facet on a side has no partner on the opposite side within 1e-8 of the box; names the
 *          first), WEFT_ERROR_USAGE (a count below 1), _UNSUPPORTED (2^31 nodes or cells), _MEMORY; *out untouched */
weft_status weft_mesh_tile(weft_device *device, const weft_mesh *tile, const int64_t counts[3],
                           weft_mesh **out, weft_error *error);
/** Refine uniformly. Each of the `times` steps (1 to 12) halves every edge and divides a triangle
 *  into 4, a tetrahedron into 8.
 *  device  borrowed, for its kernels if it is a GPU and the mesh large, otherwise for its threads
 *          (NULL: one thread); the result does not depend on it
 *  out     caller's; weft_mesh_free
 *  Nodes   each node is followed by the midpoints of its edges to higher nodes, in ascending order
 *          of these nodes
 *  Cells   the children of a cell are consecutive and positively oriented
 *  Facets  the children of a facet are consecutive, so the boundary remains first; a group has all
 *          children of its facets. Midpoints lie on straight edges: curved boundaries are not
 *          approximated any better
 *  Points  groups of points keep their nodes; midpoints of edges of facets are images of each other
 *          where the ends are
 *  Shapes  triangles keep their shape. The inner octahedron of a tetrahedron is divided into four
 *          along the diagonal for which the worst child is best. The first step produces the worst
 *          shapes; later steps, also of further calls, make none worse. cube:N refined is cube:2N
 *          with another numbering
 *  Memory  the new mesh, 1/8 (3D) or 1/4 (2D) of it, and during a step 24 bytes per tetrahedron (12
 *          per triangle) and 8 per node of the coarser mesh
 *  Errors  WEFT_ERROR_USAGE (times), WEFT_ERROR_UNSUPPORTED (2^31 cells, facets or nodes in the
 *          result, found before any allocation), WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; *out untouched
 *  Source  Bey 1995, Tetrahedral grid refinement, Computing 55 */
weft_status weft_mesh_refine(weft_device *device, const weft_mesh *mesh, int times,
                             const weft_monitor *monitor, weft_mesh **out, weft_error *error);
/** Make curved cells straight: only their vertices remain. To be called before spaces are made on the mesh. Everything that is
 *  computed on a mesh (integrals, conditions, normals, errors, results) takes its cells as they are, and forms have to:
 *  one whose coordinate element has degree 1 is for straight cells. */
void weft_mesh_straighten(weft_mesh *mesh);
void weft_mesh_free(weft_mesh **mesh);
/** The reference cell; the numbers v and w of vertices of a cell and a facet. */
const weft_cell *weft_mesh_cell(const weft_mesh *mesh);
int weft_mesh_cell_vertices(const weft_mesh *mesh);
int weft_mesh_facet_vertices(const weft_mesh *mesh);
/** Find the group of facets of this name. "boundary" is the whole boundary, facets
 *  0 .. n_boundary_facets, unless a group has that name.
 *  group   its index, or -1 for the whole boundary
 *  Errors  WEFT_ERROR_INPUT (no such group; lists the groups, and suggests the nearest name) */
weft_status weft_mesh_group(const weft_mesh *mesh, const char *name, int *group, weft_error *error);
/** Find the group of facets or points of this name, of facets first; "boundary" as above.
 *  Errors  WEFT_ERROR_INPUT, as above */
weft_status weft_mesh_place(const weft_mesh *mesh, const char *name, int *group, weft_error *error);
/** The facets of a group (-1: the whole boundary) as lists of nodes.
 *  out     [*n][d], from weft_array_make; caller's; free()
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_mesh_group_facets(const weft_mesh *mesh, int group, int32_t **out, int64_t *n,
                                   weft_error *error);
/** The distinct nodes on a group of facets or points (-1: the whole boundary).
 *  out     [*n] ascending, from weft_array_make; caller's; free()
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_mesh_group_nodes(const weft_mesh *mesh, int group, int32_t **out, int64_t *n,
                                  weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
