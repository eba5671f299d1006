/** Values along lines. In: texts of --line. Out: CSV files. */
#pragma once

#include "apps/common/support.h"

/** One --line. */
typedef struct app_line {
    double from[3], to[3];
    int n_from, n_to; /* coordinates given */
    int n;            /* points, both ends included */
    char *path;       /* malloc'd */
    char origin[160]; /* "--line 0,0:1,0:11=a.csv", for messages */
} app_line;

typedef struct app_lines {
    app_line *list;
    int n;
} app_lines;

/** Parse X,Y[,Z]:X,Y[,Z]:N=FILE and append it.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status app_line_read(app_lines *lines, const char *text, weft_error *error);
void app_lines_clear(app_lines *lines);
