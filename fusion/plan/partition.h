/** The set partition behind a cover, by GLPK (fusion/plan/partition.c). */
#pragma once

#include "core/weft_core.h"

/** Choose columns so that each of n_rows rows is in one of them, at least cost. */
typedef struct weft_partition weft_partition;

weft_status weft_partition_make(int n_rows, int n_columns, weft_partition **out, weft_error *error);
void weft_partition_free(weft_partition **partition);
/** The rows [n] of a column, and its cost; before anything is solved. */
void weft_partition_column(weft_partition *partition, int column, const int *rows, int n,
                           double cost);
/** Not all of these columns together in what is solved after: a no-good cut. */
weft_status weft_partition_forbid(weft_partition *partition, const int *columns, int n,
                                  weft_error *error);
/** chosen [n_rows]: ascending columns, *n of them; 0: there is no choice left. *proved: no choice
 *  costs less; false where the time for that ran out (WEFT_PARTITION_SECONDS). */
weft_status weft_partition_solve(weft_partition *partition, int *chosen, int *n, bool *proved,
                                 weft_error *error);
#define WEFT_PARTITION_SECONDS 2
