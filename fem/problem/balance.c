/* Sums what flows into the solution: reactions, loads, exchange, and what takes them up. */
#include "fem/problem/balance.h"
#include "fem/weft_derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the terms at all nodes: a balance that is farther from zero gets a warning. */
static const double FAR = 1e-4;
/* The same for values that are rounding, and are not printed. */
static const double ROUNDING = 1e-11;

/* ---- flows ----------------------------------------------------------------------------------- */

static void clear_flows(weft_flows *flows) {
    for (int i = 0; i < flows->n; ++i)
        free(flows->list[i].name);
    free(flows->list);
    *flows = (weft_flows){0};
}

void weft_problem_balance_clear(weft_problem_balance *balance) {
    clear_flows(&balance->reactions);
    clear_flows(&balance->exchange);
    *balance = (weft_problem_balance){.is_made = false};
}

weft_status weft_flows_add(weft_flows *flows, const char *name, const double *sums, weft_flow **out,
                           weft_error *error) {
    weft_flow made = {.name = strdup(name)};
    if (!made.name)
        return weft_out_of_memory(error, NULL);
    if (sums)
        memcpy(made.sums, sums, sizeof made.sums);
    weft_flow *list = realloc(flows->list, ((size_t)flows->n + 1) * sizeof *list);
    if (!list) {
        free(made.name);
        return weft_out_of_memory(error, "a balance");
    }
    flows->list = list;
    list[flows->n++] = made;
    if (out)
        *out = &flows->list[flows->n - 1];
    return WEFT_OK;
}

void weft_sums_add(double sums[WEFT_VALUES_MAX], double factor, const double *more) {
    for (int k = 0; k < WEFT_VALUES_MAX; ++k)
        sums[k] += factor * more[k];
}

void weft_flows_sum(const weft_flows *flows, double out[WEFT_VALUES_MAX]) {
    memset(out, 0, WEFT_VALUES_MAX * sizeof *out);
    for (int i = 0; i < flows->n; ++i)
        weft_sums_add(out, 1, flows->list[i].sums);
}

void weft_balance_add_size(weft_problem_balance *balance, const weft_solution *u,
                           const double *vector) {
    for (int f = 0; f < u->n_fields; ++f) {
        const weft_problem_field *field = &u->fields[f];
        const int c = weft_space_components(field->space);
        const int64_t n = weft_space_dofs(field->space);
        double *sizes = &balance->sizes[field->first_value];
        for (int64_t i = 0; i < n; ++i) /* components of one function have one unit */
            sizes[0] += fabs(vector[field->first_dof + i]);
        for (int k = 1; k < c; ++k)
            sizes[k] = sizes[0];
    }
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Does an entry begin with this condition? Those on the components of one group that follow each other have one. */
static bool starts_entry(const weft_condition *list, int i) {
    return i == 0 || list[i].origin != list[i - 1].origin || list[i].kind != list[i - 1].kind ||
           strcmp(list[i].group, list[i - 1].group) != 0;
}

/* The entry of a condition, made at the first. */
static weft_status enter(weft_flows *flows, const weft_condition *list, int i, weft_flow **flow,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_condition *piece = &list[i];
    if (starts_entry(list, i)) {
        TRY(weft_flows_add(flows, piece->group, NULL, flow, error));
        memset((*flow)->is_free, 1, sizeof(*flow)->is_free);
    }
    (*flow)->is_free[piece->component] = false;
done:
    return status;
}

/* One entry for the components of each group, unless they are there. */
static weft_status list_exchange(const weft_fields *fields, weft_flows *exchange,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_condition *list = fields->conditions;
    weft_flow *flow = NULL;
    if (exchange->n > 0)
        goto done;
    for (int i = 0; i < fields->n_conditions; ++i)
        if (list[i].kind == WEFT_ROBIN)
            TRY(enter(exchange, list, i, &flow, error));
done:
    return status;
}

/* A number of each condition, from those on one field, whose conditions are those of its components, in their order. */
static void take_own(const weft_fields *fields, const weft_problem_field *field, const double *own,
                     double *out) {
    const int c = weft_space_components(field->space);
    for (int i = 0; i < fields->n_conditions; ++i) {
        const int component = fields->conditions[i].component - field->first_value;
        if (fields->n == 1 || (component >= 0 && component < c && !field->is_enrichment))
            out[i] += *own++;
    }
}

/* What each condition exchanges.
 *  sums  [2][n of pieces] given, taken; and as many for work */
static weft_status exchange_of(const weft_fields *fields, weft_memory *u, double *sums,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = fields->n_conditions;
    double *own = sums + 2 * n;
    for (int f = 0; f < fields->n; ++f) {
        TRY(weft_bc_exchange(fields->list[f].bc, u, own, own + n, n, error));
        take_own(fields, &fields->list[f], own, sums);
        take_own(fields, &fields->list[f], own + n, sums + n);
    }
done:
    return status;
}

weft_status weft_balance_exchange(const weft_fields *fields, weft_problem_balance *balance,
                                  weft_memory *u, double weight, double given[WEFT_VALUES_MAX],
                                  double taken[WEFT_VALUES_MAX], weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_condition *list = fields->conditions;
    const weft_form *forms = NULL;
    double *sums = NULL;
    int entry = -1;
    if (weft_bc_forms(fields->bc, &forms) == 0)
        goto done;
    sums = calloc(4 * (size_t)fields->n_conditions, sizeof *sums);
    if (!sums)
        TRY(weft_out_of_memory(error, NULL));
    TRY(exchange_of(fields, u, sums, error));
    TRY(list_exchange(fields, &balance->exchange, error));
    for (int i = 0; i < fields->n_conditions; ++i) {
        const weft_condition *piece = &list[i];
        if (piece->kind != WEFT_ROBIN)
            continue;
        entry += starts_entry(list, i);
        balance->exchange.list[entry].sums[piece->component] +=
            weight * (sums[i] - sums[fields->n_conditions + i]);
        given[piece->component] += sums[i];
        taken[piece->component] += sums[fields->n_conditions + i];
    }
done:
    free(sums);
    return status;
}

/* ---- reactions ------------------------------------------------------------------------------- */

static weft_status react(const weft_fields *fields, const weft_problem_field *field,
                         const double *r, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(field->space), n = fields->n_conditions;
    double *own = calloc((size_t)(n + c), sizeof *own);
    if (!own)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_reactions(field->bc, r + field->first_dof, own, n > 0 ? n : c, error));
    take_own(fields, field, own, out);
    for (int i = 0; n == 0 && i < c; ++i)
        out[i] = own[i];
done:
    free(own);
    return status;
}

/* One entry for the components of each group. */
static weft_status add_reactions(const weft_fields *fields, weft_flows *reactions, const double *r,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_condition *list = fields->conditions;
    weft_flow *flow = NULL;
    double *all = calloc((size_t)fields->n_conditions + WEFT_VALUES_MAX, sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, NULL));
    for (int f = 0; f < fields->n; ++f)
        TRY(react(fields, &fields->list[f], r, all, error));
    if (fields->n_conditions == 0 && !weft_fields_are_natural(fields))
        TRY(weft_flows_add(reactions, "boundary", all, NULL, error));
    for (int i = 0; i < fields->n_conditions; ++i) {
        const weft_condition *piece = &list[i];
        if (piece->kind != WEFT_DIRICHLET)
            continue;
        TRY(enter(reactions, list, i, &flow, error));
        flow->sums[piece->component] += all[i];
    }
done:
    free(all);
    return status;
}

/* One entry for those that share dofs. */
static weft_status add_forces(weft_flows *reactions, int n_values,
                              const weft_constraint_forces *forces, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text name = {0};
    for (int i = 0; i < forces->n; ++i) {
        double sums[WEFT_VALUES_MAX] = {0};
        weft_text_free(&name);
        for (int k = i; k < forces->n; ++k)
            if (forces->first[k] == i && forces->supplies[k])
                weft_text_add(&name, "%s%s", name.length > 0 ? " + " : "", forces->origins[k]);
        if (name.failed)
            TRY(weft_out_of_memory(error, NULL));
        memcpy(sums, forces->sums + (ptrdiff_t)i * n_values, (size_t)n_values * sizeof *sums);
        if (name.length > 0)
            TRY(weft_flows_add(reactions, name.data, sums, NULL, error));
    }
done:
    weft_text_free(&name);
    return status;
}

/* ---- the balance ----------------------------------------------------------------------------- */

static void sum_up(weft_problem_balance *balance) {
    double sums[WEFT_VALUES_MAX];
    weft_flows_sum(&balance->reactions, balance->sums);
    weft_flows_sum(&balance->exchange, sums);
    weft_sums_add(balance->sums, 1, sums);
    weft_sums_add(balance->sums, 1, balance->loads);
    weft_sums_add(balance->sums, -1, balance->equation);
    weft_sums_add(balance->sums, -1, balance->storage);
}

/* Equations like div u = 0 have no size of their own. */
static void warn(const weft_problem_balance *balance, int n_values, const weft_monitor *monitor) {
    double size = 0;
    for (int k = 0; k < n_values; ++k)
        size = fmax(size, balance->sizes[k]);
    for (int k = 0; k < n_values; ++k)
        if (fabs(balance->sums[k]) > FAR * size) {
            weft_log(
                monitor, WEFT_LOG_WARNING,
                "the balance of component %d is %.3g, and its terms have %.3g: reactions are only "
                "as good as the solution, for which a smaller --tolerance may be needed",
                k, balance->sums[k], size);
            return;
        }
}

weft_status weft_balance_make(const weft_fields *fields, weft_constraints *constraints,
                              weft_problem_balance *balance, double *r, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_constraint_forces forces = {0};
    if (constraints)
        TRY(weft_constraints_restrict(constraints, r, &forces, error));
    TRY(add_reactions(fields, &balance->reactions, r, error));
    TRY(add_forces(&balance->reactions, fields->n_values, &forces, error));
    sum_up(balance);
    for (int k = 0; k < fields->n_values; ++k) /* of -div(k grad u) the sum is zero */
        if (fabs(balance->equation[k]) <= ROUNDING * balance->sizes[k])
            balance->equation[k] = 0;
    warn(balance, fields->n_values, fields->context->monitor);
    balance->is_made = true;
done:
    weft_constraint_forces_clear(&forces);
    return status;
}
