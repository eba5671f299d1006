/* Reads --line, and writes the solution and derived fields along lines as CSV. */
#include "apps/common/fem.h"
#include "apps/common/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static weft_status refuse_form(const char *text, size_t at, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "expected two points and a number of points");
    weft_error_location(error, "--line", text, 1, (int)at + 1);
    weft_error_hint(error,
                    "write --line X,Y:X,Y:N=FILE.csv, in space --line X,Y,Z:X,Y,Z:N=FILE.csv");
    return WEFT_ERROR_USAGE;
}

weft_status app_line_read(app_lines *lines, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    char *course = NULL, *first = NULL, *second = NULL;
    app_line made = {0};
    TRY(app_split_assignment("--line", text, "X,Y:X,Y:N=FILE.csv", &course, &made.path, error));
    const size_t a = strcspn(course, ":"), b = course[a] ? a + 1 + strcspn(course + a + 1, ":") : a;
    if (!course[a] || !course[b])
        TRY(refuse_form(text, b, error));
    first = strndup(course, a);
    second = strndup(course + a + 1, b - a - 1);
    if (!first || !second)
        TRY(weft_out_of_memory(error, NULL));
    TRY(app_parse_point("--line", first, made.from, &made.n_from, error));
    TRY(app_parse_point("--line", second, made.to, &made.n_to, error));
    TRY(app_parse_integer("--line", course + b + 1, 2, 10000000, &made.n, error));
    snprintf(made.origin, sizeof made.origin, "--line %.150s", text);
    TRY(APP_APPEND(lines->list, lines->n, made, error));
    made = (app_line){0};
done:
    free(course);
    free(first);
    free(second);
    free(made.path);
    return status;
}

void app_lines_clear(app_lines *lines) {
    for (int i = 0; i < lines->n; ++i)
        free(lines->list[i].path);
    free(lines->list);
    *lines = (app_lines){0};
}

weft_status app_run_lines_check(const app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_lines *lines = &run->options->lines;
    const int d = run->mesh->dimension;
    for (int i = 0; i < lines->n; ++i) {
        const app_line *line = &lines->list[i];
        TRY(app_file_check(line->path, error));
        if (line->n_from == d && line->n_to == d)
            continue;
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "these points have %d and %d coordinates, the mesh has %d dimensions",
                       line->n_from, line->n_to, d);
        weft_error_location(error, line->origin, NULL, 0, 0);
        weft_error_hint(error, d == 1   ? "write --line X:X:N=FILE.csv"
                               : d == 2 ? "write --line X,Y:X,Y:N=FILE.csv"
                                        : "write --line X,Y,Z:X,Y,Z:N=FILE.csv");
        TRY(WEFT_ERROR_USAGE);
    }
done:
    return status;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Values along a line: the columns of u, then those of the derived fields. */
typedef struct table {
    const app_run *run;
    const app_line *line;
    const weft_field *fields;
    int n_fields, d;
    double *points; /* [line->n][d] */
    weft_probes *probes;
    double *u;       /* [line->n][run->problem->fields.n_values] */
    double **values; /* [n_fields], [line->n][components] */
} table;

static void table_clear(table *t) {
    for (int i = 0; t->values && i < t->n_fields; ++i)
        free(t->values[i]);
    free(t->values);
    free(t->u);
    free(t->points);
    weft_probes_free(&t->probes);
}

static weft_status evaluate(table *t, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)t->line->n;
    weft_problem *problem = t->run->problem;
    t->points = weft_array_make(n, (size_t)t->d * sizeof *t->points);
    t->u = weft_array_make(n, (size_t)problem->fields.n_values * sizeof *t->u);
    t->values = calloc((size_t)t->n_fields + 1, sizeof *t->values);
    if (!t->points || !t->u || !t->values)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_probes_make_line(&t->run->context, t->run->mesh, t->line->from, t->line->to,
                              t->line->n, t->points, &t->probes, error));
    TRY(weft_problem_evaluate(problem, t->probes, t->u, error));
    for (int i = 0; i < t->n_fields; ++i) {
        t->values[i] = weft_array_make(n, (size_t)t->fields[i].n_components * sizeof **t->values);
        if (!t->values[i])
            TRY(weft_out_of_memory(error, NULL));
        TRY(weft_probes_field(t->probes, problem->fields.space, &t->fields[i], t->values[i],
                              error));
    }
done:
    return status;
}

static void write_names(const char *name, int n, weft_text *out) {
    for (int k = 0; k < n; ++k)
        if (n == 1)
            weft_text_add(out, ",%s", name);
        else
            weft_text_add(out, ",%s_%d", name, k);
}

/* distance,x,y,u or u_0,u_1,... */
static void write_head(const table *t, weft_text *out) {
    static const char *const axes[] = {"", ",x", ",x,y", ",x,y,z"};
    weft_text_add(out, "distance%s", axes[t->d]);
    write_names(weft_fields_name(&t->run->problem->fields), t->run->problem->fields.n_values, out);
    for (int i = 0; i < t->n_fields; ++i)
        write_names(t->fields[i].name, t->fields[i].n_components, out);
    weft_text_add(out, "\n");
}

/* Outside of the mesh: empty. */
static void write_values(const double *values, int n, bool outside, weft_text *out) {
    for (int k = 0; k < n; ++k)
        if (outside)
            weft_text_add(out, ",");
        else
            weft_text_add(out, ",%.17g", values[k]);
}

static void write_row(const table *t, int64_t i, weft_text *out) {
    const double *point = t->points + i * t->d;
    const bool outside = weft_probes_cells(t->probes)[i] < 0;
    double square = 0;
    for (int k = 0; k < t->d; ++k)
        square += (point[k] - t->line->from[k]) * (point[k] - t->line->from[k]);
    weft_text_add(out, "%.17g", sqrt(square));
    write_values(point, t->d, false, out);
    write_values(t->u + i * t->run->problem->fields.n_values, t->run->problem->fields.n_values,
                 outside, out);
    for (int f = 0; f < t->n_fields; ++f) {
        const int c = t->fields[f].n_components;
        write_values(t->values[f] + i * c, c, outside, out);
    }
    weft_text_add(out, "\n");
}

static weft_status write_line(const app_run *run, const app_line *line, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    table t = {.run = run, .line = line, .d = run->mesh->dimension};
    t.n_fields = run->derive ? weft_derive_fields(run->derive, &t.fields) : 0;
    TRY(evaluate(&t, error));
    write_head(&t, &text);
    for (int64_t i = 0; i < line->n; ++i)
        write_row(&t, i, &text);
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    TRY(app_file_write(line->path, text.data, error));
done:
    weft_text_free(&text);
    table_clear(&t);
    return status;
}

weft_status app_run_lines_write(const app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < run->options->lines.n; ++i)
        TRY(write_line(run, &run->options->lines.list[i], error));
done:
    return status;
}
