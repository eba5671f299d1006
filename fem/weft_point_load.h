/** Concentrated loads: sources and forces at points.
 *
 *      In: points, values. Out: their contributions to a right-hand side. */
#ifndef WEFT_POINT_LOAD_H
#define WEFT_POINT_LOAD_H

#include "fem/weft_constraint.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_point_loads weft_point_loads;
/** context, space, bc  borrowed; must outlive the result; bc has the time
 *  out                 caller's; weft_point_loads_free
 *  Errors              WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_point_loads_make(weft_context *context, const weft_space *space, const weft_bc *bc,
                                  weft_point_loads **out, weft_error *error);
/** The same for mixed functions, as weft_constraints_make_in. */
weft_status weft_point_loads_make_in(weft_context *context, const weft_constraint_field *fields,
                                     int n, weft_point_loads **out, weft_error *error);
void weft_point_loads_free(weft_point_loads **loads);
/** A load at a point: the values of the cell's shape functions there, times the load.
 *  value   a number, or a formula in x, y, z and t; copied
 *  Errors  WEFT_ERROR_INPUT: the point is outside the mesh */
weft_status weft_point_loads_add(weft_point_loads *loads, const double *point, int component,
                                 const char *value, const char *origin, weft_error *error);
/** Does a load depend on time? */
bool weft_point_loads_move(const weft_point_loads *loads);
/** Add all loads at the time of the conditions (weft_bc_set_time) to b [n_dofs].
 *  Errors  WEFT_ERROR_INPUT: a load is not finite; those of weft_program_make */
weft_status weft_point_loads_apply(weft_point_loads *loads, weft_memory *b, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
