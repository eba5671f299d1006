/** The mesh of a run. In: its options. Out: the mesh, read, refined and ordered, and its lines of
 *  the report. */
#pragma once

#include "apps/common/support.h"
#include "fem/weft_fem.h"

typedef enum app_ordering {
    APP_ORDERING_AUTO, /* bisection for meshes made by Gmsh, and for all meshes on a GPU */
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

/** How a mesh was made. */
typedef struct app_mesh_made {
    const char *ordered;           /* name of the ordering, or NULL */
    double seconds, order_seconds; /* seconds includes order_seconds */
} app_mesh_made;

/** Read or make the mesh, refine it, and order it as the options say.
 *  out  caller's; weft_mesh_free */
weft_status app_mesh_make(weft_device *device, const app_mesh_options *options,
                          const weft_monitor *monitor, weft_mesh **out, app_mesh_made *made,
                          weft_error *error);
/** Print the mesh's lines of the report to stdout. */
void app_mesh_print(const weft_mesh *mesh, const app_mesh_made *made);
