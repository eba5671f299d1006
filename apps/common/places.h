/** Values of the functions of a run at points. In: points of the mesh. Out: the components of u there. */
#pragma once

#include "fem/weft_fem.h"

struct app_run;

/** Points and where they are in the mesh. Start from {0}. */
typedef struct app_places {
    int64_t n;
    int64_t *cells; /* [n]; -1: outside */
    double *xi;     /* [n][d] reference coordinates */
} app_places;
/** points  [n][d]
 *  out     app_places_clear
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status app_places_make(weft_device *device, const weft_mesh *mesh, const double *points,
                            int64_t n, app_places *out, weft_error *error);
void app_places_clear(app_places *places);
/** All components of u, those of mixed spaces one after another.
 *  out  [n][run->n_values]; NaN outside */
weft_status app_places_evaluate(const app_places *places, const struct app_run *run, double *out,
                                weft_error *error);
