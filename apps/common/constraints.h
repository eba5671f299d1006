/** Options of constraints and concentrated loads. In: texts of the command line. Out: constraints of
 *  a problem (fem/weft_problem_constraints.h). */
#pragma once

#include "apps/common/place.h"

typedef enum app_constraint_kind {
    APP_TIE,
    APP_PERIODIC,
    APP_SYMMETRY,
    APP_POINT_VALUE,
    APP_POINT_LOAD
} app_constraint_kind;

typedef struct app_constraint {
    app_constraint_kind kind;
    const char *text;    /* as given; borrowed from argv */
    char *group, *other; /* malloc'd; other: of --periodic, NULL: what the mesh declares */
    app_place place;     /* of points */
    char **values;       /* [n_values] of points, formulas; malloc'd */
    int n_values;
    char origin[300];
} app_constraint;

typedef struct app_constraints {
    app_constraint *list;
    int n;
} app_constraints;

/** Parse GROUP (tie, symmetry), GROUP=GROUP or `mesh` (periodic) or POINT=VALUE[,VALUE...] (points;
 *  `free` in place of a value) and append it.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status app_constraint_read(app_constraints *constraints, app_constraint_kind kind,
                                const char *text, weft_error *error);
void app_constraints_clear(app_constraints *constraints);
/** Append the options as they were given, " --tie 'right'". */
void app_constraints_write(const app_constraints *constraints, weft_text *out);
