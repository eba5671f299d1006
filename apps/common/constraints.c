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
    TRY(app_split_list(option, values, &out->values, &out->n_values, error));
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
    app_free_list(&made.values, made.n_values);
    free(made.group);
    free(made.other);
    return status;
}

void app_constraints_clear(app_constraints *constraints) {
    for (int i = 0; i < constraints->n; ++i) {
        app_place_clear(&constraints->list[i].place);
        app_free_list(&constraints->list[i].values, constraints->list[i].n_values);
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
    const int c = weft_space_components(run->space);
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
    const int c = weft_space_components(run->space), d = run->mesh->dimension;
    double *points = NULL;
    int64_t n = 0;
    TRY(find_points(run, one, &points, &n, error));
    for (int64_t i = 0; i < n * c; ++i)
        if (!is_free(one->values[i % c]))
            TRY(weft_constraints_point(run->constraints, points + i / c * d, (int)(i % c),
                                       one->values[i % c], one->origin, error));
done:
    free(points);
    return status;
}

static weft_status add(app_run *run, const app_constraint *one, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(run->space);
    if (one->kind == APP_PERIODIC && !one->group)
        TRY(weft_constraints_images(run->constraints, one->origin, error));
    if (one->kind == APP_PERIODIC && one->group)
        TRY(weft_constraints_match(run->constraints, one->group, one->other, one->origin, error));
    if (one->kind == APP_SYMMETRY)
        TRY(weft_constraints_slide(run->constraints, one->group, one->origin, error));
    for (int k = 0; k < c && one->kind == APP_TIE; ++k)
        TRY(weft_constraints_tie(run->constraints, one->group, k, one->origin, error));
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
    TRY(weft_constraints_make(&run->context, run->space, run->bc, &run->constraints, error));
    for (int i = 0; i < options->n; ++i)
        TRY(add(run, &options->list[i], error));
done:
    return status;
}

weft_status app_run_forms_alone(const app_run *run, weft_form **out, int *n, weft_error *error) {
    const weft_form *robin = NULL;
    const int n_robin = weft_bc_forms(run->bc, &robin);
    *n = run->n_more_forms + n_robin;
    *out = calloc((size_t)*n + 1, sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < *n; ++i)
        (*out)[i] = i < run->n_more_forms ? run->more_forms[i] : robin[i - run->n_more_forms];
    return WEFT_OK;
}

weft_status app_run_modes_find(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_form *alone = NULL;
    int n = 0;
    if (!run->constraints) /* a body may float because of loads at points alone */
        TRY(weft_constraints_make(&run->context, run->space, run->bc, &run->constraints, error));
    TRY(app_run_forms_alone(run, &alone, &n, error));
    if (!run->is_null)
        TRY(weft_free_modes_find(run->constraints, run->op, alone, n, &run->modes, error));
    if (run->modes.n > 0)
        weft_log(&run->messages->monitor, WEFT_LOG_INFO,
                 "nothing fixes %d mode%s of u: the solution without them is computed",
                 run->modes.n, run->modes.n == 1 ? "" : "s");
    if (run->modes.held.n > 0)
        weft_log(
            &run->messages->monitor, WEFT_LOG_INFO,
            "terms that are far below the others hold %d mode%s of u, which are computed apart",
            run->modes.held.n, run->modes.held.n == 1 ? "" : "s");
done:
    free(alone);
    return status;
}

weft_status app_run_floating_find(app_run *run, bool all_fixed, int64_t *n_parts,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_bc_parts(run->bc, NULL, n_parts, error));
    if (*n_parts == 1 && all_fixed)
        goto done;
    TRY(app_run_modes_find(run, error));
    if (run->modes.n == 0 && run->modes.held.n == 0)
        app_run_constraints_clear(run);
done:
    return status;
}

static weft_status add_load(app_run *run, const app_constraint *one, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(run->space), d = run->mesh->dimension;
    double *points = NULL;
    int64_t n = 0;
    TRY(find_points(run, one, &points, &n, error));
    for (int64_t i = 0; i < n * c; ++i)
        if (!is_free(one->values[i % c]))
            TRY(weft_point_loads_add(run->point_loads, points + i / c * d, (int)(i % c),
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
    TRY(weft_point_loads_make(&run->context, run->space, run->bc, &run->point_loads, error));
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

weft_status app_run_reduce(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!run->constraints || weft_constraints_empty(run->constraints))
        return WEFT_OK;
    if (!weft_assembly_about(run->linear.choice.assembly)
             ->stores_matrix) { /* what was chosen before it was known */
        weft_operator_free(&run->op);
        run->linear.choice.assembly = WEFT_ASSEMBLY_CSR;
        TRY(app_run_operator_make(run, error));
    }
    TRY(weft_reduction_make(run->constraints, &run->reduction, error));
done:
    return status;
}

weft_system app_run_system(const app_run *run) {
    return (weft_system){.op = run->op,
                         .b = run->b,
                         .u = run->u,
                         .constrained = run->constrained,
                         .n_constrained = run->n_constrained};
}

weft_status app_run_constrain(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = run->n_dofs;
    if (run->constraints) {
        TRY(weft_constraints_pin(run->constraints, &run->modes, run->b_values, error));
        run->modes_are_pinned = true;
        TRY(weft_vector_push(run->b, run->b_values, n, error));
        TRY(app_run_reduce(run, error));
    }
    if (run->reduction) {
        TRY(weft_reduction_update(run->reduction, run->op, error));
        TRY(weft_reduction_fill(run->reduction, 1, run->u, error));
        TRY(weft_vector_pull(run->u, run->u_values, n, error));
    }
done:
    return status;
}

weft_status app_run_release(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = run->n_dofs;
    TRY(weft_vector_pull(run->u, run->u_values, n, error));
    if (!run->reduction)
        goto done;
    weft_free_modes_remove(&run->modes, n, run->u_values);
    TRY(weft_vector_push(run->u, run->u_values, n, error));
done:
    return status;
}

void app_run_constraints_clear(app_run *run) {
    weft_reduction_free(&run->reduction);
    weft_constraints_free(&run->constraints);
    weft_point_loads_free(&run->point_loads);
    weft_free_modes_clear(&run->modes);
    free(run->rest);
}

/* Those of the user's: the others are pins of modes. */
static long long dependent_of(const app_run *run) {
    const int n_pins = run->modes.n + (run->modes_are_pinned ? run->modes.held.n : 0);
    return (long long)weft_constraints_count(run->constraints) - n_pins;
}

void app_run_print_constraints(const app_run *run) {
    if (!run->constraints)
        return;
    const long long n = dependent_of(run);
    printf("constraints %lld dependent dofs", n);
    if (run->modes.n > 0)
        printf(", %d free mode%s removed", run->modes.n, run->modes.n == 1 ? "" : "s");
    if (run->modes.held.n > 0)
        printf(", %d mode%s held by weak terms", run->modes.held.n,
               run->modes.held.n == 1 ? "" : "s");
    putchar('\n');
}

bool app_run_json_constraints(json_t *root, const app_run *run) {
    if (!run->constraints)
        return true;
    return app_json_set(root, "dependent_dofs", json_integer((json_int_t)dependent_of(run))) &&
           app_json_set(root, "free_modes", json_integer(run->modes.n)) &&
           app_json_set(root, "held_modes", json_integer(run->modes.held.n));
}
