/* Reads --line, and writes the solution and derived fields along lines as CSV. */
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
        weft_error_hint(error, d == 2 ? "write --line X,Y:X,Y:N=FILE.csv"
                                      : "write --line X,Y,Z:X,Y,Z:N=FILE.csv");
        return WEFT_ERROR_USAGE;
    }
done:
    return status;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* u and the derived fields; the caller's. */
static weft_status list_fields(const app_run *run, weft_field **out, int *n, weft_error *error) {
    const weft_field *derived = NULL;
    const int n_derived = run->derive ? weft_derive_fields(run->derive, &derived) : 0;
    weft_field *fields = calloc((size_t)n_derived + 1, sizeof *fields);
    if (!fields)
        return weft_out_of_memory(error, NULL);
    fields[0] = (weft_field){
        .name = "u", .n_components = weft_space_components(run->space), .values = run->u_values};
    for (int i = 0; i < n_derived; ++i)
        fields[i + 1] = derived[i];
    *out = fields;
    *n = n_derived + 1;
    return WEFT_OK;
}

/* distance,x,y,u or u_0,u_1,... */
static void write_head(const app_run *run, const weft_field *fields, int n, weft_text *out) {
    weft_text_add(out, "distance,x,y%s", run->mesh->dimension == 3 ? ",z" : "");
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < fields[i].n_components; ++k)
            if (fields[i].n_components == 1)
                weft_text_add(out, ",%s", fields[i].name);
            else
                weft_text_add(out, ",%s_%d", fields[i].name, k);
    weft_text_add(out, "\n");
}

/* Component k of a field in a cell, by the P1 shape functions of the point. */
static double value_at(const weft_mesh *mesh, const weft_field *field, int64_t cell,
                       const double shape[4], int k) {
    const int width = mesh->dimension + 1, c = field->n_components;
    double value = 0;
    if (field->on_cells)
        return field->values[cell * c + k];
    for (int v = 0; v < width; ++v)
        value += shape[v] * field->values[(int64_t)mesh->cells[cell * width + v] * c + k];
    return value;
}

static void write_row(const app_run *run, const app_line *line, int i, const weft_field *fields,
                      int n, weft_text *out) {
    const int d = run->mesh->dimension;
    const double part = (double)i / (line->n - 1);
    double point[3] = {0}, distance = 0, shape[4];
    int64_t cell = -1;
    for (int k = 0; k < d; ++k) {
        point[k] =
            i == line->n - 1 ? line->to[k] : line->from[k] + part * (line->to[k] - line->from[k]);
        distance += (point[k] - line->from[k]) * (point[k] - line->from[k]);
    }
    weft_text_add(out, "%.17g", sqrt(distance));
    for (int k = 0; k < d; ++k)
        weft_text_add(out, ",%.17g", point[k]);
    weft_mesh_locate(run->mesh, point, &cell, shape);
    for (int f = 0; f < n; ++f)
        for (int k = 0; k < fields[f].n_components; ++k)
            if (cell < 0) /* outside: empty */
                weft_text_add(out, ",");
            else
                weft_text_add(out, ",%.17g", value_at(run->mesh, &fields[f], cell, shape, k));
    weft_text_add(out, "\n");
}

weft_status app_run_lines_write(const app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_lines *lines = &run->options->lines;
    weft_field *fields = NULL;
    weft_text text = {0};
    int n = 0;
    if (lines->n == 0)
        return WEFT_OK;
    TRY(list_fields(run, &fields, &n, error));
    for (int i = 0; i < lines->n; ++i) {
        const app_line *line = &lines->list[i];
        text.length = 0;
        write_head(run, fields, n, &text);
        for (int p = 0; p < line->n; ++p)
            write_row(run, line, p, fields, n, &text);
        if (text.failed)
            TRY(weft_out_of_memory(error, NULL));
        TRY(app_file_write(line->path, text.data, error));
    }
done:
    weft_text_free(&text);
    free(fields);
    return status;
}
