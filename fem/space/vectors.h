/** Functions with values that are mapped with the cells (weft_map). In: dofs. Out: values, and back. */
#pragma once

#include "fem/weft_function.h"

/** Components of the values of a function: those of its nodes, or of the element's vectors. */
int weft_space_values_of(const weft_space *space);
/** Are the values mapped with the cells? Then the dofs of a node are no values. */
bool weft_space_is_mapped(const weft_space *space);

/** Set and return WEFT_ERROR_UNSUPPORTED: there is `what` for functions whose dofs are values alone. */
weft_status weft_mapped_refuse(const char *what, weft_error *error);

/** How values on a straight simplex follow from those on the reference cell, and the other way. */
typedef struct weft_mapping {
    int d;
    double push[3][3], pull[3][3];
} weft_mapping;
void weft_mapping_make(const weft_mesh *mesh, weft_map map, int64_t cell, weft_mapping *out);
/** reference, values, out  [d] */
void weft_mapping_push(const weft_mapping *map, const double *reference, double *out);
void weft_mapping_pull(const weft_mapping *map, const double *values, double *out);

/** weft_space_interpolate and weft_space_evaluate_at of such functions.
 *  to   of an element with values at points
 *  out  [nodes of to][d], or d numbers for each point */
weft_status weft_mapped_interpolate(const weft_space *space, const double *u, const weft_space *to,
                                    double *out, weft_error *error);
weft_status weft_mapped_evaluate_at(const weft_space *space, const double *u,
                                    const weft_cell_points *points, int stride, double *out,
                                    weft_error *error);
/** The dofs of the constant unit vector along an axis.
 *  out  [nodes] */
weft_status weft_mapped_constant(const weft_space *space, int component, double *out,
                                 weft_error *error);
/** The dofs of a vector field with a formula for each component.
 *  texts    [d], of t too where `when` is there; origin names them in messages
 *  when     one number, the time; NULL: formulas have none
 *  values   [nodes]: of dofs that cells share the last cell's holds
 *  Errors   as weft_space_evaluate; WEFT_ERROR_INPUT (not finite) */
weft_status weft_mapped_evaluate(weft_context *context, const weft_space *space,
                                 const char *const *texts, const char *origin, weft_memory *when,
                                 double *values, weft_error *error);
