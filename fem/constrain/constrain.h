/** Linear constraints between dofs. In: equations. Out: u = C v + g, and the problem for v. The
 *  interface is public: fem/weft_constraint.h, fem/weft_modes.h and fem/weft_point_load.h.
 *
 *  Decision  docs/decisions/0032-constraints-are-sparse-maps.md */
#pragma once

#include "fem/weft_modes.h"
#include "fem/weft_point_load.h"
