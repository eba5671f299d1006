/** The forms of a file as a script over a mesh with its elementary functions.
 *  In: a form file that was read. Out: the text of a script that `solve` takes, and functions for a
 *  library.
 *
 *  The script has K, the local matrix of a or J, and b of L, or the residual r of F; each is the sum of one call
 *  for each integral. Coefficients are inputs over nodes (P1), over cells (DG0) or uniform (Real, Constant), by their
 *  names in the file; what a form is differentiated by is called u. */
#pragma once

#include "forms/file/file.h"
#include "forms/lower/lower.h"

/** All functions of a form's integrals over cells.
 *  out  arena; [n]
 *  Returns their number, or -1 and an error. */
int ufl_compile_form(weft_ufl *ufl, const ufl_prepared *form, const char *name,
                     const ufl_lowered ***out);
