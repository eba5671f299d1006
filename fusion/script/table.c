/* Reads tables from CSV files and chooses the slopes of their monotone interpolation. */
#include "fusion/script/table.h"
#include "core/base/file.h"
#include "core/base/number.h"
#include "fusion/base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_status refuse_line(const char *path, const char *line, int number, const char *message,
                               weft_error *error) {
    char text[256];
    const size_t n = strcspn(line, "\r\n");
    (void)snprintf(text, sizeof text, "%.*s", (int)(n < 200 ? n : 200), line);
    weft_error_set(error, WEFT_ERROR_INPUT, "%s", message);
    weft_error_location(error, path, NULL, number, 1);
    weft_error_hint(error,
                    "a table has two numbers in each line, x and the value, with ascending "
                    "x: \"20, 1.5\"; this line is \"%s\"",
                    text);
    return WEFT_ERROR_INPUT;
}

/* A number and the separators after it; NULL: there is none. */
static const char *read_number(const char *at, double *out) {
    char *end = NULL;
    *out = weft_number_read(at, &end);
    if (end == at || !isfinite(*out))
        return NULL;
    return end + strspn(end, " \t,;");
}

static weft_status add_row(weft_arena *arena, weft_script_table *table, double x, double y,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    int n = table->n;
    TRY(WEFT_APPEND(arena, table->x, n, x, error));
    TRY(WEFT_APPEND(arena, table->y, table->n, y, error));
done:
    return status;
}

static weft_status read_rows(weft_arena *arena, const char *path, const char *text,
                             weft_script_table *table, weft_error *error) {
    weft_status status = WEFT_OK;
    int number = 0;
    bool started = false;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        double x = 0, y = 0;
        const char *at = line + strspn(line, " \t");
        ++number;
        if (*at == '#' || *at == '\n' || *at == '\r' || *at == '\0')
            continue;
        at = read_number(at, &x);
        if (!at && !started) { /* a header */
            started = true;
            continue;
        }
        started = true;
        at = at ? read_number(at, &y) : NULL;
        if (!at || (*at != '\n' && *at != '\r' && *at != '\0'))
            TRY(refuse_line(path, line, number, "expected two numbers", error));
        if (table->n > 0 && !(x > table->x[table->n - 1]))
            TRY(refuse_line(path, line, number, "x must be larger than in the line before", error));
        if (table->n == WEFT_TABLE_ROWS_MAX) {
            status =
                weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                               "%s has more than %d rows: every row is evaluated in every cell",
                               path, WEFT_TABLE_ROWS_MAX);
            weft_error_hint(error, "leave rows out where the values change little");
            goto done;
        }
        TRY(add_row(arena, table, x, y, error));
    }
    if (table->n < 2) {
        status =
            weft_error_set(error, WEFT_ERROR_INPUT, "%s has %d row%s, and a table has at least 2",
                           path, table->n, table->n == 1 ? "" : "s");
        weft_error_hint(error, "write two numbers in each line, x and the value");
    }
done:
    return status;
}

/* The three-point slope at an end, limited so that the end piece is monotone (Fritsch and Butland). */
static double end_slope(double h0, double h1, double d0, double d1) {
    const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (slope * d0 <= 0)
        return 0;
    return d0 * d1 <= 0 && fabs(slope) > 3 * fabs(d0) ? 3 * d0 : slope;
}

/* Slopes of the parabola through three knots, 0 at extrema of the values, then limited so that
 * (m_i, m_i+1)/d lies in the circle of radius 3: section 4, method 2. */
static void choose_slopes(weft_script_table *t) {
    const int n = t->n;
    const double *x = t->x, *y = t->y;
    double *m = t->slopes;
    if (n == 2) {
        m[0] = m[1] = (y[1] - y[0]) / (x[1] - x[0]);
        return;
    }
    for (int i = 1; i < n - 1; ++i) {
        const double h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i];
        const double d0 = (y[i] - y[i - 1]) / h0, d1 = (y[i + 1] - y[i]) / h1;
        m[i] = d0 * d1 > 0 ? (h1 * d0 + h0 * d1) / (h0 + h1) : 0;
    }
    m[0] = end_slope(x[1] - x[0], x[2] - x[1], (y[1] - y[0]) / (x[1] - x[0]),
                     (y[2] - y[1]) / (x[2] - x[1]));
    m[n - 1] = end_slope(x[n - 1] - x[n - 2], x[n - 2] - x[n - 3],
                         (y[n - 1] - y[n - 2]) / (x[n - 1] - x[n - 2]),
                         (y[n - 2] - y[n - 3]) / (x[n - 2] - x[n - 3]));
    for (int i = 0; i < n - 1; ++i) {
        const double d = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
        const double a = d != 0 ? m[i] / d : 0, b = d != 0 ? m[i + 1] / d : 0;
        const double size = hypot(a, b);
        if (d == 0)
            m[i] = m[i + 1] = 0;
        else if (size > 3) {
            m[i] = 3 * a / size * d;
            m[i + 1] = 3 * b / size * d;
        }
    }
}

weft_status weft_script_table_read(weft_arena *arena, const char *path, weft_location place,
                                   const weft_script_table **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    size_t length = 0;
    weft_script_table *table = NULL;
    status = weft_file_read_as(path, WEFT_FILE_TABLE, &text, &length, error);
    if (status != WEFT_OK && place.source)
        weft_error_location(error, place.source->name, place.source->text, place.line,
                            place.column);
    TRY(status);
    if (strlen(text) != length)
        TRY(weft_error_at(error, WEFT_ERROR_INPUT, place,
                          "%s contains zero bytes, so it is not a table", path));
    TRY(WEFT_ALLOC(arena, table, 1, error));
    TRY(read_rows(arena, path, text, table, error));
    TRY(WEFT_ALLOC(arena, table->slopes, (size_t)table->n, error));
    choose_slopes(table);
    *out = table;
done:
    free(text);
    return status;
}
