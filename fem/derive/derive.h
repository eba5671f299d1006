/** Derived quantities. In: a form, a solution, formulas. Out: fields, integrals, extrema, reactions.
 *  The interface is public: fem/weft_derive.h. */
#pragma once

#include "fem/weft_derive.h"
