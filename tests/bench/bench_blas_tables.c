/* Prints every figure as it is measured, then Tables 2 to 5 of Filipovic et al. 2015 for this
 * machine; writes all figures as JSON. */
#include "apps/common/support.h"
#include "bench_blas.h"

#include <stdio.h>
#include <string.h>

double blas_flops(const blas_row *row) {
    return row->sequence->flops * blas_elements(row->sequence, row->n);
}

double blas_bytes_per_second(const blas_results *results, const blas_row *row) {
    const double real = results->options->single ? 4 : 8;
    return row->sequence->lists * blas_elements(row->sequence, row->n) * real / row->weft;
}

int64_t blas_table_size(const blas_options *options, bool matrix) {
    enum { LARGEST = 16384 };
    const int64_t *sizes = matrix ? options->sizes : options->lengths;
    int64_t best = 0;
    for (int i = 0; i < (matrix ? options->n_sizes : options->n_lengths); ++i)
        if (sizes[i] > best && (!matrix || sizes[i] <= LARGEST))
            best = sizes[i];
    return best > 0 ? best : sizes[0];
}

/* ---- lines ----------------------------------------------------------------------------------- */

void blas_row_head(const blas_results *results) {
    printf("%s, %s precision, seed %d; rival: %s\n", results->device,
           results->options->single ? "single" : "double", results->options->seed,
           results->rival[0] ? results->rival : "none");
    printf("error: largest |found - exact| of what rounding may make, of both; GB/s: least bytes "
           "over time\n");
    printf("%-8s %10s %11s %11s %8s %9s %6s %6s %9s\n", "sequence", "n", "Weft us", "BLAS us",
           "speed-up", "GB/s", "% read", "% copy", "error");
}

/* A number, or a dash where there is none. */
static void cell(int width, int digits, double value) {
    if (value > 0)
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

void blas_row_print(const blas_results *results, const blas_row *row) {
    const double error = row->weft_error > row->blas_error ? row->weft_error : row->blas_error;
    printf("%-8s %10lld", row->sequence->name, (long long)row->n);
    if (row->note) {
        printf(" %s\n", row->note);
        return;
    }
    const double bandwidth = blas_bytes_per_second(results, row);
    cell(11, 2, row->weft * 1e6);
    cell(11, 2, row->blas * 1e6);
    cell(8, 2, row->blas / row->weft);
    cell(9, 2, bandwidth * 1e-9);
    cell(6, 1, row->read > 0 ? 100 * bandwidth / row->read : 0);
    cell(6, 1, row->copy > 0 ? 100 * bandwidth / row->copy : 0);
    if (error >= 0)
        printf(" %9.2g", error);
    printf("%s\n", row->weft_error > 1   ? " WRONG"
                   : row->blas_error > 1 ? " the rival is WRONG"
                                         : "");
    fflush(stdout);
}

/* ---- tables ---------------------------------------------------------------------------------- */

const blas_row *blas_table_row(const blas_results *results, const blas_sequence *sequence) {
    for (int i = 0; i < results->n_rows; ++i)
        if (results->rows[i].sequence == sequence && !results->rows[i].note &&
            results->rows[i].n == blas_table_size(results->options, sequence->matrix))
            return &results->rows[i];
    return NULL;
}

static void print_performance(const blas_results *results) {
    printf("\nTable 2: performance\n%-8s %10s %15s %15s %8s  %s\n", "Sequence", "n",
           "Weft (GFlop/s)", "BLAS (GFlop/s)", "Speed-up", "Tag");
    for (int i = 0; i < BLAS_SEQUENCES; ++i) {
        const blas_row *row = blas_table_row(results, &blas_sequences[i]);
        if (!row)
            continue;
        printf("%-8s %10lld", row->sequence->name, (long long)row->n);
        cell(15, 2, blas_flops(row) / row->weft * 1e-9);
        cell(15, 2, row->blas > 0 ? blas_flops(row) / row->blas * 1e-9 : 0);
        cell(8, 2, row->blas / row->weft);
        printf("  %s\n", row->sequence->tag);
    }
}

/* What is asked holds for a GPU in single precision. */
static void print_asked(const blas_row *row, double share) {
    const blas_sequence *s = row->sequence;
    const bool reached = share >= s->asked_share && row->blas >= s->asked_ratio * row->weft;
    printf("  %4.2f and %2.0f %% of %s: %s", s->asked_ratio, 100 * s->asked_share,
           s->reads ? "reading" : "copying", reached ? "reached" : "NOT REACHED");
}

static void print_bandwidth(const blas_results *results) {
    const bool asked =
        results->options->single && strncmp(results->options->device, "cuda", 4) == 0;
    printf("\nTable 3: bandwidth on the least bytes\n%-8s %8s %9s %10s %10s%s\n", "Sequence",
           "Speed-up", "GB/s", "of reading", "of copying", asked ? "  asked of an H200" : "");
    for (int i = 0; i < BLAS_SEQUENCES; ++i) {
        const blas_row *row = blas_table_row(results, &blas_sequences[i]);
        if (!row)
            continue;
        const double bandwidth = blas_bytes_per_second(results, row);
        const double of_read = bandwidth / row->read, of_copy = bandwidth / row->copy;
        printf("%-8s", row->sequence->name);
        cell(8, 2, row->blas / row->weft);
        cell(9, 2, bandwidth * 1e-9);
        printf(" %8.1f %% %8.1f %%", 100 * of_read, 100 * of_copy);
        if (asked)
            print_asked(row, row->sequence->reads ? of_read : of_copy);
        printf("\n");
    }
}

static void print_plans(const blas_results *results) {
    printf("\nTable 4: plans\n%-8s %7s %6s %15s %7s %8s %9s\n", "Sequence", "Kernels", "Passes",
           "Implementations", "Plans", "Measured", "Best is");
    for (int i = 0; i < results->n_plans; ++i) {
        const blas_plans *p = &results->plans[i];
        printf("%-8s %7d %6d %15d %s%6d %8d", p->sequence->name, p->n_kernels, p->n_passes,
               p->n_implementations, p->n_plans == BLAS_PLANS_COUNTED ? ">" : " ", p->n_plans,
               p->n_measured);
        if (p->n_measured > 0)
            printf(" %7d.", p->best);
        printf("%s\n", p->n_wrong > 0 ? " WRONG" : "");
    }
    printf("\nTable 5: speed of the first and the worst plan measured, times of planning\n"
           "%-8s %12s %12s %11s %11s %11s\n",
           "Sequence", "First / best", "Worst / best", "First plan", "All plans", "Search");
    for (int i = 0; i < results->n_plans; ++i) {
        const blas_plans *p = &results->plans[i];
        printf("%-8s", p->sequence->name);
        cell(10, 1, 100 * p->first_share);
        printf(" %%");
        cell(10, 1, 100 * p->worst_share);
        printf(" %%");
        printf(" %9.4f s %9.4f s %9.2f s\n", p->plan_seconds, p->count_seconds, p->search_seconds);
    }
}

void blas_tables_print(const blas_results *results) {
    print_performance(results);
    print_bandwidth(results);
    print_plans(results);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *row_json(const blas_results *results, const blas_row *row) {
    json_t *o = json_object();
    bool ok = app_json_set(o, "sequence", json_string(row->sequence->name)) &&
              app_json_set(o, "n", json_integer(row->n)) &&
              app_json_set(o, "flops", json_real(blas_flops(row))) &&
              app_json_set(o, "predicted_seconds", app_json_real(row->predicted)) &&
              app_json_set(o, "note", row->note ? json_string(row->note) : json_null());
    if (ok && !row->note)
        ok = app_json_set(o, "weft_seconds", app_json_real(row->weft)) &&
             app_json_set(o, "blas_seconds", row->blas > 0 ? json_real(row->blas) : json_null()) &&
             app_json_set(o, "bandwidth", app_json_real(blas_bytes_per_second(results, row))) &&
             app_json_set(o, "read_bandwidth", app_json_real(row->read)) &&
             app_json_set(o, "copy_bandwidth", app_json_real(row->copy)) &&
             app_json_set(o, "weft_error", app_json_real(row->weft_error)) &&
             app_json_set(o, "blas_error", app_json_real(row->blas_error)) &&
             app_json_set(o, "wrong", json_boolean(row->weft_error > 1));
    if (!ok) {
        json_decref(o);
        return NULL;
    }
    return o;
}

static json_t *plans_json(const blas_plans *p) {
    json_t *o = json_object();
    const bool ok =
        app_json_set(o, "sequence", json_string(p->sequence->name)) &&
        app_json_set(o, "n", json_integer(p->n)) &&
        app_json_set(o, "kernels", json_integer(p->n_kernels)) &&
        app_json_set(o, "passes", json_integer(p->n_passes)) &&
        app_json_set(o, "implementations", json_integer(p->n_implementations)) &&
        app_json_set(o, "plans", json_integer(p->n_plans)) &&
        app_json_set(o, "plans_at_least", json_boolean(p->n_plans == BLAS_PLANS_COUNTED)) &&
        app_json_set(o, "measured", json_integer(p->n_measured)) &&
        app_json_set(o, "best", json_integer(p->best)) &&
        app_json_set(o, "first_share", app_json_real(p->first_share)) &&
        app_json_set(o, "worst_share", app_json_real(p->worst_share)) &&
        app_json_set(o, "plan_seconds", app_json_real(p->plan_seconds)) &&
        app_json_set(o, "count_seconds", app_json_real(p->count_seconds)) &&
        app_json_set(o, "search_seconds", app_json_real(p->search_seconds)) &&
        app_json_set(o, "wrong", json_integer(p->n_wrong));
    if (!ok) {
        json_decref(o);
        return NULL;
    }
    return o;
}

json_t *blas_results_json(const blas_results *results) {
    json_t *root = json_object(), *rows = json_array(), *plans = json_array();
    bool ok = root && rows && plans;
    for (int i = 0; ok && i < results->n_rows; ++i)
        ok = json_array_append_new(rows, row_json(results, &results->rows[i])) == 0;
    for (int i = 0; ok && i < results->n_plans; ++i)
        ok = json_array_append_new(plans, plans_json(&results->plans[i])) == 0;
    ok = ok && app_json_set(root, "device", app_json_text(results->device)) &&
         app_json_set(root, "rival",
                      results->rival[0] ? app_json_text(results->rival) : json_null()) &&
         app_json_set(root, "precision",
                      json_string(results->options->single ? "single" : "double")) &&
         app_json_set(root, "rows", json_incref(rows)) &&
         app_json_set(root, "plans", json_incref(plans));
    json_decref(rows);
    json_decref(plans);
    if (!ok) {
        json_decref(root);
        root = NULL;
    }
    return root;
}

weft_status blas_results_write(const blas_results *results, const char *path, weft_error *error) {
    json_t *root = blas_results_json(results);
    const weft_status status =
        root ? app_json_write(path, root, error) : weft_out_of_memory(error, "JSON");
    json_decref(root);
    return status;
}
