/** Tables of numbers. In: a CSV file. Out: a monotone piecewise cubic function. */
#pragma once

#include "fusion/script/tokens.h"

enum { WEFT_TABLE_ROWS_MAX = 200 };
/** y(x), linear combinations of cubics between knots, continuously differentiable, monotone wherever
 *  the values are; constant beyond the first and the last knot. In the arena. */
typedef struct weft_script_table {
    int n;          /* knots, at least 2 */
    double *x, *y;  /* [n] x ascending */
    double *slopes; /* [n] y' at the knots */
} weft_script_table;
/** Read two columns, separated by commas, semicolons or blanks. The first line may be a header; lines
 *  that start with # are comments.
 *  place   of the name, for messages
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_INPUT (with the file's line), WEFT_ERROR_UNSUPPORTED (too many
 *          rows), WEFT_ERROR_MEMORY
 *  Source  Fritsch and Carlson 1980, Monotone piecewise cubic interpolation, SIAM J. Numer. Anal. 17 */
weft_status weft_script_table_read(weft_arena *arena, const char *path, weft_location place,
                                   const weft_script_table **out, weft_error *error);
