/** The mesh of a run: what its options say, reading, refining and ordering it, and its lines of the
 *  report. */
#pragma once

#include "apps/common/support.h"
#include "fem/weft_fem.h"

typedef enum app_ordering {
    APP_ORDERING_AUTO, /* meshes of Gmsh everywhere, all on a GPU: by bisection */
    APP_ORDERING_BISECTION,
    APP_ORDERING_METIS,
    APP_ORDERING_NONE
} app_ordering;

typedef struct app_mesh_options {
    const char *name; /* borrowed from argv */
    weft_mesh_options reading;
    int refine;
    app_ordering ordering;
} app_mesh_options;

/** Take --mesh-memory, --mesh-time or --trust-geo. Errors  WEFT_ERROR_USAGE */
weft_status app_mesh_option_read(weft_mesh_options *options, int key, const char *text,
                                 weft_error *error);

/** How a mesh came about. */
typedef struct app_mesh_made {
    const char *ordered;           /* by what, or NULL */
    double seconds, order_seconds; /* order is in seconds too */
} app_mesh_made;

/** Read or make the mesh, refine it; order what Gmsh made, which is numbered at random. */
weft_status app_mesh_make(weft_device *device, const app_mesh_options *options,
                          const weft_monitor *monitor, weft_mesh **out, app_mesh_made *made,
                          weft_error *error);
/** The lines about the mesh, on stdout. */
void app_mesh_print(const weft_mesh *mesh, const app_mesh_made *made);
