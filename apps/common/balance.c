/* Sums what flows into the solution: reactions, loads, exchange, and what takes them up. */
#include "apps/common/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the terms at all nodes: a balance that is farther from zero gets a warning. */
static const double FAR = 1e-4;
/* The same for what is rounding, and is not printed. */
static const double ROUNDING = 1e-11;

/* ---- flows ----------------------------------------------------------------------------------- */

static void clear_flows(app_flows *flows) {
    for (int i = 0; i < flows->n; ++i)
        free(flows->list[i].name);
    free(flows->list);
    *flows = (app_flows){0};
}

void app_balance_clear(app_balance *balance) {
    clear_flows(&balance->reactions);
    clear_flows(&balance->exchange);
}

weft_status app_flows_add(app_flows *flows, const char *name, const double *sums, app_flow **out,
                          weft_error *error) {
    app_flow made = {.name = strdup(name)};
    if (!made.name)
        return weft_out_of_memory(error, NULL);
    if (sums)
        memcpy(made.sums, sums, sizeof made.sums);
    if (APP_APPEND(flows->list, flows->n, made, error) != WEFT_OK) {
        free(made.name);
        return WEFT_ERROR_MEMORY;
    }
    if (out)
        *out = &flows->list[flows->n - 1];
    return WEFT_OK;
}

void app_balance_add(double sums[APP_VALUES_MAX], double factor, const double *more) {
    for (int k = 0; k < APP_VALUES_MAX; ++k)
        sums[k] += factor * more[k];
}

static void sum_flows(const app_flows *flows, double out[APP_VALUES_MAX]) {
    memset(out, 0, APP_VALUES_MAX * sizeof *out);
    for (int i = 0; i < flows->n; ++i)
        app_balance_add(out, 1, flows->list[i].sums);
}

/* ---- sums ------------------------------------------------------------------------------------ */

void app_balance_size(app_run *run, const double *values) {
    for (int f = 0; f < run->problem->n_fields; ++f) {
        const weft_problem_field *field = &run->problem->fields[f];
        const int c = weft_space_components(field->space);
        const int64_t n = weft_space_dofs(field->space);
        for (int64_t i = 0; i < n; ++i) /* components of one function have one unit */
            run->balance.sizes[field->first_value] += fabs(values[field->first_dof + i]);
        for (int k = 1; k < c; ++k)
            run->balance.sizes[field->first_value + k] = run->balance.sizes[field->first_value];
    }
}

weft_status app_balance_sum(const app_run *run, const double *values, double out[APP_VALUES_MAX],
                            weft_error *error) {
    double *column = weft_array_make((size_t)run->problem->n_dofs, sizeof *column);
    if (!column)
        return weft_out_of_memory(error, NULL);
    memset(out, 0, APP_VALUES_MAX * sizeof *out);
    for (int f = 0; f < run->problem->n_fields; ++f) {
        const weft_problem_field *field = &run->problem->fields[f];
        const int c = weft_space_components(field->space);
        const int64_t n = weft_space_nodes(field->space);
        for (int k = 0; k < c;
             ++k) { /* dofs are values at nodes, also those of bubbles: 1 has 1 at all */
            for (int64_t i = 0; i < n; ++i)
                column[i] = values[field->first_dof + i * c + k];
            out[field->first_value + k] += weft_sum(column, n);
        }
    }
    free(column);
    return WEFT_OK;
}

/* Is this piece the first of its option? Options have one piece for each component that is not free. */
static bool starts_option(const app_pieces *pieces, int i) {
    return i == 0 || pieces->list[i].origin != pieces->list[i - 1].origin;
}

/* The entry of an option, made at its first piece. */
static weft_status enter(app_flows *flows, const app_pieces *pieces, int i, app_flow **flow,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_condition *piece = &pieces->list[i];
    if (starts_option(pieces, i)) {
        TRY(app_flows_add(flows, piece->group, NULL, flow, error));
        memset((*flow)->is_free, 1, sizeof(*flow)->is_free);
    }
    (*flow)->is_free[piece->component] = false;
done:
    return status;
}

/* One entry for each option, unless they are there. */
static weft_status list_exchange(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_pieces *pieces = &run->pieces;
    app_flow *flow = NULL;
    if (run->balance.exchange.n > 0)
        return WEFT_OK;
    for (int i = 0; i < pieces->n; ++i) {
        if (pieces->list[i].kind == WEFT_ROBIN)
            TRY(enter(&run->balance.exchange, pieces, i, &flow, error));
    }
done:
    return status;
}

/* A number of each condition, from those on one field, whose conditions are those of its components, in their order. */
static void take_own(const app_run *run, const weft_problem_field *field, const double *own,
                     double *out) {
    const int c = weft_space_components(field->space);
    for (int i = 0; i < run->pieces.n; ++i) {
        const int component = run->pieces.list[i].component - field->first_value;
        if (run->problem->n_fields == 1 ||
            (component >= 0 && component < c && !field->is_enrichment))
            out[i] += *own++;
    }
}

/* What each condition exchanges.
 *  sums  [2][n of pieces] given, taken; and as many for work */
static weft_status exchange_of(app_run *run, weft_memory *u, double *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = run->pieces.n;
    double *own = sums + 2 * n;
    for (int f = 0; f < run->problem->n_fields; ++f) {
        TRY(weft_bc_exchange(run->problem->fields[f].bc, u, own, own + n, n, error));
        take_own(run, &run->problem->fields[f], own, sums);
        take_own(run, &run->problem->fields[f], own + n, sums + n);
    }
done:
    return status;
}

weft_status app_balance_exchange(app_run *run, weft_memory *u, double weight,
                                 double given[APP_VALUES_MAX], double taken[APP_VALUES_MAX],
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const app_pieces *pieces = &run->pieces;
    const weft_form *forms = NULL;
    double *sums = NULL;
    int entry = -1;
    if (weft_bc_forms(run->problem->bc, &forms) == 0)
        return WEFT_OK;
    sums = calloc(4 * (size_t)pieces->n, sizeof *sums);
    if (!sums)
        return weft_out_of_memory(error, NULL);
    TRY(exchange_of(run, u, sums, error));
    TRY(list_exchange(run, error));
    for (int i = 0; i < pieces->n; ++i) {
        const weft_condition *piece = &pieces->list[i];
        if (piece->kind != WEFT_ROBIN)
            continue;
        entry += starts_option(pieces, i);
        run->balance.exchange.list[entry].sums[piece->component] +=
            weight * (sums[i] - sums[pieces->n + i]);
        given[piece->component] += sums[i];
        taken[piece->component] += sums[pieces->n + i];
    }
done:
    free(sums);
    return status;
}

/* ---- reactions ------------------------------------------------------------------------------- */

static weft_status react(const app_run *run, const weft_problem_field *field, const double *r,
                         double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(field->space), n = run->pieces.n;
    double *own = calloc((size_t)(n + c), sizeof *own);
    if (!own)
        return weft_out_of_memory(error, NULL);
    TRY(weft_reactions(field->bc, r + field->first_dof, own, n > 0 ? n : c, error));
    take_own(run, field, own, out);
    for (int i = 0; n == 0 && i < c; ++i)
        out[i] = own[i];
done:
    free(own);
    return status;
}

/* One entry for each option. */
static weft_status add_reactions(app_run *run, const double *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_pieces *pieces = &run->pieces;
    app_flow *flow = NULL;
    double *all = calloc((size_t)pieces->n + APP_VALUES_MAX, sizeof *all);
    if (!all)
        return weft_out_of_memory(error, NULL);
    for (int f = 0; f < run->problem->n_fields; ++f)
        TRY(react(run, &run->problem->fields[f], r, all, error));
    if (pieces->n == 0)
        TRY(app_flows_add(&run->balance.reactions, "boundary", all, NULL, error));
    for (int i = 0; i < pieces->n; ++i) {
        const weft_condition *piece = &pieces->list[i];
        if (piece->kind != WEFT_DIRICHLET)
            continue;
        TRY(enter(&run->balance.reactions, pieces, i, &flow, error));
        flow->sums[piece->component] = all[i];
    }
done:
    free(all);
    return status;
}

/* Do the constraints of an origin supply something in all? */
static bool supplies(const app_run *run, const char *origin) {
    const app_constraints *all = &run->options->constraints;
    for (int i = 0; i < all->n; ++i)
        if (strcmp(all->list[i].origin, origin) == 0)
            return all->list[i].kind == APP_SYMMETRY || all->list[i].kind == APP_POINT_VALUE;
    return false;
}

/* One entry for those that share dofs. */
static weft_status add_forces(app_run *run, const weft_constraint_forces *forces,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text name = {0};
    for (int i = 0; i < forces->n; ++i) {
        double sums[APP_VALUES_MAX] = {0};
        weft_text_free(&name);
        for (int k = i; k < forces->n; ++k)
            if (forces->first[k] == i && supplies(run, forces->origins[k]))
                weft_text_add(&name, "%s%s", name.length > 0 ? " + " : "", forces->origins[k]);
        if (name.failed)
            TRY(weft_out_of_memory(error, NULL));
        memcpy(sums, forces->sums + (ptrdiff_t)i * run->problem->n_values,
               (size_t)run->problem->n_values * sizeof *sums);
        if (name.length > 0)
            TRY(app_flows_add(&run->balance.reactions, name.data, sums, NULL, error));
    }
done:
    weft_text_free(&name);
    return status;
}

/* ---- the balance ----------------------------------------------------------------------------- */

static void sum_up(app_balance *balance) {
    double sums[APP_VALUES_MAX];
    sum_flows(&balance->reactions, balance->sums);
    sum_flows(&balance->exchange, sums);
    app_balance_add(balance->sums, 1, sums);
    app_balance_add(balance->sums, 1, balance->loads);
    app_balance_add(balance->sums, -1, balance->equation);
    app_balance_add(balance->sums, -1, balance->storage);
}

/* Equations like div u = 0 have no size of their own. */
static void warn(const app_run *run) {
    double size = 0;
    for (int k = 0; k < run->problem->n_values; ++k)
        size = fmax(size, run->balance.sizes[k]);
    for (int k = 0; k < run->problem->n_values; ++k)
        if (fabs(run->balance.sums[k]) > FAR * size) {
            weft_log(&run->messages->monitor, WEFT_LOG_WARNING,
                     "the balance of component %d is %.3g, and its terms have %.3g: reactions are "
                     "only as good as the solution, for which a smaller --tolerance may be needed",
                     k, run->balance.sums[k], size);
            return;
        }
}

weft_status app_balance_make(app_run *run, double *r, weft_error *error) {
    weft_status status = WEFT_OK;
    app_balance *balance = &run->balance;
    weft_constraint_forces forces = {0};
    if (run->problem->constraints)
        TRY(weft_constraints_restrict(run->problem->constraints, r, &forces, error));
    TRY(add_reactions(run, r, error));
    TRY(add_forces(run, &forces, error));
    sum_up(balance);
    for (int k = 0; k < run->problem->n_values; ++k) /* of -div(k grad u) the sum is zero */
        if (fabs(balance->equation[k]) <= ROUNDING * balance->sizes[k])
            balance->equation[k] = 0;
    warn(run);
    balance->is_made = true;
done:
    weft_constraint_forces_clear(&forces);
    return status;
}

/* ---- reports --------------------------------------------------------------------------------- */

static void print_values(const char *head, const double *values, int n) {
    printf("%s", head);
    for (int k = 0; k < n; ++k)
        printf("%s%.10g", k ? ", " : "  ", app_strip_nan_sign(values[k]));
}

static void print_flows(const char *head, const app_flows *flows, int n) {
    for (int i = 0; i < flows->n; ++i) {
        const app_flow *flow = &flows->list[i];
        printf("%-12s%s", head, flow->name);
        for (int k = 0; k < n; ++k)
            if (flow->is_free[k])
                printf("%sfree", k ? ", " : "  ");
            else
                printf("%s%.10g", k ? ", " : "  ", app_strip_nan_sign(flow->sums[k]));
        putchar('\n');
    }
}

static bool is_zero(const double *values, int n) {
    for (int k = 0; k < n; ++k)
        if (values[k] != 0)
            return false;
    return true;
}

void app_balance_print(const app_run *run) {
    const app_balance *balance = &run->balance;
    const int n = run->problem->n_values;
    double sums[APP_VALUES_MAX];
    if (!balance->is_made)
        return;
    print_flows("reaction", &balance->reactions, n);
    print_flows("exchange", &balance->exchange, n);
    sum_flows(&balance->reactions, sums);
    print_values("reactions   sum", sums, n);
    print_values(balance->loads_reason[0] ? ", loads of conditions" : ", loads", balance->loads, n);
    if (balance->exchange.n > 0) {
        sum_flows(&balance->exchange, sums);
        print_values(", exchange", sums, n);
    }
    putchar('\n');
    if (balance->loads_reason[0])
        printf("            %s\n", balance->loads_reason);
    if (!is_zero(balance->equation, n)) {
        print_values("equation  ", balance->equation, n);
        putchar('\n');
    }
    if (balance->in_time) {
        print_values("storage   ", balance->storage, n);
        putchar('\n');
    }
    printf("balance   ");
    for (int k = 0; k < n; ++k)
        printf("%s%.2e", k ? ", " : "  ", app_strip_nan_sign(balance->sums[k]));
    printf("%s%s\n", balance->note[0] ? "  " : "", balance->note);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static bool set_flows(json_t *root, const char *key, const char *name, const app_flows *flows,
                      int n) {
    json_t *array = json_array();
    bool fine = app_json_set(root, key, array);
    for (int i = 0; fine && i < flows->n; ++i) {
        const app_flow *flow = &flows->list[i];
        json_t *object = json_object();
        double values[APP_VALUES_MAX];
        for (int k = 0; k < n; ++k)
            values[k] = flow->is_free[k] ? NAN : flow->sums[k];
        fine = json_array_append_new(array, object) == 0 &&
               app_json_set(object, "group", app_json_text(flow->name)) &&
               app_json_set(object, name, app_json_values(values, n));
    }
    return fine;
}

bool app_balance_json(json_t *root, const app_run *run) {
    const app_balance *balance = &run->balance;
    const int n = run->problem->n_values;
    if (!balance->is_made)
        return true;
    const bool is_known = !balance->loads_reason[0];
    return set_flows(root, "reactions", "reaction", &balance->reactions, n) &&
           set_flows(root, "exchange", "exchange", &balance->exchange, n) &&
           app_json_set(root, "loads",
                        is_known ? app_json_values(balance->loads, n) : json_null()) &&
           (is_known ||
            (app_json_set(root, "loads_of_conditions", app_json_values(balance->loads, n)) &&
             app_json_set(root, "loads_reason", app_json_text(balance->loads_reason)))) &&
           app_json_set(root, "equation", app_json_values(balance->equation, n)) &&
           (!balance->in_time ||
            app_json_set(root, "storage", app_json_values(balance->storage, n))) &&
           app_json_set(root, "balance", app_json_values(balance->sums, n));
}
