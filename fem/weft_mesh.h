/** Meshes of simplices: read, made, refined, ordered, searched; their groups of facets and cells. */
#ifndef WEFT_MESH_H
#define WEFT_MESH_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A physical group of facets (dimension d-1) or cells (dimension d). Of groups of points, and of
 *  curves in space, the name alone is kept. */
typedef struct weft_group {
    char name[256]; /* physical name, or its number as text when it has none */
    int dimension;
    int64_t first_facet, n_facets; /* into weft_mesh.group_facets */
    int64_t first_cell, n_cells;   /* into weft_mesh.group_cells */
} weft_group;

/** A simplicial mesh. Free with weft_mesh_free. Arrays come from weft_array_make (padded). */
typedef struct weft_mesh {
    int dimension;            /* d: 2 triangles, 3 tetrahedra */
    int64_t n_nodes, n_cells; /* n_nodes < 2^31 */
    double *x;                /* [n_nodes][d], in the file's unit */
    int32_t *cells;           /* [n_cells][d+1], positively oriented */
    int64_t n_facets;         /* first the whole boundary, then facets inside that are in a group */
    int64_t n_boundary_facets; /* facets of exactly one cell */
    int32_t *facets; /* [n_facets][d]; seen from outside its (first) cell, counterclockwise; 2D:
                        from node to node with the cell on the left */
    int n_groups;
    weft_group *groups;
    int32_t *group_facets;    /* facet numbers, group after group; a facet may be in several */
    int32_t *group_cells;     /* cell numbers likewise, ascending in each group */
    int64_t n_flipped_cells;  /* repaired: orientation */
    int64_t n_dropped_nodes;  /* repaired: nodes of a file or of the user's that no cell uses */
    int64_t n_ignored_facets; /* group facets that are no facet of any cell */
    char source[512];         /* file or "square:32" */
} weft_mesh;

/** What a reader or a user has before checking: any numbering, orientation, tags. Arrays from
 *  weft_array_make. */
typedef struct weft_mesh_data {
    int dimension;
    int64_t n_nodes, n_cells;
    double *x;      /* [n_nodes][d] */
    int32_t *cells; /* [n_cells][d+1] */
    int n_groups;
    weft_group *groups; /* facets of group g: group_facet_nodes[first_facet .. + n_facets) */
    int64_t n_group_facets;
    int32_t *group_facet_nodes; /* [n_group_facets][d] */
    int64_t n_group_cells;
    int32_t *group_cells; /* [n_group_cells]: of group g, [first_cell .. + n_cells) */
} weft_mesh_data;

/** Make a checked mesh: flips inverted cells, drops unused nodes (both counted), finds the
 *  boundary, matches group facets (one that no cell has is ignored and counted; one that a group
 *  names twice stands once, as does a cell). Takes over data's arrays: they are freed or moved, and
 *  NULLed, also on error. source is for messages, which count nodes and cells from 1, in data's
 *  order.
 *
 *  Memory  while it runs, 8 bytes a cell and 4 to 8 a node beyond data's arrays
 *  Errors  WEFT_ERROR_INPUT with counts and the first culprit, each with what to do: coordinate
 *          that is NaN or infinite; node number out of range; cell without volume, which is
 *          |volume| <= 1e-14 h^d, h its longest edge; doubled cell; facet of three cells; no
 *          cells. WEFT_ERROR_UNSUPPORTED (2^31 nodes or cells), WEFT_ERROR_MEMORY */
weft_status weft_mesh_make(weft_mesh_data *data, const char *source, const weft_monitor *monitor,
                           weft_mesh **out, weft_error *error);
/** How files are read through Gmsh; zeros are the defaults, which weft-gmsh --help tells. */
typedef struct weft_mesh_options {
    double size;    /* mesh size for .geo, in its unit: the value of its constant h, lc, cl, size or
                       meshsize where DefineConstant[] has one, else the size of every cell; <= 0: as
                       the file says */
    double memory;  /* bytes that Gmsh may take */
    double seconds; /* that it may take */
    bool trust_geo; /* a .geo file may run programs and write files */
} weft_mesh_options;
/** Read a mesh file, or make "square:N" or "cube:N".
 *
 *  Formats "FILE.vtkhdf"; through the program weft-gmsh "FILE.geo", "FILE.msh" (MSH 1, 2, 4.0, 4.1),
 *          "FILE.unv", "FILE.bdf", "FILE.nas", "FILE.vtk" (legacy) and "FILE.mesh" (Medit)
 *  options borrowed; NULL: the defaults
 *  Cells   the highest dimension that has any, 2D in the plane z = 0; of a .geo file those in
 *          physical groups, where there are any of this dimension
 *  Errors  WEFT_ERROR_USAGE, _IO, _INPUT, _UNSUPPORTED (each names the file and what to do),
 *          _MEMORY (Gmsh's limit too); *out untouched */
weft_status weft_mesh_read_with(const char *name, const weft_mesh_options *options,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error);
/** weft_mesh_read_with, with nothing but a size. */
weft_status weft_mesh_read(const char *name, double size, const weft_monitor *monitor,
                           weft_mesh **out, weft_error *error);
/** Does this name a file that is read through Gmsh? By its ending. */
bool weft_mesh_is_gmsh(const char *name);
/** Unit square, 2 n^2 right triangles; groups left, right, bottom, top. */
weft_status weft_mesh_make_square(int64_t n, weft_mesh **out, weft_error *error);
/** Unit cube, 6 n^3 Kuhn tetrahedra; groups left, right (x), front, back (y), bottom, top (z). */
weft_status weft_mesh_make_cube(int64_t n, weft_mesh **out, weft_error *error);
/** Repeat a mesh counts[a] times along axis a (counts[2] is not looked at in 2D), beside itself by
 *  the size of its bounding box, and merge the nodes where copies meet. For meshes whose opposite
 *  sides are meshed alike, as meshes/tile_square.geo and meshes/tile_cube.geo.
 *
 *  device  borrowed, for its threads; NULL: on one thread
 *  Nodes   copy after copy, x fastest, each in the tile's order; cells likewise
 *  Facets  those where copies meet are gone, also from groups; every other of each copy is kept
 *  Errors  WEFT_ERROR_INPUT: the first node or facet on a side that has no partner within 1e-8 of
 *          the box on the opposite one; WEFT_ERROR_USAGE (a count below 1), WEFT_ERROR_UNSUPPORTED
 *          (2^31 nodes or cells), WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_mesh_tile(weft_device *device, const weft_mesh *tile, const int64_t counts[3],
                           weft_mesh **out, weft_error *error);
/** Refine uniformly: `times` steps (1 to 12) in each of which every edge is halved and a triangle
 *  becomes 4, a tetrahedron 8.
 *
 *  device  borrowed, for its threads (NULL: one); the result is the same for any number
 *  Nodes   each is followed by the midpoints of its edges to higher nodes, those ascending
 *  Cells   the children of a cell one after another, positive; facets likewise, so that the
 * boundary stays first; a group has all children of its facets. Curved boundaries stay as they are:
 *          midpoints lie on straight edges
 *  Shapes  triangles keep theirs. Of a tetrahedron's inner octahedron four are made round the
 *          diagonal for which the worst is best, in each step: the first makes the worst that ever
 *          come, also over several calls. cube:N refined is cube:2N, numbered otherwise
 *  Memory  the new mesh, 1/8 (3D) or 1/4 of it, and while a step runs 24 bytes a tetrahedron (12 a
 *          triangle) and 8 a node of the mesh before it
 *  Errors  WEFT_ERROR_USAGE (times), WEFT_ERROR_UNSUPPORTED (2^31 cells, facets or nodes in the
 *          end, seen before any finer mesh is allocated), WEFT_ERROR_MEMORY; *out untouched
 *  Source  Bey 1995, Tetrahedral grid refinement, Computing 55 */
weft_status weft_mesh_refine(weft_device *device, const weft_mesh *mesh, int times,
                             const weft_monitor *monitor, weft_mesh **out, weft_error *error);
void weft_mesh_free(weft_mesh **mesh);
/** The group of facets with this name. WEFT_ERROR_INPUT lists those that exist, with the nearest.
 * "boundary" is the whole boundary unless a group has that name: then *group = -1 and facets 0 ..
 * n_boundary_facets. */
weft_status weft_mesh_group(const weft_mesh *mesh, const char *name, int *group, weft_error *error);
/** Facet numbers of a group (-1: the whole boundary) as node lists: *out [*n][d], from
 * weft_array_make, the caller's. */
weft_status weft_mesh_group_facets(const weft_mesh *mesh, int group, int32_t **out, int64_t *n,
                                   weft_error *error);
/** The distinct nodes of a group, ascending; *out from weft_array_make, the caller's. */
weft_status weft_mesh_group_nodes(const weft_mesh *mesh, int group, int32_t **out, int64_t *n,
                                  weft_error *error);

typedef enum weft_ordering {
    WEFT_ORDERING_BISECTION, /* recursive coordinate bisection: parallel, parts of equal size */
    WEFT_ORDERING_METIS      /* METIS parts of the node graph, breadth first inside: one thread */
} weft_ordering;
/** Renumber nodes and cells for locality: nodes in compact parts, the parts too in an order that
 *  keeps neighbours near; cells by their lowest node.
 *  device      its worker threads are used; NULL: one thread. The result does not depend on them
 *  part_nodes  nodes of a part: every part_nodes consecutive ones (the last part may have fewer)
 *              with WEFT_ORDERING_BISECTION, about so many with METIS; 0: 512, 4096 with METIS
 *  permutation NULL allowed; gets new -> old node numbers, caller's
 *  Memory      while it runs, 20 bytes a tetrahedron and 36 a node; and what METIS takes
 *  Errors      WEFT_ERROR_MEMORY */
weft_status weft_mesh_order(weft_device *device, weft_mesh *mesh, weft_ordering method,
                            int64_t part_nodes, const weft_monitor *monitor, int32_t **permutation,
                            weft_error *error);
/** Mean distance of node numbers within a cell, over n_nodes: what an ordering should lower.
 *  device  as for weft_mesh_order */
double weft_mesh_bandwidth(weft_device *device, const weft_mesh *mesh);
/** The cell that holds a point and its barycentric coordinates [d+1]; *cell = -1 when outside, by
 *  more than 1e-10 in a coordinate. A scan over all cells: for probes, not for clouds of points. */
void weft_mesh_locate(const weft_mesh *mesh, const double *point, int64_t *cell,
                      double *barycentric);

#ifdef __cplusplus
}
#endif
#endif
