/* Computes, prints and writes the derivatives of a functional: --gradient and --wrt. */
#include "apps/solve/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The next name of a list with commas, copied; NULL: its end, or no memory. */
static char *next_name(const char **list) {
    const size_t n = strcspn(*list, ",");
    char *name = strndup(*list, n);
    *list += n + ((*list)[n] == ',');
    return name;
}

/* OUTPUT without its ending, _dJ_dk and the ending. */
static char *path_of(const solve *run, const char *control) {
    const char *output = run->options->run.output, *ending = strrchr(output, '.');
    weft_text text = {0};
    weft_text_add(&text, "%.*s_d%s_d%s%s", (int)(ending ? ending - output : 0), output,
                  run->options->gradient, control, ending ? ending : "");
    if (text.failed)
        weft_text_free(&text);
    return text.data;
}

/* The norm in L2 and the range of a function. */
static void describe(solve_control *control) {
    const weft_gradient_of *of = &control->of;
    double square = 0;
    control->least = of->n > 0 ? of->gradient[0] : 0;
    control->greatest = control->least;
    for (int64_t i = 0; i < of->n; ++i) {
        square += of->derivative[i] * of->gradient[i];
        control->least = fmin(control->least, of->gradient[i]);
        control->greatest = fmax(control->greatest, of->gradient[i]);
    }
    control->norm = sqrt(fmax(square, 0));
}

static weft_status add_name(solve_gradient *gradient, char *name, weft_error *error) {
    if (!name)
        return weft_out_of_memory(error, NULL);
    if (gradient->n < SOLVE_CONTROLS_MAX) {
        gradient->list[gradient->n++] = (solve_control){.name = name};
        return WEFT_OK;
    }
    free(name);
    return weft_error_set(error, WEFT_ERROR_USAGE, "more than %d names in --wrt",
                          SOLVE_CONTROLS_MAX);
}

static weft_status compute_control(solve *run, solve_control *control, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_gradient_project(run->gradient.made, control->name, &control->of, error));
    describe(control);
    if (!run->options->run.output || control->of.n_numbers > 0)
        goto done;
    control->path = path_of(run, control->name);
    if (!control->path)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_problem_write(control->of.problem, control->path, NULL, run->base.statement, error));
done:
    return status;
}

weft_status solve_gradient_compute(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    solve_gradient *gradient = &run->gradient;
    weft_gradient_options options = weft_gradient_options_default();
    const char *names = run->options->wrt ? run->options->wrt : "";
    const char *controls[SOLVE_CONTROLS_MAX];
    if (!run->options->gradient)
        goto done;
    if (!solve_is_solved(run)) {
        weft_log(run->base.monitor, WEFT_LOG_WARNING,
                 "the solution has not converged: no gradient is computed");
        goto done;
    }
    while (*names) {
        TRY(add_name(gradient, next_name(&names), error));
        controls[gradient->n - 1] = gradient->list[gradient->n - 1].name;
    }
    options.functional = run->options->gradient;
    options.bind = &run->script.binding;
    options.solve = &run->options->run.solver;
    options.transient = run->time.transient;
    options.over_time = run->options->over_time;
    options.controls = controls;
    options.n_controls = gradient->n;
    TRY(weft_gradient_make(run->base.problem, &options, &gradient->made, error));
    gradient->value = weft_gradient_value(gradient->made);
    for (int i = 0; i < gradient->n; ++i)
        TRY(compute_control(run, &gradient->list[i], error));
done:
    return status;
}

void solve_gradient_clear(solve *run) {
    solve_gradient *gradient = &run->gradient;
    weft_gradient_free(&gradient->made);
    for (int i = 0; i < gradient->n; ++i) {
        free(gradient->list[i].name);
        free(gradient->list[i].path);
    }
    *gradient = (solve_gradient){.made = NULL};
}

bool solve_gradient_is_wrong(const solve *run) {
    const solve_gradient *gradient = &run->gradient;
    bool wrong = gradient->made &&
                 weft_gradient_report(gradient->made)->result->outcome != WEFT_CG_CONVERGED;
    for (int i = 0; i < gradient->n; ++i)
        wrong |= gradient->list[i].of.outcome != WEFT_CG_CONVERGED;
    return wrong;
}

void solve_gradient_print(const solve *run) {
    const solve_gradient *gradient = &run->gradient;
    const char *J = run->options->gradient;
    if (!gradient->made)
        return;
    const weft_problem_report *report = weft_gradient_report(gradient->made);
    printf("functional  %s = %.10g\n", J, gradient->value);
    printf("adjoint     %s, %s in %d iterations\n",
           weft_method_about(report->choice->method)->title,
           weft_cg_outcome_name(report->result->outcome), report->result->iterations);
    for (int i = 0; i < gradient->n; ++i) {
        const solve_control *control = &gradient->list[i];
        printf("derivative  d%s/d%s", J, control->name);
        if (control->of.n_numbers > 0)
            app_values_print("", control->of.numbers, control->of.n_numbers);
        else
            printf("  L2 norm %.6e, from %.6g to %.6g", control->norm, control->least,
                   control->greatest);
        printf("%s%s\n", control->path ? ", in " : "", control->path ? control->path : "");
    }
}

static bool set_control(json_t *list, const solve_control *control) {
    json_t *object = json_object();
    if (!app_json_set(list, control->name, object))
        return false;
    if (control->of.n_numbers > 0)
        return app_json_set(object, "derivative",
                            app_json_values(control->of.numbers, control->of.n_numbers));
    return app_json_set(object, "l2_norm", app_json_real(control->norm)) &&
           app_json_set(object, "least", app_json_real(control->least)) &&
           app_json_set(object, "greatest", app_json_real(control->greatest)) &&
           app_json_set(object, "file", control->path ? app_json_text(control->path) : json_null());
}

bool solve_gradient_json(json_t *root, const solve *run) {
    const solve_gradient *gradient = &run->gradient;
    if (!gradient->made)
        return true;
    json_t *object = json_object(), *controls = json_object();
    const weft_problem_report *report = weft_gradient_report(gradient->made);
    bool fine =
        app_json_set(root, "gradient", object) &&
        app_json_set(object, "functional", app_json_text(run->options->gradient)) &&
        app_json_set(object, "value", app_json_real(gradient->value)) &&
        app_json_set(object, "adjoint_outcome",
                     json_string(weft_cg_outcome_name(report->result->outcome))) &&
        app_json_set(object, "adjoint_iterations", json_integer(report->result->iterations)) &&
        app_json_set(object, "controls", controls);
    for (int i = 0; i < gradient->n && fine; ++i)
        fine = set_control(controls, &gradient->list[i]);
    return fine;
}
