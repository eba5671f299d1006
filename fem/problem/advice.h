/** Warnings about problems that linear elements or simple preconditioners do badly.
 *
 *      In: a problem, and how its solve went. Out: messages of the monitor. */
#pragma once

#include "fem/problem/problem.h"

/** After a solve of op for u: if CG with a preconditioner of Weft's own took more iterations than is usual, and the matrix
 *  shows why (fem/sparse/couplings.h), log a warning with advice. Needs the matrix on the host; says nothing for
 *  operators without one, and for small ones. */
void weft_advise(const weft_linear *linear, const weft_solution *u, weft_operator *op);
/** How many times as long as thick the body is of which u is a displacement; 1: u is none. (fem/problem/slender.c) */
double weft_slenderness(const weft_solution *u);
/** Bodies that are longer bend so easily that their matrices are badly conditioned. */
#define WEFT_SLENDER 10
/** Warn where linear elements are too stiff for the shape of the body. */
void weft_warn_slender(const weft_solution *u);
