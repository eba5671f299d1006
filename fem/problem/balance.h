/** Makes the balance of a solution (fem/weft_problem_results.h).
 *
 *      In:  the residual r = A u - b, and its terms
 *      Out: reactions + loads + exchange - equation - storage, which is zero up to what the solver leaves of r */
#pragma once

#include "fem/problem/fields.h"
#include "fem/weft_constraint.h"

/** sums += factor more, for each component of u. */
void weft_sums_add(double sums[WEFT_VALUES_MAX], double factor, const double *more);
/** Append a part; sums NULL: zeros.
 *  out     borrowed until the next one is added; may be NULL
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_flows_add(weft_flows *flows, const char *name, const double *sums, weft_flow **out,
                           weft_error *error);
void weft_flows_sum(const weft_flows *flows, double out[WEFT_VALUES_MAX]);
/** Add the size of a vector [n_dofs] that has part in the balance. */
void weft_balance_add_size(weft_problem_balance *balance, const weft_solution *u,
                           const double *vector);
/** Add the exchange of Robin conditions at the present time, times a weight.
 *  given, taken  their sums are added: int g and int alpha u, without the weight */
weft_status weft_balance_exchange(const weft_fields *fields, weft_problem_balance *balance,
                                  weft_memory *u, double weight, double given[WEFT_VALUES_MAX],
                                  double taken[WEFT_VALUES_MAX], weft_error *error);
/** Once all else is known: add the reactions and sum up. Warns if the balance is far from zero.
 *  constraints  NULL: none
 *  r  [n_dofs]; overwritten */
weft_status weft_balance_make(const weft_fields *fields, weft_constraints *constraints,
                              weft_problem_balance *balance, double *r, weft_error *error);
