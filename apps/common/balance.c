/* Prints the balance of a solution, and adds it to JSON. */
#include "apps/common/run.h"

#include <math.h>

/* ---- reports --------------------------------------------------------------------------------- */

static void print_flows(const char *head, const weft_flows *flows, int n) {
    for (int i = 0; i < flows->n; ++i) {
        const weft_flow *flow = &flows->list[i];
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
    const weft_problem_balance *balance = &run->balance;
    const int n = run->problem->fields.n_values;
    double sums[WEFT_VALUES_MAX];
    if (!balance->is_made)
        return;
    print_flows("reaction", &balance->reactions, n);
    print_flows("exchange", &balance->exchange, n);
    weft_flows_sum(&balance->reactions, sums);
    app_values_print("reactions   sum", sums, n);
    app_values_print(balance->loads_reason[0] ? ", loads of conditions" : ", loads", balance->loads,
                     n);
    if (balance->exchange.n > 0) {
        weft_flows_sum(&balance->exchange, sums);
        app_values_print(", exchange", sums, n);
    }
    putchar('\n');
    if (balance->loads_reason[0])
        printf("            %s\n", balance->loads_reason);
    if (!is_zero(balance->equation, n)) {
        app_values_print("equation  ", balance->equation, n);
        putchar('\n');
    }
    if (balance->in_time) {
        app_values_print("storage   ", balance->storage, n);
        putchar('\n');
    }
    printf("balance   ");
    for (int k = 0; k < n; ++k)
        printf("%s%.2e", k ? ", " : "  ", app_strip_nan_sign(balance->sums[k]));
    printf("%s%s\n", run->balance_note ? "  " : "", run->balance_note ? run->balance_note : "");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static bool set_flows(json_t *root, const char *key, const char *name, const weft_flows *flows,
                      int n) {
    json_t *array = json_array();
    bool fine = app_json_set(root, key, array);
    for (int i = 0; fine && i < flows->n; ++i) {
        const weft_flow *flow = &flows->list[i];
        json_t *object = json_object();
        double values[WEFT_VALUES_MAX];
        for (int k = 0; k < n; ++k)
            values[k] = flow->is_free[k] ? NAN : flow->sums[k];
        fine = json_array_append_new(array, object) == 0 &&
               app_json_set(object, "group", app_json_text(flow->name)) &&
               app_json_set(object, name, app_json_values(values, n));
    }
    return fine;
}

bool app_balance_json(json_t *root, const app_run *run) {
    const weft_problem_balance *balance = &run->balance;
    const int n = run->problem->fields.n_values;
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
