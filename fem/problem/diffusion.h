/** The shipped form of -div(k grad u), of a scalar u of degree 1.
 *
 *      In: a space and a formula k; later the solution. Out: the form; int u and int k |grad u|^2 / 2.
 *
 *  Decision  docs/decisions/0058-poisson-has-no-text.md */
#pragma once

#include "fem/problem/assembled.h"

/** The form of the cells.
 *  k       a formula; NULL: 1; borrowed, as is origin, which names it in messages
 *  Errors  WEFT_ERROR_UNSUPPORTED: the cells are not triangles or tetrahedra */
weft_status weft_diffusion_form(const weft_space *space, const char *k, const char *origin,
                                weft_bound_form *out, weft_error *error);
/** Integrate the solution.
 *  form    of weft_diffusion_form
 *  energy  to which constants that weak conditions hold add nothing but rounding; NULL: not wanted */
weft_status weft_diffusion_measure(const weft_assembled *system, const weft_bound_form *form,
                                   double *integral, double *energy, weft_error *error);
