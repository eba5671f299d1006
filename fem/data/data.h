/** Values of formulas by group. In: a mesh, groups with values. Out: a list over cells or nodes. The
 *  interface is public: fem/weft_data.h. */
#pragma once

#include "fem/weft_data.h"

/** Write the value of each cell's, or each node's, group.
 *  out     [n_cells] or [n_nodes]
 *  Errors  as weft_data_bind */
weft_status weft_data_of_cells(const weft_mesh *mesh, const weft_data_info *info, double *out,
                               weft_error *error);
weft_status weft_data_of_nodes(const weft_mesh *mesh, const weft_data_info *info, double *out,
                               weft_error *error);
