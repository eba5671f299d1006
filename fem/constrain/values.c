/* Evaluates the formulas of values that are prescribed at points, by kernels that are compiled once. */
#include "fem/base/memory.h"
#include "fem/constrain/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void point_values_clear(point_values *values) {
    weft_compiled_free(&values->evaluation);
    for (int i = 0; i < values->n_formulas; ++i) {
        free(values->formulas[i].text);
        free(values->formulas[i].origin);
        free(values->formulas[i].points);
        weft_memory_free(&values->formulas[i].memory);
    }
    free(values->formulas);
    free(values->values);
    *values = (point_values){0};
}

/* Single numbers are copied to a device up to this number of them; then the whole vector. */
enum { SINGLE_MOST = 64 };

weft_status point_entries_write(weft_memory *to, const double *values, int64_t n,
                                const int32_t *changed, int n_changed, weft_error *error) {
    weft_status status = WEFT_OK;
    if (n_changed > SINGLE_MOST)
        TRY(weft_memory_write(to, 0, values, (size_t)n * sizeof *values, error));
    else
        for (int i = 0; i < n_changed; ++i)
            TRY(weft_memory_write(to, (size_t)changed[i] * sizeof *values, &values[changed[i]],
                                  sizeof *values, error));
done:
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

static weft_status find_formula(point_values *values, const char *text, const char *origin,
                                int *out, weft_error *error) {
    const int n = values->n_formulas;
    for (int i = 0; i < n; ++i)
        if (strcmp(values->formulas[i].text, text) == 0 &&
            strcmp(values->formulas[i].origin, origin) == 0) {
            *out = i;
            return WEFT_OK;
        }
    point_formula *formulas = realloc(values->formulas, ((size_t)n + 1) * sizeof *formulas);
    if (!formulas)
        return weft_out_of_memory(error, "values at points");
    values->formulas = formulas;
    formulas[n] = (point_formula){.text = strdup(text), .origin = strdup(origin)};
    values->n_formulas += 1;
    *out = n;
    return formulas[n].text && formulas[n].origin ? WEFT_OK
                                                  : weft_out_of_memory(error, "values at points");
}

weft_status point_values_add(point_values *values, const double *point, const char *text,
                             const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t d = (size_t)weft_space_mesh(values->space)->dimension;
    int at = 0;
    TRY(find_formula(values, text, origin ? origin : text, &at, error));
    point_formula *formula = &values->formulas[at];
    const size_t n = (size_t)formula->n;
    double *points = realloc(formula->points, (n + 1) * d * sizeof *points);
    if (!points)
        TRY(weft_out_of_memory(error, "values at points"));
    formula->points = points;
    memcpy(points + n * d, point, d * sizeof *points);
    point_value *list = realloc(values->values, ((size_t)values->n_values + 1) * sizeof *list);
    if (!list)
        TRY(weft_out_of_memory(error, "values at points"));
    values->values = list;
    list[values->n_values++] = (point_value){.formula = at, .point = formula->n++};
done:
    return status;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

static weft_status bind(point_values *values, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const point_formula *formula = &values->formulas[i];
    const int d = weft_space_mesh(values->space)->dimension;
    weft_memory *points = NULL;
    char name[32];
    TRY(weft_memory_place(values->context->device, formula->points, (size_t)(formula->n * d),
                          sizeof *formula->points, &points, error));
    (void)snprintf(name, sizeof name, "set_%d", i);
    TRY(weft_program_size(values->evaluation.program, name, formula->n, error));
    (void)snprintf(name, sizeof name, "points_%d", i);
    TRY(weft_program_bind(values->evaluation.program, name, points, error));
    values->formulas[i].memory = points;
    points = NULL;
done:
    weft_memory_free(&points);
    return status;
}

/* What formulas by group and fields of files have at the points of each formula. */
static weft_status bind_data(point_values *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = values->n_formulas;
    weft_data_points *points = calloc((size_t)n, sizeof *points);
    char(*names)[24] = calloc((size_t)n, sizeof *names);
    if (!points || !names)
        TRY(weft_out_of_memory(error, "values at points"));
    for (int i = 0; i < n; ++i) {
        const point_formula *formula = &values->formulas[i];
        (void)snprintf(names[i], sizeof names[i], "set_%d", i);
        points[i] = (weft_data_points){.over = names[i], .n = formula->n, .x = formula->points};
    }
    TRY(weft_data_bind(values->context->data, values->evaluation.compilation,
                       values->evaluation.program, &(weft_data_sites){.points = points, .n = n},
                       error));
done:
    free(points);
    free(names);
    return status;
}

static void write_script(const point_values *values, weft_text *out) {
    const int d = weft_space_mesh(values->space)->dimension;
    weft_text_add(out, "input when : real;\n");
    for (int i = 0; i < values->n_formulas; ++i)
        weft_text_add(out,
                      "index set_%d plain;\n"
                      "input points_%d : real[%d,1] over set_%d;\n"
                      "expression value_%d(x, y, z, t) over set_%d = 0;\n"
                      "s_%d = value_%d(points_%d, when);\n"
                      "return s_%d;\n",
                      i, i, d, i, i, i, i, i, i, i);
}

static weft_status compile(point_values *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = values->n_formulas;
    weft_text text = {0};
    weft_expression *formulas = calloc((size_t)n, sizeof *formulas);
    char(*names)[24] = calloc((size_t)n, sizeof *names);
    write_script(values, &text);
    if (!formulas || !names || text.failed)
        TRY(weft_out_of_memory(error, "values at points"));
    for (int i = 0; i < n; ++i) {
        (void)snprintf(names[i], sizeof names[i], "value_%d", i);
        formulas[i] =
            (weft_expression){names[i], values->formulas[i].text, values->formulas[i].origin};
    }
    const weft_fragment fragment = {"values.weft", text.data};
    const weft_compile_options options = {
        .size = sizeof options, .expressions = formulas, .n_expressions = n};
    TRY(weft_compiled_make(values->context, &fragment, 1, &options, &values->evaluation, error));
    for (int i = 0; i < n; ++i)
        TRY(bind(values, i, error));
    TRY(weft_program_bind(values->evaluation.program, "when", weft_bc_time(values->bc), error));
    TRY(bind_data(values, error));
done:
    weft_text_free(&text);
    free(formulas);
    free(names);
    return status;
}

static weft_status refuse_value(const point_values *values, const point_value *value,
                                weft_error *error) {
    const int d = weft_space_mesh(values->space)->dimension;
    const point_formula *formula = &values->formulas[value->formula];
    char point[64];
    weft_error_set(error, WEFT_ERROR_INPUT, "`%s` is not finite at %s", formula->text,
                   weft_point_text(formula->points + value->point * d, d, point));
    weft_error_location(error, formula->origin, NULL, 0, 0);
    weft_error_hint(error, "give a formula that is finite there at all times");
    return WEFT_ERROR_INPUT;
}

weft_status point_values_evaluate(point_values *values, weft_error *error) {
    weft_status status = WEFT_OK;
    char name[32];
    if (values->n_formulas == 0)
        goto done;
    if (!values->evaluation.program)
        TRY(compile(values, error));
    TRY(weft_program_run(values->evaluation.program, error));
    for (int i = 0; i < values->n_values; ++i) {
        point_value *value = &values->values[i];
        (void)snprintf(name, sizeof name, "s_%d", value->formula);
        TRY(weft_memory_read(weft_program_result(values->evaluation.program, name),
                             (size_t)value->point * sizeof(double), &value->now, sizeof(double),
                             error));
        if (!isfinite(value->now))
            TRY(refuse_value(values, value, error));
    }
done:
    return status;
}
