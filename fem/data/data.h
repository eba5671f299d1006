/** Values of formulas by group and of fields of files. In: a mesh, groups with values or a file. Out: a
 *  list over cells, facets or points. The interface is public: fem/weft_data.h. */
#pragma once

#include "fem/weft_data.h"

/** Write the value of each cell's group.
 *  out     [n_cells]
 *  Errors  as weft_data_bind */
weft_status weft_data_of_cells(const weft_mesh *mesh, const weft_data_info *info, double *out,
                               weft_error *error);
/** Write the value of each point's group.
 *  out     [points->n]
 *  Errors  as weft_data_bind */
weft_status weft_data_of_points(weft_device *device, const weft_mesh *mesh,
                                const weft_data_info *info, const weft_data_points *points,
                                double *out, weft_error *error);
/** Elements by their vertices. */
typedef struct weft_data_elements {
    int64_t n;
    int n_vertices;
    const int32_t *nodes; /* [n][n_vertices], of the mesh */
} weft_data_elements;
/** Write the coefficients of a field in each element, as weft_data_info says.
 *  out     [blocks][dimension+1][lanes]
 *  Errors  as weft_data_bind */
weft_status weft_data_of_field(weft_device *device, const weft_mesh *mesh,
                               const weft_data_info *info, const weft_data_elements *elements,
                               double *out, weft_error *error);
/** Write the values of a field at points.
 *  out     [points->n]
 *  Errors  as weft_data_bind */
weft_status weft_data_of_field_at(weft_device *device, const weft_mesh *mesh,
                                  const weft_data_info *info, const weft_data_points *points,
                                  double *out, weft_error *error);

/* ---- texts (split.c) ------------------------------------------------------------------------- */

/** Append the formula of a group ("": none) to a formula by group.
 *  text  [length] */
void weft_formula_append(weft_text *out, const char *group, const char *text, size_t length);
/** Split text at commas outside parentheses and strip the blanks around the pieces.
 *  Each group has as many pieces, and piece k of the result has those of all groups.
 *  origin  names the text in messages
 *  out     [*n] malloc'd, as is each piece; weft_formula_list_free
 *  Errors  WEFT_ERROR_USAGE: an empty piece, a group with more or fewer pieces than the one before;
 *          WEFT_ERROR_SYNTAX, WEFT_ERROR_MEMORY */
weft_status weft_formula_split(const char *origin, const char *text, char ***out, int *n,
                               weft_error *error);
void weft_formula_list_free(char ***list, int n);
/** The same, requiring one piece per component of the solution.
 *  Errors  also WEFT_ERROR_USAGE: more or fewer pieces than components */
weft_status weft_formula_components(const char *origin, const char *text, int components,
                                    char ***out, weft_error *error);
