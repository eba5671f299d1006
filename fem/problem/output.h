/** What result files show of a problem. In: its functions, of any elements. Out: fields at nodes that all of
 *  them share, result files and time series. */
#pragma once

#include "fem/problem/fields.h"
#include "fem/weft_derive.h"
#include "fem/weft_result.h"

/** Fields of a result: u, or the functions of a mixed space u_0, u_1..., with their enrichments. Functions
 *  that are constant in each cell are fields on cells, all others are at `nodes`, which are those of the
 *  highest degree, discontinuous if one function is. Vectors in the plane have a third component 0. */
typedef struct weft_shown {
    const weft_space *nodes;
    weft_space *own_nodes; /* NULL: `nodes` is the problem's */
    weft_field fields[WEFT_FIELDS_MAX];
    double *values[WEFT_FIELDS_MAX]; /* of these fields */
    char *names[WEFT_FIELDS_MAX];    /* of these fields */
    int of[WEFT_FIELDS_MAX];         /* the problem's function that a field shows */
    int n;
} weft_shown;

/** Write u and the fields of derived quantities.
 *  derive, statement  may be NULL
 *  Errors             those of weft_space_write */
weft_status weft_solution_write(const weft_solution *u, const char *path, const weft_derive *derive,
                                const char *statement, weft_error *error);

/** A time series of all functions of a problem. Initialise with {0}. */
typedef struct weft_problem_series {
    weft_shown shown;
    weft_space_output *output;
    double *buffers[WEFT_FIELDS_MAX]; /* of values at the nodes of VTK's cells */
    weft_series *series;
} weft_problem_series;
/** Make a series.
 *  options  without fields and nodes
 *  Errors   those of weft_series_make; *out untouched */
weft_status weft_problem_series_make(const weft_solution *u, const char *path,
                                     const weft_series_options *options, weft_problem_series *out,
                                     weft_error *error);
/** Append a step with the values of u. */
weft_status weft_problem_series_add(const weft_solution *u, weft_problem_series *series, double t,
                                    weft_error *error);
/** Close the series, if it is open, and free what belongs to it. */
weft_status weft_problem_series_close(weft_problem_series *series, weft_error *error);
