#include "apps/common/support.h"
#include "bench_cuda.h"
#include "core/weft_core.h"

#include <stdio.h>
#include <stdlib.h>

#define L2_BYTES 60e6

void bench_rows_head(double copy_bandwidth, const char *device) {
    printf("%s\n", device);
    if (copy_bandwidth > 0)
        printf("copy bandwidth %.0f GB/s, read and written bytes counted; everything below in the "
               "same run\n",
               copy_bandwidth * 1e-9);
    printf("GB/s: of the bytes that must move (--help); copy: of the copy bandwidth; G/s: cells "
           "assembled or unknowns; rival: its time over ours\n");
    printf("\n%-10s %9s %-6s %-15s %-22s %10s %8s %6s %9s %7s  %s\n", "shape", "cells", "real",
           "work", "by", "time", "GB/s", "copy", "G/s", "rival", "");
    fflush(stdout);
}

static void print_row(const bench_row *row) {
    char text[32];
    printf("%-10s %9.3g %-6s %-15s %-22s ", row->shape, (double)row->n_cells, row->precision,
           row->work, row->subject);
    printf("%10s ", row->seconds > 0 ? app_print_seconds(row->seconds, text) : "-");
    if (row->seconds > 0 && row->bytes > 0) {
        const double speed = row->bytes / row->seconds;
        printf("%8.0f ", speed * 1e-9);
        if (row->copy_bandwidth > 0)
            printf("%5.0f%% ", 100 * speed / row->copy_bandwidth);
        else
            printf("%6s ", "");
    } else {
        printf("%8s %6s ", "", "");
    }
    if (row->seconds > 0 && row->rate > 0)
        printf("%9.2f ", row->rate);
    else
        printf("%9s ", "");
    if (row->seconds > 0 && row->rival_seconds > 0)
        printf("%6.2fx ", row->rival_seconds / row->seconds);
    else
        printf("%7s ", "");
    printf(" %s%s%s%s", row->rival, row->rival[0] && row->note[0] ? "; " : "", row->note,
           row->bytes > 0 && row->bytes < L2_BYTES ? " L2" : "");
    if (row->wrong)
        printf("  WRONG: differs by %.1e", row->difference);
    printf("\n");
    fflush(stdout);
}

void bench_rows_add(bench_rows *rows, const bench_row *row) {
    print_row(row);
    rows->n_wrong += row->wrong;
    if (rows->n_rows == rows->capacity) {
        const int capacity = rows->capacity ? 2 * rows->capacity : 64;
        bench_row *larger = reallocarray(rows->rows, (size_t)capacity, sizeof *larger);
        if (!larger) {
            rows->failed = true;
            return;
        }
        rows->rows = larger;
        rows->capacity = capacity;
    }
    rows->rows[rows->n_rows++] = *row;
}

void bench_rows_free(bench_rows *rows) {
    free(rows->rows);
    *rows = (bench_rows){0};
}

static json_t *row_json(const bench_row *row) {
    json_t *out = json_object();
    bool good = out != NULL;
    good = good && app_json_set(out, "shape", app_json_text(row->shape));
    good = good && app_json_set(out, "cells", json_integer(row->n_cells));
    good = good && app_json_set(out, "nodes", json_integer(row->n_nodes));
    good = good && app_json_set(out, "real", app_json_text(row->precision));
    good = good && app_json_set(out, "work", app_json_text(row->work));
    good = good && app_json_set(out, "by", app_json_text(row->subject));
    good = good && app_json_set(out, "seconds",
                                row->seconds > 0 ? app_json_real(row->seconds) : json_null());
    good = good && app_json_set(out, "bytes", app_json_real(row->bytes));
    good = good && app_json_set(out, "giga_per_second", app_json_real(row->rate));
    good = good && app_json_set(out, "rival", app_json_text(row->rival));
    good = good && app_json_set(out, "rival_seconds", app_json_real(row->rival_seconds));
    good =
        good && app_json_set(out, "difference",
                             row->difference >= 0 ? app_json_real(row->difference) : json_null());
    good = good && app_json_set(out, "wrong", json_boolean(row->wrong));
    good = good && app_json_set(out, "note", app_json_text(row->note));
    if (!good) {
        json_decref(out);
        return NULL;
    }
    return out;
}

weft_status bench_rows_json(const bench_rows *rows, const char *path, const char *device,
                            double copy_bandwidth, weft_error *error) {
    weft_status status = WEFT_OK;
    json_t *root = json_object(), *list = json_array();
    bool good = root && list && !rows->failed;
    for (int i = 0; good && i < rows->n_rows; ++i)
        good = json_array_append_new(list, row_json(&rows->rows[i])) == 0;
    good = good && app_json_set(root, "device", app_json_text(device));
    good = good && app_json_set(root, "copy_bandwidth", app_json_real(copy_bandwidth));
    if (good) {
        good = app_json_set(root, "rows", list);
        list = NULL; /* the root's now, or freed */
    }
    if (!good) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(app_json_write(path, root, error));
done:
    json_decref(list);
    json_decref(root);
    return status;
}
