/** Random form files. */
#pragma once

#include "core/weft_core.h"

/** Append the text of a form file in legacy UFL: forms L of rank 1, a of rank 2, and for some seeds F and J, the
 *  derivatives of a functional. Equal seeds give equal texts.
 *  degree  of the rule of all integrals */
void random_form(uint64_t seed, int *degree, weft_text *out);
