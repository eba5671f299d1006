/** Derived quantities. In: a form, a solution, formulas. Out: fields, integrals, extrema, reactions.
 *  The interface is public: fem/weft_derive.h. */
#pragma once

#include "fem/weft_derive.h"

/** Do formulas use this name for something else than functions, such as x? */
bool weft_derive_reserves(const char *name);
