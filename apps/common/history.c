/* Writes values at probes, integrals and extrema after time steps, while the run goes: a CSV file. */
#include "apps/common/history.h"
#include "core/base/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static weft_status cannot_write(const app_history *history, weft_error *error) {
    const int number = errno;
    weft_error_set(error, WEFT_ERROR_IO, "cannot write %s: %s", history->path, strerror(number));
    weft_error_hint(error, "make room where it goes, or name another file with --history");
    return WEFT_ERROR_IO;
}

static void write_name(FILE *file, const weft_derived_value *value, const char *end, int k) {
    fprintf(file, ",\"%s%s%s", value->name, value->group ? "@" : "",
            value->group ? value->group : "");
    if (k >= 0)
        fprintf(file, "[%d]", k);
    fprintf(file, "%s\"", end);
}

/* t,"T(0.5,0.5)","heat@left","range least","range greatest" */
static void write_head(FILE *file, const app_run *run, const app_history_row *row) {
    const weft_derived_value *values = NULL;
    const int n = run->derive ? weft_derive_values(run->derive, &values) : 0;
    const app_probes *probes = &run->points;
    fprintf(file, "t");
    for (int i = 0; i < probes->n; ++i)
        for (int k = 0; k < row->components; ++k) {
            fprintf(file, ",\"%s(%s)", row->symbol, probes->list[i].text);
            if (row->components > 1)
                fprintf(file, "[%d]", k);
            fputc('"', file);
        }
    for (int i = 0; i < n; ++i) {
        if (values[i].kind == WEFT_DERIVE_EXTREMA) {
            write_name(file, &values[i], " least", -1);
            write_name(file, &values[i], " greatest", -1);
        }
        for (int k = 0; values[i].kind == WEFT_DERIVE_INTEGRAL && k < values[i].n_components; ++k)
            write_name(file, &values[i], "", values[i].n_components > 1 ? k : -1);
    }
    fputc('\n', file);
}

static void write_number(FILE *file, double value) {
    if (isfinite(value))
        fprintf(file, ",%.17g", value);
    else
        fputc(',', file); /* outside of the mesh, or NaN */
}

static void write_row(FILE *file, const app_run *run, const app_history_row *row) {
    const weft_derived_value *values = NULL;
    const int n = run->derive ? weft_derive_values(run->derive, &values) : 0;
    fprintf(file, "%.17g", row->t);
    for (int i = 0; i < run->points.n * row->components; ++i)
        write_number(file, row->probes[i]);
    for (int i = 0; i < n; ++i) {
        if (values[i].kind == WEFT_DERIVE_EXTREMA) {
            write_number(file, values[i].least);
            write_number(file, values[i].greatest);
        }
        for (int k = 0; values[i].kind == WEFT_DERIVE_INTEGRAL && k < values[i].n_components; ++k)
            write_number(file, values[i].integral[k]);
    }
    fputc('\n', file);
}

/* The rows up to time t of the file of an earlier run; NULL: there is none. */
static char *rows_until(const char *path, double t) {
    char *text = NULL;
    if (weft_file_read_as(path, WEFT_FILE_HISTORY, &text, NULL, NULL) != WEFT_OK)
        return NULL;
    char *at = strchr(text, '\n'); /* the head */
    while (at && at[1] && strtod(at + 1, NULL) <= t * (1 + 1e-12))
        at = strchr(at + 1, '\n');
    if (at)
        at[1] = '\0';
    return text;
}

/* Open the file with what precedes a row; has_row: the earlier file has that row too. */
static weft_status open_file(app_history *history, const app_run *run, const app_history_row *row,
                             bool *has_row, weft_error *error) {
    char *kept = row->resumes ? rows_until(history->path, row->t) : NULL;
    *has_row = kept != NULL;
    history->file = fopen(history->path, "w");
    if (history->file && kept)
        fputs(kept, history->file);
    else if (history->file)
        write_head(history->file, run, row);
    free(kept);
    return history->file ? WEFT_OK : cannot_write(history, error);
}

weft_status app_history_add(app_history *history, const app_run *run, const app_history_row *row,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    bool has_row = false;
    if (!history->file) /* the names of values are known after the first run */
        TRY(open_file(history, run, row, &has_row, error));
    if (!has_row)
        write_row(history->file, run, row);
    if (fflush(history->file) != 0 || ferror(history->file))
        TRY(cannot_write(history, error));
done:
    return status;
}

void app_history_close(app_history *history) {
    if (history->file)
        (void)fclose(history->file); /* each row was flushed */
    history->file = NULL;
}
