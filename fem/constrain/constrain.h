/** Linear constraints between dofs. In: equations. Out: u = C v + g, and the problem for v. The
 *  interface is public: fem/weft_constraint.h, fem/weft_modes.h and fem/weft_point_load.h.
 *
 *  Decision  docs/decisions/0032-constraints-are-sparse-maps.md */
#pragma once

#include "fem/base/spans.h"
#include "fem/weft_modes.h"
#include "fem/weft_point_load.h"

/** weft_operator_row_sizes of vectors that stay on the device.
 *  mask     [n_dofs] factors of s; NULL: 1
 *  scratch  [2][n_dofs], neither mask nor out
 *  out      [n_dofs] */
weft_status weft_operator_size_rows(weft_spans *spans, weft_operator *op, weft_memory *mask,
                                    weft_memory *const scratch[2], weft_memory *out,
                                    weft_error *error);
