/* Reads options of constraints and loads at points, gives them to the problem, and reports on them. */
#include "apps/common/run.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *option, *form;
} kinds[] = {{"--tie", "GROUP"},
             {"--periodic", "GROUP=GROUP or `mesh`"},
             {"--symmetry", "GROUP"},
             {"--point-value", "X,Y[,Z]=VALUE[,VALUE...]"},
             {"--point-load", "X,Y[,Z]=VALUE[,VALUE...]"}};

/* ---- options --------------------------------------------------------------------------------- */

static weft_status read_point(const char *option, const char *form, const char *text,
                              app_constraint *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char *point = NULL, *values = NULL;
    TRY(app_split_assignment(option, text, text[0] == '"' ? "POINT" : form, &point, &values,
                             error));
    if (text[0] == '"') {
        out->place.group = point;
        point = NULL;
    } else {
        TRY(app_place_read(option, point, &out->place, error));
    }
    TRY(weft_formula_split(option, values, &out->values, &out->n_values, error));
done:
    free(point);
    free(values);
    return status;
}

weft_status app_constraint_read(app_constraints *constraints, app_constraint_kind kind,
                                const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *option = kinds[kind].option, *form = kinds[kind].form, *group = NULL;
    app_constraint made = {.kind = kind, .text = text};
    if (kind == APP_PERIODIC && strcmp(text, "mesh") != 0) {
        TRY(app_split_assignment(option, text, form, &made.group, &made.other, error));
    } else if (kind == APP_POINT_VALUE || kind == APP_POINT_LOAD) {
        TRY(read_point(option, form, text, &made, error));
    } else if (kind != APP_PERIODIC) {
        TRY(app_parse_text(option, text, &group, error));
        made.group = strdup(group);
        if (!made.group)
            TRY(weft_out_of_memory(error, NULL));
    }
    snprintf(made.origin, sizeof made.origin, "%s %.255s", option, text);
    TRY(APP_APPEND(constraints->list, constraints->n, made, error));
    made = (app_constraint){0};
done:
    app_place_clear(&made.place);
    weft_formula_list_free(&made.values, made.n_values);
    free(made.group);
    free(made.other);
    return status;
}

void app_constraints_clear(app_constraints *constraints) {
    for (int i = 0; i < constraints->n; ++i) {
        app_place_clear(&constraints->list[i].place);
        weft_formula_list_free(&constraints->list[i].values, constraints->list[i].n_values);
        free(constraints->list[i].group);
        free(constraints->list[i].other);
    }
    free(constraints->list);
    *constraints = (app_constraints){0};
}

void app_constraints_write(const app_constraints *constraints, weft_text *out) {
    for (int i = 0; i < constraints->n; ++i)
        weft_text_add(out, " %s '%s'", kinds[constraints->list[i].kind].option,
                      constraints->list[i].text);
}

/* ---- the run --------------------------------------------------------------------------------- */

static weft_status check_values(const app_constraint *one, int n_values, int dimension,
                                weft_error *error) {
    char form[128];
    snprintf(form, sizeof form, "%s %s, one value for each component, or `free`",
             kinds[one->kind].option, kinds[one->kind].form);
    if (one->n_values == n_values)
        return app_place_check(&one->place, dimension, one->origin, form, error);
    weft_error_set(error, WEFT_ERROR_USAGE, "%d value%s given, but the solution has %d component%s",
                   one->n_values, one->n_values == 1 ? " is" : "s are", n_values,
                   n_values == 1 ? "" : "s");
    weft_error_location(error, one->origin, NULL, 0, 0);
    weft_error_hint(error, "write %s", form);
    return WEFT_ERROR_USAGE;
}

/* A value or a load for each component that is not free. */
static weft_status declare_values(app_run *run, const app_constraint *one, int n_values,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_constraint value = {sizeof value, WEFT_CONSTRAINT_POINT, .origin = one->origin};
    weft_point_load load = {sizeof load, .origin = one->origin};
    TRY(check_values(one, n_values, run->mesh->dimension, error));
    value.group = load.group = one->place.group;
    memcpy(value.point, one->place.point, sizeof value.point);
    memcpy(load.point, one->place.point, sizeof load.point);
    for (int k = 0; k < n_values; ++k) {
        value.component = load.component = k;
        value.value = load.value = one->values[k];
        if (strcmp(value.value, "free") == 0)
            continue;
        TRY(one->kind == APP_POINT_LOAD ? weft_problem_point_load(run->problem, &load, error)
                                        : weft_problem_constraint(run->problem, &value, error));
    }
done:
    return status;
}

weft_status app_run_constraints_declare(app_run *run, int n_values, weft_error *error) {
    static const weft_constraint_kind of[] = {WEFT_CONSTRAINT_TIE, WEFT_CONSTRAINT_PERIODIC,
                                              WEFT_CONSTRAINT_SYMMETRY};
    weft_status status = WEFT_OK;
    const app_constraints *options = &run->options->constraints;
    for (int i = 0; i < options->n; ++i) {
        const app_constraint *one = &options->list[i];
        if (one->kind == APP_POINT_VALUE || one->kind == APP_POINT_LOAD) {
            TRY(declare_values(run, one, n_values, error));
            continue;
        }
        const weft_constraint made = {sizeof made,
                                      of[one->kind],
                                      one->group,
                                      one->other,
                                      .component = WEFT_ALL_COMPONENTS,
                                      .origin = one->origin};
        TRY(weft_problem_constraint(run->problem, &made, error));
    }
done:
    return status;
}

bool app_has_constraints(const app_run_options *options) {
    for (int i = 0; i < options->constraints.n; ++i)
        if (options->constraints.list[i].kind != APP_POINT_LOAD)
            return true;
    return false;
}

bool app_has_periodic(const app_run_options *options) {
    for (int i = 0; i < options->constraints.n; ++i)
        if (options->constraints.list[i].kind == APP_PERIODIC)
            return true;
    return false;
}

void app_run_print_constraints(const app_run *run) {
    if (!run->problem->system.constraints)
        return;
    const long long n = (long long)weft_problem_dependent(run->problem);
    printf("constraints %lld dependent dofs", n);
    if (run->problem->system.modes.n > 0)
        printf(", %d free mode%s removed", run->problem->system.modes.n,
               run->problem->system.modes.n == 1 ? "" : "s");
    if (run->problem->system.modes.held.n > 0)
        printf(", %d mode%s held by weak terms", run->problem->system.modes.held.n,
               run->problem->system.modes.held.n == 1 ? "" : "s");
    putchar('\n');
}

bool app_run_json_constraints(json_t *root, const app_run *run) {
    if (!run->problem->system.constraints)
        return true;
    return app_json_set(root, "dependent_dofs",
                        json_integer((json_int_t)weft_problem_dependent(run->problem))) &&
           app_json_set(root, "free_modes", json_integer(run->problem->system.modes.n)) &&
           app_json_set(root, "held_modes", json_integer(run->problem->system.modes.held.n));
}
