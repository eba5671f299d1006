/** Values of formulas by group. In: a mesh, groups with values. Out: a list over cells or nodes. The
 *  interface is public: fem/weft_data.h. */
#pragma once

#include "fem/weft_data.h"

/** Write the value of each cell's, or each node's, group.
 *  out     [n_cells] or [n_nodes]
 *  Errors  as weft_data_bind */
weft_status weft_data_of_cells(const weft_mesh *mesh, const weft_data_info *info, double *out,
                               weft_error *error);
/** Elements by their vertices. */
typedef struct weft_data_elements {
    int64_t n;
    int n_vertices;
    const int32_t *nodes; /* [n][n_vertices], of the mesh */
} weft_data_elements;
/** Write the coefficients of a field in each element, as weft_data_info says; without elements, the
 *  field at the nodes.
 *  out     [blocks][dimension+1][lanes], or [n_nodes]
 *  Errors  as weft_data_bind */
weft_status weft_data_of_field(weft_device *device, const weft_mesh *mesh,
                               const weft_data_info *info, const weft_data_elements *elements,
                               double *out, weft_error *error);
weft_status weft_data_of_nodes(const weft_mesh *mesh, const weft_data_info *info, double *out,
                               weft_error *error);
