/** The balance of a solution: what flows into it, or the forces on it, by component of u.
 *
 *      In:  the residual r = A u - b, and what it is made of
 *      Out: reactions + loads + exchange - equation - storage, which is zero up to what the solver leaves of r
 *
 *  All are sums over the dofs of a component, i.e. integrals with a test function of 1. */
#pragma once

#include "apps/common/support.h"
#include "fem/weft_fem.h"

enum { APP_VALUES_MAX = 16 }; /* components of u in all fields */

/** A part of the balance that has a name: "right", "--symmetry left", "ds(2)". */
typedef struct app_flow {
    char *name; /* malloc'd */
    double sums[APP_VALUES_MAX];
    bool is_free[APP_VALUES_MAX]; /* it has no condition on this component */
} app_flow;

typedef struct app_flows {
    app_flow *list;
    int n;
} app_flows;

typedef struct app_balance {
    bool is_made;
    app_flows reactions; /* of Dirichlet groups, and of constraints */
    /* of Robin groups, and of parts of the boundary over which a form integrates u */
    app_flows exchange;
    double loads[APP_VALUES_MAX]; /* sources, fluxes and loads at points */
    /* what the terms of the equation take up: 0 for -div(k grad u) */
    double equation[APP_VALUES_MAX];
    double storage[APP_VALUES_MAX]; /* in time: the derivative of the content */
    double sums[APP_VALUES_MAX];    /* of all */
    double sizes[APP_VALUES_MAX];   /* of the terms at all nodes, without signs */
    bool in_time;
    char loads_reason[200]; /* why the loads are not known: they are in `equation`; "": they are */
    char note[200];         /* printed behind the balance; "": nothing */
} app_balance;

struct app_run;
void app_balance_clear(app_balance *balance);
/** sums += factor more, for each component of u. */
void app_balance_add(double sums[APP_VALUES_MAX], double factor, const double *more);
/** Append a part; sums NULL: zeros.
 *  out     borrowed until the next one is added; may be NULL
 *  Errors  WEFT_ERROR_MEMORY */
weft_status app_flows_add(app_flows *flows, const char *name, const double *sums, app_flow **out,
                          weft_error *error);
/** The sums of a vector [n_dofs] by component of u, which are its products with the constant 1.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status app_balance_sum(const struct app_run *run, const double *values,
                            double out[APP_VALUES_MAX], weft_error *error);
/** Add the size of a vector [n_dofs] that has part in the balance. */
void app_balance_size(struct app_run *run, const double *values);
/** Add the exchange of Robin conditions at the present time, times a weight.
 *  given, taken  their sums are added: int g and int alpha u, without the weight */
weft_status app_balance_exchange(struct app_run *run, weft_memory *u, double weight,
                                 double given[APP_VALUES_MAX], double taken[APP_VALUES_MAX],
                                 weft_error *error);
/** Once all else is known: add the reactions and sum up. Warns if the balance is far from zero.
 *  r  [n_dofs]; overwritten */
weft_status app_balance_make(struct app_run *run, double *r, weft_error *error);
void app_balance_print(const struct app_run *run);
/** Add "reactions", "exchange", "loads", "equation", "storage" and "balance". */
bool app_balance_json(json_t *root, const struct app_run *run);
