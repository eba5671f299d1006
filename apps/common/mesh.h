/** The mesh of a run. In: its options. Out: the mesh, read, refined and ordered, and its lines of
 *  the report. */
#pragma once

#include "apps/common/support.h"
#include "fem/mesh/copies.h"
#include "fem/weft_fem.h"

typedef enum app_ordering {
    APP_ORDERING_AUTO, /* bisection for meshes made by Gmsh, and for all meshes on a GPU */
    APP_ORDERING_BISECTION,
    APP_ORDERING_METIS,
    APP_ORDERING_NONE
} app_ordering;

/** Which levels of refinement are kept, for multigrid. */
typedef enum app_levels {
    APP_LEVELS_NONE,
    APP_LEVELS_REFINED, /* those of --refine, which leaves the finest mesh as it is */
    APP_LEVELS_BUILT_IN /* and built-in meshes are made by refinement */
} app_levels;

typedef struct app_mesh_options {
    const char *name; /* borrowed from argv */
    weft_mesh_options reading;
    int refine;
    app_ordering ordering;
    app_levels levels;
} app_mesh_options;

/** How a mesh was made. */
typedef struct app_mesh_made {
    const char *ordered;           /* name of the ordering, or NULL */
    double seconds, order_seconds; /* seconds includes order_seconds */
    weft_hierarchy *hierarchy;     /* of the levels that are kept: owns the mesh; else NULL */
    weft_mesh_copies copies;       /* what the device that made it has; a space takes it over */
} app_mesh_made;

/** Read or make the mesh, refine it, and order it as the options say. With APP_LEVELS_BUILT_IN,
 *  square:N and cube:N, N = m 2^k, are made of square:m or cube:m by refinement, for as large a k as
 *  leaves m > 1: nodes and cells are then numbered differently, and APP_ORDERING_AUTO orders them.
 *  out   caller's; app_mesh_free
 *  made  start from {0} */
weft_status app_mesh_make(weft_device *device, const app_mesh_options *options,
                          const weft_monitor *monitor, weft_mesh **out, app_mesh_made *made,
                          weft_error *error);
/** The number of nodes and the dimension of a built-in mesh whose levels APP_LEVELS_BUILT_IN would
 *  keep; 0: the mesh is not one of these. */
int64_t app_mesh_built_in_nodes(const app_mesh_options *options, int *dimension);
/** The shape of a built-in mesh of simplices. */
typedef struct app_mesh_shape {
    const char *name; /* "square" or "cube" */
    int dimension;
    int64_t side; /* intervals per side, refined */
    int refine;   /* of the options */
    int64_t n_nodes, n_cells;
} app_mesh_shape;
/** Counts of nodes and cells; at most 10^6 intervals per side. */
void app_mesh_shape_count(app_mesh_shape *shape);
/** The shape of the mesh that the options name; false: it is not square:N or cube:N. */
bool app_mesh_shape_of(const app_mesh_options *options, app_mesh_shape *out);
/** What is known of the size of a mesh before it is read. */
typedef struct app_mesh_size {
    int dimension; /* 0: 2 or 3 */
    /* cells as simplices: two for a quadrilateral, six for a hexahedron; 0: not known */
    int64_t n_nodes, n_cells;
    bool is_bound; /* there may be fewer */
} app_mesh_size;
/** The size of a built-in mesh, refined, or a bound by the size of a file that Gmsh reads. False: it is not known, as of
 *  a .geo file, or of a .vtkhdf file, which may be compressed. At most 10^6 intervals per side are counted. */
bool app_mesh_size_of(const app_mesh_options *options, app_mesh_size *out);
/** Free the mesh and its hierarchy. */
void app_mesh_free(weft_mesh **mesh, app_mesh_made *made);
/** Print the mesh's lines of the report to stdout. */
void app_mesh_print(const weft_mesh *mesh, const app_mesh_made *made);
