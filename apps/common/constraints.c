/* Reads options of constraints, and solves with them: u = C v + g (fem/weft_constraint.h). */
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

/* The points of a constraint, [*n][d]; free(). */
static weft_status find_points(const app_run *run, const app_constraint *one, double **out,
                               int64_t *n, weft_error *error) {
    const int c = run->problem->n_values;
    char form[128];
    snprintf(form, sizeof form, "%s %s, one value for each component, or `free`",
             kinds[one->kind].option, kinds[one->kind].form);
    if (one->n_values == c)
        return app_place_points(&one->place, run->mesh, one->origin, form, out, n, error);
    weft_error_set(error, WEFT_ERROR_USAGE, "%d value%s given, but the solution has %d component%s",
                   one->n_values, one->n_values == 1 ? " is" : "s are", c, c == 1 ? "" : "s");
    weft_error_location(error, one->origin, NULL, 0, 0);
    weft_error_hint(error, "write %s", form);
    return WEFT_ERROR_USAGE;
}

static bool is_free(const char *value) {
    return strcmp(value, "free") == 0;
}

static weft_status add_values(app_run *run, const app_constraint *one, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = run->problem->n_values, d = run->mesh->dimension;
    double *points = NULL;
    int64_t n = 0;
    TRY(find_points(run, one, &points, &n, error));
    for (int64_t i = 0; i < n * c; ++i)
        if (!is_free(one->values[i % c]))
            TRY(weft_constraints_point(run->problem->constraints, points + i / c * d, (int)(i % c),
                                       one->values[i % c], one->origin, error));
done:
    free(points);
    return status;
}

static weft_status add(app_run *run, const app_constraint *one, weft_error *error) {
    weft_status status = WEFT_OK;
    if (one->kind == APP_PERIODIC && !one->group)
        TRY(weft_constraints_images(run->problem->constraints, one->origin, error));
    if (one->kind == APP_PERIODIC && one->group)
        TRY(weft_constraints_match(run->problem->constraints, one->group, one->other, one->origin,
                                   error));
    if (one->kind == APP_SYMMETRY)
        TRY(weft_constraints_slide(run->problem->constraints, one->group, one->origin, error));
    for (int k = 0; k < run->problem->n_values && one->kind == APP_TIE; ++k)
        TRY(weft_constraints_tie(run->problem->constraints, one->group, k, one->origin, error));
    if (one->kind == APP_POINT_VALUE)
        TRY(add_values(run, one, error));
done:
    return status;
}

weft_status app_run_constraints_make(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_constraints *options = &run->options->constraints;
    if (!app_has_constraints(run->options))
        return WEFT_OK;
    TRY(weft_problem_make_constraints(run->problem, error));
    for (int i = 0; i < options->n; ++i)
        TRY(add(run, &options->list[i], error));
done:
    return status;
}

static weft_status add_load(app_run *run, const app_constraint *one, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = run->problem->n_values, d = run->mesh->dimension;
    double *points = NULL;
    int64_t n = 0;
    TRY(find_points(run, one, &points, &n, error));
    for (int64_t i = 0; i < n * c; ++i)
        if (!is_free(one->values[i % c]))
            TRY(weft_point_loads_add(run->problem->point_loads, points + i / c * d, (int)(i % c),
                                     one->values[i % c], one->origin, error));
done:
    free(points);
    return status;
}

weft_status app_run_point_loads_make(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_constraints *options = &run->options->constraints;
    if (!app_has_point_loads(run->options))
        return WEFT_OK;
    TRY(weft_problem_make_point_loads(run->problem, error));
    for (int i = 0; i < options->n; ++i)
        if (options->list[i].kind == APP_POINT_LOAD)
            TRY(add_load(run, &options->list[i], error));
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

bool app_has_point_loads(const app_run_options *options) {
    for (int i = 0; i < options->constraints.n; ++i)
        if (options->constraints.list[i].kind == APP_POINT_LOAD)
            return true;
    return false;
}

void app_run_print_constraints(const app_run *run) {
    if (!run->problem->constraints)
        return;
    const long long n = (long long)weft_problem_dependent(run->problem);
    printf("constraints %lld dependent dofs", n);
    if (run->problem->modes.n > 0)
        printf(", %d free mode%s removed", run->problem->modes.n,
               run->problem->modes.n == 1 ? "" : "s");
    if (run->problem->modes.held.n > 0)
        printf(", %d mode%s held by weak terms", run->problem->modes.held.n,
               run->problem->modes.held.n == 1 ? "" : "s");
    putchar('\n');
}

bool app_run_json_constraints(json_t *root, const app_run *run) {
    if (!run->problem->constraints)
        return true;
    return app_json_set(root, "dependent_dofs",
                        json_integer((json_int_t)weft_problem_dependent(run->problem))) &&
           app_json_set(root, "free_modes", json_integer(run->problem->modes.n)) &&
           app_json_set(root, "held_modes", json_integer(run->problem->modes.held.n));
}
