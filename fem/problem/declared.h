/** Constraints and loads at points that a problem is given, kept until a solve makes them.
 *
 *      In: weft_constraint, weft_point_load; later a mesh and the components of u.
 *      Out: weft_constraints, weft_point_loads. */
#pragma once

#include "fem/weft_point_load.h"
#include "fem/weft_problem_constraints.h"

typedef struct weft_declared {
    weft_constraint *list; /* [n], malloc'd, as is loads */
    weft_point_load *loads;
    int n, n_loads;
} weft_declared;

void weft_declared_clear(weft_declared *declared);
/** Errors  those of weft_problem_constraint and weft_problem_point_load */
weft_status weft_declared_add(weft_declared *declared, const weft_constraint *constraint,
                              weft_error *error);
weft_status weft_declared_add_load(weft_declared *declared, const weft_point_load *load,
                                   weft_error *error);
/** Refuse periodic sides.
 *  file    of the forms
 *  Errors  WEFT_ERROR_UNSUPPORTED: there are such constraints */
weft_status weft_declared_refuse_periodic(const weft_declared *declared, const char *file,
                                          weft_error *error);
/** What is declared is added to these, of a u with so many components in all. */
typedef struct weft_declared_target {
    const weft_mesh *mesh;
    int n_values;
    weft_constraints *constraints;
    weft_point_loads *loads;
} weft_declared_target;
/** Errors  those of fem/weft_constraint.h; WEFT_ERROR_USAGE: no such component */
weft_status weft_declared_make(const weft_declared *declared, const weft_declared_target *to,
                               weft_error *error);
weft_status weft_declared_make_loads(const weft_declared *declared, const weft_declared_target *to,
                                     weft_error *error);
