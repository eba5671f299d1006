/** Linear constraints between dofs. In: equations. Out: u = C v + g, and the problem for v. The
 *  interface is public: fem/weft_constraint.h and fem/weft_modes.h. */
#pragma once

#include "fem/weft_modes.h"
