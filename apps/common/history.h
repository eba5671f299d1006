/** Tables of probes, integrals and extrema over time. In: values after steps. Out: a CSV file. */
#pragma once

#include "apps/common/run.h"

/** Start from {0} with path; app_history_close. */
typedef struct app_history {
    const char *path; /* borrowed; NULL: no table */
    FILE *file;
} app_history;

/** Values of a row. */
typedef struct app_history_row {
    double t;
    const char *symbol;   /* of the solution, in the head */
    const double *probes; /* [run->points][components], NaN outside */
    int components;
    bool resumes; /* the first row keeps those of an earlier file up to t */
} app_history_row;
/** Append a row with the values of run->derive too; the first call opens the file. Rows are flushed.
 *  Errors  WEFT_ERROR_IO */
weft_status app_history_add(app_history *history, const app_run *run, const app_history_row *row,
                            weft_error *error);
void app_history_close(app_history *history);
