/** The balance of a solution: what flows into it, or the forces on it, by component of u.
 *
 *      In:  the residual r = A u - b, and what it is made of
 *      Out: reactions + loads + exchange - equation - storage, which is zero up to what the solver leaves of r
 *
 *  All are sums over the dofs of a component, i.e. integrals with a test function of 1. */
#pragma once

#include "core/weft_device.h"
#include "fem/weft_problem.h"

enum { WEFT_VALUES_MAX = 16 }; /* components of u in all fields */

/** A part of the balance that has a name: "right", "--symmetry left", "ds(2)". */
typedef struct weft_flow {
    char *name; /* malloc'd */
    double sums[WEFT_VALUES_MAX];
    bool is_free[WEFT_VALUES_MAX]; /* it has no condition on this component */
} weft_flow;

typedef struct weft_flows {
    weft_flow *list;
    int n;
} weft_flows;

typedef struct weft_problem_balance {
    bool is_made;
    weft_flows reactions; /* of Dirichlet groups, and of constraints */
    /* of Robin groups, and of parts of the boundary over which a form integrates u */
    weft_flows exchange;
    double loads[WEFT_VALUES_MAX]; /* sources, fluxes and loads at points */
    /* what the terms of the equation take up: 0 for -div(k grad u) */
    double equation[WEFT_VALUES_MAX];
    double storage[WEFT_VALUES_MAX]; /* in time: the derivative of the content */
    double sums[WEFT_VALUES_MAX];    /* of all */
    double sizes[WEFT_VALUES_MAX];   /* of the terms at all nodes, without signs */
    bool in_time;
    char loads_reason[200]; /* why the loads are not known: they are in `equation`; "": they are */
    char note[200];         /* printed behind the balance; "": nothing */
} weft_problem_balance;

void weft_problem_balance_clear(weft_problem_balance *balance);
/** sums += factor more, for each component of u. */
void weft_sums_add(double sums[WEFT_VALUES_MAX], double factor, const double *more);
/** Append a part; sums NULL: zeros.
 *  out     borrowed until the next one is added; may be NULL
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_flows_add(weft_flows *flows, const char *name, const double *sums, weft_flow **out,
                           weft_error *error);
void weft_flows_sum(const weft_flows *flows, double out[WEFT_VALUES_MAX]);
/** The sums of a vector [n_dofs] by component of u, which are its products with the constant 1.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_problem_sum(const weft_problem *problem, const double *values,
                             double out[WEFT_VALUES_MAX], weft_error *error);
/** Add the size of a vector [n_dofs] that has part in the balance. */
void weft_problem_balance_size(weft_problem *problem, const double *values);
/** Add the exchange of Robin conditions at the present time, times a weight.
 *  given, taken  their sums are added: int g and int alpha u, without the weight */
weft_status weft_problem_exchange(weft_problem *problem, weft_memory *u, double weight,
                                  double given[WEFT_VALUES_MAX], double taken[WEFT_VALUES_MAX],
                                  weft_error *error);
/** Once all else is known: add the reactions and sum up. Warns if the balance is far from zero.
 *  r  [n_dofs]; overwritten */
weft_status weft_problem_balance_make(weft_problem *problem, double *r, weft_error *error);
