/** Set partition problems, solved by GLPK.
 *  In:  columns (sets of rows) with costs, no-good cuts
 *  Out: the cheapest choice of columns that contains each row exactly once */
#pragma once

#include "core/weft_core.h"

typedef struct weft_partition weft_partition;

/** A problem without cuts, whose columns are still to be set.
 *  n_rows  at most WEFT_CALLS_MAX
 *  out     caller's; weft_partition_free
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_partition_make(int n_rows, int n_columns, weft_partition **out, weft_error *error);
void weft_partition_free(weft_partition **partition);
/** Set the rows and the cost of a column; all columns must be set before the first solution.
 *  rows    [n], copied
 *  Errors  out of memory is reported by weft_partition_solve */
void weft_partition_column(weft_partition *partition, int column, const int *rows, int n,
                           double cost);
/** Add a no-good cut: later solutions do not contain all of these columns together.
 *  columns  [n], copied
 *  Errors   WEFT_ERROR_MEMORY */
weft_status weft_partition_forbid(weft_partition *partition, const int *columns, int n,
                                  weft_error *error);
/** Solve the problem.
 *  chosen  caller's, [n_rows]: the chosen columns, ascending
 *  n       their number; 0: there is no solution
 *  proved  the solution is optimal; false: the time limit WEFT_PARTITION_SECONDS was reached
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_partition_solve(weft_partition *partition, int *chosen, int *n, bool *proved,
                                 weft_error *error);
#define WEFT_PARTITION_SECONDS 2
