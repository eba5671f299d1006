/** Functions of a space: nodal values.
 *
 *      formula -> values at the nodes;  values -> errors, result files */
#ifndef WEFT_FUNCTION_H
#define WEFT_FUNCTION_H

#include "fem/weft_result.h"
#include "fem/weft_space.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether the formula is a literal number, which needs no kernel; *value gets it. */
bool weft_formula_constant(const char *text, double *value);
/** The value of a formula without coordinates, such as 1/40; 0 on a device that computes nothing.
 *  origin  names the formula in messages
 *  t       the time, for formulas in t; NULL: they have none
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE (with a caret in the formula), _COMPILER, _DEVICE, _MEMORY */
weft_status weft_formula_evaluate(weft_context *context, const char *text, const char *origin,
                                  const double *t, double *value, weft_error *error);
/** Set and return WEFT_ERROR_INPUT: the formula is not finite at or near the given node, at t = 0 if it has a t. */
weft_status weft_formula_refuse(const weft_space *space, const char *text, const char *origin,
                                int64_t node, weft_error *error);
/** Evaluate a formula in x, y, z at the nodes. Formulas by group are for groups of cells; where the nodes are
 *  those of the mesh, for groups of facets too.
 *  origin          names the formula in messages
 *  memory, values  [nodes], from weft_vector_make
 *  Errors          WEFT_ERROR_SYNTAX, _TYPE (with a caret in the formula), _COMPILER, _DEVICE,
 *                  _MEMORY */
weft_status weft_space_evaluate(weft_context *context, const weft_space *space, const char *text,
                                const char *origin, weft_memory *memory, double *values,
                                weft_error *error);
/** Squared errors of a scalar function u against a formula, by a rule of degree 2 p + 3 for an element of degree p:
 *
 *      squares[0] = int (u - exact)^2,   squares[1] = int |grad u - grad exact|^2
 *
 *  u       [nodes], on the device
 *  origin  names the formula in messages; NULL: "exact"
 *  Errors  as weft_space_evaluate; WEFT_ERROR_UNSUPPORTED (formulas by group, unless functions are linear on straight
 *          triangles or tetrahedra) */
weft_status weft_space_errors(weft_context *context, const weft_space *space, weft_memory *u,
                              const char *exact, const char *origin, double squares[2],
                              weft_error *error);
/** The same for component k of a function.
 *  u  [nodes][components], on the host */
weft_status weft_space_measure_errors(weft_context *context, const weft_space *space,
                                      const double *u, int component, const char *exact,
                                      const char *origin, double squares[2], weft_error *error);
/** The integral of component k over the mesh; u NULL: of 1, which is the length, area or volume. */
weft_status weft_space_integral(const weft_space *space, const double *u, int component,
                                double *out, weft_error *error);
/** Add the values of a function at the nodes of another space on the same mesh.
 *  u    [nodes][components]
 *  to   each of its nodes takes the value in the first cell that has it
 *  out  [nodes of to][components] */
weft_status weft_space_interpolate(const weft_space *space, const double *u, int components,
                                   const weft_space *to, double *out, weft_error *error);
/** Points of cells. */
typedef struct weft_cell_points {
    int64_t n;
    const int64_t *cells; /* [n]; -1: none */
    const double *xi;     /* [n][d] reference coordinates */
} weft_cell_points;
/** Add the values of a function at points of cells, such as those of weft_mesh_locate_cells.
 *  u       [nodes][components]
 *  out     [n], `stride` numbers apart
 *  Errors  WEFT_ERROR_USAGE (a quadrature element), WEFT_ERROR_MEMORY */
weft_status weft_space_evaluate_at(const weft_space *space, const double *u, int components,
                                   const weft_cell_points *points, int stride, double *out,
                                   weft_error *error);
/** Write "x", "(x, y)" or "(x, y, z)" for messages. Returns out. */
const char *weft_point_text(const double *point, int dimension, char out[64]);
/** How result files show functions of a space: at the nodes of the mesh, or at equispaced nodes, since
 *  VTK's Lagrange cells of any degree have these. */
typedef struct weft_space_output weft_space_output;
/** Functions of elements whose nodes are not a lattice are shown at those of the (discontinuous) Lagrange element of
 *  their degree.
 *  space   of an element with functions that vary in cells; borrowed
 *  out     caller's; weft_space_output_free
 *  Errors  WEFT_ERROR_USAGE (another element), WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_space_output_make(const weft_space *space, weft_space_output **out,
                                   weft_error *error);
void weft_space_output_free(weft_space_output **output);
/** The nodes, borrowed; NULL: those of the mesh. */
const weft_result_nodes *weft_space_output_nodes(const weft_space_output *output);
/** The values of a function at these nodes.
 *  values  [nodes][components] at the nodes of the space
 *  scratch  [weft_space_output_nodes][components], filled if they are other nodes
 *  Returns values or scratch */
const double *weft_space_output_values(const weft_space_output *output, int components,
                                       const double *values, double *scratch);
/** Write functions of a space to a result file. From degree 3 on, values are interpolated to
 *  equispaced nodes, since VTK's Lagrange cells of any degree have these.
 *  space   as weft_space_output_make
 *  path, fields, n_fields, errors   as weft_result_write, nodes being those of the space */
weft_status weft_space_write(const char *path, const weft_space *space, const weft_field *fields,
                             int n_fields, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
