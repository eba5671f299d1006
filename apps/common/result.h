/** What result files show of a run. In: its functions, of any elements. Out: fields at nodes that all of
 *  them share, result files and time series. */
#pragma once

#include "apps/common/run.h"

/** Fields of a result: u, or the functions of a mixed space u_0, u_1..., with their enrichments. Functions
 *  that are constant in each cell are fields on cells, all others are at `nodes`, which are those of the
 *  highest degree, discontinuous if one function is. Vectors in the plane have a third component 0. */
typedef struct app_shown {
    const weft_space *nodes;
    weft_space *own_nodes; /* NULL: `nodes` is the run's */
    weft_field fields[WEFT_FIELDS_MAX];
    double *values[WEFT_FIELDS_MAX]; /* of these fields */
    int of[WEFT_FIELDS_MAX];         /* the run's function that a field shows */
    int n;
} app_shown;

/** A time series of all functions of a run. Initialise with {0}. */
typedef struct app_series {
    app_shown shown;
    weft_space_output *output;
    double *buffers[WEFT_FIELDS_MAX]; /* of values at the nodes of VTK's cells */
    weft_series *series;
} app_series;
/** Make the series of --output.
 *  options  without fields and nodes
 *  Errors   those of weft_series_make; *out untouched */
weft_status app_series_make(const app_run *run, const weft_series_options *options, app_series *out,
                            weft_error *error);
/** Append a step with run->u_values. */
weft_status app_series_add(const app_run *run, app_series *series, double t, weft_error *error);
/** Close the series, if it is open, and free what belongs to it. */
weft_status app_series_close(app_series *series, weft_error *error);
