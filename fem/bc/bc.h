/** Boundary conditions. In: a space and conditions by groups. Out: constrained dofs with values,
 *  forms and loads of facets, solvability. The interface is public: fem/weft_bc.h.
 *
 *  Decision  docs/decisions/0030-spaces-and-conditions-are-in-the-library.md */
#pragma once

#include "fem/weft_bc.h"
/** weft_balance_of from the sum of b, and the sum of its sizes. */
weft_balance weft_balance_of_sums(double sum, double size);
