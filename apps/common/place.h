/** Places of the command line. In: X,Y[,Z] or the name of a group of points. Out: coordinates. */
#pragma once

#include "apps/common/support.h"
#include "fem/weft_fem.h"

typedef struct app_place {
    char *group; /* malloc'd; NULL: a point */
    double point[3];
    int n; /* coordinates given */
} app_place;

/** Read a point, if the text begins like a number, else a name, which may be in quotes.
 *  out     app_place_clear
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status app_place_read(const char *option, const char *text, app_place *out, weft_error *error);
void app_place_clear(app_place *place);
/** Has a point as many coordinates as the mesh has dimensions?
 *  origin, form  as app_place_points
 *  Errors        WEFT_ERROR_USAGE: no */
weft_status app_place_check(const app_place *place, int dimension, const char *origin,
                            const char *form, weft_error *error);
/** The points of a place on a mesh.
 *  origin  the option, for messages
 *  form    how the option is written, for a hint
 *  out     [*n][d]; free()
 *  Errors  WEFT_ERROR_USAGE: more or fewer coordinates than dimensions; WEFT_ERROR_INPUT: no such
 *          group, or not one of points; WEFT_ERROR_MEMORY */
weft_status app_place_points(const app_place *place, const weft_mesh *mesh, const char *origin,
                             const char *form, double **out, int64_t *n, weft_error *error);
